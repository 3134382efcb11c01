import type { App } from '../app.ts'
import { runOwnCommand } from './own-command.ts'

const TRAINING_MS_MAX = 7_000_000

/** Runs the training. */
export async function runTrainModel({ log }: Pick<App, 'log'>): Promise<void> {
  const result = await runOwnCommand(['train', '--nightly'], TRAINING_MS_MAX)
  log.info({ result }, 'Nightly training ended.')
}
