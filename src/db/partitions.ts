import { sqlState } from '../errors.ts'
import { uuidFloor } from '../world.ts'
import { type Db, inTransaction, type Pool } from './pool.ts'

/**
 * Makes a partition of a table where it lacks. `bounds` and what may follow them stand behind
 * `for values`: text of ours. Several processes may do so at once; none may be in a transaction.
 */
async function createPartition(db: Db, table: string, name: string, bounds: string): Promise<void> {
  try {
    await db.query(`create table if not exists ${name} partition of ${table} for values ${bounds}`)
  } catch (error) {
    // "if not exists" looks before it waits: another process made it in the same moment.
    if (!madeMeanwhile.has(sqlState(error) ?? '')) throw error
  }
}

/** SQLSTATE of a table, or of its row in the catalog, that is there already. */
const madeMeanwhile = new Set(['42P07', '23505'])

/**
 * Drops a partition, and says whether it could. Never waits for a reader, nor makes one wait: a
 * partition that somebody is reading (a backup, say) is left for the next time.
 */
async function dropPartition(pool: Pool, name: string): Promise<boolean> {
  try {
    await inTransaction(pool, async (tx) => {
      await tx.query(`set local lock_timeout = ${LOCK_MS_MAX}`)
      await tx.query(`drop table if exists ${name}`)
    })
    return true
  } catch (error) {
    if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
    return false
  }
}

/** Longer, and those who wait behind us would feel it. */
const LOCK_MS_MAX = 200
const LOCK_NOT_AVAILABLE = '55P03'

/** The names of all partitions of these tables, in their order. */
async function listPartitionNames(db: Db, tables: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select child.relname as name
     from pg_inherits
     join pg_class child on child.oid = inhrelid
     join pg_class parent on parent.oid = inhparent
     where parent.relname = any($1) and child.relkind = 'r'
       and parent.relnamespace = 'public'::regnamespace
     order by 1`,
    [tables],
  )
  return rows.map(({ name }) => name)
}

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
  const present = new Set((await listCounterPartitions(pool)).map(({ name }) => name))
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
  for (const { name, generation } of await listCounterPartitions(pool)) {
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

async function listCounterPartitions(db: Db): Promise<{ name: string; generation: number }[]> {
  const tables = generationTables.map(([table]) => table)
  return (await listPartitionNames(db, tables)).map((name) => {
    return { name, generation: Number(/\d+$/.exec(name)?.[0]) }
  })
}

/** The tables that are cut into weeks by the time inside their ids. */
export const partitionedTables = [
  'reports',
  'raw_messages',
  'analyses',
  'counted_reports',
  'reported_evidence',
  'campaigns',
  'campaign_days',
  'report_events',
  'feedback_reports',
  'feedback_messages',
  'feedback_answers',
  'inbound_mails',
  'letters',
  'unsubscribe_requests',
  'audit_log',
] as const

const WEEK_MS = 7 * 86_400_000
/** Thursday 1 January 1970 to the first Monday. */
const MONDAY_MS = 4 * 86_400_000

/** The Monday, 00:00 UTC, of the week that holds an instant. */
export function weekOf(at: Date): Date {
  return new Date(Math.floor((at.getTime() - MONDAY_MS) / WEEK_MS) * WEEK_MS + MONDAY_MS)
}

/**
 * Makes the partitions of the week of `from` and of the `weeks` that follow, where they lack.
 * Far ahead, because all changes of the schema must wait while a node is down. Several processes
 * may do so at once; none may be in a transaction.
 */
export async function ensurePartitions(db: Db, from: Date, weeks: number): Promise<void> {
  const present = new Set((await listPartitions(db)).map(({ name }) => name))
  for (let week = 0; week <= weeks; week++) {
    const start = new Date(weekOf(from).getTime() + week * WEEK_MS)
    for (const table of partitionedTables) {
      const name = partitionName(table, start)
      if (!present.has(name)) await createPartition(db, table, name, boundsOf(start))
    }
  }
}

/**
 * Drops the partitions whose last instant is before `before`, and returns their names. Never waits
 * for a reader: what somebody is reading is left for the next time.
 */
export async function dropPartitions(pool: Pool, before: Date): Promise<string[]> {
  const dropped: string[] = []
  for (const { name, start } of await listPartitions(pool)) {
    const isOld = start.getTime() + WEEK_MS <= before.getTime()
    if (isOld && (await dropPartition(pool, name))) dropped.push(name)
  }
  return dropped
}

function partitionName(table: string, start: Date): string {
  return `${table}_${start.toISOString().slice(0, 10).replaceAll('-', '')}`
}

function boundsOf(start: Date): string {
  const end = new Date(start.getTime() + WEEK_MS)
  return `from ('${uuidFloor(start)}') to ('${uuidFloor(end)}')`
}

async function listPartitions(db: Db): Promise<{ name: string; start: Date }[]> {
  return (await listPartitionNames(db, partitionedTables)).map((name) => {
    const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? []
    return { name, start: new Date(`${year}-${month}-${day}T00:00:00Z`) }
  })
}
