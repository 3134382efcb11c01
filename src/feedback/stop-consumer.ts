import { findConsumer, markPaused, markResumed, markStopped } from '../db/consumers.ts'
import { withdrawFeedbackOf } from '../db/feedback-reports.ts'
import { hastenFeedback } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listSuppressed, removeSuppression, suppress } from '../db/suppressions.ts'
import { resumesAtOf } from './pace.ts'

/**
 * Never tells a consumer anything again: it is stopped, its address is suppressed, and what has not
 * left is called back, all at once. `why` is a sentence for administrators; `operator` when it is
 * one of them who says so: then the consumer cannot take it back by itself. False, changing
 * nothing, when there is no such consumer; a second time it does no harm.
 */
export async function stopConsumer(
  tx: Db,
  consumerId: string,
  { why, reason = 'stop' }: { why: string; reason?: 'stop' | 'complaint' | 'operator' },
  now: Date,
): Promise<boolean> {
  const consumer = await findConsumer(tx, consumerId)
  if (!consumer) return false
  await markStopped(tx, consumerId)
  const { address } = consumer
  const suppression = { address, status: null, detail: why, since: now, until: null }
  await suppress(tx, { ...suppression, reason })
  const withdrawn = await withdrawFeedbackOf(tx, consumerId, now)
  const detail = 'Who was to be told wants no more of them: the feedback report was called back.'
  await insertEvents(
    tx,
    withdrawn.map(({ reportId }) => ({ reportId, at: now, event: 'withdrawn' as const, detail })),
  )
  return true
}

/**
 * Tells a consumer again that was paused or stopped: who enrolled is enrolled again. Its address is
 * written to again too, unless an administrator forbade that and it is not one who says so. What
 * waited for the end of the pause is due at once. False,
 * changing nothing, when it may not be, or is told already.
 */
export async function resumeConsumer(
  tx: Db,
  consumerId: string,
  { by }: { by: 'consumer' | 'operator' },
  now: Date,
): Promise<boolean> {
  const consumer = await findConsumer(tx, consumerId)
  if (!consumer) return false
  const address = consumer.address.toLowerCase()
  const suppression = (await listSuppressed(tx, [address], now)).get(address)
  if (suppression?.reason === 'operator' && by === 'consumer') return false
  const isResumed = await markResumed(tx, consumerId)
  if (!isResumed) return false
  if (suppression) await removeSuppression(tx, address)
  await hastenFeedback(tx, consumerId, now)
  return true
}

/**
 * Pauses a consumer, until an instant or until it is resumed. What waits for a longer pause of
 * before waits no longer than this one. False when it is not told.
 */
export async function pauseConsumer(
  tx: Db,
  consumerId: string,
  until: Date | null,
  now: Date,
): Promise<boolean> {
  if (!(await markPaused(tx, consumerId, until))) return false
  const resumesAt = resumesAtOf({ state: 'paused', pausedUntil: until }, now)
  await hastenFeedback(tx, consumerId, resumesAt ?? now)
  return true
}
