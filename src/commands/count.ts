import type { App } from '../app.ts'
import { runFolds } from '../judging/reputations/run-folds.ts'
import { runOwnDays } from '../counters/own-days/run-own-days.ts'
import { runRollUps } from '../counters/run-roll-ups.ts'

/**
 * Rolls the counters up, folds evidence into reputations and counts the days of reporters, until
 * closed. Any number of processes may: they share the work.
 */
export function count(
  app: Pick<App, 'pool' | 'clock' | 'log'>,
): Promise<{ close: () => Promise<void> }> {
  const running = [runRollUps(app), runFolds(app), runOwnDays(app)]
  app.log.info('Counting.')
  return Promise.resolve({
    async close() {
      await Promise.all(running.map(({ close }) => close()))
    },
  })
}
