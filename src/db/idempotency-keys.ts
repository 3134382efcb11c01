import type { Db } from './pool.ts'
import { first } from './values.ts'

/**
 * Ties a client's key to the body it came with. Returns the hash of the body that the key belongs
 * to: another than `bodyHash` when the client used the key for something else before.
 */
export async function claimIdempotencyKey(
  db: Db,
  claim: { keyHash: Buffer; bodyHash: Buffer; now: Date },
): Promise<Buffer> {
  await db.query(
    `insert into idempotency_keys (key_hash, body_hash, created_at) values ($1, $2, $3)
     on conflict (key_hash) do nothing`,
    [claim.keyHash, claim.bodyHash, claim.now],
  )
  const answer = await db.query<{ bodyHash: Buffer }>(
    `select body_hash as "bodyHash" from idempotency_keys where key_hash = $1`,
    [claim.keyHash],
  )
  return first(answer)?.bodyHash ?? claim.bodyHash
}

/** Forgets keys made before an instant. */
export async function removeIdempotencyKeys(db: Db, before: Date): Promise<void> {
  await db.query(`delete from idempotency_keys where created_at < $1`, [before])
}
