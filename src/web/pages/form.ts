import type { Request, Response } from 'express'
import { createMultipartParser, type FormPart } from '../bodies/multipart.ts'
import { createUrlencodedParser } from '../bodies/urlencoded.ts'
import { admit } from '../limits.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { isOfSession, tokenField, visitOf } from './visit.ts'

/** Dependencies for reading forms and counting anonymous attempts. */
export type FormReader = Pick<Site, 'takeBody' | 'takeAnonymousBody' | 'limits' | 'config'>

export type Form = {
  /** The first field of that name, trimmed; undefined if absent. */
  text: (name: string) => string | undefined
  texts: (name: string) => string[]
  /** The names and whole texts of all fields but files, in order. */
  fields: () => [name: string, text: string][]
  /** The exact bytes of the first field of that name. */
  bytes: (name: string) => Buffer | undefined
  /** Whether the first field of that name was truncated at the size limit. */
  isCut: (name: string) => boolean
  /** The files selected in the field of that name. */
  files: (name: string) => FormPart[]
}

/** A form of another session: its sender signed in again since the page was shown. */
export class StaleForm extends ProblemError {
  override name = 'StaleForm'
  readonly form: Form

  constructor(form: Form) {
    super('stale-form', 'Load the page again and send the form from there.')
    this.form = form
  }
}

const PARTS_MAX = 300
const TEXT_BYTES_MAX = 16_000
const COUNTED_BYTES = 1_000_000
/** The paths of forms in which a password may identify the reporter. */
const takesPassword = new Set(['/sign-in', '/report'])

/**
 * Reads an urlencoded or multipart form. A form of a signed-in reporter must include the form token
 * of the session. A form of any other visitor counts against the rate limit before it is read.
 *
 * @throws ProblemError
 * @throws StaleForm if the token is of another session, with what was entered
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
  const take = reporter ? site.takeBody : site.takeAnonymousBody
  const partLimits = { partBytesMax, partsMax: PARTS_MAX }
  const parser =
    type === 'multipart/form-data'
      ? createMultipartParser(contentType, partLimits)
      : createUrlencodedParser(partLimits)
  await take(req, res, { bytesMax, ownerId: reporter?.id }, parser.write)
  const form = formOf(await parser.end())
  const isProven = () => takesPassword.has(req.path) && hasPassword(form)
  if (!isOfSession(req, form.text(tokenField), isProven)) throw new StaleForm(form)
  return form
}

/** Counts each started megabyte; a request without a length counts as the maximum size. */
function costOf(req: Request, bytesMax: number): number {
  const bytes = Number(req.headers['content-length'] ?? bytesMax)
  return Math.max(1, Math.ceil(Math.min(bytes, bytesMax) / COUNTED_BYTES))
}

export function hasPassword(form: Form): boolean {
  return (form.bytes('user[password]')?.length ?? 0) > 0
}

export function readShortForm(req: Request, res: Response, site: FormReader): Promise<Form> {
  return readForm(req, res, site, { bytesMax: 64_000, partBytesMax: TEXT_BYTES_MAX })
}

function formOf(parts: readonly FormPart[]): Form {
  const named = (name: string) => parts.filter((part) => part.name === name)
  const textOf = ({ content }: FormPart) =>
    // PostgreSQL text cannot contain NUL.
    content
      .toString('utf8', 0, Math.min(content.length, TEXT_BYTES_MAX))
      .replaceAll('\0', '')
      .trim()
  return {
    text: (name) => named(name).map(textOf)[0],
    texts: (name) => named(name).map(textOf),
    fields: () =>
      parts.flatMap(({ name, fileName, content }) =>
        fileName === undefined ? [[name, content.toString().replaceAll('\0', '')]] : [],
      ),
    bytes: (name) => named(name)[0]?.content,
    isCut: (name) => named(name)[0]?.isCut ?? false,
    files: (name) =>
      named(name).filter(
        ({ fileName, content }) =>
          fileName !== undefined && (fileName !== '' || content.length > 0),
      ),
  }
}
