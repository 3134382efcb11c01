import { dateOf, DAY_MS, WEEK_MS } from '../durations.ts'
import { sqlState } from '../errors.ts'
import { uuidFloor } from '../world.ts'
import { type Db, inTransaction, type Pool } from './pool.ts'
import { rowsOf, valuesOf } from './rows.ts'

/** A partition to create. Its texts are inserted unescaped: they must not be external input. */
type NewPartition = {
  table: string
  name: string
  /** What follows `for values`. */
  bounds: string
  /** What follows the columns in `create table`. */
  storage?: string
}

/**
 * Creates a partition of a table unless it exists. Neither waits for readers and writers of the
 * table nor blocks them (on Citus: readers). With `create table … partition of`, it would wait for
 * the end of a backup, and all later statements behind it. Safe to call concurrently, but not in a
 * transaction.
 */
async function createPartition(
  db: Db,
  { table, name, bounds, storage = '' }: NewPartition,
): Promise<void> {
  try {
    await db.query(`do $$ begin
      create table ${name} (like ${table} including all) ${storage};
      alter table ${table} attach partition ${name} for values ${bounds};
    end $$`)
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!madeMeanwhile.has(sqlState(error) ?? '')) throw error
  }
}

/** SQLSTATEs that mean that the table, its type, or its catalog row, already exists. */
const madeMeanwhile = new Set(['42P07', '42710', '23505'])

/**
 * Drops a partition; false when it is in use. Never waits long for readers and does not block them:
 * a partition that is being read (by a backup, for example) is dropped by a later call.
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

/**
 * Maximum wait for the lock in milliseconds; a longer wait would noticeably delay other queries.
 */
const LOCK_MS_MAX = 200
const LOCK_NOT_AVAILABLE = '55P03'

/** Returns the names of all partitions of some tables, sorted. */
function listPartitionNames(db: Db, tables: readonly string[]): Promise<string[]> {
  return valuesOf(db)`select child.relname as name
    from pg_inherits
    join pg_class child on child.oid = inhrelid
    join pg_class parent on parent.oid = inhparent
    where parent.relname = any(${tables}) and child.relkind = 'r'
      and parent.relnamespace = 'public'::regnamespace
    order by 1`
}

/**
 * Length of a generation of counters in days; a generation is dropped when the next one has ended.
 */
export const GENERATION_DAYS = 14

/** Returns the generation of a day (days since 1 January 1970, UTC). */
export function generationOf(day: number): number {
  return Math.floor(day / GENERATION_DAYS)
}

/**
 * Creates the missing partitions of the counters, from the generation before `now` to `ahead`
 * generations after it. Safe to call concurrently, but not in a transaction.
 */
export async function ensureCounterPartitions(db: Db, now: Date, ahead: number): Promise<void> {
  const present = new Set((await listCounterPartitions(db)).map(({ name }) => name))
  const current = generationOf(dayOf(now))
  for (let generation = current - 1; generation <= current + ahead; generation++) {
    for (const [table, scale] of generationTables) {
      const name = `${table}_${generation}`
      if (present.has(name)) continue
      const bounds = `from (${generation * scale}) to (${(generation + 1) * scale})`
      await createPartition(db, { table, name, bounds, storage })
    }
  }
}

/**
 * Drops the expired generations and returns the names of their partitions. Never waits long for
 * readers and does not block them: partitions that are being read are dropped by a later call.
 */
export async function dropCounterPartitions(pool: Pool, now: Date): Promise<string[]> {
  const current = generationOf(dayOf(now))
  const dropped: string[] = []
  for (const { name, generation } of await listCounterPartitions(pool)) {
    if (generation < current - 1 && (await dropPartition(pool, name))) dropped.push(name)
  }
  return dropped
}

export function countersOf(generation: number): string {
  return `counters_${generation}`
}

/** The tables partitioned by generation, and by how much the partition key rises per generation. */
export const generationTables = [
  ['counters', 1],
  ['counter_members', GENERATION_DAYS],
  ['campaign_keys', 1],
] as const

function dayOf(now: Date): number {
  return Math.floor(now.getTime() / DAY_MS)
}

/**
 * Rows are updated often, so pages reserve space for a second version. Rows up to 8160 bytes are
 * not moved to TOAST, where each update of a long row would cost an index entry for every 2 KB.
 */
const storage =
  'with (fillfactor = 90, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.1)'

async function listCounterPartitions(db: Db): Promise<{ name: string; generation: number }[]> {
  const tables = generationTables.map(([table]) => table)
  return (await listPartitionNames(db, tables)).map((name) => {
    return { name, generation: Number(/\d+$/.exec(name)?.[0]) }
  })
}

/** The tables partitioned by week, by the time contained in their ids. */
export const partitionedTables = [
  'reports',
  'raw_messages',
  'analyses',
  'report_terms',
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

/** Milliseconds from Thursday 1 January 1970 to the first Monday. */
const MONDAY_MS = 4 * DAY_MS

/** Returns the start (Monday, 00:00 UTC) of the week of an instant. */
export function weekOf(at: Date): Date {
  return new Date(Math.floor((at.getTime() - MONDAY_MS) / WEEK_MS) * WEEK_MS + MONDAY_MS)
}

/**
 * Creates the missing partitions of the week of `from` and of the next `weeks` weeks. Call it well
 * ahead, because the schema cannot change while a node of the database is down. Safe to call
 * concurrently, but not in a transaction.
 */
export async function ensurePartitions(db: Db, from: Date, weeks: number): Promise<void> {
  const present = new Set((await listPartitions(db)).map(({ name }) => name))
  for (let week = 0; week <= weeks; week++) {
    const start = new Date(weekOf(from).getTime() + week * WEEK_MS)
    for (const table of partitionedTables) {
      const name = partitionName(table, start)
      if (!present.has(name)) await createPartition(db, { table, name, bounds: boundsOf(start) })
    }
  }
}

/**
 * Drops the partitions that end before `before`, and returns their names. Never waits long for
 * readers: partitions that are being read are dropped by a later call.
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
  return `${table}_${dateOf(start).replaceAll('-', '')}`
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

/** Returns the bytes on disk of tables, by name, including partitions, indexes and TOAST data. */
export function measureTables(
  db: Db,
  tables: readonly string[],
): Promise<{ table: string; bytes: number }[]> {
  return rowsOf(db)`
    select name as table, table_bytes(name) as bytes from unnest(${tables}::text[]) as name`
}
