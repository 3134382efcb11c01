import { z } from 'zod'

/** A queue, and the schema of its job data: ids, never content. */
export type QueueDefinition<Payload extends object = object> = {
  name: string
  payload: z.ZodType<Payload>
  options: QueueOptions
}

type QueueOptions = {
  /** Attempts after the first. */
  retryLimit: number
  /** Seconds before the second attempt; doubled, with random variation, for each further one. */
  retryDelay: number
  retryDelayMax: number
  /** Maximum duration of one attempt in seconds. */
  expireInSeconds: number
}

/** The queue of jobs that ran out of retries, with the reason. */
export const deadLetterQueue = 'dead-letter'

/** Analyzes a reported message: what it is and where it came from. */
export const analyzeReport = defineQueue('analyze-report', z.object({ reportId: z.uuid() }), {
  retryLimit: 5,
  retryDelay: 5,
  retryDelayMax: 600,
  expireInSeconds: 120,
})

/**
 * Queries the registries for the abuse contact of a report's origin, and continues with the result.
 * `firstAskedAt` is the time of the first query of a postponed job.
 */
export const findContact = defineQueue(
  'find-contact',
  z.object({ reportId: z.uuid(), firstAskedAt: z.iso.datetime().optional() }),
  { retryLimit: 5, retryDelay: 30, retryDelayMax: 3_600, expireInSeconds: 120 },
)

/**
 * Composes and sends one feedback report. The retries span days, because mail servers may be down
 * for days. A postponed job has the time since when it waits for its consumer (`putOffSince`), and
 * since when our own mail server refuses it (`refusedSince`).
 */
export const forwardReport = defineQueue(
  'forward-report',
  z.object({
    reportId: z.uuid(),
    number: z.int().min(1).max(255),
    putOffSince: z.iso.datetime().optional(),
    refusedSince: z.iso.datetime().optional(),
  }),
  { retryLimit: 20, retryDelay: 30, retryDelayMax: 4 * 3600, expireInSeconds: 300 },
)

/** `isOverruled`: an administrator retracted the report, not its reporter. */
const redemption = z.object({ reportId: z.uuid(), isOverruled: z.boolean().optional() })

/** Sends one letter: advice, an answer, an invitation. Postponed like feedback. */
export const sendLetter = defineQueue(
  'send-letter',
  z.object({
    letterId: z.uuid(),
    putOffSince: z.iso.datetime().optional(),
    refusedSince: z.iso.datetime().optional(),
  }),
  { retryLimit: 20, retryDelay: 30, retryDelayMax: 4 * 3600, expireInSeconds: 300 },
)

/** Writes a letter that advises a reporter how to unsubscribe. */
export const adviseReporter = defineQueue('advise-reporter', z.object({ reportId: z.uuid() }), {
  retryLimit: 10,
  retryDelay: 10,
  retryDelayMax: 3_600,
  expireInSeconds: 120,
})

/** Sends one unsubscribe request for a reporter. A retry never sends it again. */
export const unsubscribe = defineQueue('unsubscribe', z.object({ reportId: z.uuid() }), {
  retryLimit: 10,
  retryDelay: 30,
  retryDelayMax: 600,
  expireInSeconds: 300,
})

/** Searches reported mail for possible marketers. */
export const proposeMarketers = defineQueue('propose-marketers', z.object({}), {
  retryLimit: 1,
  retryDelay: 60,
  retryDelayMax: 600,
  expireInSeconds: 900,
})

/** Removes a retracted report from the counters and the reputations. */
export const redeemReport = defineQueue('redeem-report', redemption, {
  retryLimit: 20,
  retryDelay: 5,
  retryDelayMax: 3_600,
  expireInSeconds: 120,
})

/** Reads a received mail: a bounce or an answer. */
export const handleInbound = defineQueue('handle-inbound', z.object({ mailId: z.uuid() }), {
  retryLimit: 5,
  retryDelay: 5,
  retryDelayMax: 600,
  expireInSeconds: 120,
})

/** Accepts the messages in a mail from a reporter. */
export const takeMailed = defineQueue('take-mailed', z.object({ mailId: z.uuid() }), {
  retryLimit: 8,
  retryDelay: 5,
  retryDelayMax: 600,
  expireInSeconds: 300,
})

/** Erases an account. The job repeats until no data is left. */
export const eraseAccount = defineQueue('erase-account', z.object({ erasureId: z.uuid() }), {
  retryLimit: 50,
  retryDelay: 10,
  retryDelayMax: 3_600,
  expireInSeconds: 300,
})

/** Creates the partitions of the coming weeks, drops those past retention, deletes old keys. */
export const keepHouse = defineQueue('keep-house', z.object({}), {
  retryLimit: 3,
  retryDelay: 60,
  retryDelayMax: 600,
  expireInSeconds: 900,
})

/** Searches reports for the relays of the reporters' mail. */
export const learnRelays = defineQueue('learn-relays', z.object({}), {
  retryLimit: 1,
  retryDelay: 60,
  retryDelayMax: 600,
  expireInSeconds: 900,
})

/** Marks the reports whose analysis became a dead letter. */
export const markDead = defineQueue('mark-dead', z.object({}), {
  retryLimit: 0,
  retryDelay: 60,
  retryDelayMax: 60,
  expireInSeconds: 60,
})

/** Sends feedback that is due. */
export const paceFeedback = defineQueue('pace-feedback', z.object({}), {
  retryLimit: 0,
  retryDelay: 60,
  retryDelayMax: 60,
  expireInSeconds: 600,
})

/** Decides what is listed, and writes the lists for publication. */
export const publishLists = defineQueue('publish-lists', z.object({}), {
  retryLimit: 1,
  retryDelay: 60,
  retryDelayMax: 60,
  expireInSeconds: 900,
})

/** Delivers one event to one webhook. Postponed while its receiver fails. */
export const deliverWebhook = defineQueue(
  'deliver-webhook',
  z.object({ webhookId: z.uuid(), deliveryId: z.uuid() }),
  { retryLimit: 10, retryDelay: 10, retryDelayMax: 3_600, expireInSeconds: 120 },
)

/** All queues that have workers. */
export const queues: readonly QueueDefinition[] = [
  analyzeReport,
  findContact,
  forwardReport,
  sendLetter,
  adviseReporter,
  unsubscribe,
  redeemReport,
  handleInbound,
  takeMailed,
  eraseAccount,
  keepHouse,
  learnRelays,
  markDead,
  publishLists,
  proposeMarketers,
  paceFeedback,
  deliverWebhook,
]

function defineQueue<Payload extends object>(
  name: string,
  payload: z.ZodType<Payload>,
  options: QueueOptions,
): QueueDefinition<Payload> {
  return { name, payload, options }
}
