import type { Request, Response } from 'express'
import type { JsonMessage } from '../bodies/body-tasks.ts'
import { createMultipartParser, type Part } from '../multipart.ts'
import { ProblemError } from '../problem.ts'
import { goneSignal } from '../read-body.ts'
import { parseRemarks } from '../remarks.ts'
import type { Site } from '../site.ts'
import type { Remarks } from '../submit.ts'
import type { submissionSchema } from './contract/schemas/submission-schemas.ts'

/** A message or a file of a request; `isCut` when it had more bytes than one may have. */
export type GivenFile = { file: string | null; raw: Buffer; isCut: boolean }

/** What a request to the report API brings. */
export type Submission = {
  files: readonly GivenFile[]
  remarks: Remarks
  /** `opened`: files may hold several messages, as those of the form; else each is a message. */
  are: 'messages' | 'opened'
}

/** Files that hold messages, and what one is called that comes without a name. */
const fileTypes: Readonly<Record<string, string>> = {
  'application/zip': 'messages.zip',
  'application/mbox': 'messages.mbox',
  'application/vnd.ms-outlook': 'message.msg',
}

/** The media types the report API takes. */
export const takenTypes = [
  ...['message/rfc822', 'message/global', 'application/json', 'multipart/form-data'],
  ...Object.keys(fileTypes),
].join(', ')

/** Files in one form. */
export const FILES_MAX = 100
const REMARK_BYTES_MAX = 16_000
/** The bytes a body of this type may have, its encoding included. */
export function bodyBytesMax(type: string, messageBytesMax: number): number {
  if (type === 'application/json') return Math.ceil(messageBytesMax * 1.4) + 64_000
  if (type === 'multipart/form-data') return messageBytesMax * 2
  return messageBytesMax
}

/** Where bodies are read. */
type BodyReader = Pick<Site, 'readBody' | 'takeBody' | 'bodies' | 'config'>

/**
 * Reads the body of a report by its type. Of a raw message, the query holds the remarks: it has no
 * other place for them.
 */
export async function readSubmission(
  req: Request,
  res: Response,
  site: BodyReader,
  { type, ownerId }: { type: string; ownerId: string },
): Promise<Submission> {
  const { messageBytesMax } = site.config
  const bytesMax = bodyBytesMax(type, messageBytesMax)
  if (type === 'multipart/form-data') {
    const limits = { partBytesMax: messageBytesMax, partsMax: FILES_MAX + 10 }
    const parser = createMultipartParser(req.headers['content-type'] ?? '', limits)
    await site.takeBody(req, res, { bytesMax, ownerId }, parser.write)
    return parseForm(await parser.end())
  }
  const body = await site.readBody(req, res, bytesMax, ownerId)
  if (type === 'application/json') {
    const owner = { ownerId, gone: goneSignal(res) }
    return oneMessage(givenMessage(await site.bodies.read('submission', body, owner)))
  }
  const at = req.url.indexOf('?')
  const remarks = queryRemarks(at < 0 ? '' : req.url.slice(at + 1))
  const file = fileTypes[type]
  if (file === undefined) return oneMessage({ raw: body, remarks })
  return { files: [{ file, raw: body, isCut: false }], remarks, are: 'opened' }
}

/** One message that came by itself. */
export function oneMessage({ raw, remarks }: { raw: Buffer; remarks: Remarks }): Submission {
  return { files: [{ file: null, raw, isCut: false }], remarks, are: 'messages' }
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
export function givenMessage({ raw, given }: JsonMessage<typeof submissionSchema>): {
  raw: Buffer
  remarks: Remarks
} {
  if (!raw) {
    throw new ProblemError('bad-base64', 'message_base64 must be the message in standard base64.')
  }
  const { kind, comment, received_via } = given
  const receivedVia = typeof received_via === 'string' ? [received_via] : received_via
  return { raw, remarks: parseRemarks({ kind, comment, receivedVia }) }
}

function parseForm(parts: readonly Part[]): Submission {
  const texts = (name: string) => parts.filter((part) => part.name === name).map(textOf)
  const files = parts
    .filter(
      ({ name, fileName, content }) =>
        !remarkNames.has(name) && (fileName !== '' || content.length > 0),
    )
    .map(({ fileName, name, content, isCut }) => {
      return { file: fileName || name || 'message', raw: content, isCut }
    })
  if (files.length === 0) {
    throw new ProblemError('no-message', 'Attach each message as a file of the form.')
  }
  if (files.length > FILES_MAX) {
    throw new ProblemError('bad-field', `A form may hold at most ${FILES_MAX} files.`)
  }
  return {
    files,
    are: 'opened',
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
