import type { Request } from 'express'
import type { z } from 'zod'
import { ProblemError } from '../problem.ts'

/** More than a schema could need: stops a body made of ten million brackets. */
const BRACKETS_MAX = 1_000

/** @throws ProblemError 400 for what is no JSON in UTF-8, 422 for what the schema refuses */
export function readJson<Schema extends z.ZodType>(body: Buffer, schema: Schema): z.infer<Schema> {
  const parsed = schema.safeParse(jsonOf(body))
  if (parsed.success) return parsed.data
  throw faultOf(parsed.error, 'The body')
}

/**
 * What stands behind the question mark, each at most once, and nothing that the schema does not
 * know: what is misspelled is not passed over.
 *
 * @throws ProblemError 422
 */
export function readQuery<Schema extends z.ZodObject>(req: Request, schema: Schema) {
  const given: Record<string, string> = {}
  for (const [name, value] of new URL(req.originalUrl, 'http://site').searchParams) {
    if (!Object.hasOwn(schema.shape, name)) {
      const known = Object.keys(schema.shape).join(', ')
      throw new ProblemError('bad-field', `There is no "${name.slice(0, 40)}". Known are ${known}.`)
    }
    if (given[name] !== undefined) throw new ProblemError('bad-field', `Say ${name} only once.`)
    given[name] = value
  }
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw faultOf(parsed.error, 'The address')
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
      if (++brackets > BRACKETS_MAX) throw new ProblemError('bad-request', 'The JSON is too deep.')
    }
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new ProblemError('bad-request', 'The body is not JSON in UTF-8.')
  }
}
