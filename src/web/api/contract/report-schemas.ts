import { z } from 'zod'
import { verdictClasses } from '../../../verdict/verdict.ts'

/** A problem (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.url().describe('Leads to the page that lists all problems.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What was wrong this time, for people.'),
  })
  .describe('What was wrong (RFC 9457).')

/** A problem with the result of each message, used if all were refused. */
export const refusedSchema = problemSchema
  .extend({ results: z.array(z.unknown()).optional() })
  .describe('What was wrong; with each result where several messages were sent.')

/** An instant in responses. */
export const instant = z.iso.datetime().describe('An instant in UTC (RFC 3339).')

/** The id of a report. */
export const reportId = z.uuid().describe('A version 7 UUID: ids sort by time.')

/** A read-only list. */
export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly()
}

/** The reporter's classification of a message. */
const kindSchema = z.enum(['spam', 'phishing', 'not-spam'])

/** The state of a report. */
const statusSchema = z
  .enum(['received', 'analyzed', 'forwarded', 'kept', 'retracted', 'failed'])
  .describe(
    'received: waits for its analysis. analyzed: somebody will be told. forwarded: somebody was ' +
      'told. kept: nobody is told. retracted: taken back. failed: stuck, we are on it.',
  )

const network = z.object({
  cidr: z.string(),
  asn: z.int().nullable(),
  name: z.string().nullable(),
  country: z.string().nullable(),
})

const origin = z
  .object({
    ip: z.string(),
    confidence: z.number().min(0).max(1),
    hop: z.int().describe('The index of the line that names it.'),
    network: network.nullable(),
    why: list(z.string()),
  })
  .nullable()
  .describe('The machine that handed the message to the reporter’s mail provider.')

const submitter = z
  .object({ ip: z.string(), how: z.string(), confidence: z.number().min(0).max(1) })
  .nullable()
  .describe('The client behind a sending provider, where that provider stamped it.')

const text = z.string().nullable()

const hop = z.object({
  index: z.int(),
  from: z.object({ helo: text, rdns: text, ip: text, port: z.int().nullable() }),
  by: z.object({ host: text, ip: text }),
  with: text,
  id: text,
  for: text,
  at: z.string().nullable().describe('ISO 8601.'),
  auth: text,
  trust: z.string().describe('Whether the line is believed, and as what.'),
  because: text,
  notes: list(z.object({ name: z.string(), text: z.string() })).describe('What is odd.'),
})

const picture = z
  .object({
    stations: list(
      z.object({
        role: z.enum(['mailbox', 'ours', 'origin', 'unclear', 'believed', 'claimed', 'forged']),
        name: text,
        ip: text,
        aliases: list(z.string()),
        hop: z.int().nullable().describe('The index of the hop that tells of it.'),
        unlinked: z.boolean(),
        submitter: z.boolean(),
      }),
    ),
    border: z
      .int()
      .nullable()
      .describe('Index of the first station that anybody may have invented.'),
  })
  .nullable()
  .describe('The machines that the lines tell of, from the mailbox outward.')

const question = z
  .object({
    candidates: list(
      z.object({
        ip: z.string(),
        name: text.describe('As it was looked up.'),
        calls_itself: text.describe('What anybody may call himself.'),
        hop: z.int(),
        seen: z.boolean(),
        internal: z.boolean(),
      }),
    ),
  })
  .nullable()
  .describe('What the reporter is asked: which machine is his own? Answered by PUT on relays.')

const verdict = z
  .object({
    class: z.enum(verdictClasses),
    score: z.number(),
    symbols: list(z.object({ name: z.string(), weight: z.number(), meaning: z.string() })),
  })
  .nullable()
  .describe('The symbols that a reporter may see, and their sum: what others reported is in class.')

const campaign = z
  .object({
    id: z.string().describe('The same in all reports of the campaign, and nothing beside that.'),
    others_at_least: z.int().nullable().describe('A round number of other people; null when few.'),
    first_seen_on: z.iso.date().nullable(),
    last_seen_on: z.iso.date().nullable(),
  })
  .nullable()
  .describe('Of the reports of messages that say the same; null when it counts for none.')

/** A report as returned to those who may see it. */
export const reportSchema = z
  .object({
    id: reportId,
    status: statusSchema,
    received_at: instant,
    kind: kindSchema,
    rebuilt_from: z
      .enum(['msg'])
      .nullable()
      .describe(
        'The form from which the message was put together anew: its signatures prove nothing.',
      ),
    subject: text,
    author: text.describe('The address of the From field.'),
    origin,
    origin_obstacle: text.describe('Why there is no origin.'),
    submitter,
    hops: list(hop).describe('Every Received line, the newest first.'),
    picture,
    question,
    verdict,
    campaign,
    timeline: list(z.object({ at: instant, event: z.string(), detail: z.string() })),
  })
  .describe('A report, and all that was found so far.')

/** A report in a list. */
export const reportLineSchema = z
  .object({
    id: reportId,
    status: statusSchema,
    received_at: instant,
    kind: kindSchema,
    subject: text,
    author: text,
    url: z.url(),
  })
  .describe('A report in a list.')

/** A page of a reporter's own reports. */
export const reportListSchema = z.object({
  reports: list(reportLineSchema),
  next: z.url().nullable().describe('Where the list goes on; null at its end.'),
})

const PAGE_MAX = 100

/** The parameters that select a page of the caller's reports. */
export const reportPageSchema = z.object({
  before: z.uuid().optional().describe('Older than this report.'),
  after: z.uuid().optional().describe('Newer than this report; the list is then oldest first.'),
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(50).describe('How many at most.'),
  kind: kindSchema.optional(),
  status: statusSchema.optional(),
  since: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Only what was received from this instant on (RFC 3339).'),
})

const kind = z
  .string()
  .describe('What the message is: spam (which it is when nothing is said), phishing or not-spam.')
  .meta({ examples: ['spam', 'phishing', 'not-spam'] })
const comment = z.string().describe('For administrators, at most 2,000 characters.')
const receivedVia = z
  .union([z.string(), z.array(z.string())])
  .describe(
    'Addresses or CIDR blocks of machines that the message came through before it reached the ' +
      'reporter, such as a forwarding service.',
  )

/** One message as JSON. */
export const submissionSchema = z
  .object({
    message_base64: z.string().describe('The whole message, header and all, in base64.'),
    kind: kind.optional(),
    comment: comment.optional(),
    received_via: receivedVia.optional(),
  })
  .describe('One message to be reported.')

/** One message in a bulk request. */
export const bulkItemSchema = submissionSchema
  .extend({
    ref: z
      .string()
      .max(200)
      .optional()
      .describe('Whatever tells the sender which one this was; it is given back.'),
    idempotency_key: z
      .string()
      .optional()
      .describe('As the header Idempotency-Key, for this message alone.'),
  })
  .describe('One line of a bulk request: a message to be reported.')

/** The response to one accepted message. */
export const receiptSchema = z
  .object({
    id: reportId,
    status: statusSchema,
    url: z.url().describe('Where to ask for it.'),
    changed: z
      .boolean()
      .describe(
        'True when the message had been reported as another kind before, or was retracted: the ' +
          'report keeps its id and is now of this kind.',
      ),
  })
  .describe('A message was taken in, or had been before.')

const file = z
  .string()
  .nullable()
  .describe(
    'The name of the file; for a message inside of one the way to it, such as ' +
      '"spam.zip › 3.eml". Null for these where an answer is replayed.',
  )

/** The response to a form or a file of several messages. */
export const resultsSchema = z
  .object({
    results: list(
      z.union([receiptSchema.extend({ file }), z.object({ file, problem: problemSchema })]),
    ).describe('One for each message, in their order.'),
  })
  .describe('What became of each message of a form or a file.')

const bulkPlace = {
  index: z.int().describe('Its place in the request, from 0; blank lines do not count.'),
  ref: z.string().nullable(),
}

/** The result of one message in a bulk request. */
const bulkResultSchema = z.union([
  receiptSchema.extend({
    ...bulkPlace,
    repeated: z.boolean().describe('Nothing changed: it had been reported so before.'),
  }),
  z.object({ ...bulkPlace, problem: problemSchema }),
])

/** The response to a bulk request. */
export const bulkResultsSchema = z
  .object({
    accepted: z.int().describe('How many are new.'),
    changed: z.int().describe('How many had been reported as another kind before.'),
    repeated: z.int().describe('How many had been reported so before.'),
    refused: z.int(),
    results: list(bulkResultSchema).describe('One for each message, in their order.'),
  })
  .describe('What became of each message.')
