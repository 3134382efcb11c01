import { z } from 'zod'
import { defineQueue } from '../queue/define-queue.ts'

/** Decides what is listed, and writes the lists for publication. */
export const publishLists = defineQueue({
  name: 'publish-lists',
  payload: z.object({}),
  attempts: { retryLimit: 1, retryDelay: 60, retryDelayMax: 60, expireInSeconds: 900 },
  cron: '*/10 * * * *',
})
