import { createHash } from 'node:crypto'
import { claimIdempotencyKey } from '../../db/idempotency-keys.ts'
import type { Db } from '../../db/pool.ts'
import type { Clock } from '../../world.ts'
import { ProblemError } from '../problem.ts'
import type { Submission } from './submission.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/**
 * Ties an Idempotency-Key to what the request says, not to its bytes: the boundary of a form may
 * differ from one attempt to the next. The answer to a repeat needs no memory, because the same
 * message from the same reporter is the same report.
 *
 * @throws ProblemError 400 for a key that is none, 422 when it belongs to another request
 */
export async function claimKey(
  app: { pool: Db; clock: Clock },
  key: string,
  reporterId: string,
  submission: Submission,
): Promise<void> {
  if (!KEY.test(key)) {
    throw new ProblemError('bad-request', 'Idempotency-Key: 1 to 255 visible ASCII characters.')
  }
  const keyHash = createHash('sha256').update(`${reporterId} ${key}`).digest()
  const bodyHash = hashOf(submission)
  const owner = await claimIdempotencyKey(app.pool, { keyHash, bodyHash, now: app.clock() })
  if (owner.equals(bodyHash)) return
  throw new ProblemError(
    'key-used',
    'This Idempotency-Key came with another body before. Use a new key for a new request.',
  )
}

function hashOf({ messages, remarks }: Submission): Buffer {
  const hash = createHash('sha256').update(JSON.stringify(remarks))
  for (const message of messages) {
    const raw = 'raw' in message ? message.raw : undefined
    hash.update(`\n${raw?.length ?? -1}\n`)
    if (raw) hash.update(raw)
  }
  return hash.digest()
}
