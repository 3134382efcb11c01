import type { z } from 'zod'
import { parseBase64 } from '../base64.ts'
import { parseMultipart, type Part } from '../multipart.ts'
import { ProblemError } from '../problem.ts'
import { parseRemarks } from '../remarks.ts'
import type { Remarks } from '../submit.ts'
import { submissionSchema } from './contract/schemas/submission-schemas.ts'
import { readJson } from './read-json.ts'

/** One message of a request; `refusal` when it cannot be one. */
export type GivenMessage =
  { file: string | null; raw: Buffer } | { file: string; refusal: ProblemError }

/** What a request to the report API brings. */
export type Submission = { messages: readonly GivenMessage[]; remarks: Remarks }

/** The media types the report API takes. */
export const takenTypes = 'message/rfc822, message/global, application/json, multipart/form-data'

/** Messages in one form. */
export const MESSAGES_MAX = 100
const REMARK_BYTES_MAX = 16_000
/** The bytes a body of this type may have, its encoding included. */
export function bodyBytesMax(type: string, messageBytesMax: number): number {
  if (type === 'application/json') return Math.ceil(messageBytesMax * 1.4) + 64_000
  if (type === 'multipart/form-data') return messageBytesMax * 2
  return messageBytesMax
}

/**
 * Reads the body of a report by its type. `query` holds the remarks of a raw message, which has
 * no other place for them.
 */
export async function parseSubmission(
  body: Buffer,
  request: { type: string; contentType: string; query: string; messageBytesMax: number },
): Promise<Submission> {
  switch (request.type) {
    case 'message/rfc822':
    case 'message/global':
      return { messages: [{ file: null, raw: body }], remarks: queryRemarks(request.query) }
    case 'application/json':
      return submissionOf(messageOfJson(readJson(body, submissionSchema)))
    case 'multipart/form-data':
      return parseForm(
        await parseMultipart(body, request.contentType, {
          partBytesMax: request.messageBytesMax,
          partsMax: MESSAGES_MAX + 10,
        }),
      )
    default:
      throw new ProblemError('wrong-type', `Send one of these types: ${takenTypes}.`, {
        'accept-post': takenTypes,
      })
  }
}

function submissionOf({ raw, remarks }: ReturnType<typeof messageOfJson>): Submission {
  return { messages: [{ file: null, raw }], remarks }
}

function queryRemarks(query: string): Remarks {
  if (query === '') return parseRemarks({})
  const given = new URLSearchParams(query)
  return parseRemarks({
    kind: given.get('kind') ?? undefined,
    comment: given.get('comment') ?? undefined,
    receivedVia: given.getAll('received_via'),
  })
}

/** @throws ProblemError 400 when the message is not base64, 422 for a wrong remark */
export function messageOfJson(given: z.infer<typeof submissionSchema>): {
  raw: Buffer
  remarks: Remarks
} {
  const { message_base64, kind, comment, received_via } = given
  const raw = parseBase64(message_base64)
  if (!raw) {
    throw new ProblemError('bad-base64', 'message_base64 must be the message in standard base64.')
  }
  const receivedVia = typeof received_via === 'string' ? [received_via] : received_via
  return { raw, remarks: parseRemarks({ kind, comment, receivedVia }) }
}

function parseForm(parts: readonly Part[]): Submission {
  const texts = (name: string) => parts.filter((part) => part.name === name).map(textOf)
  const messages = parts
    .filter(
      ({ name, fileName, content }) =>
        !remarkNames.has(name) && (fileName !== '' || content.length > 0),
    )
    .map(messageOf)
  if (messages.length === 0) {
    throw new ProblemError('no-message', 'Attach each message as a file of the form.')
  }
  if (messages.length > MESSAGES_MAX) {
    throw new ProblemError('bad-field', `A form may hold at most ${MESSAGES_MAX} messages.`)
  }
  return {
    messages,
    remarks: parseRemarks({
      kind: texts('kind')[0],
      comment: texts('comment')[0],
      receivedVia: [...texts('received_via'), ...texts('received_via[]')],
    }),
  }
}

const remarkNames = new Set(['kind', 'comment', 'received_via', 'received_via[]'])

function textOf({ name, content }: Part): string {
  if (content.length > REMARK_BYTES_MAX) throw new ProblemError('bad-field', `${name} is too long.`)
  return content.toString('utf8')
}

function messageOf({ fileName, name, content, isCut }: Part): GivenMessage {
  const file = fileName || name || 'message'
  if (!isCut) return { file, raw: content }
  const detail = `This file has more than the ${content.length} bytes that a message may have.`
  return { file, refusal: new ProblemError('too-big', detail) }
}
