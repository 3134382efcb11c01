import type { z } from 'zod'
import { type Refusal, refusalOf, structureLimits } from '../../intake/check-message.ts'
import { type ReadMessage, readMessage } from '../../mail/message.ts'
import { bulkItemSchema, submissionSchema } from '../api/contract/schemas/submission-schemas.ts'
import { readJson } from '../api/read-json.ts'
import { messageInBase64, signalerMessage } from '../api/signaler-message.ts'
import { parseBase64 } from '../base64.ts'

/** A message that may be taken in, or why it may not. */
export type Fit = { message: ReadMessage } | { refusal: Refusal }

/** A message that came in JSON, with the other fields of its object. */
export type JsonMessage<Schema extends z.ZodObject> = {
  /** Undefined where the message is not in base64. */
  raw: Buffer | undefined
  given: Omit<z.infer<Schema>, 'message_base64'>
}

/** What takes time that grows with the bytes. Each task throws only ProblemErrors. */
export const bodyTasks = {
  message: (raw: Buffer, bytesMax: number): Fit => {
    const message = readMessage(raw)
    const refusal = refusalOf(message, { ...structureLimits, bytesMax })
    return refusal ? { refusal } : { message }
  },
  submission: (body: Buffer) => messageOfJson(body, submissionSchema),
  bulkItem: (line: Buffer) => messageOfJson(line, bulkItemSchema),
  signaler: (body: Buffer) => ({ raw: signalerMessage(body) }),
  base64: (text: Buffer) => ({ raw: messageInBase64(text.toString('latin1').trim()) }),
} as const

/** The tasks by name. */
export type BodyTasks = typeof bodyTasks

function messageOfJson<Schema extends typeof submissionSchema>(
  body: Buffer,
  schema: Schema,
): JsonMessage<Schema> {
  const { message_base64, ...given } = readJson(body, schema)
  return { raw: parseBase64(message_base64), given }
}
