import type { App } from '../app.ts'
import { runFolds } from '../judging/reputations/run-folds.ts'
import { runRollUps } from '../counters/run-roll-ups.ts'

/**
 * Rolls the counters up, and folds evidence into reputations, until closed. Any number of processes
 * may: they share the shards.
 */
export function count(
  app: Pick<App, 'pool' | 'clock' | 'log'>,
): Promise<{ close: () => Promise<void> }> {
  const running = [runRollUps(app), runFolds(app)]
  app.log.info('Counting.')
  return Promise.resolve({
    async close() {
      await Promise.all(running.map(({ close }) => close()))
    },
  })
}
