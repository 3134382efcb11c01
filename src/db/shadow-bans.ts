import sql from 'sql-template-tag'
import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { isId, isOneOf, isOneOfIds, preparedValuesOf } from './prepared.ts'
import { type Report, reportColumns } from './reports.ts'
import { changesAny, rowOf, rowsOf, valuesOf } from './rows.ts'

/** The shadow ban of a reporter, whose reports are held. */
export type ShadowBan = {
  reporterId: string
  reason: string
  imposedAt: Date
  /** Null when imposed at the command line. */
  imposedBy: string | null
}

const columns = sql`reporter_id as "reporterId", reason, imposed_at as "imposedAt",
  imposed_by as "imposedBy"`

export async function listBannedAmong(
  db: Db,
  reporterIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await preparedValuesOf(db)`
    select reporter_id as "reporterId" from shadow_bans
    where ${isOneOf('reporter_id', reporterIds, 'uuid[]')}`
  return new Set(found)
}

export function findShadowBan(db: Db, reporterId: string): Promise<ShadowBan | undefined> {
  return rowOf(db)`
      select ${columns} from shadow_bans where reporter_id = ${reporterId}`
}

/**
 * Returns a page of the bans by reporter id, newest accounts first; `before` is the last reporter
 * id of the previous page.
 */
export function listShadowBans(
  db: Db,
  page: { before: string | undefined; limit: number },
): Promise<ShadowBan[]> {
  return rowsOf(db)`
    select ${columns} from shadow_bans where ${page.before}::uuid is null
      or reporter_id < ${page.before}::uuid
    order by reporter_id desc limit ${page.limit}`
}

/** Bans a reporter; for a reporter who is banned already, only the reason changes. */
export async function putShadowBan(tx: Db, ban: ShadowBan): Promise<void> {
  await tx.query(sql`insert into shadow_bans (reporter_id, reason, imposed_at, imposed_by)
    values (${ban.reporterId}, ${ban.reason}, ${ban.imposedAt}, ${ban.imposedBy})
    on conflict (reporter_id) do update set reason = excluded.reason`)
}

/** Lifts a ban; false when there was none. */
export function removeShadowBan(tx: Db, reporterId: string): Promise<boolean> {
  return changesAny(tx)`
    delete from shadow_bans where reporter_id = ${reporterId}`
}

/**
 * Returns a page of the held reports of one reporter or of all, newest first, without retracted
 * ones. `before` is the last id of the previous page.
 */
export function listHeldReports(
  db: Db,
  page: { reporterId: string | undefined; before: string | undefined; limit: number },
): Promise<Report[]> {
  return rowsOf(db)`select ${reportColumns} from reports
    where (${page.reporterId}::uuid is null or reporter_id = ${page.reporterId}::uuid)
      and (${page.before}::uuid is null or id < ${page.before}::uuid)
      and shadow = 'held' and state <> 'retracted'
    order by id desc limit ${page.limit}`
}

/** Releases or drops held reports that are not retracted; returns the ids of the changed ones. */
export function endHolding(
  tx: Db,
  ids: readonly string[],
  to: 'released' | 'dropped',
): Promise<string[]> {
  return valuesOf(tx)`update reports set shadow = ${to}
    where ${isOneOfIds('id', ids)} and shadow = 'held' and state <> 'retracted'
    returning id`
}

/** Returns which of the given reports have no effect on others at present. */
export async function listShadowedAmong(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await preparedValuesOf(db)`
    select id from reports where ${isOneOfIds('id', ids)} and shadow is not null`
  return new Set(found)
}

/** Number of the newest reports without effect in which those of a campaign are searched. */
const SHADOWED_MAX = 1_000

/**
 * Returns kept reports without effect on others that would count for a campaign, with ids from
 * `from` on and below `to`: of the newest 1,000.
 */
export async function listShadowedMembers(
  db: Db,
  campaignId: string,
  { from, to }: { from: string; to: string },
): Promise<string[]> {
  const newest = await rowsOf(db)<{ id: string }>`
    select id from reports where shadow in ('held', 'dropped') and id >= ${from} and id < ${to}
      and state = 'kept'
    order by id desc limit ${SHADOWED_MAX}`
  if (newest.length === 0) return []
  const ids = newest.map(({ id }) => id)
  const members = await rowsOf(db)<{ id: string }>`
    select id from analyses
    where ${isOneOfIds('id', ids)} and judgment ->> 'campaignId' = ${campaignId}`
  return members.map(({ id }) => id)
}

/**
 * Makes released reports count that were analyzed while they were held. Returns the ids of those
 * that did not count before; of several concurrent runs, one gets each id.
 */
export async function claimReleased(tx: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  return preparedValuesOf(tx)`update reports set shadow = null
    where ${isOneOfIds('id', ids)} and shadow = 'released'
      and state in ('analyzed', 'forwarded', 'kept', 'failed')
    returning id`
}

/** Returns released reports that do not count yet, with ids below `before`, oldest first. */
export function listUncounted(db: Db, before: string, limit: number): Promise<string[]> {
  return valuesOf(db)`select id from reports
    where shadow = 'released' and id < ${before} and state in ('analyzed', 'forwarded', 'kept')
    order by id limit ${limit}`
}

/** Returns the shadowed feedback reports of some reports, which only their reporters see. */
export function listShadowedFeedback(
  tx: Db,
  reportIds: readonly string[],
): Promise<(FeedbackKey & { consumerId: string })[]> {
  return rowsOf(tx)<FeedbackKey & { consumerId: string }>`
    select report_id as "reportId", number, consumer_id as "consumerId" from feedback_reports
    where ${isOneOfIds('report_id', reportIds)} and state = 'shadowed'
    order by report_id, number`
}

/**
 * Releases a shadowed feedback report: to be sent immediately, or at `dueAt`. One that its reporter
 * has seen as sent keeps `due_at` when it is queued, so that its outcome is not shown again.
 */
export function releaseShadowedFeedback(
  tx: Db,
  { reportId, number }: FeedbackKey,
  { state, dueAt }: { state: 'queued' | 'waiting'; dueAt: Date | null },
): Promise<boolean> {
  return changesAny(tx)`
    update feedback_reports set state = ${state}, due_at = coalesce(${dueAt}::timestamptz,
      case when finished_at is not null then due_at end), finished_at = null
    where ${isId('report_id', reportId)} and number = ${number} and state = 'shadowed'`
}
