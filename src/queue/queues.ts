import { z } from 'zod'

/** A queue, and the shape of what its jobs carry: ids, never content. */
export type QueueDefinition<Payload extends object = object> = {
  name: string
  payload: z.ZodType<Payload>
  options: QueueOptions
}

type QueueOptions = {
  /** Attempts after the first. */
  retryLimit: number
  /** Seconds before the second attempt; doubled, with chance, for each further one. */
  retryDelay: number
  retryDelayMax: number
  /** Seconds that one attempt may take at most. */
  expireInSeconds: number
}

/** Where jobs go that no retry could save, with the reason. */
export const deadLetterQueue = 'dead-letter'

/** Find out what a reported message is and where it came from. */
export const analyzeReport = defineQueue('analyze-report', z.object({ reportId: z.uuid() }), {
  retryLimit: 5,
  retryDelay: 5,
  retryDelayMax: 600,
  expireInSeconds: 120,
})

/**
 * Ask the registries who answers for the origin of a report, and go on from there. A job that was
 * put off says when the first question was asked.
 */
export const findContact = defineQueue(
  'find-contact',
  z.object({ reportId: z.uuid(), firstAskedAt: z.iso.datetime().optional() }),
  { retryLimit: 5, retryDelay: 30, retryDelayMax: 3_600, expireInSeconds: 120 },
)

/**
 * Compose one feedback report and send it. Mail servers may be away for days. A job that was put
 * off says since when it waits for its consumer, and since when our own mail server refuses it.
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

/** Whether an administrator took it back, and not its reporter. */
const redemption = z.object({ reportId: z.uuid(), isOverruled: z.boolean().optional() })

/** Send one letter: advice, an answer, an invitation. Put off as feedback is. */
export const sendLetter = defineQueue(
  'send-letter',
  z.object({
    letterId: z.uuid(),
    putOffSince: z.iso.datetime().optional(),
    refusedSince: z.iso.datetime().optional(),
  }),
  { retryLimit: 20, retryDelay: 30, retryDelayMax: 4 * 3600, expireInSeconds: 300 },
)

/** Write to a reporter how to unsubscribe. */
export const adviseReporter = defineQueue('advise-reporter', z.object({ reportId: z.uuid() }), {
  retryLimit: 10,
  retryDelay: 10,
  retryDelayMax: 3_600,
  expireInSeconds: 120,
})

/** Ask a sender, once, to unsubscribe a reporter. A retry never sends again. */
export const unsubscribe = defineQueue('unsubscribe', z.object({ reportId: z.uuid() }), {
  retryLimit: 10,
  retryDelay: 30,
  retryDelayMax: 600,
  expireInSeconds: 300,
})

/** Look for marketers in the mail that was reported. */
export const proposeMarketers = defineQueue('propose-marketers', z.object({}), {
  retryLimit: 1,
  retryDelay: 60,
  retryDelayMax: 600,
  expireInSeconds: 900,
})

/** Take back what a retracted report was counted as. */
export const redeemReport = defineQueue('redeem-report', redemption, {
  retryLimit: 20,
  retryDelay: 5,
  retryDelayMax: 3_600,
  expireInSeconds: 120,
})

/** Read a mail that came back. */
export const handleInbound = defineQueue('handle-inbound', z.object({ mailId: z.uuid() }), {
  retryLimit: 5,
  retryDelay: 5,
  retryDelayMax: 600,
  expireInSeconds: 120,
})

/** Take in the messages that a mail of a reporter carries. */
export const takeMailed = defineQueue('take-mailed', z.object({ mailId: z.uuid() }), {
  retryLimit: 8,
  retryDelay: 5,
  retryDelayMax: 600,
  expireInSeconds: 300,
})

/** Erase an account. It comes again until nothing is left. */
export const eraseAccount = defineQueue('erase-account', z.object({ erasureId: z.uuid() }), {
  retryLimit: 50,
  retryDelay: 10,
  retryDelayMax: 3_600,
  expireInSeconds: 300,
})

/** Make the partitions of the coming weeks, drop those past retention, forget old keys. */
export const keepHouse = defineQueue('keep-house', z.object({}), {
  retryLimit: 3,
  retryDelay: 60,
  retryDelayMax: 600,
  expireInSeconds: 900,
})

/** Find out which relays the mail of reporters comes through. */
export const learnRelays = defineQueue('learn-relays', z.object({}), {
  retryLimit: 1,
  retryDelay: 60,
  retryDelayMax: 600,
  expireInSeconds: 900,
})

/** Mark the reports whose analysis has died. */
export const markDead = defineQueue('mark-dead', z.object({}), {
  retryLimit: 0,
  retryDelay: 60,
  retryDelayMax: 60,
  expireInSeconds: 60,
})

/** Let feedback leave that waited for its hour. */
export const paceFeedback = defineQueue('pace-feedback', z.object({}), {
  retryLimit: 0,
  retryDelay: 60,
  retryDelayMax: 60,
  expireInSeconds: 600,
})

/** Judge who is to be listed, and write the lists for others. */
export const publishLists = defineQueue('publish-lists', z.object({}), {
  retryLimit: 1,
  retryDelay: 60,
  retryDelayMax: 60,
  expireInSeconds: 900,
})

/** Tell one webhook of one event. It is put off while its receiver fails. */
export const deliverWebhook = defineQueue(
  'deliver-webhook',
  z.object({ webhookId: z.uuid(), deliveryId: z.uuid() }),
  { retryLimit: 10, retryDelay: 10, retryDelayMax: 3_600, expireInSeconds: 120 },
)

/** Every queue that has workers. */
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
