import { z } from 'zod'
import { verdictClasses } from '../../../../verdict/verdict.ts'
import { instant, list, reportId } from './values.ts'

/** What a reporter says a message is. */
export const kindSchema = z.enum(['spam', 'phishing', 'not-spam'])

/** Where a report stands. */
export const statusSchema = z
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

/** A report as it is given to who may see it. */
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
