import sql, { bulk } from 'sql-template-tag'
import type { AnswerKind } from '../mail/verp.ts'
import type { Language } from '../texts/messages.ts'
import type { Db } from './pool.ts'
import { isOneOfIds } from './prepared.ts'
import { rowOf, rowsOf, valuesOf } from './rows.ts'

/**
 * News about a report: a question to its reporter, thanks for reporting a simulation, or the answer
 * of an abuse desk.
 */
export type ReporterNews = {
  reporterId: string
  reportId: string
  kind: 'question' | 'simulation' | AnswerKind
  /** The domain of the abuse desk; empty for a question and for thanks. */
  desk: string
  at: Date
}

/** A report, and whether its reporter wants news by mail. */
export type NewsReader = { reportId: string; reporterId: string; wantsNews: boolean }

/**
 * Returns the reports whose reporters want news by mail, or a monthly summary that counts it. Skips
 * retracted reports and accounts that are not active.
 */
export function listNewsReaders(db: Db, reportIds: readonly string[]): Promise<NewsReader[]> {
  return rowsOf(db)`
    select reports.id as "reportId", reporters.id as "reporterId",
      reporters.wants_answers as "wantsNews"
    from reports join reporters on reporters.id = reports.reporter_id
    where ${isOneOfIds('reports.id', reportIds)} and reports.state <> 'retracted'
      and reporters.state = 'active' and (reporters.wants_answers or reporters.wants_summary)`
}

/**
 * Stores news that a letter may contain from `dueAt` on, or never (null). News that is stored
 * already stays as it is.
 */
export async function insertNews(
  tx: Db,
  news: readonly (ReporterNews & { dueAt: Date | null })[],
): Promise<void> {
  if (news.length === 0) return
  const keyOf = (one: ReporterNews) => [one.reporterId, one.reportId, one.kind, one.desk].join('\n')
  const ordered = news.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const values = bulk(
    ordered.map(({ reporterId, reportId, kind, desk, at, dueAt }) => [
      ...[reporterId, reportId, kind, desk, at],
      ...[dueAt ?? at, dueAt === null ? at : null],
    ]),
  )
  await tx.query(sql`
    insert into reporter_news (reporter_id, report_id, kind, desk, at, due_at, mailed_at)
    values ${values} on conflict (reporter_id, report_id, kind, desk) do nothing`)
}

/** Returns reporters with due news to whom no letter with news was written since an instant. */
export function listDueReaders(
  db: Db,
  { now, mailedBefore, limit }: { now: Date; mailedBefore: Date; limit: number },
): Promise<string[]> {
  return valuesOf(db)`
    select reporter_id as id from reporter_news
    where reporter_id in (select reporter_id from reporter_news
      where mailed_at is null and due_at <= ${now})
    group by reporter_id
    having max(mailed_at) is null or max(mailed_at) <= ${mailedBefore}
    order by reporter_id limit ${limit}`
}

/**
 * Marks the due news of a reporter as mailed and returns it, oldest first. Of several concurrent
 * callers, one gets it.
 */
export async function claimNews(tx: Db, reporterId: string, now: Date): Promise<ReporterNews[]> {
  const { rows } = await tx.query<ReporterNews>(sql`
    update reporter_news set mailed_at = ${now}
    where reporter_id = ${reporterId} and mailed_at is null and due_at <= ${now}
    returning reporter_id as "reporterId", report_id as "reportId", kind, desk, at`)
  return rows.toSorted((one, other) => one.at.getTime() - other.at.getTime())
}

/** A person to whom letters about reports are written. */
export type LetterReader = { id: string; email: string; language: Language | null }

/** Returns a reporter who wants news by mail; undefined if the account is not active. */
export function findNewsReader(db: Db, id: string): Promise<LetterReader | undefined> {
  return rowOf(db)`
    select id, email, language from reporters
    where id = ${id} and state = 'active' and wants_answers`
}

/** Returns reporters who asked for a summary and have none yet about a month (its first day). */
export function listUnsummarized(db: Db, month: string, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select id from reporters
    where wants_summary and state = 'active'
      and (summarized_month is null or summarized_month < ${month}::date)
    order by id limit ${limit}`
}

/** Claims the summary of a month for a reporter; undefined when it was claimed before. */
export function claimSummary(tx: Db, id: string, month: string): Promise<LetterReader | undefined> {
  return rowOf(tx)`
    update reporters set summarized_month = ${month}::date
    where id = ${id} and wants_summary and state = 'active'
      and (summarized_month is null or summarized_month < ${month}::date)
    returning id, email, language`
}

/** Returns the abuse desks that answered "resolved" to a reporter's reports within some time. */
export function listResolvingDesks(
  db: Db,
  reporterId: string,
  { from, to }: { from: Date; to: Date },
): Promise<string[]> {
  return valuesOf(db)`
    select distinct desk from reporter_news
    where reporter_id = ${reporterId} and kind = 'resolved' and at >= ${from} and at < ${to}
    order by desk`
}
