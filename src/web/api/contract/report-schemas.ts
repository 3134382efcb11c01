import { z } from 'zod'
import { reportOutcomes } from '../../../reports/own-outcome.ts'
import { consequenceActions, verdictClasses } from '../../../verdict/verdict.ts'

export const problemSchema = z
  .object({
    type: z.url().describe('The URL of the page about this problem.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('An explanation for people.'),
    choices: z
      .array(
        z.object({
          report: z.enum(['attached', 'whole']).describe('What to send in the field report.'),
          from: z.string().nullable(),
          subject: z.string().nullable(),
          date: z.string().nullable(),
        }),
      )
      .readonly()
      .optional()
      .describe('With choose-message: the messages between which to choose.'),
  })
  .describe('An error (RFC 9457).')

export const refusedSchema = problemSchema
  .extend({ results: z.array(z.unknown()).optional() })
  .describe('An error, with one result per message if several were sent.')

export const instant = z.iso.datetime().describe('A time in UTC (RFC 3339).')

export const reportId = z.uuid().describe('A version 7 UUID: ids sort by time.')

export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly()
}

/** The reporter's classification of a message. */
const kindSchema = z.enum(['spam', 'phishing', 'not-spam'])

const statusSchema = z
  .enum(['received', 'analyzed', 'forwarded', 'kept', 'retracted', 'failed'])
  .describe(
    'received: waiting for analysis. analyzed: an abuse desk will be notified. forwarded: ' +
      'an abuse desk was notified. kept: no abuse desk is notified. retracted: withdrawn. ' +
      'failed: an error that operators handle.',
  )

const resultSchema = z
  .enum(reportOutcomes)
  .describe(
    'What became of the report, in the words of its page. looking-up: an abuse desk is looked ' +
      'for. queued: its feedback report is about to be sent. held: the site does not send mail ' +
      'yet. told: an abuse desk was notified. answered-…: its last answer. bounced, refused: the ' +
      'feedback report did not arrive. withdrawn: it was canceled. asking, unconfirmed: the ' +
      'reporter is asked. newsletter: no one is notified, and the reporter learns how to ' +
      'unsubscribe. thanks: the message counts as wanted.',
  )

const network = z.object({
  cidr: z.string(),
  asn: z.int().nullable(),
  name: z.string().nullable(),
  country: z.string().nullable(),
})

export const phrase = z
  .object({ code: z.string(), params: z.record(z.string(), z.union([z.string(), z.number()])) })
  .describe('A sentence as a code with parameters. Codes and names of parameters are stable.')

const origin = z
  .object({
    ip: z.string(),
    confidence: z.number().min(0).max(1),
    hop: z.int().describe('The index of the hop whose field names it.'),
    network: network.nullable(),
    why: list(z.string()).describe('The reasons in English. The wording may change.'),
    phrases: list(phrase),
  })
  .nullable()
  .describe('The machine that handed the message to the reporter’s mail provider.')

const submitter = z
  .object({ ip: z.string(), how: z.string(), confidence: z.number().min(0).max(1) })
  .nullable()
  .describe('The client behind a sending provider, if that provider recorded it.')

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
  trust: z.string().describe('Whether the field is trusted, and why.'),
  because: text,
  notes: list(z.object({ name: z.string(), text: z.string() })).describe('Signs of forgery.'),
})

const link = z.object({
  url: z.string().describe('As written.'),
  host: z.string(),
  where: z
    .string()
    .describe(
      'The place: text; in HTML html, form, refresh, embedded, image or data; in attached ' +
        'files attachment, pdf or qr.',
    ),
})

const picture = z
  .object({
    stations: list(
      z.object({
        role: z.enum(['mailbox', 'ours', 'origin', 'unclear', 'believed', 'claimed', 'forged']),
        name: text,
        ip: text,
        aliases: list(z.string()),
        hop: z.int().nullable().describe('The index of the hop that describes it.'),
        unlinked: z.boolean(),
        submitter: z.boolean(),
      }),
    ),
    border: z.int().nullable().describe('The index of the first station that may be forged.'),
  })
  .nullable()
  .describe('The machines that the Received fields describe, from the mailbox outward.')

const question = z
  .object({
    candidates: list(
      z.object({
        ip: z.string(),
        name: text.describe('As looked up in DNS.'),
        calls_itself: text.describe('As the machine called itself; it may be forged.'),
        hop: z.int(),
        seen: z.boolean(),
        internal: z.boolean(),
      }),
    ),
  })
  .nullable()
  .describe("The machines of which one may be the reporter's own. Answer with PUT on relays.")

const verdict = z
  .object({
    class: z.enum(verdictClasses),
    score: z.number(),
    symbols: list(z.object({ name: z.string(), weight: z.number(), meaning: z.string() })),
  })
  .nullable()
  .describe(
    'The symbols that the reporter may see, and their sum. Everything that is known from other ' +
      'mail is one symbol with a rounded weight.',
  )

const campaign = z
  .object({
    id: z.string().describe('Identical in all reports of the campaign.'),
    others_at_least: z
      .int()
      .nullable()
      .describe('A rounded number of other people; null if there are few.'),
    first_seen_on: z.iso.date().nullable(),
    last_seen_on: z.iso.date().nullable(),
  })
  .nullable()
  .describe('The other reports of similar messages; null if they are not counted.')

/** A report as returned to people who may see it. */
export const reportSchema = z
  .object({
    id: reportId,
    status: statusSchema,
    result: resultSchema,
    reasons: list(
      phrase.extend({ text: z.string().describe('In English; it may change.') }),
    ).describe('Why no one was notified; empty if somebody was or will be.'),
    received_at: instant,
    kind: kindSchema,
    comment: text.describe(
      'The comments of the reporter, separated by blank lines: at most 8,000 characters.',
    ),
    rebuilt_from: z
      .enum(['msg'])
      .nullable()
      .describe(
        'The format from which the message was rebuilt; its signatures cannot be verified.',
      ),
    subject: text,
    author: text.describe('The address of the From field.'),
    origin,
    origin_obstacle: text.describe('Why no origin was found.'),
    submitter,
    hops: list(hop).describe('Every Received field, newest first.'),
    picture,
    question,
    is_reduced: z
      .boolean()
      .describe(
        'Whether the body could not be read, so that only the header and the links in it are used.',
      ),
    links: list(link).describe(
      'The links in the message: at most 100 in HTML, 60 in text and 20 in each other place.',
    ),
    outcome: z
      .enum(consequenceActions)
      .nullable()
      .describe(
        'What follows from the report; null until it is analyzed. forward: an abuse desk is ' +
          'notified. look-up: a registry is asked for one. keep: no one is notified. advise: the ' +
          'reporter is told how to unsubscribe. confirm: the reporter is asked to confirm the ' +
          'complaint. ask: the reporter is asked about a machine. simulation: the message is ' +
          'simulated phishing of the organization.',
      ),
    confirmation_asked: z
      .boolean()
      .describe('Whether the reporter is asked to confirm the complaint.'),
    verdict,
    campaign,
    timeline: list(
      z.object({
        at: instant,
        event: z.string(),
        detail: z.string().describe('What happened, in English. The wording may change.'),
        phrases: list(phrase).describe('The same as codes; empty for events of old versions.'),
      }),
    ),
  })
  .describe('A report and its results so far.')

export const reportLineSchema = z
  .object({
    id: reportId,
    status: statusSchema,
    result: resultSchema,
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
  next: z.url().nullable().describe('The URL of the next page; null on the last page.'),
})

const PAGE_MAX = 100

/** The parameters that select a page of the caller's reports. */
export const reportPageSchema = z.object({
  before: z.uuid().optional().describe('Only reports older than this one.'),
  after: z
    .uuid()
    .optional()
    .describe('Only reports newer than this one; the list is then oldest first.'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE_MAX)
    .default(50)
    .describe('The maximum number of reports.'),
  kind: kindSchema.optional(),
  status: statusSchema.optional(),
  since: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Only reports received at or after this time (RFC 3339).'),
})

const kind = z
  .string()
  .describe('What the message is: spam (the default), phishing or not-spam.')
  .meta({ examples: ['spam', 'phishing', 'not-spam'] })
const comment = z.string().describe('A comment for administrators, at most 2,000 characters.')
const receivedVia = z
  .union([z.string(), z.array(z.string())])
  .describe(
    'Addresses or CIDR blocks of machines that the message passed before it reached the ' +
      'reporter, such as a forwarding service.',
  )

export const submissionSchema = z
  .object({
    message_base64: z.string().describe('The whole message with its header, in base64.'),
    kind: kind.optional(),
    comment: comment.optional(),
    received_via: receivedVia.optional(),
    report: z
      .string()
      .optional()
      .describe(
        'Which message is reported if one only carries another, such as a report of a filter: ' +
          'attached or whole. Without it, the answer asks, unless the carrier is proven to be ' +
          'of your side.',
      ),
  })
  .describe('One message to report.')

export const bulkItemSchema = submissionSchema
  .extend({
    ref: z
      .string()
      .max(200)
      .optional()
      .describe('Any text that identifies the message for the client; it is returned.'),
    idempotency_key: z
      .string()
      .optional()
      .describe('Like the header Idempotency-Key, for this message only.'),
  })
  .describe('One line of a bulk request: a message to report.')

/** The response to one accepted message. */
export const receiptSchema = z
  .object({
    id: reportId,
    status: statusSchema,
    url: z.url().describe('The URL of the report.'),
    changed: z
      .boolean()
      .describe(
        'True if the message had been reported as another kind or retracted before: the ' +
          'report keeps its id and now has this kind.',
      ),
    way_in: z
      .literal('unknown')
      .optional()
      .describe(
        'Present if nobody has told which mail servers receive your mail: ask for a test message.',
      ),
  })
  .describe('A message that was accepted, now or earlier.')

const file = z
  .string()
  .nullable()
  .describe(
    'The name of the file. For a message inside a file, its path, such as ' +
      '"spam.zip › 3.eml". Null when a stored answer is returned.',
  )

/** The response to a form or a file of several messages. */
export const resultsSchema = z
  .object({
    found: z.int().describe('The number of messages that were found, accepted or not.'),
    results: list(
      z.union([receiptSchema.extend({ file }), z.object({ file, problem: problemSchema })]),
    ).describe('One result per message, in order.'),
  })
  .describe('The results of the messages of a form or a file.')

/** The messages that files contain, before anything is reported. */
export const lookSchema = z
  .object({
    found: z.int().describe('The number of messages that can be read.'),
    messages: list(
      z.object({
        file,
        problem: problemSchema.nullable().describe('Why it cannot be read; null if it can.'),
      }),
    ).describe('One entry for each message, and for each file that cannot be opened, in order.'),
  })
  .describe('The messages that files contain. Nothing was reported.')

const bulkPlace = {
  index: z.int().describe('The index in the request, from 0; blank lines do not count.'),
  ref: z.string().nullable(),
}

const bulkResultSchema = z.union([
  receiptSchema.extend({
    ...bulkPlace,
    repeated: z
      .boolean()
      .describe('Nothing changed: the message had been reported with this kind before.'),
  }),
  z.object({ ...bulkPlace, problem: problemSchema }),
])

export const bulkResultsSchema = z
  .object({
    accepted: z.int().describe('The number of new reports.'),
    changed: z
      .int()
      .describe('The number of messages that had been reported as another kind before.'),
    repeated: z
      .int()
      .describe('The number of messages that had been reported with this kind before.'),
    refused: z.int(),
    results: list(bulkResultSchema).describe('One result per message, in order.'),
  })
  .describe('The results of the messages.')
