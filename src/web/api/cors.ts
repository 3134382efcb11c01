import { createHash } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'
import { z } from 'zod'
import { claimIdempotencyKey, keepFirstAnswer } from '../../db/idempotency-keys.ts'
import type { Db } from '../../db/pool.ts'
import type { Clock } from '../../world.ts'
import { ProblemError } from '../problem.ts'
import type { ApiAnswer, ApiSubmission } from './submission.ts'

/** What a page may read of an answer besides its body. */
const exposed = [
  ...['Location', 'Link', 'Retry-After', 'WWW-Authenticate', 'Allow', 'Accept-Post'],
  ...['Content-Disposition', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy'],
].join(', ')

/**
 * Lets pages of any origin use the API. Nothing is given away: a browser sends no cookie along,
 * and the credentials come from the page itself.
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
        'Authorization, Content-Type, Idempotency-Key, X-Requested-With, Accept',
      'access-control-max-age': '86400',
    })
    .end()
}

/** A browser asks before it sends; only a program sends Authorization with OPTIONS. */
function isPreflight(req: Request): boolean {
  const { origin, authorization } = req.headers
  return (
    origin !== undefined &&
    authorization === undefined &&
    req.headers['access-control-request-method'] !== undefined
  )
}

/**
 * Answers whatever method an address does not take: OPTIONS with what it takes, all others with 405
 * and the same (RFC 9110 §15.5.6).
 */
export function otherMethods(...taken: readonly string[]) {
  const allow = [...taken.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])), 'OPTIONS']
  return (req: Request, res: Response): void => {
    const header = allow.join(', ')
    if (req.method === 'OPTIONS') {
      res.statusCode = 204
      res.setHeader('allow', header)
      return void res.end()
    }
    throw new ProblemError('wrong-method', `This address takes ${taken.join(', ')}.`, {
      allow: header,
    })
  }
}

const KEY = /^[\x21-\x7e]{1,255}$/

type Needs = { pool: Db; clock: Clock }

/** A key that belongs to this request, and what was answered to it before. */
export type ClaimedKey = { keyHash: Buffer; answer: ApiAnswer | undefined }

const keptBody = z.object({ url: z.string().optional() }).loose()

/**
 * Ties an Idempotency-Key to what the request says, not to its bytes: the boundary of a form may
 * differ from one attempt to the next. Keys are kept for two days.
 *
 * @throws ProblemError 400 for a key that is none, 422 when it belongs to another request
 */
export async function claimKey(
  app: Needs,
  key: string,
  reporterId: string,
  submission: ApiSubmission,
): Promise<ClaimedKey> {
  if (!KEY.test(key)) {
    throw new ProblemError('bad-request', 'Idempotency-Key: 1 to 255 visible ASCII characters.')
  }
  const keyHash = createHash('sha256').update(`${reporterId} ${key}`).digest()
  const bodyHash = hashOf(submission)
  const claimed = await claimIdempotencyKey(app.pool, { keyHash, bodyHash, now: app.clock() })
  if (claimed.bodyHash.equals(bodyHash)) return { keyHash, answer: answerOf(claimed.answer) }
  throw new ProblemError(
    'key-used',
    'This Idempotency-Key came with another body before. Use a new key for a new request.',
  )
}

/**
 * Keeps the first answer to a key, and gives it back: who asks twice at once hears the same twice.
 * It holds ids, states and problems, and no names of files.
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
 * The answer with the names of the files of this very request; null for what came out of a file,
 * where it was opened for another request.
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

/** Without names of files: they are content. */
function withoutFiles({ body }: ApiAnswer): string {
  return JSON.stringify(body, (name, value: unknown) => (name === 'file' ? null : value))
}

function answerOf(kept: { status: number; body: string } | undefined): ApiAnswer | undefined {
  if (!kept) return undefined
  const body = keptBody.parse(JSON.parse(kept.body))
  return { status: kept.status, body, location: body.url }
}

function hashOf({ files, remarks }: ApiSubmission): Buffer {
  const hash = createHash('sha256').update(JSON.stringify(remarks))
  for (const { raw, isCut } of files) {
    hash.update(`\n${isCut ? -1 : raw.length}\n`)
    if (!isCut) hash.update(raw)
  }
  return hash.digest()
}
