import { createHash } from 'node:crypto'
import { z } from 'zod'
import { claimIdempotencyKey, keepFirstAnswer } from '../../db/idempotency-keys.ts'
import type { Db } from '../../db/pool.ts'
import type { Clock } from '../../world.ts'
import { ProblemError } from '../problem.ts'
import type { ApiAnswer } from './results.ts'
import type { Submission } from './submission.ts'

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
  submission: Submission,
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

function hashOf({ files, remarks }: Submission): Buffer {
  const hash = createHash('sha256').update(JSON.stringify(remarks))
  for (const { raw, isCut } of files) {
    hash.update(`\n${isCut ? -1 : raw.length}\n`)
    if (!isCut) hash.update(raw)
  }
  return hash.digest()
}
