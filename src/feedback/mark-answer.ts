import { countAnswer } from '../db/consumers.ts'
import { type FeedbackKey, findFeedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'

/** Counts that a desk dealt with what it was told. Call it once for an answer. */
export async function markResolved(tx: Db, key: FeedbackKey): Promise<void> {
  const feedback = await findFeedback(tx, key)
  if (feedback) await countAnswer(tx, feedback.consumerId, 'resolved')
}

/**
 * Counts that a desk calls a report wrong, for administrators to look at: nobody else is accused,
 * and the verdict stands until a person takes the report back. Call it once for an answer.
 */
export async function markWrong(tx: Db, key: FeedbackKey): Promise<void> {
  const feedback = await findFeedback(tx, key)
  if (feedback) await countAnswer(tx, feedback.consumerId, 'wrong')
}
