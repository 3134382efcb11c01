import { z } from 'zod'

/** A problem as RFC 9457 has it. */
export const problemSchema = z
  .object({
    type: z.url().describe('Leads to the page that lists all problems.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What was wrong this time, for people.'),
  })
  .describe('What was wrong (RFC 9457).')

/** A problem with what became of each message: all were refused. */
export const refusedSchema = problemSchema
  .extend({ results: z.array(z.unknown()).optional() })
  .describe('What was wrong; with each result where several messages were sent.')
