import { defineConfig } from 'vitest/config'
import usual from './vitest.config.ts'
import { startWith } from './test/support/start-with.ts'

/** Tests that kill processes under load, count thousands of inputs, or start many instances. */
export default defineConfig({
  test: {
    ...usual.test,
    include: ['test/long/**/*.test.ts'],
    exclude: [],
    setupFiles: [],
    // One more took as long, and made the times longer that some of them measure.
    maxWorkers: '100%',
    // While `health-faults` and `torture` wait, files with many processes use all processors.
    sequence: {
      sequencer: startWith(
        ...['/health-faults', '/mailbox-users', '/whole-line', '/trap-flood', '/kills'],
        ...['/torture', '/composed-identity', '/bombs', '/outage', '/upgrade', '/restore'],
        ...['/sending', '/damaged-parts', '/documented-commands', '/restart', '/front'],
      ),
    },
  },
})
