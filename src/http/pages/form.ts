import type { Request, Response } from 'express'
import { parseMultipart, type Part } from '../multipart.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { parseUrlencoded } from '../urlencoded.ts'
import { requireFormToken, tokenField } from './form-token.ts'
import { visitOf } from './visit.ts'

/** Where bodies are read. */
export type FormReader = Pick<Site, 'readBody' | 'readStrangerBody'>

/** A form somebody sent. */
export type Form = {
  /** The first field of that name, without blanks around it; undefined when absent. */
  text: (name: string) => string | undefined
  texts: (name: string) => string[]
  /** The first field of that name, to the byte. */
  bytes: (name: string) => Buffer | undefined
  /** The files that were chosen under that name. */
  files: (name: string) => Part[]
}

const PARTS_MAX = 300
const TEXT_BYTES_MAX = 16_000
/** Where a password in the form is looked at; elsewhere it would prove nothing. */
const takesPassword = new Set(['/sign-in', '/report'])

/**
 * Reads an urlencoded or a multipart form; of who is signed in, only one of that session.
 *
 * @throws ProblemError
 */
export async function readForm(
  req: Request,
  res: Response,
  site: FormReader,
  limits: { bytesMax: number; partBytesMax: number },
): Promise<Form> {
  const contentType = req.headers['content-type'] ?? ''
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded' && type !== 'multipart/form-data') {
    throw new ProblemError('wrong-type', 'Send a form.')
  }
  const { reporter } = visitOf(req)
  const read = reporter ? site.readBody : site.readStrangerBody
  const body = await read(req, res, limits.bytesMax, reporter?.id)
  const { partBytesMax } = limits
  const parts =
    type === 'multipart/form-data'
      ? await parseMultipart(body, contentType, { partBytesMax, partsMax: PARTS_MAX })
      : parseUrlencoded(body, PARTS_MAX)
  const form = formOf(parts)
  const isProven = () => takesPassword.has(req.path) && givesPassword(form)
  requireFormToken(req, form.text(tokenField), isProven)
  return form
}

/** Whether a form says by a password who sends it. */
export function givesPassword(form: Form): boolean {
  return (form.bytes('user[password]')?.length ?? 0) > 0
}

/** Reads a form of a few short fields. */
export function readShortForm(req: Request, res: Response, site: FormReader): Promise<Form> {
  return readForm(req, res, site, { bytesMax: 64_000, partBytesMax: TEXT_BYTES_MAX })
}

function formOf(parts: readonly Part[]): Form {
  const named = (name: string) => parts.filter((part) => part.name === name)
  const textOf = ({ content }: Part) =>
    // No text of PostgreSQL can hold a NUL.
    content
      .toString('utf8', 0, Math.min(content.length, TEXT_BYTES_MAX))
      .replaceAll('\0', '')
      .trim()
  return {
    text: (name) => named(name).map(textOf)[0],
    texts: (name) => named(name).map(textOf),
    bytes: (name) => named(name)[0]?.content,
    files: (name) =>
      named(name).filter(
        ({ fileName, content }) =>
          fileName !== undefined && (fileName !== '' || content.length > 0),
      ),
  }
}
