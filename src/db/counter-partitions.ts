import { createPartition, dropPartition, listPartitionNames } from './partition-tables.ts'
import type { Db, Pool } from './pool.ts'

/** Days of one generation of counters; a generation is dropped when the next has ended. */
export const GENERATION_DAYS = 14
const DAY_MS = 86_400_000

/** The generation of a day (days since 1 January 1970, UTC). */
export function generationOf(day: number): number {
  return Math.floor(day / GENERATION_DAYS)
}

/**
 * Makes the partitions of the counters from the generation before `now` to `ahead` generations
 * after it, where they lack. Several processes may do so at once; none may be in a transaction.
 */
export async function ensureCounterPartitions(pool: Pool, now: Date, ahead: number): Promise<void> {
  const present = new Set((await listPartitions(pool)).map(({ name }) => name))
  const current = generationOf(dayOf(now))
  for (let generation = current - 1; generation <= current + ahead; generation++) {
    for (const [table, scale] of generationTables) {
      const name = `${table}_${generation}`
      if (present.has(name)) continue
      const bounds = `from (${generation * scale}) to (${(generation + 1) * scale})`
      await createPartition(pool, table, name, `${bounds} ${storage}`)
    }
  }
}

/**
 * Drops the generations in which nothing can be live any more, and returns their names. Never waits
 * for a reader, nor makes one wait: what somebody is reading is left for the next time.
 */
export async function dropCounterPartitions(pool: Pool, now: Date): Promise<string[]> {
  const current = generationOf(dayOf(now))
  const dropped: string[] = []
  for (const { name, generation } of await listPartitions(pool)) {
    if (generation < current - 1 && (await dropPartition(pool, name))) dropped.push(name)
  }
  return dropped
}

/** The partition of the counters that holds a generation. */
export function countersOf(generation: number): string {
  return `counters_${generation}`
}

/** The partitioned tables, and how many of their units make a generation. */
export const generationTables = [
  ['counters', 1],
  ['counter_members', GENERATION_DAYS],
  ['campaign_keys', 1],
] as const

function dayOf(now: Date): number {
  return Math.floor(now.getTime() / DAY_MS)
}

/**
 * Rows are rewritten in place, so pages keep room for a second version, and a row stays whole: in
 * TOAST each change of a long one would cost an index entry for every 2 KB.
 */
const storage =
  'with (fillfactor = 90, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.1)'

async function listPartitions(db: Db): Promise<{ name: string; generation: number }[]> {
  const tables = generationTables.map(([table]) => table)
  return (await listPartitionNames(db, tables)).map((name) => {
    return { name, generation: Number(/\d+$/.exec(name)?.[0]) }
  })
}
