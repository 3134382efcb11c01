import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'

/** What was merged into each of these, in the order of the reports. */
export async function listMerged(
  db: Db,
  heads: readonly FeedbackKey[],
): Promise<{ member: FeedbackKey; head: FeedbackKey }[]> {
  const { rows } = await db.query<{
    reportId: string
    number: number
    headId: string
    headNumber: number
  }>(
    `select report_id as "reportId", number, merged_into as "headId", merged_number as "headNumber"
     from feedback_reports
     where merged_into = any($1::uuid[])
       and merged_into::text || ' ' || merged_number = any($2::text[])
     order by report_id, number`,
    keyParams(heads),
  )
  return rows.map(({ headId, headNumber, ...member }) => {
    return { member, head: { reportId: headId, number: headNumber } }
  })
}

/**
 * Calls back what was merged into those that were called back: nobody is told of it any more.
 * Returns what that was.
 */
export async function withdrawMerged(
  tx: Db,
  heads: readonly FeedbackKey[],
  now: Date,
): Promise<FeedbackKey[]> {
  if (heads.length === 0) return []
  const { rows } = await tx.query<FeedbackKey>(
    `update feedback_reports
     set state = 'withdrawn', finished_at = $3, merged_into = null, merged_number = null
     where merged_into = any($1::uuid[])
       and merged_into::text || ' ' || merged_number = any($2::text[])
     returning report_id as "reportId", number`,
    [...keyParams(heads), now],
  )
  return rows
}

/** Keys as parameters: the ids of their reports, and their names. */
export function keyParams(keys: readonly FeedbackKey[]): [string[], string[]] {
  return [
    keys.map(({ reportId }) => reportId),
    keys.map(({ reportId, number }) => `${reportId} ${number}`),
  ]
}
