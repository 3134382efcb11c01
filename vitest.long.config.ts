import { defineConfig } from 'vitest/config'
import { longestFirst } from './test/support/longest-first.ts'

/** Tests that kill processes under load, count thousands of inputs, or start many instances. */
export default defineConfig({
  test: {
    include: ['test/long/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    expect: { poll: { timeout: 30_000, interval: 20 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // One more took as long, and made the times longer that some of them measure.
    maxWorkers: '100%',
    sequence: { sequencer: longestFirst(/\/(health-faults|torture|restart|bombs)\.test/) },
    isolate: false,
  },
})
