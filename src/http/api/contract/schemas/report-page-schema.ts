import { z } from 'zod'
import { kindSchema, statusSchema } from './report-schema.ts'

const PAGE_MAX = 100

/** Which of the own reports are asked for. */
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
