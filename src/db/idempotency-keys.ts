import type { Db } from './pool.ts'
import { first } from './values.ts'

/** What was answered to a request that came with a key. */
export type KeptAnswer = { status: number; body: string }

/**
 * Ties a client's key to the body it came with. Returns the hash of the body that the key belongs
 * to (another than `bodyHash` when the client used the key for something else before), and what was
 * answered to it, where that is known by now.
 */
export async function claimIdempotencyKey(
  db: Db,
  claim: { keyHash: Buffer; bodyHash: Buffer; now: Date },
): Promise<{ bodyHash: Buffer; answer: KeptAnswer | undefined }> {
  await db.query(
    `insert into idempotency_keys (key_hash, body_hash, created_at) values ($1, $2, $3)
     on conflict (key_hash) do nothing`,
    [claim.keyHash, claim.bodyHash, claim.now],
  )
  const row = first(
    await db.query<Row>(`select ${columns} from idempotency_keys where key_hash = $1`, [
      claim.keyHash,
    ]),
  )
  return { bodyHash: row?.bodyHash ?? claim.bodyHash, answer: row && answerOf(row) }
}

/** Keeps the answer to a key unless there is one, and gives the one that is kept then. */
export async function keepFirstAnswer(
  db: Db,
  keyHash: Buffer,
  { status, body }: KeptAnswer,
): Promise<KeptAnswer | undefined> {
  await db.query(
    `update idempotency_keys set answer_status = $2, answer_body = $3
     where key_hash = $1 and answer_status is null`,
    [keyHash, status, body],
  )
  const row = first(
    await db.query<Row>(`select ${columns} from idempotency_keys where key_hash = $1`, [keyHash]),
  )
  return row && answerOf(row)
}

type Row = { bodyHash: Buffer; status: number | null; body: string | null }

const columns = `body_hash as "bodyHash", answer_status as "status", answer_body as "body"`

function answerOf({ status, body }: Row): KeptAnswer | undefined {
  return status === null || body === null ? undefined : { status, body }
}

/** Forgets keys made before an instant. */
export async function removeIdempotencyKeys(db: Db, before: Date): Promise<void> {
  await db.query(`delete from idempotency_keys where created_at < $1`, [before])
}
