import sql, { raw } from 'sql-template-tag'
import type { ResultKind } from '../mail/verp.ts'
import type { Phrase } from '../phrase.ts'
import { uuidTime } from '../world.ts'
import type { Consequence } from '../verdict/consequences.ts'
import type { VerdictClass } from '../verdict/verdict.ts'
import { type FeedbackState, shownState } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { isOneOfIds } from './prepared.ts'
import { findReportOrAlias } from './report-aliases.ts'
import type { Report, ReportKind, ReportState } from './reports.ts'
import { rowsOf } from './rows.ts'

type Action = Consequence['action']

export type OwnOutcome = {
  /** What followed from its analysis; undefined until it is analyzed. */
  action: Action | undefined
  verdict: VerdictClass | undefined
  /** The reasons for the action. */
  why: readonly Phrase[]
  /** The states of the complaints about it, as its reporter sees them. */
  feedback: readonly FeedbackState[]
  /** The number of recipients of complaints about it, alone or together with other reports. */
  notified: number
  /** The latest answer; null when there is none. */
  answer: ResultKind | null
}

/** Filters for one's own reports. All must match; undefined matches everything. */
export type OwnQuery = {
  kind?: ReportKind | undefined
  states?: readonly ReportState[] | undefined
  /** A substring of the subject or the author's address; case is ignored. */
  words?: string | undefined
}

/** A range of ids, and the end from which it is read. */
export type OwnRange = {
  /** Exclusive upper bound. */
  before?: string | undefined
  /** Exclusive lower bound. */
  after?: string | undefined
  first: 'newest' | 'oldest'
  limit: number
  /** Maximum number of reports to examine; matches beyond it are not found. */
  examinedMax: number
}

/**
 * Returns matching reports of one reporter, in the order of `first`. Reads the index of the
 * reporter and stops after `limit` matches or `examinedMax` reports, so the cost does not depend on
 * the number of reports. When it returns fewer than `limit`, `findOwnStop` tells where it stopped.
 */
export function listOwnReports(
  db: Db,
  reporterId: string,
  query: OwnQuery,
  range: OwnRange,
): Promise<ReportLine[]> {
  const way = raw(range.first === 'newest' ? 'desc' : 'asc')
  const { before, after, examinedMax, limit } = range
  const { kind, states } = query
  const words = query.words?.toLowerCase()
  return rowsOf(db)`
    select id, received_at as "receivedAt", state, kind, author, subject
    from (
      select id, received_at, state, kind, author, subject from reports
      where reporter_id = ${reporterId} and (${before}::uuid is null or id < ${before}::uuid)
        and (${after}::uuid is null or id > ${after}::uuid)
      order by reporter_id ${way}, id ${way} limit ${examinedMax}) as own
    where (${kind}::text is null or kind = ${kind}::text)
      and (${states}::text[] is null or state = any(${states}::text[]))
      and (${words}::text is null or strpos(lower(subject), ${words}::text) > 0
        or strpos(lower(author), ${words}::text) > 0)
    order by id ${way} limit ${limit}`
}

/**
 * Returns the outcomes of reports. Queries by id instead of a join, so that the planner can exclude
 * the partitions of other weeks.
 */
export async function listOutcomes(
  db: Db,
  lines: readonly Pick<ReportLine, 'id' | 'state'>[],
): Promise<Map<string, OwnOutcome>> {
  const [judged, feedback, answers] = await Promise.all([
    listJudged(db, idsIn(lines, ['analyzed', 'forwarded', 'kept'])),
    listFeedbackStates(db, idsIn(lines, ['analyzed', 'forwarded', 'kept'])),
    listLastAnswers(db, idsIn(lines, ['forwarded', 'retracted'])),
  ])
  return new Map(
    lines.map(({ id }) => {
      const states = feedback.get(id) ?? []
      const notified = states.filter((state) => state === 'sent' || state === 'merged').length
      const answer = answers.get(id) ?? null
      return [id, { ...(judged.get(id) ?? unjudged), feedback: states, notified, answer }]
    }),
  )
}

function idsIn(
  lines: readonly Pick<ReportLine, 'id' | 'state'>[],
  states: readonly ReportState[],
): string[] {
  return lines.flatMap(({ id, state }) => (states.includes(state) ? [id] : []))
}

type Judged = Pick<OwnOutcome, 'action' | 'verdict' | 'why'>

const unjudged: Judged = { action: undefined, verdict: undefined, why: [] }

async function listJudged(db: Db, ids: readonly string[]): Promise<Map<string, Judged>> {
  if (ids.length === 0) return new Map()
  const rows = await rowsOf(db)<Judged & { id: string }>`
    select id, judgment #>> '{consequence,action}' as action,
      judgment #>> '{verdict,class}' as verdict, judgment #> '{consequence,why}' as why
    from analyses where ${isOneOfIds('id', ids)}`
  return new Map(rows.map(({ id, ...one }) => [id, one]))
}

/** A report: whether it waits for its analysis, and why its reporter is asked to confirm it. */
export type AskedReport = { id: string; isWaiting: boolean; why: Phrase[] | null }

/** Returns which reports wait for their analysis, and about which their reporters are asked. */
export function listAsked(db: Db, ids: readonly string[]): Promise<AskedReport[]> {
  return rowsOf(db)`
    select reports.id, state = 'received' as "isWaiting",
      case when state = 'kept' and judgment -> 'consequence' ->> 'action' = 'confirm'
        then judgment -> 'consequence' -> 'why' end as why
    from reports left join analyses on analyses.id = reports.id and analyses.shard = reports.shard
    where ${isOneOfIds('reports.id', ids)}`
}

async function listFeedbackStates(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, FeedbackState[]>> {
  if (ids.length === 0) return new Map()
  const rows = await rowsOf(db)<{ id: string; state: FeedbackState }>`
    select report_id as id, ${shownState} as state from feedback_reports
    where ${isOneOfIds('report_id', ids)} and kind = 'complaint'`
  const byReport = Map.groupBy(rows, ({ id }) => id)
  return new Map([...byReport].map(([id, some]) => [id, some.map(({ state }) => state)]))
}

async function listLastAnswers(db: Db, ids: readonly string[]): Promise<Map<string, ResultKind>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<{ id: string; answer: ResultKind }>(sql`
    select distinct on (report_id) report_id as id, substr(event, 6) as answer
    from report_events where ${isOneOfIds('report_id', ids)} and event like 'desk-%'
      and event <> 'desk-original'
    order by report_id, at desc`)
  return new Map(rows.map(({ id, answer }) => [id, answer]))
}

/** The report at which a search stopped. */
export type OwnStop = { id: string; receivedAt: Date }

/** Returns the last report that was examined; undefined when the whole range was examined. */
export async function findOwnStop(
  db: Db,
  reporterId: string,
  { before, after, first, examinedMax }: OwnRange,
): Promise<OwnStop | undefined> {
  const way = raw(first === 'newest' ? 'desc' : 'asc')
  // A second row shows that more reports follow.
  const { rows } = await db.query<{ id: string }>(sql`
    select id from reports
    where reporter_id = ${reporterId} and (${before}::uuid is null or id < ${before}::uuid)
      and (${after}::uuid is null or id > ${after}::uuid)
    order by reporter_id ${way}, id ${way} limit 2 offset ${examinedMax - 1}`)
  const [last] = rows
  return last && rows.length === 2 ? { id: last.id, receivedAt: uuidTime(last.id) } : undefined
}

/**
 * Returns a report of this reporter; undefined when it does not exist or belongs to another
 * reporter.
 */
export async function findOwnReport(
  db: Db,
  reporterId: string,
  id: string,
): Promise<Report | undefined> {
  const report = await findReportOrAlias(db, id)
  return report?.reporterId === reporterId ? report : undefined
}

export type ReportLine = {
  id: string
  receivedAt: Date
  state: ReportState
  kind: ReportKind
  author: string | null
  subject: string | null
}
