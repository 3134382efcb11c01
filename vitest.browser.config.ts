import { defineConfig } from 'vitest/config'
import { startWith } from './test/support/start-with.ts'
import ordinary from './vitest.config.ts'

const usual = { ...ordinary.test, coverage: undefined }
/** Tests that measure time run alone, after the others. */
const timed = ['test/browser/{first-visit,newcomer}.test.ts']

/** The tests that need a real Chromium: `npm run test:browser`. */
export default defineConfig({
  test: {
    sequence: { sequencer: startWith('/accessibility', '/keyboard', '/activity', '/journey') },
    projects: [
      {
        test: {
          ...usual,
          name: 'pages',
          include: ['test/browser/**/*.test.ts'],
          exclude: timed,
          maxWorkers: 3,
          // Concurrent tests of a file look at pages in one browser.
          maxConcurrency: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...usual,
          name: 'timed',
          include: timed,
          exclude: [],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
