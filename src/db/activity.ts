import sql, { bulk, join } from 'sql-template-tag'
import { uuidFloor } from '../world.ts'
import { lockKeys } from './lock-keys.ts'
import type { Db } from './pool.ts'
import { rowOf, rowsOf, withoutWaiting } from './rows.ts'

/** What a process hands over after each tick. */
export type ProcessSample = {
  /** The name of the process, such as `work`. */
  process: string
  /** Share of one core, and bytes of memory. */
  cpu: number
  memory: number
  counts: Record<string, number>
  durations: Record<string, number[]>
}

/**
 * Stores the sample of a process for the tick that began at an instant, without waiting for the
 * disk.
 */
export async function insertSample(
  db: Db,
  { processId, at, content }: { processId: string; at: Date; content: ProcessSample },
): Promise<void> {
  await db.query(sql`
    insert into activity_samples (process_id, at, content)
    select ${processId}::uuid, ${at}::timestamptz, ${JSON.stringify(content)}::jsonb
    from ${withoutWaiting}`)
}

/** Deletes the samples of the ticks before an instant and returns them. */
export function takeSamples(tx: Db, before: Date): Promise<{ at: Date; content: ProcessSample }[]> {
  return rowsOf(tx)`
    delete from activity_samples where at < ${before} returning at, content`
}

/** How far the slots are written, and the totals of sent mail at that time. */
export type ActivityProgress = {
  /** Null before the first tick. */
  writtenUntil: Date | null
  mailTotals: Record<string, number>
}

export function findActivityProgress(db: Db): Promise<ActivityProgress | undefined> {
  return rowOf(db)`
    select written_until as "writtenUntil", mail_totals as "mailTotals" from activity_progress`
}

/**
 * Claims the right to write until the transaction ends, and returns the progress; undefined while
 * another process writes.
 */
export async function claimActivity(tx: Db): Promise<ActivityProgress | undefined> {
  const [claimed, progress] = await Promise.all([
    rowOf(tx)<{ free: boolean }>`select pg_try_advisory_xact_lock(${lockKeys.activity}) as free`,
    findActivityProgress(tx),
  ])
  return claimed?.free ? progress : undefined
}

/** Waits for the right to write, which the transaction then has until it ends. */
export async function lockActivity(tx: Db): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(${lockKeys.activity})`)
}

export async function updateActivityProgress(
  tx: Db,
  { writtenUntil, mailTotals }: { writtenUntil: Date; mailTotals: Record<string, number> },
): Promise<void> {
  await tx.query(sql`
    update activity_progress
    set written_until = ${writtenUntil}, mail_totals = ${JSON.stringify(mailTotals)}`)
}

/** Returns the ids of series by name; unknown names get new ids while there are any left. */
export async function seriesIds(
  tx: Db,
  names: readonly string[],
  now: Date,
): Promise<Map<string, number>> {
  const [known, newest] = await Promise.all([
    rowsOf(tx)<{ id: number; name: string }>`
      select id, name from activity_series where name = any(${names}::text[])`,
    rowOf(tx)<{ id: number | null }>`select max(id) as id from activity_series`,
  ])
  const ids = new Map(known.map(({ id, name }) => [name, id]))
  const last = newest?.id ?? 0
  const fresh = names.filter((name) => !ids.has(name)).slice(0, SERIES_IDS - last)
  if (fresh.length === 0) return ids
  const rows = fresh.map((name, index) => [last + index + 1, name, now])
  await tx.query(sql`insert into activity_series (id, name, used_on) values ${bulk(rows)}`)
  for (const [index, name] of fresh.entries()) ids.set(name, last + index + 1)
  return ids
}

const SERIES_IDS = 65_535

export function listSeries(
  db: Db,
  families: readonly string[],
): Promise<{ id: number; name: string }[]> {
  return rowsOf(db)`
    select id, name from unnest(${families}::text[]) as family
    join activity_series on name >= family || '/' and name < family || '0'`
}

/** Stores the day on which series were last used, and deletes those not used since `oldest`. */
export async function keepUsedSeries(
  tx: Db,
  ids: readonly number[],
  { day, oldest }: { day: Date; oldest: Date },
): Promise<void> {
  await tx.query(sql`
    update activity_series set used_on = ${day}::timestamptz::date where id = any(${ids}::int[])`)
  await tx.query(sql`delete from activity_series where used_on < ${oldest}::timestamptz::date`)
}

/** The points of a family in a slot; see `activity/slots.ts`. */
export type SlotRow = { level: number; at: Date; family: string; ticks: number; content: Buffer }

/** Part of the slots: those of a level that begin in a range of time. */
export type SlotRange = { level: number; from: Date; to: Date }

/** Stores slots; a slot that exists is replaced. */
export async function upsertSlots(tx: Db, rows: readonly SlotRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += SLOTS_AT_ONCE) {
    const some = rows
      .slice(at, at + SLOTS_AT_ONCE)
      .map((row) => [row.level, row.at, row.family, row.ticks, row.content])
    await tx.query(sql`
      insert into activity_slots (level, at, family, ticks, content) values ${bulk(some)}
      on conflict (level, at, family)
      do update set ticks = excluded.ticks, content = excluded.content`)
  }
}

const SLOTS_AT_ONCE = 1_000

/** Returns the slots of some ranges, of the named families or of all, oldest first. */
export async function listSlots(
  db: Db,
  ranges: readonly SlotRange[],
  families?: readonly string[],
): Promise<SlotRow[]> {
  const parts = ranges.map(
    ({ level, from, to }) => sql`
      select level, at, family, ticks, content from activity_slots
      where level = ${level} and at >= ${from} and at < ${to}
        and (${families ?? null}::text[] is null or family = any(${families ?? null}::text[]))`,
  )
  if (parts.length === 0) return []
  return rowsOf(db)<SlotRow>`${join(parts, ' union all ')} order by at`
}

/** Deletes the slots of each level that began before its instant. */
export async function deleteSlots(
  tx: Db,
  oldest: readonly { level: number; before: Date }[],
): Promise<void> {
  const old = oldest.map(({ level, before }) => sql`(level = ${level} and at < ${before})`)
  await tx.query(sql`delete from activity_slots where ${join(old, ' or ')}`)
}

/** Deletes all slots of some families. */
export async function deleteFamilies(tx: Db, families: readonly string[]): Promise<void> {
  await tx.query(sql`delete from activity_slots where family = any(${families}::text[])`)
}

/** The number of rows in each tick, by two properties of the rows. */
type TickCount = { at: Date; name: string; detail: string; count: number }

/** Counts the reports of a range of time by tick, channel and kind. */
export function countReportsByTick(
  db: Db,
  { from, to, tickMs }: { from: Date; to: Date; tickMs: number },
): Promise<TickCount[]> {
  return rowsOf(db)`
    select to_timestamp(floor(extract(epoch from received_at) * 1000 / ${tickMs}::int)
        * ${tickMs}::int / 1000) as at,
      channel as name, kind as detail, count(*)::int as count
    from reports where id >= ${uuidFloor(from)}::uuid and id < ${uuidFloor(to)}::uuid
    group by 1, 2, 3`
}

/** Counts the accounts that were created in a range of time by tick. */
export function countSignUpsByTick(
  db: Db,
  { from, to, tickMs }: { from: Date; to: Date; tickMs: number },
): Promise<{ at: Date; count: number }[]> {
  return rowsOf(db)`
    select to_timestamp(floor(extract(epoch from created_at) * 1000 / ${tickMs}::int)
        * ${tickMs}::int / 1000) as at, count(*)::int as count
    from reporters where id >= ${uuidFloor(from)}::uuid and id < ${uuidFloor(to)}::uuid
    group by 1`
}

/** Returns the size of the database in bytes. */
export async function findDatabaseBytes(db: Db): Promise<number> {
  const found = await rowOf(db)<{ bytes: number }>`
    select pg_database_size(current_database()) as bytes`
  return found?.bytes ?? 0
}

export type ActivityMark = { at: Date; kind: 'version' | 'outage'; detail: string }

/** Stores an event; the first at an instant stays. */
export async function insertMark(tx: Db, { at, kind, detail }: ActivityMark): Promise<void> {
  await tx.query(sql`
    insert into activity_marks (at, kind, detail) values (${at}, ${kind}, ${detail})
    on conflict (at, kind) do nothing`)
}

/** Returns the versions of the program that run, as one line; undefined if no process runs. */
export async function findRunningVersions(db: Db): Promise<string | undefined> {
  const found = await rowOf(db)<{ versions: string | null }>`
    select string_agg(distinct version, ', ' order by version) as versions from processes
    where seen_at > database_clock() - interval '1 minute'`
  return found?.versions ?? undefined
}

/** Returns the last version of the program that was noted. */
export async function findLastVersion(db: Db): Promise<string | undefined> {
  const found = await rowOf(db)<{ detail: string }>`
    select detail from activity_marks where kind = 'version' order by at desc limit 1`
  return found?.detail
}

/** Deletes the events before an instant. */
export async function deleteMarks(tx: Db, before: Date): Promise<void> {
  await tx.query(sql`delete from activity_marks where at < ${before}`)
}

/** Returns the start of the oldest slot; undefined before the first. */
export async function findFirstSlot(db: Db): Promise<Date | undefined> {
  const firsts = LEVELS.map(
    (level) => sql`
      (select at from activity_slots where level = ${level}::smallint order by at limit 1)`,
  )
  const found = await rowOf(db)<{ at: Date | null }>`
    select min(at) as at from (${join(firsts, ' union all ')}) as firsts`
  return found?.at ?? undefined
}

const LEVELS = [0, 1, 2, 3, 4]

/** What is marked in graphs; `start` has the names of the processes that started. */
export type MarkKind = ActivityMark['kind'] | 'start' | 'rules' | 'model'

/**
 * Returns what happened in a range of time, newest first: new versions, outages, rules and models,
 * and starts of processes that still run, by the minute.
 */
export function listMarks(
  db: Db,
  { from, to }: { from: Date; to: Date },
  limit: number,
): Promise<{ at: Date; kind: MarkKind; detail: string }[]> {
  return rowsOf(db)`
    select at, kind, detail from (
      select at, kind, detail from activity_marks
      union all select applied_at, 'rules', version::text from rule_sets
      union all select promoted_at, 'model', version::text from models
      where promoted_at is not null
      union all select min(started_at), 'start', string_agg(distinct name, ', ' order by name)
      from processes group by date_trunc('minute', started_at)) as happened
    where at >= ${from} and at < ${to} order by at desc limit ${limit}`
}
