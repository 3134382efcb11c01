import sql, { raw } from 'sql-template-tag'
import { dateOf } from '../durations.ts'
import { uuidFloor } from '../world.ts'
import { generationTables, partitionedTables } from './partitions.ts'
import type { Db } from './pool.ts'
import { isOneOfIds, prepared, preparedRowOf, preparedRowsOf } from './prepared.ts'
import { excluded, rowOf, rowsOf, withoutWaiting } from './rows.ts'

/** The number of the oldest waiting rows among which the one waiting longest is sought. */
const OLDEST_MAX = 100

/**
 * Returns since when the report has waited for analysis that has waited longest; null if none
 * waits. A report that is analyzed again has waited since its last event.
 */
export async function findOldestUnanalyzed(db: Db): Promise<Date | null> {
  const waiting = await preparedRowsOf(db)<{ id: string; at: Date }>`
    select id, received_at as at from reports where state = 'received'
    order by id limit ${raw(String(OLDEST_MAX))}`
  if (waiting.length === 0) return null
  const { rows } = await db.query<{ id: string; at: Date }>(sql`
    select report_id as id, max(at) as at from report_events
    where ${isOneOfIds(
      'report_id',
      waiting.map(({ id }) => id),
    )}
    group by report_id`)
  const changedAt = new Map(rows.map(({ id, at }) => [id, at.getTime()]))
  const times = waiting.map(({ id, at }) => Math.max(at.getTime(), changedAt.get(id) ?? 0))
  return new Date(Math.min(...times))
}

/** Counts the reports received since an instant whose analysis failed, up to `most`. */
export async function countFailedReports(db: Db, since: Date, most: number): Promise<number> {
  const row = await rowOf(db)<{ count: number }>`
    select count(*)::int as count from (select 1 from reports
      where state = 'failed' and id >= ${uuidFloor(since)} limit ${most}) as failed`
  return row?.count ?? 0
}

/** Since when mail has been owed that is not sent: from when it was first owed; null if none is. */
export type OldestOwed = { feedback: Date | null; letters: Date | null }

/**
 * Returns the oldest unsent mails. Feedback that waits for its limit or digest is not owed yet. The
 * statements are prepared, because planning them over all partitions takes longer than running
 * them.
 */
export async function findOldestOwed(db: Db, now: Date): Promise<OldestOwed> {
  const [feedback, waiting, letters] = await Promise.all([
    preparedRowOf(db)<{ at: Date }>`
      select created_at as at from feedback_reports where state = 'queued'
      order by report_id limit 1`,
    preparedRowOf(db)<{ at: Date | null }>`
      select min(due_at) as at from feedback_reports
      where state = 'waiting' and due_at <= ${now}`,
    preparedRowOf(db)<{ at: Date }>`
      select created_at as at from letters where state = 'queued' order by id limit 1`,
  ])
  const owed = [feedback?.at, waiting?.at].filter((at) => at instanceof Date)
  return {
    feedback: owed.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null,
    letters: letters?.at ?? null,
  }
}

/** When the last mail came in, and since when the oldest unhandled one waits; null without one. */
export async function findInboundTimes(
  db: Db,
): Promise<{ lastAt: Date | null; waitingSince: Date | null }> {
  const [last, waiting] = await Promise.all([
    preparedRowOf(db)<{ at: Date }>`
      select received_at as at from inbound_mails order by id desc limit 1`,
    preparedRowOf(db)<{ at: Date }>`
      select received_at as at from inbound_mails where state = 'received' order by id limit 1`,
  ])
  return { lastAt: last?.at ?? null, waitingSince: waiting?.at ?? null }
}

export type ConsumerShare = { mails: number; failed: number }

/** Maximum number of the newest feedback reports that are read for the shares. */
const SHARED_MAX = 100_000

/**
 * Counts the mails to each consumer about reports received since an instant, and those that bounced
 * or were refused; only consumers with at least `mailsMin` mails.
 */
export function listConsumerShares(
  db: Db,
  since: Date,
  mailsMin: number,
): Promise<ConsumerShare[]> {
  return rowsOf(db)`
    select count(*)::int as mails, count(*) filter (where state <> 'sent')::int as failed
    from (select consumer_id, state from feedback_reports
      where report_id >= ${uuidFloor(since)} and state in ('sent', 'bounced', 'refused')
      order by report_id desc limit ${SHARED_MAX}) as ended
    group by consumer_id having count(*) >= ${mailsMin}`
}

/** Returns when each imported table was last imported, oldest first. */
export function listImports(db: Db): Promise<{ source: string; importedAt: Date }[]> {
  return rowsOf(db)`
    select source, max(imported_at) as "importedAt" from networks
    where source not in ('manual', 'registry') group by source order by 2`
}

/**
 * Returns the table whose last partition ends first, and when that is. The bounds of partitions are
 * in their names.
 */
export async function findPartitionsEnd(
  db: Db,
  generationDays: number,
): Promise<{ table: string; endsAt: Date } | undefined> {
  const weekly = [...partitionedTables]
  const scaled = generationTables.map(([table]) => table)
  return rowOf(db)`
    select parent.relname as table, max(case when parent.relname = any(${weekly}::text[])
        then to_timestamp(right(child.relname, 8), 'YYYYMMDD') + interval '7 days'
        else to_timestamp((substring(child.relname from '\\d+$')::bigint + 1)
          * ${generationDays}::int * 86400) end) as "endsAt"
    from pg_inherits
    join pg_class child on child.oid = inhrelid
    join pg_class parent on parent.oid = inhparent
    where parent.relname = any(${[...weekly, ...scaled]}::text[])
      and parent.relnamespace = 'public'::regnamespace
    group by parent.relname order by 2 limit 1`
}

/**
 * Makes the database write about a megabyte to a temporary file. A full disk refuses that, although
 * it may still accept small updates for a long time. The sort starts after the limit of its memory
 * is set, because it is a subquery of the output.
 *
 * @throws SQLSTATE 53100 when the disk is full
 */
export async function writeTemporary(db: Db): Promise<void> {
  await db.query(prepared`
    select (select count(text) from (select number, repeat('x', 1000) as text
      from generate_series(1, 1000) as number order by number offset 0) as sorted)
    from (select set_config('work_mem', '64kB', true) offset 0) as memory`)
}

/** The size of the database in bytes, and its size about a day ago if that is known. */
export type DatabaseSize = { bytes: number; bytesBefore: number | null }

/** Measures the database and stores its size of the day; sizes are kept for 60 days. */
export async function measureDatabase(db: Db, now: Date): Promise<DatabaseSize> {
  const day = dateOf(now)
  const { rows } = await db.query<{ bytes: number }>(sql`
    insert into database_sizes (day, bytes)
    values (${day}, pg_database_size(current_database()))
    on conflict (day) do update set bytes = excluded.bytes returning bytes`)
  await db.query(sql`delete from database_sizes where day < ${day}::date - 60`)
  const before = await rowOf(db)<{ bytes: number }>`
    select bytes from database_sizes where day < ${day} order by day desc limit 1`
  return { bytes: rows[0]?.bytes ?? 0, bytesBefore: before?.bytes ?? null }
}

/** A running process as it last described itself. */
export type ProcessRow<Facts> = {
  id: string
  host: string
  name: string
  version: string
  startedAt: Date
  seenAt: Date
  /** Seconds since its last heartbeat, by the clock of the database. */
  silentSeconds: number
  clockAheadSeconds: number
  facts: Facts
}

/**
 * What a process stores with a heartbeat; `now` is its own clock, for as long as it does not know
 * by how much that differs. Processes with the same name and duty on a host do the same.
 */
export type Heartbeat<Facts> = Pick<
  ProcessRow<Facts>,
  'id' | 'host' | 'name' | 'version' | 'startedAt' | 'facts'
> & { duty?: string; now: Date; aheadSeconds?: number | undefined }

/**
 * Stores the heartbeat of a process without waiting for the disk, and deletes those of processes
 * not seen for a day. Returns the time of the database.
 */
export async function keepHeartbeat<Facts>(
  db: Db,
  { id, host, name, duty = '', version, startedAt, facts, now, aheadSeconds }: Heartbeat<Facts>,
): Promise<Date> {
  const ahead =
    aheadSeconds === undefined
      ? sql`extract(epoch from ${now}::timestamptz - database_clock())`
      : sql`${aheadSeconds}::float8`
  const { rows } = await db.query<{ at: Date }>(sql`
    with forgotten as (
      delete from processes
      where seen_at < database_clock() - interval '1 day' and id <> ${id})
    insert into processes
      (id, host, name, duty, version, started_at, place_since, seen_at, clock_ahead_seconds, facts)
    select ${id}::uuid, ${host}, ${name}, ${duty}, ${version}, ${startedAt}::timestamptz,
      database_clock(), database_clock(), ${ahead}, ${JSON.stringify(facts)}::jsonb
    from ${withoutWaiting}
    on conflict (id) do update set ${excluded`seen_at, clock_ahead_seconds, facts`}
    returning seen_at as at`)
  return rows[0]?.at ?? now
}

/** Stores that a process stops in an orderly way. Its place is free for a successor. */
export async function stopHeartbeat(db: Db, id: string): Promise<void> {
  await db.query(sql`
    with stopped as (
      delete from processes where id = ${id} returning id, host, name, duty, place_since)
    insert into stopped_processes (id, host, name, duty, place_since, seen_at)
    select id, host, name, duty, place_since, database_clock() from stopped`)
}

export async function removeHeartbeats(db: Db, ids: readonly string[]): Promise<void> {
  await db.query(sql`delete from processes where id = any(${ids}::uuid[])`)
}

/** Deletes the rows of all processes, which were those of another database. */
export async function emptyHeartbeats(db: Db): Promise<void> {
  await db.query(sql`delete from processes`)
  await db.query(sql`delete from stopped_processes`)
}

/**
 * Returns the place that a process may take: that of the process with its host, name and duty that
 * was seen last before its own place was taken. `isFree`: it stopped, or has been silent for
 * `silentSeconds`. Processes of earlier versions may have any duty.
 */
export function findLastPlace(
  tx: Db,
  id: string,
  silentSeconds: number,
): Promise<{ id: string; isFree: boolean } | undefined> {
  return rowOf(tx)`
    select former.id,
      is_stopped or former.seen_at < database_clock() - interval '1 second' * ${silentSeconds}::int
        as "isFree"
    from processes own join (
      select id, host, name, duty, seen_at, false as is_stopped from processes
      union all select id, host, name, duty, seen_at, true from stopped_processes) former
      on former.host = own.host and former.name = own.name
        and coalesce(former.duty, own.duty) = own.duty and former.seen_at < own.place_since
    where own.id = ${id}
    order by former.seen_at desc limit 1`
}

/**
 * Gives a free place to a process and deletes the row of the process that left it. False if another
 * process took it.
 */
export async function takePlace(tx: Db, id: string, free: string): Promise<boolean> {
  const left = await rowOf(tx)<{ since: Date }>`
    with silent as (delete from processes where id = ${free}
        returning coalesce(place_since, started_at) as since),
      stopped as (delete from stopped_processes where id = ${free}
        returning coalesce(place_since, seen_at) as since)
    select since from silent union all select since from stopped`
  if (!left) return false
  await tx.query(sql`update processes set place_since = ${left.since} where id = ${id}`)
  return true
}

/** Deletes the rows of processes that stopped more than a day ago. */
export async function forgetStopped(db: Db): Promise<void> {
  await db.query(sql`
    delete from stopped_processes where seen_at < database_clock() - interval '1 day'`)
}

/** Deletes the rows of processes that were not seen for a time; returns their number. */
export async function removeSilent(tx: Db, seconds: number): Promise<number> {
  const { rowCount } = await tx.query(sql`
    delete from processes
    where seen_at < database_clock() - interval '1 second' * ${seconds}::int`)
  return rowCount ?? 0
}

/** Returns the processes seen in the last day, by name, host and start. */
export function listProcesses<Facts extends object>(db: Db): Promise<ProcessRow<Facts>[]> {
  return rowsOf(db)`
    select id, host, name, version, started_at as "startedAt", seen_at as "seenAt",
      extract(epoch from database_clock() - seen_at)::float8 as "silentSeconds",
      clock_ahead_seconds::float8 as "clockAheadSeconds", facts
    from processes order by name, host, started_at, id`
}

/** What operators set about a condition. */
export type HealthSettings = {
  code: string
  warning: number | null
  critical: number | null
  silencedUntil: Date | null
  silenceReason: string | null
  doneAt: Date | null
}

const settings = sql`code, warning, critical, silenced_until as "silencedUntil",
  silence_reason as "silenceReason", done_at as "doneAt"`

export function listHealthSettings(db: Db): Promise<HealthSettings[]> {
  return rowsOf(db)`select ${settings} from health_settings order by code`
}

/** Returns the settings of a condition; every setting that was never made is null. */
export async function getHealthSettings(tx: Db, code: string): Promise<HealthSettings> {
  const found = await rowOf(tx)<HealthSettings>`
    select ${settings} from health_settings where code = ${code}`
  const none = { warning: null, critical: null, silencedUntil: null, silenceReason: null }
  return found ?? { code, ...none, doneAt: null }
}

export async function putHealthSettings(tx: Db, its: HealthSettings): Promise<void> {
  await tx.query(sql`
    insert into health_settings
      (code, warning, critical, silenced_until, silence_reason, done_at)
    values (${its.code}, ${its.warning}, ${its.critical}, ${its.silencedUntil},
      ${its.silenceReason}, ${its.doneAt})
    on conflict (code) do update set ${excluded`warning, critical, silenced_until, silence_reason,
      done_at`}`)
}
