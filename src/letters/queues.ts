import { z } from 'zod'
import type { InputProblem } from '../actions.ts'
import type { App } from '../app.ts'
import { refusal } from '../phrase.ts'
import { defineQueue } from '../queue/define-queue.ts'

export const mailQueues = { feedback: 'forward-report', letter: 'send-letter' } as const
/** The name of the queue that shows banned reporters the outcomes that others see. */
export const shownQueue = 'show-forwarded'

export const mailQueueNames: readonly string[] = Object.values(mailQueues)
/** The queues whose postponed jobs start when sending resumes. */
export const resumedQueueNames = [...mailQueueNames, shownQueue]

/** Why mail cannot be sent again: without SMTP_URL, it would only be held again. */
export function sendingProblems({ smtpUrl }: Pick<App['config'], 'smtpUrl'>): InputProblem[] {
  return smtpUrl === undefined ? [{ message: refusal('refused.no-smtp') }] : []
}

/** The retries of a mail span days, because mail servers may be down for days. */
export const mailAttempts = {
  retryLimit: 20,
  retryDelay: 30,
  retryDelayMax: 4 * 3600,
  expireInSeconds: 300,
}
/**
 * The times since which a postponed mail has waited for its recipient (`postponedSince`), and since
 * which our own mail server has refused it (`refusedSince`).
 */
export const mailWaits = {
  postponedSince: z.iso.datetime().optional(),
  refusedSince: z.iso.datetime().optional(),
}

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
  attempts: { retryLimit: 1, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 3_600 },
  cron: '17 7 1-5 * *',
})

/** Writes to reporters about answers to their reports and about open questions. */
export const sendNews = defineQueue({
  name: 'send-news',
  attempts: { retryLimit: 1, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 600 },
  cron: '*/10 * * * *',
})

/** Sends one letter: advice, an answer, an invitation. */
export const sendLetter = defineQueue({
  name: mailQueues.letter,
  payload: z.object({ letterId: z.uuid(), ...mailWaits }),
  attempts: mailAttempts,
  batchSize: 20,
})
