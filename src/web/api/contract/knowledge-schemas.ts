import { z } from 'zod'
import { instant, list } from './report-schemas.ts'

/** A relay named by the caller. */
export const relayStatementSchema = z.object({
  cidr: z.string().describe('An address, or a block of addresses.'),
  how: z.enum(['set', 'refused'], { error: 'must be "set" or "refused"' }).default('set'),
})

/** The caller's relays. */
export const relaysSchema = z.object({
  relays: list(
    z.object({
      cidr: z.string(),
      how: z.enum(['set', 'learned', 'proposed', 'refused']),
      name: z.string().nullable(),
      reports: z.int().describe('How many reports show it; 0 where the reporter named it.'),
      since: instant,
    }),
  ),
})

/** Whether a name is listed. */
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
      until: z.string().describe('The first day on which it is not listed any more.'),
      times: z.int(),
      reasons: list(z.string()),
    }),
  ),
  url: z.url().describe('The page on which it can be asked to be taken off.'),
})

/** The parameters of a counter query, each at most once. */
export const counterQuestionSchema = z.object({
  kind: z.string().exactOptional().describe('What the value is, such as link, address, file.'),
  value: z.string().exactOptional(),
  type: z.string().exactOptional().describe('The name of a type of pieces.'),
  hash: z.string().exactOptional().describe('16 hexadecimal digits.'),
  series: z
    .enum(['told', 'all'], { error: 'must be "told" or "all"' })
    .default('told')
    .describe('Series for drawing: of the piece that is told, or of all.'),
})

const byPrefix = z.record(z.string(), z.unknown())

/** The counters of a value. */
export const countersSchema = z.object({
  summary: z.string(),
  question: z.record(z.string(), z.unknown()),
  told: z.int().nullable().describe('The place of the most telling piece.'),
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
  .describe('What rspamd answers.')

/** The response to a refused mail server. */
export const checkErrorSchema = z.object({ error: z.string() })

/** The response to a learned message. */
export const learnedSchema = z.object({ success: z.boolean() })

/** Statistics of the process in the format of rspamd's controller. */
export const checkStatisticsSchema = z.record(z.string(), z.unknown())
