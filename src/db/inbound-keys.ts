import type { Db } from './pool.ts'

/**
 * Takes the key of a mail for its own; false when a mail had it before. Waits for a rival that has
 * not ended yet.
 */
export async function claimInboundKey(
  tx: Db,
  claim: { keyHash: Buffer; mailId: string; now: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into inbound_keys (key_hash, mail_id, created_at) values ($1, $2, $3)
     on conflict (key_hash) do nothing`,
    [claim.keyHash, claim.mailId, claim.now],
  )
  return rowCount === 1
}

/** Forgets keys made before an instant. */
export async function removeInboundKeys(db: Db, before: Date): Promise<void> {
  await db.query(`delete from inbound_keys where created_at < $1`, [before])
}
