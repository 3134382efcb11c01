import type { App } from '../app.ts'
import { runRollUps } from '../counters/run-roll-ups.ts'

/** Rolls the counters up until closed. Any number of processes may: they share the shards. */
export function count(
  app: Pick<App, 'pool' | 'clock' | 'log'>,
): Promise<{ close: () => Promise<void> }> {
  const rollUps = runRollUps(app)
  app.log.info('Counting.')
  return Promise.resolve(rollUps)
}
