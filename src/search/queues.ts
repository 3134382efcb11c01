import { z } from 'zod'
import { defineQueue } from '../queue/define-queue.ts'

/** Writes the terms of changed reports, by which they are found. */
export const indexReports = defineQueue({
  name: 'index-reports',
  attempts: { retryLimit: 0, retryDelay: 60, retryDelayMax: 60, expireInSeconds: 300 },
  cron: '* * * * *',
})

/** Does an action on many reports, some at a time. */
export const actOnReports = defineQueue({
  name: 'act-on-reports',
  payload: z.object({ actionId: z.uuid() }),
  attempts: { retryLimit: 20, retryDelay: 5, retryDelayMax: 600, expireInSeconds: 60 },
})

/** Makes actions final that can no longer be undone: only now do they change karma. */
export const settleActions = defineQueue({
  name: 'settle-actions',
  attempts: { retryLimit: 0, retryDelay: 60, retryDelayMax: 60, expireInSeconds: 600 },
  cron: '* * * * *',
})
