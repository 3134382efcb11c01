import { defineConfig } from 'vitest/config'
import { startWith } from './test/support/start-with.ts'
import usual from './vitest.config.ts'

/** The tests that need programs of the system, such as rbldnsd: `npm run test:system`. */
export default defineConfig({
  test: {
    ...usual.test,
    include: ['test/system/**/*.test.ts'],
    // Folders of other programs have tests of their own.
    exclude: ['**/node_modules/**'],
    globalSetup: ['test/support/global-setup.ts', 'test/system/global-setup.ts'],
    // Other programs mostly wait, and the largest files build packages.
    maxWorkers: 3,
    // `package` needs the release that one of the first two builds; before, it would only wait.
    sequence: { sequencer: startWith('/debian', '/release', '/collect-imap', '/package') },
  },
})
