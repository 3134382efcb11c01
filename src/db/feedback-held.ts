import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'

/** From which state mail is put in line again: it was never sent, or our mail server refused it. */
export type ReleasedState = 'held' | 'refused'

/** Which of the held or refused mails: one, those of a consumer, or all. */
export type HeldChoice = FeedbackKey | { consumerId: string } | 'all'

/**
 * Puts held or refused feedback reports in line again, without their copies: they are composed
 * anew. Refused ones to an address that is suppressed, or whose mail comes back, stay. Their jobs
 * are the caller's. Returns them, at most `limit`.
 */
export async function releaseFeedback(
  tx: Db,
  { which, from, now }: { which: HeldChoice; from: ReleasedState; now: Date },
  limit: number,
): Promise<FeedbackKey[]> {
  const one = which !== 'all' && 'reportId' in which ? which : undefined
  const consumerId = which !== 'all' && 'consumerId' in which ? which.consumerId : null
  const { rows: held } = await tx.query<FeedbackKey>(
    `select report_id as "reportId", number from feedback_reports
     where state = $5 and ($1::uuid is null or consumer_id = $1)
       and ($2::uuid is null or (report_id = $2 and number = $3))
       and ($5 = 'held' or not exists (select from suppressions
           where suppressions.address = lower(feedback_reports.address)
             and (until is null or until > $6))
         and not exists (select from consumers where consumers.id = consumer_id
             and health <> 'healthy' and (health_until is null or health_until > $6)))
     order by report_id, number limit $4`,
    [consumerId, one?.reportId ?? null, one?.number ?? null, limit, from, now],
  )
  const released: FeedbackKey[] = []
  for (const { reportId, number } of held) {
    const { rowCount } = await tx.query(
      `update feedback_reports
       set state = 'queued', finished_at = null, message_id = null, reply = null
       where report_id = $1 and number = $2 and state = $3`,
      [reportId, number, from],
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
