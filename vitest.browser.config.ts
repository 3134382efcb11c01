import { defineConfig } from 'vitest/config'

/** The tests that need a real Chromium: `npm run test:browser`. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    expect: { poll: { timeout: 30_000, interval: 20 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
})
