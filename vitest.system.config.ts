import { defineConfig } from 'vitest/config'
import { startWith } from './test/support/start-with.ts'

/** The tests that need programs of the system, such as rbldnsd: `npm run test:system`. */
export default defineConfig({
  test: {
    include: ['test/system/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/system/global-setup.ts'],
    expect: { poll: { timeout: 30_000, interval: 20 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Other programs mostly wait, and the largest files build packages.
    maxWorkers: 3,
    sequence: { sequencer: startWith('/debian', '/package', '/release') },
  },
})
