import { z } from 'zod'
import { defineQueue } from '../queue/define-queue.ts'

/**
 * Finds the pages to which a report leads, or takes back what it said about pages if it no longer
 * counts; and decides whether these pages are confirmed.
 */
export const findPages = defineQueue({
  name: 'find-pages',
  payload: z.object({ reportId: z.uuid() }),
  attempts: { retryLimit: 3, retryDelay: 30, retryDelayMax: 600, expireInSeconds: 120 },
  batchSize: 50,
})

/**
 * How long the job of a report waits, in seconds: then the report is visible wherever it is stored,
 * and the reports of a campaign that arrive together share a batch.
 */
export const FIND_PAGES_AFTER = 20
