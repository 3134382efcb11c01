import { z } from 'zod'
import { defineQueue, fillSamplesName } from '../queue/define-queue.ts'

/**
 * Determines what a reported message is and where it came from. `hasWaited`: for its files; it is
 * then analyzed with those that are read.
 */
export const analyzeReport = defineQueue({
  name: 'analyze-report',
  payload: z.object({ reportId: z.uuid(), hasWaited: z.boolean().optional() }),
  attempts: { retryLimit: 5, retryDelay: 5, retryDelayMax: 600, expireInSeconds: 120 },
  ...{ batchSize: 50, concurrency: 2, gatherMs: 1_000 },
})

/** Decides the reports of a reporter again, because more is known of who receives the mail. */
export const decideAgain = defineQueue({
  name: 'decide-again',
  payload: z.object({ reporterId: z.uuid() }),
  attempts: { retryLimit: 5, retryDelay: 10, retryDelayMax: 600, expireInSeconds: 120 },
})

/** Judges the kept reports of campaigns again about which more is known. */
export const judgeCampaigns = defineQueue({
  name: 'judge-campaigns',
  attempts: { retryLimit: 0, retryDelay: 60, retryDelayMax: 60, expireInSeconds: 300 },
  cron: '* * * * *',
})

/** Erases an account. The job repeats until no data is left. */
export const eraseAccount = defineQueue({
  name: 'erase-account',
  payload: z.object({ erasureId: z.uuid() }),
  attempts: { retryLimit: 50, retryDelay: 10, retryDelayMax: 3_600, expireInSeconds: 300 },
})

/** The domain of the accounts of a new installation. */
export const ownDomain = 'signalpost.example'

/** The domain of the accounts that have the sample reports, and nobody else. */
export const SAMPLE_DOMAIN = 'samples.signalpost.example'

export const fillSampleReports = defineQueue({
  name: fillSamplesName,
  attempts: { retryLimit: 2, retryDelay: 10, retryDelayMax: 60, expireInSeconds: 900 },
})

/** Creates the partitions of the coming weeks, drops expired ones, and deletes old keys. */
export const keepHouse = defineQueue({
  name: 'keep-house',
  attempts: { retryLimit: 3, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 900 },
  cron: '17 * * * *',
})

/** Marks the reports and the inbound mails whose job became a dead letter. */
export const markDead = defineQueue({
  name: 'mark-dead',
  attempts: { retryLimit: 0, retryDelay: 60, retryDelayMax: 60, expireInSeconds: 60 },
  cron: '* * * * *',
})

/** Searches reports for the relays of the reporters' mail. */
export const learnRelays = defineQueue({
  name: 'learn-relays',
  attempts: { retryLimit: 1, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 900 },
  cron: '41 * * * *',
})

/** Counts the months that are complete, for the page of figures. */
export const countMonths = defineQueue({
  name: 'count-months',
  attempts: { retryLimit: 1, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 3_600 },
  cron: '41 3 * * *',
})

/** Removes a retracted report from the counters and the reputations. */
export const redeemReport = defineQueue({
  name: 'redeem-report',
  // `isOverruled`: an administrator retracted the report, not its reporter. `waitsSince`: when the
  // change of the report was not visible yet.
  payload: z.object({
    reportId: z.uuid(),
    isOverruled: z.boolean().optional(),
    waitsSince: z.iso.datetime().optional(),
  }),
  attempts: { retryLimit: 20, retryDelay: 5, retryDelayMax: 3_600, expireInSeconds: 120 },
  batchSize: 50,
})

/** What jobs about one received mail have in common. */
const aboutMail = {
  payload: z.object({ mailId: z.uuid() }),
  attempts: { retryLimit: 8, retryDelay: 5, retryDelayMax: 600, expireInSeconds: 300 },
}

/** Reports the complaints that a feedback loop sends. */
export const takeComplaint = defineQueue({
  name: 'take-complaint',
  ...aboutMail,
})

/** Accepts the messages in a mail from a reporter. */
export const takeMailed = defineQueue({
  name: 'take-mailed',
  ...aboutMail,
})

/**
 * Reports the mail to spam traps. Between two batches, a process waits: so a flood adds at most 20
 * reports a second to those that wait for their analysis, and reports of people are not delayed.
 */
export const takeTrapped = defineQueue({
  name: 'take-trapped',
  ...aboutMail,
  batchSize: 10,
})
