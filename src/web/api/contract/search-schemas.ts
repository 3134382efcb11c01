import { z } from 'zod'
import { startMassAction } from '../../../search/mass-actions.ts'
import { SEARCH_CHARS_MAX } from '../../../search/syntax.ts'
import { instant, list, reportId, reportLineSchema } from './report-schemas.ts'

const PAGE_MAX = 200
const text = z.string().nullable()

export const searchPageSchema = z.object({
  q: z
    .string()
    .max(SEARCH_CHARS_MAX)
    .default('')
    .describe('The search, as on the page of reports; without it, all reports.'),
  before: z.uuid().optional().describe('Only reports older than this one.'),
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(50),
})

export const foundReportsSchema = z.object({
  reports: list(
    reportLineSchema.omit({ result: true }).extend({
      channel: z.string(),
      reporter_id: z.uuid(),
      origin: text.describe('The address of the origin.'),
      network: text,
      verdict: text,
      has_effect: z.boolean().describe('false: held or dropped, because of a shadow ban.'),
    }),
  ),
  count: z.int().describe('The number of reports found, at most 10,001.'),
  is_count_exact: z.boolean().describe('false: more than 10,000 reports were found.'),
  complete_until: instant
    .nullable()
    .describe('Until when the index has all changes; null: the search covers all.'),
  next: z.url().nullable().describe('The URL of the next page; null on the last page.'),
})

const chosen = {
  action: z
    .enum(startMassAction.input.shape.kind.options)
    .describe('What to do. Actions that delete something are not part of the API.'),
  search: z.string().max(SEARCH_CHARS_MAX).optional().describe('Acts on all reports it finds.'),
  ids: z.array(reportId).min(1).max(500).optional().describe('Instead of a search: these reports.'),
}

/** What an action would be done with. */
export const massChoiceSchema = z.object(chosen)

export const newMassActionSchema = z.object({
  ...chosen,
  reason: z.string().describe('Written to the audit log.'),
  per_minute: z.int().min(1).max(6_000).optional().describe('Reports a minute, at most.'),
})

export const massPreviewSchema = z.object({
  reports: z.int().describe('The number of reports, at most 100,001.'),
  may_start: z.boolean().describe('false: no reports, or more than 100,000.'),
  meaning: z.string().describe('What will happen, in English. The wording may change.'),
  undo_meaning: text.describe('What undoing does; null: the action cannot be undone.'),
})

const massActionLine = z.object({
  id: z.uuid(),
  action: z.string(),
  search: text.describe('null: the reports were selected by their ids.'),
  reason: z.string(),
  state: z.enum(['running', 'stopped', 'done', 'undoing', 'undone']),
  per_minute: z.int(),
  started_at: instant,
  ended_at: instant.nullable(),
})

export const massActionSchema = massActionLine.extend({
  may_undo: z.boolean(),
  reports: z
    .object({
      waiting: z.int(),
      changed: z.int(),
      unchanged: z.int(),
      undone: z.int(),
      notified: z.int().describe('Undone after a desk had been notified; it gets a correction.'),
      overtaken: z.int().describe('Not undone, because a later decision stays.'),
      gone: z.int().describe('Not undone, because the report was deleted.'),
    })
    .describe('Numbers of reports, by what happened to them.'),
})

export const massActionsSchema = z.object({ actions: list(massActionLine) })
