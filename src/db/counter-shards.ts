import type { Db } from './pool.ts'
import { first } from './values.ts'

/** Apart from the other advisory locks of the program. */
const LOCK_CLASS = 20_813

/**
 * Makes this transaction the only one that rolls a shard up, and gives the shard's new version; or
 * undefined at once, while another holds it. The claim ends with the transaction.
 *
 * The roll-up needs no commit on disk: if the server dies the increments are there again, since
 * taking them is part of the same transaction. And it finds keys by their index, whatever a table
 * without statistics suggests.
 */
export async function claimShard(tx: Db, shard: number): Promise<number | undefined> {
  await tx.query('set local synchronous_commit = off')
  await tx.query('set local enable_seqscan = off')
  const { rows } = await tx.query<{ free: boolean }>(
    'select pg_try_advisory_xact_lock($1, $2) as free',
    [LOCK_CLASS, shard],
  )
  if (!rows[0]?.free) return undefined
  const claimed = await tx.query<{ version: number }>(
    'update counter_shards set version = version + 1 where shard = $1 returning version',
    [shard],
  )
  return first(claimed)?.version
}
