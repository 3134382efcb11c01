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

/** Notifies those who can stop a page that was confirmed, or takes their notices back. */
export const notifyPage = defineQueue({
  name: 'notify-page',
  payload: z.object({ pageId: z.uuid(), firstAskedAt: z.iso.datetime().optional() }),
  attempts: { retryLimit: 5, retryDelay: 30, retryDelayMax: 3_600, expireInSeconds: 300 },
  batchSize: 5,
})

/**
 * How long the job of a report waits, in seconds: then the report is visible wherever it is stored,
 * and the reports of a campaign that arrive together share a batch.
 */
export const FIND_PAGES_AFTER = 20
