import type { AnswerKind } from '../mail/answer-links.ts'
import type { Db } from './pool.ts'
import type { ReportLine } from './report-search.ts'
import { findReport, type Report, type ReportKind, type ReportState } from './reports.ts'

/** A report of one's own, with what became of it. */
export type OwnReport = ReportLine & {
  /** Kept until its reporter answers a question. */
  isAsking: boolean
  /** How many were told of it, by itself or together with others. */
  told: number
  /** What was answered last; null while nobody did. */
  answer: AnswerKind | null
}

/** What to show of one's own reports; all of it must fit, and what is undefined fits always. */
export type OwnQuery = {
  kind?: ReportKind | undefined
  states?: readonly ReportState[] | undefined
  /** Only those that wait for an answer of their reporter. */
  isAsking?: true | undefined
  /** Only those of which somebody said something. */
  isAnswered?: true | undefined
  /** Part of the subject or of the author's address, in any case. */
  words?: string | undefined
}

/** A stretch of ids: what is older than `before` and newer than `after`, from which end first. */
export type OwnStretch = {
  /** Without it. */
  before?: string | undefined
  /** Without it. */
  after?: string | undefined
  first: 'newest' | 'oldest'
  limit: number
  /** Of so many reports of the stretch those that fit are shown; the rest is not looked at. */
  lookedAtMax: number
}

const fits = `($6::text is null or kind = $6)
  and ($7::text[] is null or state = any($7))
  and ($8::text is null or strpos(lower(subject), $8) > 0 or strpos(lower(author), $8) > 0)
  and ($9::boolean is null or (state = 'kept' and exists (
    select from analyses where analyses.id = own.id
      and judgment -> 'consequence' ->> 'action' = 'ask')))
  and ($10::boolean is null or (state in ('forwarded', 'retracted') and exists (
    select from report_events where report_id = own.id and event like 'desk-%')))`

const withOutcome = `page.id, page.received_at as "receivedAt", page.state, page.kind, page.author,
  page.subject, page.state = 'kept' and exists (
    select from analyses where analyses.id = page.id
      and judgment -> 'consequence' ->> 'action' = 'ask') as "isAsking",
  (select count(*)::integer from feedback_reports where report_id = page.id
    and kind = 'complaint' and feedback_reports.state in ('sent', 'merged')) as told,
  (select substr(event, 6) from report_events where report_id = page.id and event like 'desk-%'
    order by at desc limit 1) as answer`

/**
 * Part of one reporter's reports, in the order of `first`. It walks along the index of the
 * reporter and stops when it has enough, or has looked at enough: so it costs the same for a
 * hundred thousand reports, whatever is sought. Who finds fewer than `limit` asks `findOwnStop`
 * whether there is more.
 */
export async function listOwnReports(
  db: Db,
  reporterId: string,
  query: OwnQuery,
  stretch: OwnStretch,
): Promise<OwnReport[]> {
  const way = stretch.first === 'newest' ? 'desc' : 'asc'
  const { rows } = await db.query<OwnReport>(
    `select ${withOutcome}
     from (
       select id, received_at, state, kind, author, subject
       from (
         select id, received_at, state, kind, author, subject from reports
         where reporter_id = $1 and ($2::uuid is null or id < $2) and ($3::uuid is null or id > $3)
         order by reporter_id ${way}, id ${way} limit $4) as own
       where ${fits}
       order by id ${way} limit $5) as page
     order by page.id ${way}`,
    [
      reporterId,
      stretch.before ?? null,
      stretch.after ?? null,
      stretch.lookedAtMax,
      stretch.limit,
      query.kind ?? null,
      query.states ?? null,
      query.words?.toLowerCase() ?? null,
      query.isAsking ?? null,
      query.isAnswered ?? null,
    ],
  )
  return rows
}

/** The last report of a stretch that is looked at; undefined where the stretch ends before. */
export async function findOwnStop(
  db: Db,
  reporterId: string,
  { before, after, first, lookedAtMax }: OwnStretch,
): Promise<{ id: string; receivedAt: Date } | undefined> {
  const way = first === 'newest' ? 'desc' : 'asc'
  // One further says that there is more behind it.
  const { rows } = await db.query<{ id: string; receivedAt: Date }>(
    `select id, received_at as "receivedAt" from reports
     where reporter_id = $1 and ($2::uuid is null or id < $2) and ($3::uuid is null or id > $3)
     order by reporter_id ${way}, id ${way} limit 2 offset $4`,
    [reporterId, before ?? null, after ?? null, lookedAtMax - 1],
  )
  return rows.length === 2 ? rows[0] : undefined
}

/** A report of the reporter's own; undefined where it is somebody else's, or none. */
export async function findOwnReport(
  db: Db,
  reporterId: string,
  id: string,
): Promise<Report | undefined> {
  const report = await findReport(db, id)
  return report?.reporterId === reporterId ? report : undefined
}
