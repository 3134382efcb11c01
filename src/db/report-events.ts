import type { AnswerKind } from '../mail/answer-links.ts'
import { type Clock, uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import { insertNews } from './report-news.ts'
import { values } from './values.ts'

/** What happened to a report, and when; `detail` is a sentence without personal data. */
export type ReportEvent = { reportId: string; at: Date; event: EventName; detail: string }

/** The names of events. */
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
  | 'advised'
  | 'unsubscribing'
  | 'unsubscribed'
  | `desk-${AnswerKind}`

/**
 * Adds events to the stories of their reports. Whatever changes what became of a report is told in
 * its story, so this is also where its day is said to be counted again.
 */
export async function insertEvents(tx: Db, events: readonly ReportEvent[]): Promise<void> {
  if (events.length === 0) return
  const { text, params } = values(
    events.map(({ reportId, at, event, detail }) => [reportId, uuidv7(at), at, event, detail]),
  )
  const [{ at } = { at: new Date(0) }] = events
  await Promise.all([
    tx.query(`insert into report_events (report_id, id, at, event, detail) values ${text}`, params),
    insertNews(
      tx,
      events.map(({ reportId }) => reportId),
      at,
    ),
  ])
}

/** The story of one report, oldest first. */
export async function listEvents(db: Db, reportId: string): Promise<ReportEvent[]> {
  const { rows } = await db.query<ReportEvent>(
    `select report_id as "reportId", at, event, detail
     from report_events where report_id = $1 order by at, id`,
    [reportId],
  )
  return rows
}

/** Those of the reports to which something happened since an instant. */
export async function listReportsWith(
  db: Db,
  event: EventName,
  reportIds: readonly string[],
  since: Date,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select distinct report_id as id from report_events
     where report_id = any($1::uuid[]) and event = $2 and at > $3`,
    [reportIds, event, since],
  )
  return rows.map(({ id }) => id)
}

/** An event that happens now. */
export function eventNow(
  clock: Clock,
  reportId: string,
  event: EventName,
  detail: string,
): ReportEvent {
  return { reportId, at: clock(), event, detail }
}
