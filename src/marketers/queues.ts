import { z } from 'zod'
import { defineQueue } from '../queue/define-queue.ts'

/** Searches reported mail for possible marketers. */
export const proposeMarketers = defineQueue({
  name: 'propose-marketers',
  attempts: { retryLimit: 1, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 900 },
  cron: '29 */6 * * *',
})

/** Sends one unsubscribe request for a reporter. A retry never sends it again. */
export const unsubscribe = defineQueue({
  name: 'unsubscribe',
  payload: z.object({ reportId: z.uuid() }),
  attempts: { retryLimit: 10, retryDelay: 30, retryDelayMax: 600, expireInSeconds: 300 },
  batchSize: 5,
})
