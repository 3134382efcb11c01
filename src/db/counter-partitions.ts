import { sqlState } from '../errors.ts'
import { inTransaction, type Db, type Pool } from './pool.ts'

/** Days of one generation of counters; a generation is dropped when the next has ended. */
export const GENERATION_DAYS = 14
const DAY_MS = 86_400_000
/** Longer, and those who wait behind us would feel it. */
const LOCK_MS_MAX = 200

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
      await createPartition(pool, table, name, [generation * scale, (generation + 1) * scale])
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
    if (generation >= current - 1) continue
    try {
      await inTransaction(pool, async (tx) => {
        await tx.query(`set local lock_timeout = ${LOCK_MS_MAX}`)
        await tx.query(`drop table if exists ${name}`)
      })
      dropped.push(name)
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
    }
  }
  return dropped
}

const LOCK_NOT_AVAILABLE = '55P03'

/** The partitioned tables, and how many of their units make a generation. */
export const generationTables = [
  ['counters', 1],
  ['counter_members', GENERATION_DAYS],
] as const

function dayOf(now: Date): number {
  return Math.floor(now.getTime() / DAY_MS)
}

/**
 * Rows are rewritten in place, so pages keep room for a second version, and a row stays whole: in
 * TOAST each change of a long one would cost an index entry for every 2 KB.
 */
async function createPartition(
  db: Db,
  table: string,
  name: string,
  [from, to]: readonly [number, number],
): Promise<void> {
  try {
    await db.query(
      `create table if not exists ${name} partition of ${table}
       for values from (${from}) to (${to})
       with (fillfactor = 90, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.1)`,
    )
  } catch (error) {
    // "if not exists" looks before it waits: another process made it in the same moment.
    if (!madeMeanwhile.has(sqlState(error) ?? '')) throw error
  }
}

/** SQLSTATE of a table, or of its row in the catalog, that is there already. */
const madeMeanwhile = new Set(['42P07', '23505'])

async function listPartitions(db: Db): Promise<{ name: string; generation: number }[]> {
  const { rows } = await db.query<{ name: string }>(
    `select child.relname as name
     from pg_inherits
     join pg_class child on child.oid = inhrelid
     join pg_class parent on parent.oid = inhparent
     where parent.relname = any($1) and child.relkind = 'r'
       and parent.relnamespace = 'public'::regnamespace
     order by 1`,
    [generationTables.map(([table]) => table)],
  )
  return rows.map(({ name }) => ({ name, generation: Number(/\d+$/.exec(name)?.[0]) }))
}
