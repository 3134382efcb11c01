import type { Request } from 'express'
import type { z } from 'zod'
import {
  type Fit,
  readReported,
  type ReportedBy,
  structureLimits,
} from '../../reports/message-refusal.ts'
import { bulkItemSchema, submissionSchema } from '../api/contract/report-schemas.ts'
import { ProblemError } from '../problem.ts'
import { percentDecoded } from './urlencoded.ts'
import { searchParamsOf } from '../search-params.ts'

const base64 = /^[A-Za-z0-9+/]+$/
const blank = /[\r\n\t ]/
const blanks = /[\r\n\t ]+/g

/**
 * Decodes base64 (RFC 4648 §4); line breaks and missing padding are allowed. Undefined for invalid
 * text, unlike Node's own decoder, which skips unknown characters.
 */
export function parseBase64(text: string): Buffer | undefined {
  const whole = blank.test(text) ? text.replace(blanks, '') : text
  let end = whole.length
  while (end > 0 && end > whole.length - 2 && whole.charCodeAt(end - 1) === 0x3d) end--
  const bare = end === whole.length ? whole : whole.slice(0, end)
  if (bare.length === 0) return whole.length === 0 ? Buffer.alloc(0) : undefined
  if (bare.length % 4 === 1 || !base64.test(bare)) return undefined
  return Buffer.from(bare, 'base64')
}

/** More than the brackets of any valid body; protects against bodies of ten million brackets. */
const BRACKETS_MAX = 1_000

/**
 * Parses a JSON body and validates it.
 *
 * @throws ProblemError 400 if it is not JSON in UTF-8, 422 if the schema rejects it
 */
export function readJson<Schema extends z.ZodType>(body: Buffer, schema: Schema): z.infer<Schema> {
  const parsed = schema.safeParse(jsonOf(body))
  if (parsed.success) return parsed.data
  throw faultOf(parsed.error, 'The body')
}

/**
 * Reads the query parameters, each at most once. Unknown parameters are errors, so that misspelled
 * ones are not ignored.
 *
 * @throws ProblemError 422
 */
export function readQuery<Schema extends z.ZodObject>(req: Request, schema: Schema) {
  const given: Record<string, string> = {}
  for (const [name, value] of searchParamsOf(req)) {
    if (!Object.hasOwn(schema.shape, name)) {
      const known = Object.keys(schema.shape).join(', ')
      throw new ProblemError(
        'bad-field',
        `Unknown field "${name.slice(0, 40)}". The fields are ${known}.`,
      )
    }
    if (given[name] !== undefined) throw new ProblemError('bad-field', `Give ${name} only once.`)
    given[name] = value
  }
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw faultOf(parsed.error, 'The URL')
}

function faultOf(error: z.ZodError, whole: string): ProblemError {
  const [issue] = error.issues
  const field = issue?.path.join('.') || whole
  const what = issue?.message.replace(/\.$/, '') ?? 'is not valid'
  return new ProblemError('bad-field', `${field}: ${what}.`)
}

function jsonOf(body: Buffer): unknown {
  let brackets = 0
  for (const open of ['[', '{']) {
    for (let at = body.indexOf(open); at >= 0; at = body.indexOf(open, at + 1)) {
      if (++brackets > BRACKETS_MAX)
        throw new ProblemError('bad-request', 'The JSON is nested too deeply.')
    }
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new ProblemError('bad-request', 'The body is not JSON in UTF-8.')
  }
}

/**
 * Decodes a message in base64.
 *
 * @throws ProblemError 400 if the text is missing or not base64
 */
function messageInBase64(text: string | undefined): Buffer {
  if (text === undefined || text === '') {
    throw new ProblemError('no-message', 'Send the message in base64 in the field "message".')
  }
  const raw = parseBase64(text)
  if (raw) return raw
  throw new ProblemError('bad-base64', 'The field "message" must contain the message in base64.')
}

/**
 * Returns a base64 field of an urlencoded body, from clients with and without percent-encoding:
 * plus signs and spaces both mean a plus sign, and `=` may be unescaped. Base64 itself contains
 * neither spaces nor `&`.
 */
export function urlencodedField(body: Buffer, name: string): string | undefined {
  const prefix = `${name}=`
  const inside = body.indexOf(`&${prefix}`)
  if (inside < 0 && body.indexOf(prefix) !== 0) return undefined
  const start = body.indexOf(prefix) === 0 ? prefix.length : inside + 1 + prefix.length
  const end = body.indexOf('&', start)
  const value = percentDecoded(body.subarray(start, end < 0 ? body.length : end)).toString('latin1')
  return value
    .trim()
    .replaceAll(/[\r\n\t]+ */g, '')
    .replaceAll(' ', '+')
}

/** A message from JSON, with the other fields of the object. */
export type JsonMessage<Schema extends z.ZodObject> = {
  /** Undefined if the message is not in base64. */
  raw: Buffer | undefined
  given: Omit<z.infer<Schema>, 'message_base64'>
}

/** Tasks whose time grows with the size of the body. They throw only ProblemErrors. */
export const bodyTasks = {
  message: (raw: Buffer, bytesMax: number, by?: ReportedBy): Fit =>
    readReported(raw, { ...structureLimits, bytesMax }, by),
  submission: (body: Buffer) => messageOfJson(body, submissionSchema),
  bulkItem: (line: Buffer) => messageOfJson(line, bulkItemSchema),
  signaler: (body: Buffer) => ({ raw: messageInBase64(urlencodedField(body, 'message')) }),
  base64: (text: Buffer) => ({ raw: messageInBase64(text.toString('latin1').trim()) }),
} as const

export type BodyTasks = typeof bodyTasks

function messageOfJson<Schema extends typeof submissionSchema>(
  body: Buffer,
  schema: Schema,
): JsonMessage<Schema> {
  const { message_base64, ...given } = readJson(body, schema)
  return { raw: parseBase64(message_base64), given }
}
