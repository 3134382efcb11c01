import { z } from 'zod'
import { statusSchema } from './report-schema.ts'
import { problemSchema } from './problem-schema.ts'
import { list, reportId } from './values.ts'

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

/** One message of many. */
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

/** The answer to one message that was taken in. */
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

/** The answer to a form or a file of several messages. */
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

/** What became of one message of a bulk request. */
export const bulkResultSchema = z.union([
  receiptSchema.extend({
    ...bulkPlace,
    repeated: z.boolean().describe('Nothing changed: it had been reported so before.'),
  }),
  z.object({ ...bulkPlace, problem: problemSchema }),
])

/** The answer to a bulk request. */
export const bulkResultsSchema = z
  .object({
    accepted: z.int().describe('How many are new.'),
    changed: z.int().describe('How many had been reported as another kind before.'),
    repeated: z.int().describe('How many had been reported so before.'),
    refused: z.int(),
    results: list(bulkResultSchema).describe('One for each message, in their order.'),
  })
  .describe('What became of each message.')
