import { listPackedAnalyses } from '../db/analyses.ts'
import { listMerged } from '../db/feedback-merged.ts'
import { type Feedback, type FeedbackKey, findFeedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'

/** What happens to a feedback report happens to so many that were merged into it at most. */
const MEMBERS_MAX = 1_000

/** What was merged into a feedback report, and ends as it does. */
export async function listMembers(db: Db, { reportId, number }: FeedbackKey) {
  const merged = await listMerged(db, [{ reportId, number }])
  return merged.slice(0, MEMBERS_MAX).map(({ member }) => member)
}

/**
 * Those for which a consumer's word on a feedback report counts too: what it was told of only as
 * the number of a campaign. One of a digest was told by itself, and is answered by itself. That an
 * address is not the consumer's is said of its own block alone.
 */
export async function listMeant(
  db: Db,
  { reportId, number, incidents, isDigest }: Feedback,
  which: 'all' | 'of its block',
): Promise<FeedbackKey[]> {
  if (incidents === 1 || isDigest) return []
  const members = await listMembers(db, { reportId, number })
  if (which === 'all' || members.length === 0) return members
  const ids = [reportId, ...members.map((member) => member.reportId)]
  const analyses = await listPackedAnalyses(db, ids)
  const blockOf = new Map(analyses.map((one) => [one.id, one.network?.cidr ?? one.originIp]))
  return members.filter((member) => blockOf.get(member.reportId) === blockOf.get(reportId))
}

/**
 * A feedback report that left, so that its consumer can have something to say to it: by itself, or
 * in a digest that left. Undefined when it did not.
 */
export async function findLeft(db: Db, key: FeedbackKey): Promise<Feedback | undefined> {
  const feedback = await findFeedback(db, key)
  if (!feedback || hasLeft(feedback)) return feedback
  const { mergedInto: reportId, mergedNumber: number } = feedback
  const head = reportId && number ? await findFeedback(db, { reportId, number }) : undefined
  return head?.isDigest && hasLeft(head) ? feedback : undefined
}

function hasLeft({ state }: Pick<Feedback, 'state'>): boolean {
  return state === 'sent' || state === 'bounced'
}
