import type { App } from '../app.ts'
import { runReporterDayCounts } from '../counting/campaign-counts.ts'
import { runFolds } from '../counting/fold-evidence.ts'
import { runRollUps } from '../counting/run-roll-ups.ts'

/**
 * Rolls up counters, folds evidence into reputations and counts reporters' active days until
 * closed. Several processes may run in parallel; they share the work.
 */
export function count(
  app: Pick<App, 'pool' | 'clock' | 'log'>,
): Promise<{ close: () => Promise<void> }> {
  const running = [runRollUps(app), runFolds(app), runReporterDayCounts(app)]
  app.log.info('Processing counts.')
  return Promise.resolve({
    async close() {
      await Promise.all(running.map(({ close }) => close()))
    },
  })
}
