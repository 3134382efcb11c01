import { hash } from 'node:crypto'
import { z } from 'zod'
import type { FeedbackKey } from '../db/feedback-reports.ts'
import { mailAttempts, mailQueues, mailWaits, shownQueue } from '../letters/queues.ts'
import { defineQueue } from '../queue/define-queue.ts'

/**
 * Queries the registries for the abuse contact of a report's origin, and continues with the result.
 * `firstAskedAt` is the time of the first query of a postponed job.
 */
export const findContact = defineQueue({
  name: 'find-contact',
  payload: z.object({ reportId: z.uuid(), firstAskedAt: z.iso.datetime().optional() }),
  attempts: { retryLimit: 5, retryDelay: 30, retryDelayMax: 3_600, expireInSeconds: 120 },
  batchSize: 20,
})

/** Reads a received mail: a bounce or an answer. */
export const handleInbound = defineQueue({
  name: 'handle-inbound',
  payload: z.object({ mailId: z.uuid() }),
  attempts: { retryLimit: 5, retryDelay: 5, retryDelayMax: 600, expireInSeconds: 120 },
  batchSize: 10,
})

/** Sends a confirmed page to a partner over HTTP. */
export const submitPage = defineQueue({
  name: 'submit-page',
  payload: z.object({ pageId: z.uuid(), partner: z.string() }),
  attempts: { retryLimit: 5, retryDelay: 60, retryDelayMax: 3_600, expireInSeconds: 120 },
})

export const paceFeedback = defineQueue({
  name: 'pace-feedback',
  payload: z.object({}),
  attempts: { retryLimit: 0, retryDelay: 60, retryDelayMax: 60, expireInSeconds: 600 },
  cron: '* * * * *',
})

/** Adds the reports of the last day to their origins, to see what came after a notice. */
export const followOrigins = defineQueue({
  name: 'follow-origins',
  payload: z.object({}),
  attempts: { retryLimit: 0, retryDelay: 60, retryDelayMax: 60, expireInSeconds: 600 },
  cron: '29 * * * *',
})

/** Counts the reports of pages around the notices about them, and looks up their hosts. */
export const followPages = defineQueue({
  name: 'follow-pages',
  payload: z.object({}),
  attempts: { retryLimit: 0, retryDelay: 60, retryDelayMax: 60, expireInSeconds: 600 },
  cron: '37 * * * *',
})

export const forwardReport = defineQueue({
  name: mailQueues.feedback,
  payload: z.object({
    reportId: z.uuid(),
    number: z.int().min(1).max(255),
    ...mailWaits,
  }),
  attempts: mailAttempts,
  ...{ batchSize: 50, concurrency: 2 },
})

/**
 * Shows the reporter of a shadowed report the outcome that a feedback report of that time has. The
 * mail is composed as usual, and not sent.
 */
export const showForwarded = defineQueue({
  name: shownQueue,
  payload: forwardReport.payload,
  attempts: forwardReport.attempts,
  batchSize: 50,
})

export function queueOf({ isShadowed = false }: { isShadowed?: boolean | undefined }) {
  return isShadowed ? showForwarded : forwardReport
}

/** Returns the id of the job in reserve of a feedback report. */
export function reserveJobId({ reportId, number }: FeedbackKey): string {
  return hash('md5', `${forwardReport.name} ${reportId} ${number}`)
}
