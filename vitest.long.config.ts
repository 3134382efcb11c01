import { defineConfig } from 'vitest/config'

/** What kills processes under load, counts on thousands of inputs, or starts many instances. */
export default defineConfig({
  test: {
    include: ['test/long/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    expect: { poll: { timeout: 30_000, interval: 20 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: '100%',
    isolate: false,
  },
})
