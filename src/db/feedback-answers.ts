import type { AnswerKind } from '../mail/answer-links.ts'
import { uuidFloor } from '../world.ts'
import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'

/** How an answer came: by its page, by one click of a mail program, by mail, or by our own hand. */
export type AnswerWay = 'link' | 'one-click' | 'mail' | 'operator'

/** What an abuse desk said to one feedback report. */
export type FeedbackAnswer = FeedbackKey & {
  answer: AnswerKind
  how: AnswerWay
  at: Date
  /** In a stranger's own words. */
  said: string | null
  /** The mail it came in. */
  mailId: string | null
}

/** Keeps an answer; false when the same was said before. */
export async function insertAnswer(tx: Db, answer: FeedbackAnswer): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into feedback_answers (report_id, number, answer, how, at, said, mail_id)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (report_id, number, answer) do nothing`,
    [
      answer.reportId,
      answer.number,
      answer.answer,
      answer.how,
      answer.at,
      answer.said,
      answer.mailId,
    ],
  )
  return rowCount === 1
}

/** What was said to the feedback reports of several reports, oldest first. */
export async function listAnswers(db: Db, reportIds: readonly string[]): Promise<FeedbackAnswer[]> {
  const { rows } = await db.query<FeedbackAnswer>(
    `select report_id as "reportId", number, answer, how, at, said, mail_id as "mailId"
     from feedback_answers where report_id = any($1::uuid[]) order by at, number, answer`,
    [reportIds],
  )
  return rows
}

/** A reporter who wishes to read answers by mail, and the report in question. */
export type AnswerReader = {
  reportId: string
  reporterId: string
  email: string
  language: 'en' | 'fr' | 'ru' | null
  receivedAt: Date
}

/**
 * Those of the reporters of some reports who want answers by mail, and did not take them back: each
 * once, with the first report. Left out is who had `lettersMax` of them since an instant.
 */
export async function listAnswerReaders(
  db: Db,
  reportIds: readonly string[],
  { since, lettersMax }: { since: Date; lettersMax: number },
): Promise<AnswerReader[]> {
  const { rows } = await db.query<AnswerReader>(
    `select distinct on (reporters.id) reports.id as "reportId", reporters.id as "reporterId",
       reporters.email, reporters.language, reports.received_at as "receivedAt"
     from reports join reporters on reporters.id = reports.reporter_id
     where reports.id = any($1::uuid[]) and reporters.wants_answers
       and reports.state <> 'retracted'
     order by reporters.id, reports.id`,
    [reportIds],
  )
  if (rows.length === 0) return rows
  const full = await db.query<{ reporterId: string }>(
    `select reporter_id as "reporterId" from letters
     where kind = 'answer' and id >= $2 and reporter_id = any($1::uuid[])
     group by reporter_id having count(*) >= $3`,
    [rows.map(({ reporterId }) => reporterId), uuidFloor(since), lettersMax],
  )
  const hasEnough = new Set(full.rows.map(({ reporterId }) => reporterId))
  return rows.filter(({ reporterId }) => !hasEnough.has(reporterId))
}
