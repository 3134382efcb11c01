import sql from 'sql-template-tag'
import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { changesAny, rowOf, rowsOf } from './rows.ts'

/** The request of a desk for the original of a report; a report has at most one. */
export type OriginalRequest = FeedbackKey & {
  consumerId: string
  reporterId: string
  askedAt: Date
  /** Until when the reporter can agree. */
  endsAt: Date
  /** What the reporter decided; null before that. */
  isGranted: boolean | null
}

const columns = sql`report_id as "reportId", number, consumer_id as "consumerId",
  reporter_id as "reporterId", asked_at as "askedAt", ends_at as "endsAt",
  is_granted as "isGranted"`

/** Stores a request; false if the report has one already. */
export function insertOriginalRequest(
  tx: Db,
  one: Omit<OriginalRequest, 'isGranted'>,
): Promise<boolean> {
  return changesAny(tx)`
    insert into original_requests
      (report_id, number, consumer_id, reporter_id, asked_at, ends_at)
    values (${one.reportId}, ${one.number}, ${one.consumerId}, ${one.reporterId}, ${one.askedAt},
      ${one.endsAt})
    on conflict (report_id) do nothing`
}

export function findOriginalRequest(
  db: Db,
  reportId: string,
): Promise<OriginalRequest | undefined> {
  return rowOf(db)`select ${columns} from original_requests where report_id = ${reportId}`
}

/** Returns those of the reports whose reporters can still decide on a request. */
export async function listOpenRequests(
  db: Db,
  reportIds: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const rows = await rowsOf(db)<{ id: string }>`
    select report_id as id from original_requests
    where report_id = any(${reportIds}::uuid[]) and is_granted is null and ends_at > ${now}`
  return new Set(rows.map(({ id }) => id))
}

/**
 * Lets other requests of a desk, and those to a reporter, wait until the transaction ends, so that
 * their number is right. The desk is locked first, always.
 */
export async function lockOriginalRequests(
  tx: Db,
  of: { consumerId: string; reporterId: string },
): Promise<void> {
  for (const name of [`originals by ${of.consumerId}`, `originals to ${of.reporterId}`]) {
    await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`)
  }
}

export async function countOriginalRequests(
  db: Db,
  of: { consumerId: string; since: Date; reporterId: string; reporterSince: Date },
): Promise<{ byDesk: number; toReporter: number }> {
  const counted = await rowOf(db)<{ byDesk: number; toReporter: number }>`
    select (select count(*)::integer from original_requests
        where consumer_id = ${of.consumerId} and asked_at > ${of.since}) as "byDesk",
      (select count(*)::integer from original_requests
        where reporter_id = ${of.reporterId} and asked_at > ${of.reporterSince}) as "toReporter"`
  return counted ?? { byDesk: 0, toReporter: 0 }
}

/** Stores the decision of a reporter, once and in time; returns the request. */
export function decideOriginalRequest(
  tx: Db,
  decision: { reportId: string; reporterId: string; isGranted: boolean; at: Date },
): Promise<OriginalRequest | undefined> {
  return rowOf(tx)`
    update original_requests set is_granted = ${decision.isGranted}, decided_at = ${decision.at}
    where report_id = ${decision.reportId} and reporter_id = ${decision.reporterId}
      and is_granted is null and ends_at > ${decision.at}
    returning ${columns}`
}

export async function removeOriginalRequestsTo(tx: Db, reporterId: string): Promise<void> {
  await tx.query(sql`delete from original_requests where reporter_id = ${reporterId}`)
}
