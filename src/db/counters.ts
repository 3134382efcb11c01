import { countersOf } from './partitions.ts'
import type { Db } from './pool.ts'
import { bigintArray, copyRows, first, int4 } from './rows.ts'

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

/** A key's row: 8 bytes of key, big end first, and all that is counted of it, packed. */
export type CounterRow = { key: Buffer; generation: number; content: Buffer }

/** One stored row, as it was found. */
export type FoundCounter = { hi: number; lo: number; generation: number; content: Buffer }

/**
 * The rows of keys (8 bytes each, one after the other) in the given generations, in no order; a key
 * may have a row in each. They travel as one value: row by row the driver took three times as long.
 */
export async function findCounters(
  db: Db,
  keys: Buffer,
  [oldest, newest]: readonly [number, number],
): Promise<FoundCounter[]> {
  const { rows } = await db.query<{ found: Buffer | null }>({
    name: 'find-counters',
    text: `select string_agg(
         int8send(shingle) || int8send((generation::bigint << 32) | octet_length(content))
           || content,
         ''::bytea) as found
       from counters where shingle = any($1::bigint[]) and generation between $2 and $3`,
    values: [bigintArray(keys), oldest, newest],
  })
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

/** Writes keys that have no row in their generation, in the order of the keys. */
export async function insertCounters(tx: Db, rows: readonly CounterRow[]): Promise<void> {
  await eachGeneration(rows, (table, some) =>
    copyRows(
      tx,
      `copy ${table} (shingle, generation, content) from stdin (format binary)`,
      some.map(({ key, generation, content }) => [key, int4(generation), content]),
    ),
  )
}

/**
 * Writes rows in place of those that their keys have in the same generation, in the order of the
 * keys. Statements are prepared once a connection: parsing and planning was a fifth of the server's
 * work. So they come in few sizes.
 */
export async function updateCounters(tx: Db, rows: readonly CounterRow[]): Promise<void> {
  await eachGeneration(rows, async (table, some) => {
    const statements: Promise<unknown>[] = []
    for (let at = 0; at < some.length;) {
      const size = statementRows.find((count) => count <= some.length - at) ?? 1
      const values = some
        .slice(at, at + size)
        .flatMap(({ key, generation, content }) => [key, generation, content])
      const name = `update-${table}-${size}`
      statements.push(tx.query({ name, text: upsertOf(table, size), values }))
      at += size
    }
    await Promise.all(statements)
  })
}

const statementRows = [1_000, 250, 60, 15, 4, 1] as const

function upsertOf(table: string, count: number): string {
  const known = upserts.get(`${table} ${count}`)
  if (known !== undefined) return known
  const row = (index: number) => `($${index * 3 + 1},$${index * 3 + 2},$${index * 3 + 3})`
  const rows = Array.from({ length: count }, (_, index) => row(index)).join(',')
  const text = `insert into ${table} (shingle, generation, content) values ${rows}
    on conflict (shingle, generation) do update set content = excluded.content`
  upserts.set(`${table} ${count}`, text)
  return text
}

/** They are some 60 kB: made once. */
const upserts = new Map<string, string>()

/** Nearly always one: only who has a clock ahead writes into the next. */
async function eachGeneration(
  rows: readonly CounterRow[],
  write: (table: string, rows: readonly CounterRow[]) => Promise<void>,
): Promise<void> {
  const byGeneration = Map.groupBy(rows, ({ generation }) => generation)
  const writing = [...byGeneration].map(([generation, some]) => write(countersOf(generation), some))
  await Promise.all(writing)
}
