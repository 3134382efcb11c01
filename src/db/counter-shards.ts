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

/** What a roll-up found at its gate. */
export type GateNumbers = {
  passed: number
  heldBack: number
  /** Share of keys never seen that it takes for seen. */
  falsePositives: number
  /** How full its present generation is, 0 to 1, and when that began. */
  fill: number
  beganAt: Date
  /** Whether it began in this roll-up, in place of another. */
  hasTurned: boolean
}

/** Adds what a roll-up did; what it found at its gate, if it came there, takes the last's place. */
export async function addToShard(
  tx: Db,
  shard: number,
  deltas: number,
  gate: GateNumbers | undefined,
): Promise<void> {
  const { passed = 0, heldBack = 0, hasTurned = false } = gate ?? {}
  await tx.query(
    `update counter_shards set deltas = deltas + $2, gate_passed = gate_passed + $3,
       gate_held_back = gate_held_back + $4, gate_turnovers = gate_turnovers + $5,
       gate_false_positives = coalesce($6, gate_false_positives),
       gate_fill = coalesce($7, gate_fill), gate_began_at = coalesce($8, gate_began_at)
     where shard = $1`,
    [
      ...[shard, deltas, passed, heldBack, hasTurned ? 1 : 0],
      ...[gate?.falsePositives ?? null, gate?.fill ?? null, gate?.beganAt ?? null],
    ],
  )
}

/** A shard, and what its roll-ups did in all. */
export type Shard = {
  shard: number
  deltas: number
  passed: number
  heldBack: number
  turnovers: number
  /** Of its gate when it was last asked; null before. */
  gate: { falsePositives: number; fill: number; beganAt: Date } | null
}

/** All shards, in their order. */
export async function listShards(db: Db): Promise<Shard[]> {
  const { rows } = await db.query<Omit<Shard, 'gate'> & NonNullable<Shard['gate']>>(
    `select shard, deltas, gate_passed as passed, gate_held_back as "heldBack",
       gate_turnovers as turnovers, gate_false_positives as "falsePositives",
       gate_fill as fill, gate_began_at as "beganAt"
     from counter_shards order by shard`,
  )
  return rows.map(({ falsePositives, fill, beganAt, ...shard }) => {
    return { ...shard, gate: (beganAt as Date | null) && { falsePositives, fill, beganAt } }
  })
}
