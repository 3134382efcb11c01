import { createHash } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'
import { z } from 'zod'
import { claimIdempotencyKey, keepFirstAnswer } from '../../db/idempotency-keys.ts'
import type { Db } from '../../db/pool.ts'
import type { Clock } from '../../world.ts'
import { ProblemError } from '../problem.ts'
import type { ApiAnswer, ApiSubmission } from './submission.ts'

/** The response header fields that pages of other origins may read. */
const exposed = [
  ...['Location', 'Link', 'Retry-After', 'WWW-Authenticate', 'Allow', 'Accept-Post'],
  ...['Content-Disposition', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy'],
].join(', ')

/**
 * Lets pages of any origin use the API. This gives no access by itself: browsers send no cookies
 * with such requests, and the credentials come from the page.
 */
export function cors(req: Request, res: Response, next: NextFunction): void {
  res.setHeader('access-control-allow-origin', '*')
  if (req.method !== 'OPTIONS' || !isPreflight(req)) {
    res.setHeader('access-control-expose-headers', exposed)
    return next()
  }
  res
    .status(204)
    .set({
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers':
        'Authorization, Content-Type, Idempotency-Key, On-Behalf-Of, X-Requested-With, Accept',
      'access-control-max-age': '86400',
    })
    .end()
}

/**
 * Whether a request is a preflight of a browser. Only other programs send Authorization with
 * OPTIONS.
 */
function isPreflight(req: Request): boolean {
  const { origin, authorization } = req.headers
  return (
    origin !== undefined &&
    authorization === undefined &&
    req.headers['access-control-request-method'] !== undefined
  )
}

const knownMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Responds to methods that a path does not support: OPTIONS with the supported ones, all others
 * with 405 and the same Allow header (RFC 9110 §15.5.6).
 */
export function otherMethods(...given: readonly string[]) {
  const taken = knownMethods.filter((one) => given.some((other) => other.toUpperCase() === one))
  const allow = [...taken.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])), 'OPTIONS']
  return (req: Request, res: Response): void => {
    const header = allow.join(', ')
    if (req.method === 'OPTIONS') {
      res.statusCode = 204
      res.setHeader('allow', header)
      return void res.end()
    }
    throw new ProblemError('wrong-method', `This URL supports ${taken.join(', ')}.`, {
      allow: header,
    })
  }
}

const KEY = /^[\x21-\x7e]{1,255}$/

type Needs = { pool: Db; clock: Clock }

/** A key that belongs to this request, and the stored response to it. */
export type ClaimedKey = { keyHash: Buffer; answer: ApiAnswer | undefined }

const keptBody = z.object({ url: z.string().optional() }).loose()

/**
 * Binds an Idempotency-Key to the content of a request instead of its bytes, because the boundary
 * of a form may differ between attempts. Keys are kept for two days.
 *
 * @throws ProblemError 400 if the key is invalid, 422 if it belongs to a different request
 */
export async function claimKey(
  app: Needs,
  key: string,
  reporterId: string,
  submission: ApiSubmission,
): Promise<ClaimedKey> {
  if (!KEY.test(key)) {
    throw new ProblemError(
      'bad-request',
      'Idempotency-Key must be 1 to 255 visible ASCII characters.',
    )
  }
  const keyHash = createHash('sha256').update(`${reporterId} ${key}`).digest()
  const bodyHash = hashOf(submission)
  const claimed = await claimIdempotencyKey(app.pool, { keyHash, bodyHash, now: app.clock() })
  if (claimed.bodyHash.equals(bodyHash)) return { keyHash, answer: answerOf(claimed.answer) }
  throw new ProblemError(
    'key-used',
    'This Idempotency-Key was used with another body. Use a new key for a new request.',
  )
}

/**
 * Stores the first response to a key and returns it, so that concurrent requests with the same key
 * get the same response. It contains ids, states and problems, but no file names.
 */
export async function answerOnce(
  app: Needs,
  { keyHash }: ClaimedKey,
  answer: ApiAnswer,
): Promise<ApiAnswer> {
  if (answer.status >= 400) return answer
  const kept = { status: answer.status, body: withoutFiles(answer) }
  return answerOf(await keepFirstAnswer(app.pool, keyHash, kept)) ?? answer
}

/**
 * Adds the file names of the current request to a response; null if the number of results differs
 * because an archive contained several messages.
 */
export function withFiles(answer: ApiAnswer, names: readonly (string | null)[]): ApiAnswer {
  if (!('results' in answer.body) || !Array.isArray(answer.body.results)) return answer
  const { results } = answer.body
  const isEach = results.length === names.length
  const named = results.map((result: object, index) => ({
    ...result,
    file: isEach ? (names[index] ?? null) : null,
  }))
  return { ...answer, body: { ...answer.body, results: named } }
}

/** Serializes the body of a response without file names, because these are content. */
function withoutFiles({ body }: ApiAnswer): string {
  return JSON.stringify(body, (name, value: unknown) => (name === 'file' ? null : value))
}

function answerOf(kept: { status: number; body: string } | undefined): ApiAnswer | undefined {
  if (!kept) return undefined
  const body = keptBody.parse(JSON.parse(kept.body))
  return { status: kept.status, body, location: body.url }
}

function hashOf({ files, remarks }: ApiSubmission): Buffer {
  // A request that was asked for a choice is repeated with the choice.
  const hash = createHash('sha256').update(JSON.stringify({ ...remarks, choice: undefined }))
  for (const { raw, isCut } of files) {
    hash.update(`\n${isCut ? -1 : raw.length}\n`)
    if (!isCut) hash.update(raw)
  }
  return hash.digest()
}
