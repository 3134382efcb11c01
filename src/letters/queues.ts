import { z } from 'zod'
import { defineQueue } from '../queue/define-queue.ts'
import { mailQueues } from './relay-memory.ts'

/**
 * Writes a letter that advises a reporter how to unsubscribe. `waitsSince`: when the analysis of
 * the report was not visible yet.
 */
export const adviseReporter = defineQueue({
  name: 'advise-reporter',
  payload: z.object({ reportId: z.uuid(), waitsSince: z.iso.datetime().optional() }),
  attempts: { retryLimit: 10, retryDelay: 10, retryDelayMax: 3_600, expireInSeconds: 120 },
  batchSize: 20,
})

/**
 * Writes a summary of the previous month to the reporters who ask for one. It runs on several days,
 * because the service may be down on one of them.
 */
export const sendSummaries = defineQueue({
  name: 'send-summaries',
  payload: z.object({}),
  attempts: { retryLimit: 1, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 3_600 },
  cron: '17 7 1-5 * *',
})

/** Writes to reporters about answers to their reports and about open questions. */
export const sendNews = defineQueue({
  name: 'send-news',
  payload: z.object({}),
  attempts: { retryLimit: 1, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 600 },
  cron: '*/10 * * * *',
})

/**
 * Sends one letter: advice, an answer, an invitation. The retries span days, because mail servers
 * may be down for days. A postponed job contains the times since which its recipient's mail server
 * has stalled (`postponedSince`) and since which our own mail server has refused it
 * (`refusedSince`).
 */
export const sendLetter = defineQueue({
  name: mailQueues.letter,
  payload: z.object({
    letterId: z.uuid(),
    postponedSince: z.iso.datetime().optional(),
    refusedSince: z.iso.datetime().optional(),
  }),
  attempts: { retryLimit: 20, retryDelay: 30, retryDelayMax: 4 * 3600, expireInSeconds: 300 },
  batchSize: 20,
})
