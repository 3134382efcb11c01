import { z } from 'zod'
import { instant, list, phrase } from './report-schemas.ts'

export const relayStatementSchema = z.object({
  cidr: z.string().describe('An IP address or a CIDR block.'),
  how: z.enum(['set', 'refused'], { error: 'must be "set" or "refused"' }).default('set'),
})

/** Where a test message for a mailbox user goes. */
export const testMessageRequestSchema = z.object({
  address: z
    .email({ error: 'must be a mail address' })
    .max(254)
    .describe('With On-Behalf-Of: the address of the mailbox user.'),
})

export const relaysSchema = z.object({
  relays: list(
    z.object({
      cidr: z.string(),
      how: z.enum(['set', 'learned', 'proposed', 'refused']),
      name: z.string().nullable(),
      reports: z
        .int()
        .describe('The number of reports with this relay; 0 if the reporter named it.'),
      since: instant,
    }),
  ),
})

/** A message that shows the mail servers of the caller when the caller reports it. */
export const testMessageSchema = z.object({
  state: z
    .enum(['sent', 'under-way', 'known', 'no-mail'])
    .describe(
      'sent: it was sent now. under-way: it was sent within 7 days. known: one came back within ' +
        '30 days. no-mail: this site sends no mail.',
    ),
  message_id: z
    .string()
    .nullable()
    .describe('The Message-ID of the message to report, with its angle brackets; null: none.'),
})

export const reputationSchema = z.object({
  name: z.string(),
  is_listed: z.boolean(),
  listed: list(
    z.object({
      list: z.string(),
      name: z.string(),
      category: z.string(),
      code: z.string(),
      since: z.string(),
      until: z.string().describe('The first day on which it is no longer listed.'),
      times: z.int(),
      reasons: list(z.string()),
    }),
  ),
  url: z.url().describe('The page to look it up and to request delisting.'),
})

/** The parameters of a counter query, each at most once. */
export const counterQuestionSchema = z.object({
  kind: z.string().exactOptional().describe('The kind of value, such as link, address or file.'),
  value: z.string().exactOptional(),
  type: z.string().exactOptional().describe('A piece type.'),
  hash: z.string().exactOptional().describe('16 hexadecimal digits.'),
  series: z
    .enum(['told', 'all'], { error: 'must be "told" or "all"' })
    .default('told')
    .describe(
      'Whose series to return for charts: those of the selected piece (told) or of all pieces.',
    ),
})

const userName = z.string().min(1).max(320)

/** Events about mail that users of the mail server sent. */
export const outgoingEventsSchema = z.object({
  events: z
    .array(
      z.object({
        event: z
          .enum(['bounce', 'complaint', 'read'], {
            error: 'must be "bounce", "complaint" or "read"',
          })
          .describe('What happened: the mail bounced, or the recipient complained or read it.'),
        user: userName.describe('The login name, as in the header User of a check.'),
        system: z
          .string()
          .max(64)
          .default('')
          .describe('The mail system of the user, as in the header Mail-System of a check.'),
        recipient: userName.describe(
          'The address of the recipient, or a hash of it that is always the same.',
        ),
        at: z.iso
          .datetime({ offset: true })
          .optional()
          .describe('When it happened, at most 13 days ago; absent: now.'),
      }),
    )
    .min(1)
    .max(500)
    .readonly(),
})

export const acceptedEventsSchema = z.object({ accepted: z.int() })

const byPrefix = z.record(z.string(), z.unknown())

export const countersSchema = z.object({
  summary: z.string(),
  question: z.record(z.string(), z.unknown()),
  told: z.int().nullable().describe('The index of the most informative piece.'),
  pieces: list(
    z.object({
      type: z.string().nullable(),
      meaning: z.string().nullable(),
      piece: z.string().nullable(),
      hash: z.string(),
      countedFrom: z.number(),
      counts: byPrefix,
      uniques: list(
        z.object({
          type: z.string(),
          meaning: z.string(),
          counts: byPrefix,
          different: byPrefix,
        }),
      ),
      series: byPrefix.optional(),
    }),
  ),
})

/** The response to a mail server's check. */
export const checkAnswerSchema = z
  .object({
    is_skipped: z.boolean(),
    score: z.number(),
    required_score: z.number(),
    action: z.string(),
    symbols: z.record(
      z.string(),
      z.object({
        name: z.string(),
        score: z.number(),
        metric_score: z.number(),
        description: z.string(),
      }),
    ),
    messages: z.object({ smtp_message: z.string().optional() }),
    'message-id': z.string().optional(),
    time_real: z.number().describe('Seconds.'),
    milter: z.object({
      add_headers: z
        .record(z.string(), z.object({ value: z.string(), order: z.number() }))
        .optional(),
      remove_headers: z.record(z.string(), z.number()),
    }),
  })
  .describe('An answer in the format of rspamd.')

/** The response to a refused mail server. */
export const checkErrorSchema = z.object({ error: z.string() })

export const learnedSchema = z.object({ success: z.boolean() })

/** Statistics of the process in the format of rspamd's controller. */
export const checkStatisticsSchema = z.record(z.string(), z.unknown())

const levelSchema = z
  .enum(['ok', 'off', 'unknown', 'warning', 'critical'])
  .describe('unknown: it cannot be computed. off: the settings do not use it.')

export const healthSchema = z.object({
  level: levelSchema,
  at: instant,
  conditions: list(
    z.object({
      code: z.string(),
      title: z.string(),
      level: levelSchema,
      value: z.number().nullable(),
      unit: z.enum(['seconds', 'days', 'percent', 'count', 'gigabytes']),
      warning: z.number().nullable().describe('The bound of a warning.'),
      critical: z.number().nullable(),
      since: instant.nullable().describe('Since when it is bad.'),
      reason: z.string().describe('In English. The wording may change.'),
      phrase,
      advice: z.string().describe('What to do.'),
      action: z
        .string()
        .nullable()
        .describe('The action that may repair it; most are commands too.'),
      silenced_until: instant.nullable(),
    }),
  ),
  processes: list(
    z.object({
      host: z.string(),
      name: z.string(),
      version: z.string(),
      started_at: instant,
      seen_at: instant,
    }),
  ),
})

export const queuePathSchema = z.object({
  queue: z.string().describe('The name of the queue, or * for all.'),
})

/** What operators set about a queue. */
export const queueControlSchema = z.object({
  name: z.string(),
  paused: z.boolean(),
  paused_at: instant.nullable(),
  reason: z.string().nullable().describe('Why it is paused.'),
  concurrency: z
    .int()
    .nullable()
    .describe('Batches that each process handles at the same time; null: as in the program.'),
})

export const queueChangeSchema = z.object({
  paused: z.boolean().optional(),
  reason: z.string().optional().describe('Needed for a pause.'),
  concurrency: z.int().min(1).max(64).nullable().optional(),
})

export const queuesSchema = z.object({
  queues: list(
    queueControlSchema.extend({
      ready: z.int().describe('Jobs that a worker could take now.'),
      later: z.int().describe('Jobs that wait for an instant.'),
      active: z.int().describe('Jobs in progress, counted every 30 seconds.'),
      longest_wait_seconds: z.int(),
    }),
  ),
})
