import type { FeedbackAnswer } from '../../db/feedback-answers.ts'
import { listAnswers } from '../../db/feedback-answers.ts'
import type { Feedback } from '../../db/feedback-reports.ts'
import type { ReportEvent } from '../../db/report-events.ts'
import type { Db } from '../../db/pool.ts'
import { domainOf } from '../../mail/address.ts'

/** What an abuse desk said, as a reporter reads it. */
export type ShownAnswer = Pick<FeedbackAnswer, 'answer' | 'at' | 'said'> & {
  /** Whose desk it is: a domain. */
  desk: string
}

/**
 * What was said to the feedback reports of a report, the oldest first: to its own, and to those
 * that tell of it because it was merged into them, where its story says that it counts. Of the
 * latter nobody reads the words: they may be about the report of somebody else.
 */
export async function answersOf(
  db: Db,
  feedback: readonly Feedback[],
  events: readonly ReportEvent[],
): Promise<ShownAnswer[]> {
  const told = feedback.map((one) => ({
    isMerged: one.mergedInto !== null,
    reportId: one.mergedInto ?? one.reportId,
    number: one.mergedNumber ?? one.number,
    desk: domainOf(one.address) ?? one.address,
  }))
  if (told.length === 0) return []
  const answers = await listAnswers(db, [...new Set(told.map(({ reportId }) => reportId))])
  return answers.flatMap(({ reportId, number, answer, at, said }) => {
    const its = told.find((one) => one.reportId === reportId && one.number === number)
    const counts = !its?.isMerged || events.some(({ event }) => event === `desk-${answer}`)
    return its && counts ? [{ answer, at, said: its.isMerged ? null : said, desk: its.desk }] : []
  })
}
