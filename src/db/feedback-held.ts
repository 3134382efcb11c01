import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'

/** Which of the held mails: one, those of a consumer, or all. */
export type HeldChoice = FeedbackKey | { consumerId: string } | 'all'

/**
 * Puts held feedback reports in line again, without their copies: they are composed anew. Their
 * jobs are the caller's. Returns them, at most `limit`.
 */
export async function releaseFeedback(
  tx: Db,
  which: HeldChoice,
  limit: number,
): Promise<FeedbackKey[]> {
  const one = which !== 'all' && 'reportId' in which ? which : undefined
  const consumerId = which !== 'all' && 'consumerId' in which ? which.consumerId : null
  const { rows: held } = await tx.query<FeedbackKey>(
    `select report_id as "reportId", number from feedback_reports
     where state = 'held' and ($1::uuid is null or consumer_id = $1)
       and ($2::uuid is null or (report_id = $2 and number = $3))
     order by report_id, number limit $4`,
    [consumerId, one?.reportId ?? null, one?.number ?? null, limit],
  )
  const released: FeedbackKey[] = []
  for (const { reportId, number } of held) {
    const { rowCount } = await tx.query(
      `update feedback_reports
       set state = 'queued', finished_at = null, message_id = null, reply = null
       where report_id = $1 and number = $2 and state = 'held'`,
      [reportId, number],
    )
    if (rowCount !== 1) continue
    await tx.query(`delete from feedback_messages where report_id = $1 and number = $2`, [
      reportId,
      number,
    ])
    released.push({ reportId, number })
  }
  return released
}
