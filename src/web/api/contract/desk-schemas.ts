import { z } from 'zod'
import { GROUP_MAX, groupAnswers } from '../../../feedback/desk-reports.ts'
import { instant, list } from './report-schemas.ts'

const PAGE_MAX = 100
const text = z.string().nullable()
const number = z.string().describe('The number of the report, as in its mail.')

export const deskPageSchema = z.object({
  open: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true: only reports without an answer.'),
  before: z
    .string()
    .max(60)
    .optional()
    .describe('Only reports older than the one with this number.'),
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(50),
})

export const deskReportsSchema = z.object({
  reports: list(
    z.object({
      number,
      sent_at: instant,
      type: z
        .enum(['abuse', 'fraud', 'virus', 'not-spam', 'other', 'digest'])
        .nullable()
        .describe('As in the report; null: the mail is too large to be read for a list.'),
      source_ip: text,
      arrived_at: instant.nullable().describe('When the message arrived.'),
      subject: text.describe('The redacted subject of the message.'),
      messages: z.int().describe('The number of messages that the report represents.'),
      answers: list(z.enum(['resolved', 'not-ours', 'wrong', 'stop', 'original'])),
    }),
  ),
  next: z.url().nullable().describe('The URL of the next page; null on the last page.'),
})

export const deskAnswerSchema = z.object({
  reports: z
    .array(z.string().max(60))
    .min(1)
    .max(GROUP_MAX)
    .describe('The numbers of the reports.'),
  answer: z
    .enum([...groupAnswers, 'original'])
    .describe('original: you need the message as it was received; its reporter is asked.'),
  said: z.string().max(2_000).optional().describe('A comment, which the reporters can read.'),
})

export const deskOutcomesSchema = z.object({
  results: list(
    z.object({
      number,
      result: z
        .enum(['taken', 'repeated', 'unavailable', 'unknown'])
        .describe(
          'repeated: it had this answer. unavailable: no original is available. unknown: it was ' +
            'not sent to you.',
        ),
    }),
  ),
})

const day = z.iso.date().describe('A day in UTC.')
const complaints = z.int()
const named = z.object({ day, name: z.string(), complaints })

export const deskComplaintsSchema = z.object({
  from: day,
  until: day,
  days: list(z.object({ day, complaints: complaints.nullable() })).describe(
    'All days, the newest first. null: none, or too few to be shown.',
  ),
  ranges: list(named).describe('By range: /24, or /48 of IPv6.'),
  addresses: list(named),
  rates: list(
    z.object({
      name: z.string().describe('An address.'),
      complaints: complaints.describe('Those of the newest 14 of these days.'),
      messages: z.int().describe('Those that mail servers of this site checked in two weeks.'),
      percent: z.number(),
    }),
  ),
})
