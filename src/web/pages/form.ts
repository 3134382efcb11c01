import type { Request, Response } from 'express'
import { createMultipartParser, type FormPart } from '../bodies/multipart.ts'
import { createUrlencodedParser } from '../bodies/urlencoded.ts'
import { admit } from '../limits.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { requireFormToken, tokenField, visitOf } from './visit.ts'

/** Where bodies are read, and the attempts of strangers are counted. */
export type FormReader = Pick<Site, 'takeBody' | 'takeStrangerBody' | 'limits' | 'config'>

/** A form somebody sent. */
export type Form = {
  /** The first field of that name, without blanks around it; undefined when absent. */
  text: (name: string) => string | undefined
  texts: (name: string) => string[]
  /** The first field of that name, to the byte. */
  bytes: (name: string) => Buffer | undefined
  /** Whether the first field of that name had more bytes than it may. */
  isCut: (name: string) => boolean
  /** The files that were chosen under that name. */
  files: (name: string) => FormPart[]
}

const PARTS_MAX = 300
const TEXT_BYTES_MAX = 16_000
const COUNTED_BYTES = 1_000_000
/** Where a password in the form is looked at; elsewhere it would prove nothing. */
const takesPassword = new Set(['/sign-in', '/report'])

/**
 * Reads an urlencoded or a multipart form; of who is signed in, only one of that session. Forms of
 * others are counted before they are read.
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
  const { bytesMax, partBytesMax } = limits
  if (!reporter) await admit(req, res, site, 'form', {}, costOf(req, bytesMax))
  const take = reporter ? site.takeBody : site.takeStrangerBody
  const partLimits = { partBytesMax, partsMax: PARTS_MAX }
  const parser =
    type === 'multipart/form-data'
      ? createMultipartParser(contentType, partLimits)
      : createUrlencodedParser(partLimits)
  await take(req, res, { bytesMax, ownerId: reporter?.id }, parser.write)
  const form = formOf(await parser.end())
  const isProven = () => takesPassword.has(req.path) && givesPassword(form)
  requireFormToken(req, form.text(tokenField), isProven)
  return form
}

/** Each megabyte that is begun counts; without a length, as many as there may be. */
function costOf(req: Request, bytesMax: number): number {
  const bytes = Number(req.headers['content-length'] ?? bytesMax)
  return Math.max(1, Math.ceil(Math.min(bytes, bytesMax) / COUNTED_BYTES))
}

/** Whether a form says by a password who sends it. */
export function givesPassword(form: Form): boolean {
  return (form.bytes('user[password]')?.length ?? 0) > 0
}

/** Reads a form of a few short fields. */
export function readShortForm(req: Request, res: Response, site: FormReader): Promise<Form> {
  return readForm(req, res, site, { bytesMax: 64_000, partBytesMax: TEXT_BYTES_MAX })
}

function formOf(parts: readonly FormPart[]): Form {
  const named = (name: string) => parts.filter((part) => part.name === name)
  const textOf = ({ content }: FormPart) =>
    // No text of PostgreSQL can hold a NUL.
    content
      .toString('utf8', 0, Math.min(content.length, TEXT_BYTES_MAX))
      .replaceAll('\0', '')
      .trim()
  return {
    text: (name) => named(name).map(textOf)[0],
    texts: (name) => named(name).map(textOf),
    bytes: (name) => named(name)[0]?.content,
    isCut: (name) => named(name)[0]?.isCut ?? false,
    files: (name) =>
      named(name).filter(
        ({ fileName, content }) =>
          fileName !== undefined && (fileName !== '' || content.length > 0),
      ),
  }
}
