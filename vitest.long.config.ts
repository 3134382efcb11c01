import { defineConfig } from 'vitest/config'

/** Tests that kill processes under load, count thousands of inputs, or start many instances. */
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
