import sql from 'sql-template-tag'
import type { AnswerKind } from '../mail/verp.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { type Clock, shardOf, uuidv7 } from '../world.ts'
import { isShownUnsent, shownState } from './feedback-reports.ts'
import { committedBefore } from './nodes.ts'
import type { Db } from './pool.ts'
import {
  haveAppeared,
  isDistributed,
  isId,
  isInWeekOf,
  isOneOfIds,
  prepared,
  preparedInsert,
  preparedValuesOf,
} from './prepared.ts'
import type { ReportKind } from './reports.ts'
import { changesAny, rowsOf, valuesOf } from './rows.ts'

/** Notes that reports changed, so that the days on which they arrived are counted again. */
async function insertNews(tx: Db, reportIds: readonly string[], at: Date): Promise<void> {
  if (reportIds.length > 0) await writeNews(tx, [...new Set(reportIds)], at)
}

/**
 * Makes a distributed database commit this transaction in two phases. The transaction writes to the
 * queues and to one other server; a crash between two separate commits would lose the jobs.
 */
export async function commitInStep(tx: Db, at: Date): Promise<void> {
  if (isDistributed() && committedBefore(tx) === tx) await writeNews(tx, [], at)
}

async function writeNews(tx: Db, reportIds: readonly string[], at: Date): Promise<void> {
  await committedBefore(tx).query(prepared`
    insert into report_news (id, report_ids) values (${uuidv7(at)}, ${reportIds}::uuid[])`)
}

/** Change notes that were taken: the number of rows, and the reports they name. */
export type ClaimedEvents = { rows: number; ids: string[] }

/**
 * Deletes and returns the oldest change notes of visible changes, in the transaction that processes
 * them.
 */
export async function claimNewEvents(tx: Db, limit: number, now: Date): Promise<ClaimedEvents> {
  const { rows } = await tx.query<{ ids: string[] }>(sql`delete from report_news where id in (
      select id from report_news where ${haveAppeared('id', now)} order by id limit ${limit})
    returning report_ids as ids`)
  return { rows: rows.length, ids: [...new Set(rows.flatMap(({ ids }) => ids))] }
}

/** An event in the history of a report; `phrases` contain no personal data. */
export type ReportEvent = {
  reportId: string
  at: Date
  event: EventName
  phrases: readonly Phrase[]
}

export type EventName =
  | 'analyzed'
  | 'looked-up'
  | 'held'
  | 'sent'
  | 'refused'
  | 'bounced'
  | 'retracted'
  | 'changed'
  | 'withdrawn'
  | 'merged'
  | 'failed'
  | 'redriven'
  | 'answered'
  | 'reopened'
  | 'confirmed'
  | 'advised'
  | 'unsubscribing'
  | 'unsubscribed'
  | `desk-${AnswerKind}`

/**
 * Adds events to the histories of their reports. Every change of an outcome adds an event, so this
 * function also marks the reports' days to be counted again.
 */
export async function insertEvents(tx: Db, events: readonly ReportEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ reportId, at, event, phrases }) => {
    return [reportId, shardOf(reportId), uuidv7(at), at, event, JSON.stringify(phrases)]
  })
  const [{ at } = { at: new Date(0) }] = events
  await Promise.all([
    tx.query(
      preparedInsert(
        rows,
        (values) =>
          sql`
            insert into report_events (report_id, shard, id, at, event, phrases) values ${values}`,
      ),
    ),
    insertNews(
      tx,
      events.map(({ reportId }) => reportId),
      at,
    ),
  ])
}

/** Returns the history of one report, oldest first. */
export function listEvents(db: Db, reportId: string): Promise<ReportEvent[]> {
  return rowsOf(db)`
    select report_id as "reportId", at, event, phrases
    from report_events where ${isId('report_id', reportId)} order by at, id`
}

/** Returns the given reports that had an event of this name after an instant. */
export function listReportsWith(
  db: Db,
  event: EventName,
  reportIds: readonly string[],
  since: Date,
): Promise<string[]> {
  return valuesOf(db)`
    select distinct report_id as id from report_events
    where ${isOneOfIds('report_id', reportIds)} and event = ${event} and at > ${since}`
}

export async function countEvents(
  db: Db,
  event: EventName,
  reportIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (reportIds.length === 0) return new Map()
  const { rows } = await db.query<{ id: string; count: number }>(sql`
    select report_id as id, count(*)::integer as count from report_events
    where ${isOneOfIds('report_id', reportIds)} and event = ${event} group by report_id`)
  return new Map(rows.map(({ id, count }) => [id, count]))
}

export function eventNow(
  clock: Clock,
  reportId: string,
  event: EventName,
  phrases: readonly Phrase[],
): ReportEvent {
  return { reportId, at: clock(), event, phrases }
}

/** A changed statement of a reporter about a message that the same reporter reported before. */
export type KindChange = {
  reportId: string
  kind: ReportKind
  comment: string | null
  /** Whether the new statement must have no effect on others. */
  isShadowed: boolean
  /**
   * When the reporter made the statement, if that was before now. A later statement is then kept.
   */
  saidAt?: Date | undefined
}

/** The phrase in the event that records an administrator's retraction of a report. */
export const overruled = phrase('retracted-by-administrator')

/**
 * Replaces the reason of administrators' retractions of a report since an instant, because they
 * were undone: the reporter may report the message again.
 */
export async function replaceRetractions(tx: Db, reportId: string, since: Date): Promise<void> {
  const phrases = JSON.stringify([phrase('retracted-and-undone')])
  await tx.query(sql`update report_events set phrases = ${phrases}
    where ${isId('report_id', reportId)} and event = 'retracted' and at >= ${since}
      and phrases @> ${JSON.stringify([overruled])}`)
}

export function listToChange(db: Db, ids: readonly string[]): Promise<ReportStanding[]> {
  return rowsOf(db)`
    select id, kind, state = 'retracted' as "isRetracted", shadow is not null as "isShadowed"
    from reports where ${isOneOfIds('id', ids)}`
}

export type ReportStanding = {
  id: string
  kind: ReportKind
  isRetracted: boolean
  isShadowed: boolean
}

/**
 * Sets a report back to `received` with its reporter's new statement. Returns false and changes
 * nothing when the report has this statement already and is not retracted, when the reporter made a
 * later statement, or when an administrator retracted it and its message was not learned from a
 * mail server. With `isShadowed`, a report that has an effect is held from now on.
 */
export function changeKind(
  tx: Db,
  { reportId, kind, comment, isShadowed, saidAt }: KindChange,
): Promise<boolean> {
  const itsEvents = sql`
    report_id = reports.id and shard = reports.shard and ${isId('report_id', reportId)}`
  const isLatest = saidAt
    ? sql`not exists (
        select from report_events where ${itsEvents}
          and event in ('changed', 'confirmed', 'retracted') and at > ${saidAt})`
    : sql`true`
  return changesAny(tx)`
    update reports set kind = ${kind}, comment = coalesce(${comment}, comment), state = 'received',
      is_confirmed = false,
      shadow = case when ${isShadowed} and (shadow is null or shadow = 'released') then 'held'
        else shadow end
    where ${isId('id', reportId)} and (state = 'retracted' or kind <> ${kind})
      and (state <> 'retracted' or channel = 'learn' or not exists (
        select from report_events where ${itsEvents}
          and event = 'retracted' and phrases @> ${JSON.stringify([overruled])}))
      and ${isLatest}`
}

const COMMENTS_CHARS_MAX = 8_000

/**
 * Adds a comment below the earlier ones of a report, separated by a blank line; of more than 8,000
 * characters the latest stay. Returns false and changes nothing if the report has this comment.
 */
export function addComment(tx: Db, reportId: string, comment: string): Promise<boolean> {
  const gap = '\n\n'
  const max = COMMENTS_CHARS_MAX
  return changesAny(tx)`
    update reports set comment =
      right(coalesce(comment || ${gap}::text, '') || ${comment}::text, ${max}::integer)
    where ${isId('id', reportId)}
      and position(${gap + comment + gap}::text
        in ${gap}::text || coalesce(comment, '') || ${gap}::text) = 0`
}

export type JudgedAs = {
  id: string
  kind: ReportKind
  hasEffect: boolean
  correctedAs: string | null
}

/**
 * Moves reports from one of the states `from` to `to` and returns the ids of those it moved. Skips
 * reports whose kind or correction changed after the analysis, or that were held or released
 * meanwhile. Released reports have an effect from now on.
 */
export async function markJudged(
  tx: Db,
  reports: readonly JudgedAs[],
  from: readonly string[],
  to: 'analyzed' | 'kept',
): Promise<string[]> {
  if (reports.length === 0) return []
  const read = Object.fromEntries(
    reports.map(({ id, kind, hasEffect, correctedAs }) => {
      return [id, `${kind} ${hasEffect} ${correctedAs ?? ''}`]
    }),
  )
  const ids = reports.map(({ id }) => id)
  return preparedValuesOf(tx)`
    update reports set state = ${to}, shadow = nullif(shadow, 'released')
    where ${isOneOfIds('id', ids)} and state = any(${from}::text[])
      and kind || ' ' || (coalesce(shadow, 'released') = 'released')::text
          || ' ' || coalesce(corrected_as, '')
        = ${JSON.stringify(read)}::jsonb ->> id::text
    returning id`
}

/** Marks analyzed reports as forwarded if their complaint was sent before their kind changed. */
export async function markSentBefore(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.query(prepared`update reports set state = 'forwarded'
    where ${isOneOfIds('id', ids)} and state = 'analyzed' and exists (
      select from feedback_reports
      where report_id = reports.id and shard = reports.shard and ${isInWeekOf('report_id', ids)}
        and kind = 'complaint' and ${shownState} in ('sent', 'merged'))
      and not exists (
      select from feedback_reports
      where report_id = reports.id and shard = reports.shard and ${isInWeekOf('report_id', ids)}
        and ${isShownUnsent})`)
}
