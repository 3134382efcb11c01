import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import type { App } from '../app.ts'
import { reasonOf } from '../errors.ts'
import { defineQueue } from '../queue/define-queue.ts'

/** Trains a model from the reports, every night. */
export const trainModel = defineQueue({
  name: 'train-model',
  payload: z.object({}),
  ...{ retryLimit: 1, retryDelay: 600, retryDelayMax: 600, expireInSeconds: 7_200 },
  cron: '37 2 * * *',
})

const TRAINING_MS_MAX = 7_000_000
const OUTPUT_BYTES_MAX = 1_000_000
/** As `nice 10`: reports and mail servers come first. */
const PRIORITY = 10

/** Runs the training in a process of its own, because it keeps a core busy for minutes. */
export async function runTrainModel({ log }: Pick<App, 'log'>): Promise<void> {
  const main = path.join(import.meta.dirname, '..', `main${path.extname(import.meta.filename)}`)
  const limits = { timeout: TRAINING_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX }
  const said = await new Promise<string>((resolve, reject) => {
    const args = [main, 'train', '--nightly']
    const child = execFile(process.execPath, args, limits, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      reject(new Error(`Training ended: ${stderr.trim() || reasonOf(error)}`, { cause: error }))
    })
    if (child.pid !== undefined) setPriority(child.pid, PRIORITY)
  })
  log.info({ result: said.trim() }, 'Nightly training ended.')
}
