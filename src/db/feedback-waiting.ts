import sql, { type Sql } from 'sql-template-tag'
import {
  type Feedback,
  type FeedbackKey,
  type FeedbackKind,
  isShownUnsent,
  feedbackName,
  shownState,
} from './feedback-reports.ts'
import type { Db } from './pool.ts'
import type { RecipientRole } from '../verdict/choose-contact.ts'
import { isId, isOneOfIds, preparedRowsOf } from './prepared.ts'
import { changesAny, rowsOf, valuesOf } from './rows.ts'

/** Returns the feedback reports merged into each of the given ones, by report and number. */
export async function listMerged(
  db: Db,
  heads: readonly FeedbackKey[],
): Promise<{ member: FeedbackKey; head: FeedbackKey }[]> {
  const several = await listWithMembers(db, heads)
  if (several.length === 0) return []
  const { rows } = await db.query<{
    reportId: string
    number: number
    headId: string
    headNumber: number
  }>(sql`
    select report_id as "reportId", number, merged_into as "headId", merged_number as "headNumber"
    from feedback_reports where ${isMergedInto(several)} order by report_id, number`)
  return rows.map(({ headId, headNumber, ...member }) => {
    return { member, head: { reportId: headId, number: headNumber } }
  })
}

/** Maximum number of merged reports that share the outcome of a feedback report. */
const MEMBERS_MAX = 1_000

/** Returns the reports merged into a feedback report, which share its outcome. */
export async function listMergedReports(db: Db, { reportId, number }: FeedbackKey) {
  const merged = await listMerged(db, [{ reportId, number }])
  return merged.slice(0, MEMBERS_MAX).map(({ member }) => member)
}

/**
 * Returns the given feedback reports into which others were merged. Most have none, and searching
 * the merged ones of each would read an index of every week, on every node.
 */
function listWithMembers(db: Db, heads: readonly FeedbackKey[]): Promise<FeedbackKey[]> {
  const ids = heads.map(({ reportId }) => reportId)
  return preparedRowsOf(db)`
    select report_id as "reportId", number from feedback_reports
    where ${isOneOfIds('report_id', ids)} and incidents > 1
      and report_id::text || ' ' || number::text = any(${heads.map(feedbackName)}::text[])`
}

/** Withdraws the feedback reports that were merged into withdrawn ones, and returns their keys. */
async function withdrawMerged(
  tx: Db,
  heads: readonly FeedbackKey[],
  now: Date,
): Promise<FeedbackKey[]> {
  if (heads.length === 0) return []
  const several = await listWithMembers(tx, heads)
  if (several.length === 0) return []
  return rowsOf(tx)`
    update feedback_reports
    set state = 'withdrawn', finished_at = ${now}, merged_into = null, merged_number = null
    where ${isMergedInto(several)} returning report_id as "reportId", number`
}

function isAmong(keys: readonly FeedbackKey[]): Sql {
  return sql`${isOneOfIds(
    'report_id',
    keys.map(({ reportId }) => reportId),
  )}
    and report_id::text || ' ' || number::text = any(${keys.map(feedbackName)}::text[])`
}

/** Whether a feedback report was merged into one of `heads`. */
function isMergedInto(heads: readonly FeedbackKey[]): Sql {
  return sql`merged_into = any(${heads.map(({ reportId }) => reportId)}::uuid[])
    and merged_into::text || ' ' || merged_number::text = any(${heads.map(feedbackName)}::text[])`
}

/** A due feedback report, with the campaign of its message if the report is counted. */
export type DueFeedback = FeedbackKey & {
  kind: FeedbackKind
  recipientRole: RecipientRole
  incidents: number
  isDigest: boolean
  campaignId: string | null
}

/** Returns the consumers with due feedback, those that have waited longest first. */
export function listDueConsumers(db: Db, now: Date, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select consumer_id as id from feedback_reports
    where state = 'waiting' and due_at <= ${now}
    group by consumer_id order by min(due_at) limit ${limit}`
}

/**
 * Locks the pacing of a consumer's feedback until the transaction ends; false when another process
 * holds the lock.
 */
export async function claimPacing(tx: Db, consumerId: string): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(sql`
    select pg_try_advisory_xact_lock(hashtextextended(${`pace ${consumerId}`}, 0)) as free`)
  return rows[0]?.free === true
}

/** Returns the due feedback of a consumer, by report and number. */
export function listDueFeedback(
  tx: Db,
  consumerId: string,
  now: Date,
  limit: number,
): Promise<DueFeedback[]> {
  return rowsOf(tx)`
    select report_id as "reportId", number, kind, told_as as "recipientRole", incidents,
      is_digest as "isDigest", campaign_id as "campaignId"
    from feedback_reports left join counted_reports on counted_reports.id = report_id
      and counted_reports.shard = feedback_reports.shard
    where state = 'waiting' and consumer_id = ${consumerId} and due_at <= ${now}
    order by report_id, number limit ${limit}`
}

/** Postpones queued or waiting feedback until an instant; returns the keys of what it postponed. */
export function delayFeedback(
  tx: Db,
  keys: readonly FeedbackKey[],
  dueAt: Date,
): Promise<FeedbackKey[]> {
  return rowsOf(tx)`
    update feedback_reports
    set state = case when state = 'shadowed' then state else 'waiting' end, due_at = ${dueAt}
    where ${isAmong(keys)} and ${shownState} in ('queued', 'waiting')
    returning report_id as "reportId", number`
}

/** Withdraws unsent feedback and what was merged into it; returns the keys. */
export function withdrawUnsent(
  tx: Db,
  keys: readonly FeedbackKey[],
  now: Date,
): Promise<FeedbackKey[]> {
  return withdrawWhere(tx, isAmong(keys), now)
}

/**
 * Withdraws all unsent feedback reports to a consumer, and those merged into them; returns their
 * keys.
 */
export function withdrawFeedbackOf(tx: Db, consumerId: string, now: Date): Promise<FeedbackKey[]> {
  return withdrawWhere(tx, sql`consumer_id = ${consumerId}`, now)
}

async function withdrawWhere(tx: Db, which: Sql, now: Date): Promise<FeedbackKey[]> {
  const { rows } = await tx.query<FeedbackKey>(sql`
    update feedback_reports set state = 'withdrawn', finished_at = ${now}
    where ${which} and ${isShownUnsent}
    returning report_id as "reportId", number`)
  return [...rows, ...(await withdrawMerged(tx, rows, now))]
}

/**
 * Makes the waiting feedback of a consumer due at an instant, unless it is due earlier. Returns the
 * number of feedback reports that this changed.
 */
export async function advanceDueFeedback(tx: Db, consumerId: string, dueAt: Date): Promise<number> {
  const { rowCount } = await tx.query(sql`update feedback_reports set due_at = ${dueAt}
    where consumer_id = ${consumerId} and state = 'waiting' and due_at > ${dueAt}`)
  await tx.query(sql`update feedback_reports set due_at = ${dueAt}
    where consumer_id = ${consumerId} and state = 'shadowed' and finished_at is null
      and due_at > ${dueAt}`)
  return rowCount ?? 0
}

/** Unsent feedback reports to a consumer in one state. */
export type WaitingFeedback = {
  consumerId: string
  state: 'queued' | 'waiting' | 'held'
  mails: number
  /** When the oldest was created, and when the first is due, if it waits for that. */
  since: Date
  dueAt: Date | null
  /** The report of the oldest. */
  reportId: string
}

/** Returns what is not sent yet by consumer and state, those that have waited longest first. */
export function listWaitingFeedback(db: Db, limit: number): Promise<WaitingFeedback[]> {
  return preparedRowsOf(db)`
    select consumer_id as "consumerId", state, count(*)::int as mails, min(created_at) as since,
      min(due_at) as "dueAt", min(report_id::text) as "reportId"
    from feedback_reports where state in ('queued', 'waiting', 'held')
    group by consumer_id, state order by min(created_at), consumer_id limit ${limit}`
}

/** Returns the reports with queued feedback to a consumer, oldest first. */
export function listQueuedReports(tx: Db, consumerId: string, limit: number): Promise<string[]> {
  return valuesOf(tx)`
    select report_id as id from feedback_reports
    where consumer_id = ${consumerId} and state = 'queued' order by report_id limit ${limit}`
}

/**
 * Ends the wait of shadowed feedback that is due, or the holding of shadowed feedback for a choice.
 * Returns the keys, at most `limit`; the caller must create their jobs.
 */
export async function queueShadowed(
  tx: Db,
  which: { dueAt: Date } | Exclude<HeldChoice, FeedbackKey>,
  limit: number,
): Promise<FeedbackKey[]> {
  const isDue = which !== 'all' && 'dueAt' in which
  const isMeant = isDue
    ? sql`state = 'shadowed' and finished_at is null and due_at <= ${which.dueAt}`
    : sql`state = 'shadowed' and finished_at is not null and due_at is null
      and ${isChosen(which)}`
  const keys = await rowsOf(tx)<FeedbackKey>`
    select report_id as "reportId", number from feedback_reports
    where ${isMeant} order by report_id, number limit ${limit}`
  if (keys.length === 0) return []
  // The copies of held mail are composed again, as those of other released mail.
  if (!isDue) await tx.query(sql`delete from feedback_messages where ${isAmong(keys)}`)
  return rowsOf(tx)`
    update feedback_reports set due_at = null, finished_at = null
    where ${isAmong(keys)} and ${isMeant} returning report_id as "reportId", number`
}

/** Makes the waiting feedback about some reports due now; returns the reports that had some. */
export async function hastenFeedback(
  tx: Db,
  reportIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(sql`
    update feedback_reports set due_at = ${now}
    where ${isOneOfIds('report_id', reportIds)} and state = 'waiting' and due_at > ${now}
    returning report_id as id`)
  return [...new Set(rows.map(({ id }) => id))]
}

/**
 * Queues a waiting feedback report that now covers `incidents` messages; false when it is no longer
 * waiting.
 */
export function queueWaiting(
  tx: Db,
  {
    reportId,
    number,
    incidents,
    isDigest,
  }: Omit<DueFeedback, 'kind' | 'recipientRole' | 'campaignId'>,
): Promise<boolean> {
  return changesAny(tx)`
    update feedback_reports set state = 'queued', due_at = null, incidents = ${incidents},
      is_digest = ${isDigest}
    where ${isId('report_id', reportId)} and number = ${number} and state = 'waiting'`
}

/** Merges waiting feedback reports, and those merged into them before, into `head`. */
export async function mergeWaiting(
  tx: Db,
  head: FeedbackKey,
  members: readonly FeedbackKey[],
): Promise<void> {
  if (members.length === 0) return
  const several = await listWithMembers(tx, members)
  if (several.length > 0) {
    await tx.query(sql`
      update feedback_reports set merged_into = ${head.reportId}, merged_number = ${head.number}
      where ${isMergedInto(several)}`)
  }
  await tx.query(sql`
    update feedback_reports
    set state = 'merged', due_at = null, incidents = 1, is_digest = false,
      merged_into = ${head.reportId}, merged_number = ${head.number}
    where ${isAmong(members)} and state = 'waiting'`)
}

/**
 * Withdraws the unsent feedback reports about a retracted report; returns the number withdrawn.
 * Feedback reports that were merged into a withdrawn one wait again. If a withdrawn one was itself
 * merged into another feedback report, the number of messages of the other is reduced by one.
 */
export async function withdrawFeedback(tx: Db, reportId: string, now: Date): Promise<number> {
  const { rows } = await tx.query<FeedbackKey>(sql`
    update feedback_reports set state = 'withdrawn', finished_at = ${now}
    where ${isId('report_id', reportId)} and ${isShownUnsent}
    returning report_id as "reportId", number`)
  const several = rows.length > 0 ? await listWithMembers(tx, rows) : []
  if (several.length > 0) {
    await tx.query(sql`update feedback_reports
      set state = 'waiting', due_at = ${now}, merged_into = null, merged_number = null
      where ${isMergedInto(several)}`)
  }
  return rows.length + (await leaveHeads(tx, reportId, now))
}

async function leaveHeads(tx: Db, reportId: string, now: Date): Promise<number> {
  const { rows } = await tx.query<Pick<Feedback, 'number' | 'mergedInto' | 'mergedNumber'>>(sql`
    select number, merged_into as "mergedInto", merged_number as "mergedNumber"
    from feedback_reports where ${isId('report_id', reportId)} and state = 'merged'`)
  let left = 0
  for (const { number, mergedInto, mergedNumber } of rows) {
    if (mergedInto === null) continue
    const { rowCount } = await tx.query(sql`
      update feedback_reports set incidents = greatest(1, incidents - 1)
      where ${isId('report_id', mergedInto)} and number = ${mergedNumber}
        and state in ('queued', 'held', 'waiting')`)
    if (rowCount !== 1) continue
    await tx.query(sql`update feedback_reports
      set state = 'withdrawn', finished_at = ${now}, merged_into = null, merged_number = null
      where ${isId('report_id', reportId)} and number = ${number}`)
    left++
  }
  return left
}

/** The state from which a mail is queued again: it was held, or our mail server refused it. */
export type ReleasedState = 'held' | 'refused'

/** Selects held or refused mails: one, those of a consumer, those about some reports, or all. */
export type HeldChoice =
  | FeedbackKey
  | { consumerId: string }
  | { reportIds: readonly string[] }
  | 'all'

function isChosen(which: HeldChoice): Sql {
  if (which === 'all') return sql`true`
  if ('consumerId' in which) return sql`consumer_id = ${which.consumerId}`
  if ('reportIds' in which) return sql`report_id = any(${which.reportIds}::uuid[])`
  return sql`report_id = ${which.reportId} and number = ${which.number}`
}

/**
 * Queues held or refused feedback reports again and deletes their copies, because they are composed
 * again. Skips refused ones whose address is suppressed or unhealthy. The caller must create their
 * jobs. Returns their keys, at most `limit`.
 */
export async function releaseFeedback(
  tx: Db,
  { which, from, now }: { which: HeldChoice; from: ReleasedState; now: Date },
  limit: number,
): Promise<FeedbackKey[]> {
  const { rows: held } = await tx.query<FeedbackKey>(sql`
    select report_id as "reportId", number from feedback_reports
    where state = ${from} and ${isChosen(which)}
      and (${from} = 'held' or not exists (select from suppressions
          where suppressions.address = lower(feedback_reports.address)
            and (until is null or until > ${now}))
        and not exists (select from consumers where consumers.id = consumer_id
            and health <> 'healthy' and (health_until is null or health_until > ${now})))
    order by report_id, number limit ${limit}`)
  const released: FeedbackKey[] = []
  for (const { reportId, number } of held) {
    const { rowCount } = await tx.query(sql`update feedback_reports
      set state = 'queued', finished_at = null, message_id = null, reply = null
      where ${isId('report_id', reportId)} and number = ${number} and state = ${from}`)
    if (rowCount !== 1) continue
    await tx.query(sql`
      delete from feedback_messages where ${isId('report_id', reportId)} and number = ${number}`)
    released.push({ reportId, number })
  }
  return released
}

/** A feedback report as it was before it was withdrawn. */
type FormerFeedback = {
  state: string
  isShadowed: boolean
  dueAt: Date | null
  finishedAt: Date | null
  incidents: number
  isDigest: boolean
}

/** Puts a withdrawn feedback report back into a state; the caller adds its job. */
export async function restoreFeedback(
  tx: Db,
  { reportId, number }: FeedbackKey,
  { state, isShadowed, dueAt, finishedAt, incidents, isDigest }: FormerFeedback,
): Promise<void> {
  await tx.query(sql`
    update feedback_reports
    set state = ${isShadowed ? 'shadowed' : state}, due_at = ${dueAt}, finished_at = ${finishedAt},
      incidents = ${incidents}, is_digest = ${isDigest}
    where ${isId('report_id', reportId)} and number = ${number} and state = 'withdrawn'`)
}

/** Merges a withdrawn feedback report into another one again; false if that is not unsent. */
export async function joinHead(tx: Db, key: FeedbackKey, head: FeedbackKey): Promise<boolean> {
  const isUnsent = await changesAny(tx)`
    update feedback_reports set incidents = incidents + 1
    where ${isId('report_id', head.reportId)} and number = ${head.number}
      and state in ('queued', 'held', 'waiting')`
  if (!isUnsent) return false
  await tx.query(sql`
    update feedback_reports set state = 'merged', due_at = null, finished_at = null,
      merged_into = ${head.reportId}, merged_number = ${head.number}
    where ${isId('report_id', key.reportId)} and number = ${key.number} and state = 'withdrawn'`)
  return true
}

/** Merges those feedback reports into `head` again that still wait; returns the others. */
export async function rejoinMembers(
  tx: Db,
  head: FeedbackKey,
  members: readonly FeedbackKey[],
): Promise<FeedbackKey[]> {
  if (members.length === 0) return []
  const joined = await rowsOf(tx)<FeedbackKey>`
    update feedback_reports set state = 'merged', due_at = null,
      merged_into = ${head.reportId}, merged_number = ${head.number}
    where ${isAmong(members)} and state = 'waiting' and incidents = 1
    returning report_id as "reportId", number`
  const names = new Set(joined.map(feedbackName))
  return members.filter((member) => !names.has(feedbackName(member)))
}

/**
 * Takes the originals out of the complaints to a consumer that are not sent yet, also of those that
 * may be sent again. Not of merged ones, whose mail may be sent; without a contract, they are
 * composed without the original.
 */
export async function withoutOriginals(tx: Db, consumerId: string): Promise<void> {
  await tx.query(sql`
    update feedback_reports set has_original = false
    where consumer_id = ${consumerId} and has_original and kind = 'complaint'
      and state not in ('sent', 'bounced', 'merged')`)
}
