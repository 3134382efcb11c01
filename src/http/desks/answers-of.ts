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
 * latter nobody reads the words: they may be about the report of somebody else. One of a digest is
 * answered by itself.
 */
export async function answersOf(
  db: Db,
  feedback: readonly Feedback[],
  events: readonly ReportEvent[],
): Promise<ShownAnswer[]> {
  const heads = feedback.flatMap(({ mergedInto }) => mergedInto ?? [])
  const ids = [...new Set([...feedback.map(({ reportId }) => reportId), ...heads])]
  if (ids.length === 0) return []
  const answers = await listAnswers(db, ids)
  const saidTo = (reportId: string | null, number: number | null) =>
    answers.filter((one) => one.reportId === reportId && one.number === number)
  const shown = feedback.flatMap(({ reportId, number, address, mergedInto, mergedNumber }) => {
    const desk = domainOf(address) ?? address
    const own = saidTo(reportId, number).map((one) => ({ ...one, desk }))
    if (own.length > 0) return own
    return saidTo(mergedInto, mergedNumber)
      .filter(({ answer }) => events.some(({ event }) => event === `desk-${answer}`))
      .map((one) => ({ ...one, said: null, desk }))
  })
  return shown
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
    .map(({ answer, at, said, desk }) => ({ answer, at, said, desk }))
}
