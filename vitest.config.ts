import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/long/**', 'test/system/**'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/seed-shingles.ts'],
    expect: { poll: { timeout: 30_000, interval: 20 } },
    // Guards against a test that never ends; no test measures time by it.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Vitest leaves one processor free, which is half of a machine with two.
    maxWorkers: '100%',
    // Test files share no state but modules, and those are imported once a worker.
    isolate: false,
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['html', 'text-summary'] },
  },
})
