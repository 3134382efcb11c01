import sql from 'sql-template-tag'
import { dateOf } from '../durations.ts'
import type { OneClickOutcome } from '../mail/list-unsubscribe.ts'
import type { Language } from '../texts/messages.ts'
import { shardOf } from '../world.ts'
import type { Db } from './pool.ts'
import { isId, isOneOfIds } from './prepared.ts'
import { changesAny, rowOf, rowsOf, valuesOf } from './rows.ts'

/**
 * The data that decides whether a reporter receives advice letters, at which address and in which
 * language.
 */
export type AdvisedReporter = {
  email: string
  language: Language | null
  wantsAdvice: boolean
}

export function findAdvisedReporter(db: Db, id: string): Promise<AdvisedReporter | undefined> {
  return rowOf(db)`
      select email, language, wants_advice as "wantsAdvice" from reporters where id = ${id}`
}

/**
 * Stores that a reporter was advised about a subject, once a week. False when it was stored in that
 * week before. Of several concurrent callers, exactly one succeeds.
 */
export function insertAdvice(
  tx: Db,
  advice: { reporterId: string; about: string; week: Date; reportId: string; at: Date },
): Promise<boolean> {
  return changesAny(tx)`
    insert into advices (reporter_id, about, week, report_id, advised_at)
    values (${advice.reporterId}, ${advice.about}, ${dateOf(advice.week)},
      ${advice.reportId}, ${advice.at})
    on conflict (reporter_id, about, week) do nothing`
}

/** An advice to a reporter about a subject, the report that led to it, and when it was given. */
export type GivenAdvice = { reporterId: string; about: string; reportId: string; at: Date }

export async function listAdvices(
  db: Db,
  asked: readonly Pick<GivenAdvice, 'reporterId' | 'about'>[],
): Promise<GivenAdvice[]> {
  const reporterIds = [...new Set(asked.map(({ reporterId }) => reporterId))]
  const abouts = [...new Set(asked.map(({ about }) => about))]
  return rowsOf(db)`
    select reporter_id as "reporterId", about, report_id as "reportId", advised_at as at
    from advices where reporter_id = any(${reporterIds}::uuid[]) and about = any(${abouts}::text[])`
}

/** A marketer about which reporters were advised again, and the number of these reporters. */
export type ContinuingMarketer = { key: string; name: string; reporters: number }

/**
 * Returns the confirmed marketers about which reporters got advice again at least `days` days after
 * the first advice; those with the most such reporters first.
 */
export function listContinuingMarketers(
  db: Db,
  { days, limit }: { days: number; limit: number },
): Promise<ContinuingMarketer[]> {
  return rowsOf(db)`
    select key, name, reporters from marketers join (
      select about, count(*)::integer as reporters from (
        select reporter_id, about from advices where about like 'marketer %'
        group by reporter_id, about
        having max(advised_at) - min(advised_at) >= make_interval(days => ${days})) as again
      group by about) as continuing on about = 'marketer ' || key
    where state = 'confirmed' order by reporters desc, key limit ${limit}`
}

/** The state of an unsubscribe request. From `under-way` on, the request is never sent again. */
export type UnsubscribeState = 'queued' | 'under-way' | OneClickOutcome['state']

/** An unsubscribe request that was sent, or is to be sent, to a sender for a reporter. */
export type UnsubscribeRequest = {
  reportId: string
  state: UnsubscribeState
  /** The host that receives the request. */
  host: string
  askedAt: Date
  begunAt: Date | null
  finishedAt: Date | null
}

const columns = sql`report_id as "reportId", state, host, asked_at as "askedAt",
  begun_at as "begunAt", finished_at as "finishedAt"`

/** Stores an unsubscribe request; false when the report already has one. */
export function insertUnsubscribe(
  tx: Db,
  request: { reportId: string; reporterId: string; host: string; askedAt: Date },
): Promise<boolean> {
  return changesAny(tx)`
    insert into unsubscribe_requests (report_id, shard, reporter_id, state, host, asked_at)
    values (${request.reportId}, ${shardOf(request.reportId)}, ${request.reporterId}, 'queued',
      ${request.host}, ${request.askedAt}) on conflict (report_id, shard) do nothing`
}

export function findUnsubscribe(db: Db, reportId: string): Promise<UnsubscribeRequest | undefined> {
  return rowOf(db)`
      select ${columns} from unsubscribe_requests where ${isId('report_id', reportId)}`
}

/** Returns the unsubscribe requests of these reports that the sender accepted. */
export function listHonoredUnsubscribes(
  db: Db,
  reportIds: readonly string[],
): Promise<{ reportId: string; finishedAt: Date }[]> {
  return rowsOf(db)`
    select report_id as "reportId", finished_at as "finishedAt" from unsubscribe_requests
    where ${isOneOfIds('report_id', reportIds)} and state = 'done' and finished_at is not null`
}

/** Claims a queued unsubscribe request for sending; false when it was claimed before. */
export function beginUnsubscribe(db: Db, reportId: string, now: Date): Promise<boolean> {
  return changesAny(db)`
    update unsubscribe_requests set state = 'under-way', begun_at = ${now}
    where ${isId('report_id', reportId)} and state = 'queued'`
}

/**
 * Ends an unsubscribe request, unless it has ended already. A later known outcome
 * replaces `unknown`.
 */
export function endUnsubscribe(
  tx: Db,
  reportId: string,
  { state, at }: Pick<OneClickOutcome, 'state'> & { at: Date },
): Promise<boolean> {
  return changesAny(tx)`
    update unsubscribe_requests set state = ${state}, finished_at = ${at}
    where ${isId('report_id', reportId)}
      and (state in ('queued', 'under-way') or (state = 'unknown' and ${state} <> 'unknown'))`
}

/**
 * Returns the ids of unsubscribe requests that should have finished before an instant. Their job is
 * lost; the request may have been sent.
 */
export function listStuckUnsubscribes(db: Db, before: Date, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select report_id as id from unsubscribe_requests
    where state in ('queued', 'under-way') and asked_at < ${before} order by report_id
      limit ${limit}`
}
