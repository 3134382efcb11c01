import { findConsumer, markStopped } from '../db/consumers.ts'
import { withdrawFeedbackOf } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { suppress } from '../db/suppressions.ts'

/**
 * Never tells a consumer anything again: it is stopped, its address is suppressed, and what has not
 * left is called back, all at once. `why` is a sentence for administrators. False, changing
 * nothing, when there is no such consumer; a second time it does no harm.
 */
export async function stopConsumer(
  tx: Db,
  consumerId: string,
  { why }: { why: string },
  now: Date,
): Promise<boolean> {
  const consumer = await findConsumer(tx, consumerId)
  if (!consumer) return false
  await markStopped(tx, consumerId)
  const { address } = consumer
  const suppression = { address, status: null, detail: why, since: now, until: null }
  await suppress(tx, { ...suppression, reason: 'stop' })
  const withdrawn = await withdrawFeedbackOf(tx, consumerId, now)
  const detail = 'The abuse desk wants no more of them: the feedback report was called back.'
  await insertEvents(
    tx,
    withdrawn.map(({ reportId }) => ({ reportId, at: now, event: 'withdrawn' as const, detail })),
  )
  return true
}
