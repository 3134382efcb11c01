import sql, { raw } from 'sql-template-tag'
import { REPORTS, shardOfKey } from './counter-rows.ts'
import { lockClasses } from './lock-keys.ts'
import { countersOf } from './partitions.ts'
import type { Db } from './pool.ts'
import { commitOfRounds, isDistributed, isInShards, prepared } from './prepared.ts'
import { bigintArray, byteaArray, copyRows, int2, int4, named } from './rows.ts'

export type ClaimedShard = { shard: number; version: number }

/**
 * Locks shards for their roll-up until the transaction ends, and returns their new versions, in
 * order. Shards whose lock another transaction holds are absent.
 *
 * The roll-up needs no synchronous commit: its transaction also deletes the increments, so if the
 * server dies and loses the commit, the increments are still there. With Citus it does, because
 * the nodes must not commit what the coordinator then loses. The settings make the planner use the
 * index for each key, even on a table without statistics, and reuse one plan per connection. Citus
 * needs the values to plan a statement about several shards.
 */
export async function claimShards(tx: Db, shards: readonly number[]): Promise<ClaimedShard[]> {
  const { rows } = await tx.query<{ shard: number; free: boolean }>(named('claim-shards')`
    with settings as materialized (
      select set_config('synchronous_commit', ${commitOfRounds()}, true),
      set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('plan_cache_mode',
        ${raw(isDistributed() ? "'auto'" : "'force_generic_plan'")}, true))
    select shard, pg_try_advisory_xact_lock(${lockClasses.counters}, shard) as free
    from settings, unnest(${shards}::int[]) as shard`)
  const free = rows.flatMap((row) => (row.free ? row.shard : []))
  if (free.length === 0) return []
  const claimed = await tx.query<ClaimedShard>(named('raise-shard-versions')`
    update counter_shards set version = version + 1 where shard = any(${free}::int[])
    returning shard, version`)
  return claimed.rows.sort((a, b) => a.shard - b.shard)
}

/**
 * Locks the reports that wait to be counted until the transaction ends; false if another
 * transaction has locked them.
 */
export async function claimReports(tx: Db): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(named('claim-reports')`
    select pg_try_advisory_xact_lock(${lockClasses.counters}, ${REPORTS}) as free`)
  return rows[0]?.free === true
}

export type GateNumbers = {
  passed: number
  heldBack: number
  /** The share of new keys that the gate mistakes for known ones. */
  falsePositives: number
  /** The fill level of the gate's current generation, 0 to 1, and when that generation began. */
  fill: number
  beganAt: Date
  /** Whether the current generation began in this roll-up. */
  hasTurned: boolean
}

export type ShardTotals = { shard: number; deltas: number; gate: GateNumbers | undefined }

/**
 * Adds the numbers of a roll-up to shards. The statistics of the gate, if given, replace the
 * earlier ones.
 */
export async function addToShards(tx: Db, totals: readonly ShardTotals[]): Promise<void> {
  const all = <T>(pick: (one: ShardTotals) => T) => totals.map(pick)
  await tx.query(named('add-to-shards')`
    update counter_shards set deltas = counter_shards.deltas + added.deltas,
      gate_passed = gate_passed + passed, gate_held_back = gate_held_back + held_back,
      gate_turnovers = gate_turnovers + turnovers,
      gate_false_positives = coalesce(false_positives, gate_false_positives),
      gate_fill = coalesce(fill, gate_fill), gate_began_at = coalesce(began_at, gate_began_at)
    from unnest(${all(({ shard }) => shard)}::int[], ${all(({ deltas }) => deltas)}::bigint[],
      ${all(({ gate }) => gate?.passed ?? 0)}::bigint[],
      ${all(({ gate }) => gate?.heldBack ?? 0)}::bigint[],
      ${all(({ gate }) => (gate?.hasTurned ? 1 : 0))}::bigint[],
      ${all(({ gate }) => gate?.falsePositives ?? null)}::float8[],
      ${all(({ gate }) => gate?.fill ?? null)}::float8[],
      ${all(({ gate }) => gate?.beganAt.toISOString() ?? null)}::timestamptz[])
      as added (shard, deltas, passed, held_back, turnovers, false_positives, fill, began_at)
    where counter_shards.shard = added.shard
      and counter_shards.shard = any(${all(({ shard }) => shard)}::int[])`)
}

/** A shard, with the totals of its roll-ups. */
export type Shard = {
  shard: number
  deltas: number
  passed: number
  heldBack: number
  turnovers: number
  /** The state of the shard's gate at the last use; null before the first. */
  gate: { falsePositives: number; fill: number; beganAt: Date } | null
}

export async function listShards(db: Db): Promise<Shard[]> {
  const { rows } = await db.query<Omit<Shard, 'gate'> & NonNullable<Shard['gate']>>(sql`
    select shard, deltas, gate_passed as passed, gate_held_back as "heldBack",
      gate_turnovers as turnovers, gate_false_positives as "falsePositives",
      gate_fill as fill, gate_began_at as "beganAt"
    from counter_shards order by shard`)
  return rows.map(({ falsePositives, fill, beganAt, ...shard }) => {
    return { ...shard, gate: (beganAt as Date | null) && { falsePositives, fill, beganAt } }
  })
}

/** The row of a key: 8 bytes of key, big-endian, and its packed counters. */
export type CounterRow = { key: Buffer; generation: number; content: Buffer }

/** One stored row; `hi` and `lo` are the two halves of its key. */
export type FoundCounter = { hi: number; lo: number; generation: number; content: Buffer }

/**
 * Returns the rows of keys (8 bytes each, concatenated) in the given generations, unordered; a key
 * may have a row in each generation. The server sends them as one value: with separate rows the
 * driver took three times as long.
 */
export async function findCounters(
  db: Db,
  keys: Buffer,
  [oldest, newest]: readonly [number, number],
): Promise<FoundCounter[]> {
  const shards = Array.from({ length: keys.length / 8 }, (_, at) => (keys[at * 8] ?? 0) >> 4)
  const { rows } = await db.query<{ found: Buffer | null }>(prepared`
    select string_agg(
      int8send(shingle) || int8send((generation::bigint << 32) | octet_length(content))
        || content,
      ''::bytea) as found
    from counters where shingle = any(${bigintArray(keys)}::bigint[])
      and generation between ${oldest} and ${newest}${isInShards('shard', shards)}`)
  return rows.flatMap(({ found }) => (found ? split(found) : []))
}

const HEADER_BYTES = 16

function split(found: Buffer): FoundCounter[] {
  const counters: FoundCounter[] = []
  for (let at = 0; at < found.length;) {
    const end = at + HEADER_BYTES + found.readUInt32BE(at + 12)
    counters.push({
      hi: found.readUInt32BE(at),
      lo: found.readUInt32BE(at + 4),
      generation: found.readInt32BE(at + 8),
      content: found.subarray(at + HEADER_BYTES, end),
    })
    at = end
  }
  return counters
}

/** Inserts the rows of keys without a row in their generation, given in key order. */
export async function insertCounters(tx: Db, rows: readonly CounterRow[]): Promise<void> {
  await eachGeneration(rows, (table, some) =>
    copyRows(
      tx,
      `copy ${table} (shingle, generation, shard, content) from stdin (format binary)`,
      some.map(({ key, generation, content }) => {
        return [key, int4(generation), int2(shardOfKey(key)), content]
      }),
    ),
  )
}

/** Replaces the rows of keys in their generations, given in key order; each must have one. */
export async function updateCounters(tx: Db, rows: readonly CounterRow[]): Promise<void> {
  await eachGeneration(rows, async (table, some) => {
    const shards = [...new Set(some.map(({ key }) => shardOfKey(key)))]
    const { rowCount } = await tx.query(named(`update-${table}`)`
      update ${raw(table)} as stored set content = changed.content
      from unnest(${bigintArray(Buffer.concat(some.map(({ key }) => key)))}::bigint[],
        ${byteaArray(some.map(({ content }) => content))}::bytea[]) as changed (shingle, content)
      where stored.shingle = changed.shingle and stored.shard = any(${shards}::smallint[])`)
    if (rowCount !== some.length) {
      throw new Error(`Only ${rowCount} of ${some.length} rows of ${table} could be updated.`)
    }
  })
}

/**
 * Calls `write` for each generation in `rows`: nearly always one, because only a process whose
 * clock is ahead writes into the next generation.
 */
async function eachGeneration(
  rows: readonly CounterRow[],
  write: (table: string, rows: readonly CounterRow[]) => Promise<void>,
): Promise<void> {
  const byGeneration = Map.groupBy(rows, ({ generation }) => generation)
  const writing = [...byGeneration].map(([generation, some]) => write(countersOf(generation), some))
  await Promise.all(writing)
}
