import { z } from 'zod'
import type { App } from '../app.ts'
import { defineQueue } from '../queue/define-queue.ts'
import { runOwnCommand } from './own-command.ts'

/** Trains a model from the reports, every night. */
export const trainModel = defineQueue({
  name: 'train-model',
  payload: z.object({}),
  attempts: { retryLimit: 1, retryDelay: 600, retryDelayMax: 600, expireInSeconds: 7_200 },
  cron: '37 2 * * *',
})

const TRAINING_MS_MAX = 7_000_000

/** Runs the training. */
export async function runTrainModel({ log }: Pick<App, 'log'>): Promise<void> {
  const result = await runOwnCommand(['train', '--nightly'], TRAINING_MS_MAX)
  log.info({ result }, 'Nightly training ended.')
}
