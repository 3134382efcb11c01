import type { Db } from './pool.ts'
import { first } from './values.ts'

/** Apart from the other advisory locks of the program. */
const LOCK_CLASS = 20_813

/**
 * Makes this transaction the only one that rolls a shard up, and gives the shard's new version; or
 * undefined at once, while another holds it. The claim ends with the transaction.
 *
 * The roll-up needs no commit on disk: if the server dies the increments are there again, since
 * taking them is part of the same transaction. And it finds keys by their index one by one,
 * whatever a table without statistics suggests, with plans that are made once a connection.
 */
export async function claimShard(tx: Db, shard: number): Promise<number | undefined> {
  const { rows } = await tx.query<{ free: boolean }>(
    `select set_config('synchronous_commit', 'off', true),
       set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('plan_cache_mode', 'force_generic_plan', true),
       pg_try_advisory_xact_lock($1, $2) as free`,
    [LOCK_CLASS, shard],
  )
  if (!rows[0]?.free) return undefined
  const claimed = await tx.query<{ version: number }>(
    'update counter_shards set version = version + 1 where shard = $1 returning version',
    [shard],
  )
  return first(claimed)?.version
}

/** What roll-ups did, of one of them or of all. */
export type ShardNumbers = {
  deltas: number
  passed: number
  heldBack: number
  falsePositives: number
}

/** Adds what a roll-up did; the rate of false positives takes the place of the last. */
export async function addToShard(
  tx: Db,
  shard: number,
  { deltas, passed, heldBack, falsePositives }: ShardNumbers,
): Promise<void> {
  await tx.query(
    `update counter_shards set deltas = deltas + $2, gate_passed = gate_passed + $3,
       gate_held_back = gate_held_back + $4, gate_false_positives = $5
     where shard = $1`,
    [shard, deltas, passed, heldBack, falsePositives],
  )
}

/** What all roll-ups did, for the metrics; of the false positives, the mean of the shards. */
export async function sumShards(db: Db): Promise<ShardNumbers> {
  const { rows } = await db.query<ShardNumbers>(
    `select sum(deltas)::float8 as deltas, sum(gate_passed)::float8 as passed,
       sum(gate_held_back)::float8 as "heldBack",
       avg(gate_false_positives) as "falsePositives"
     from counter_shards`,
  )
  return rows[0] ?? { deltas: 0, passed: 0, heldBack: 0, falsePositives: 0 }
}
