import { type AuditAction, insertAudit } from '../db/audit-log.ts'
import { replaceScopes } from '../db/consumer-scopes.ts'
import {
  findConsumer,
  keepLimits,
  keepTelling,
  markEnrolled,
  markPaused,
  markResumed,
  markStopped,
} from '../db/consumers.ts'
import { findEnrollmentById, moveEnrollment } from '../db/enrollment-requests.ts'
import { withdrawFeedbackOf } from '../db/feedback-reports.ts'
import { hastenFeedback } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listSuppressed, removeSuppression, suppress } from '../db/suppressions.ts'
import type { ConsumerLimits, ConsumerScope, TellingWish } from '../verdict/consumers.ts'
import { addScopes } from './enroll.ts'
import { resumesAtOf } from './pace-feedback.ts'

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

/** What an administrator does to a consumer. */
export type ConsumerChange =
  | { do: 'pause'; until: Date | null }
  | { do: 'resume' }
  | { do: 'stop' }
  | { do: 'enroll' }
  | ({ do: 'set'; scopes: readonly ConsumerScope[] } & TellingWish & ConsumerLimits)

/** Who does it, and when; null at the command line. */
type Deed = { at: Date; reporterId: string | null }

const actions: Record<ConsumerChange['do'], AuditAction> = {
  set: 'set consumer',
  pause: 'pause consumer',
  resume: 'resume consumer',
  stop: 'stop consumer',
  enroll: 'enroll consumer',
}

/**
 * Changes a consumer by hand, and writes down who did. False, changing nothing, when there is no
 * such consumer, or when there is nothing to pause or to resume.
 */
export async function changeConsumer(
  tx: Db,
  id: string,
  change: ConsumerChange,
  deed: Deed,
): Promise<boolean> {
  const consumer = await findConsumer(tx, id)
  if (!consumer || !(await apply(tx, id, consumer.address, change, deed))) return false
  const until = change.do === 'pause' && change.until ? `, until ${change.until.toISOString()}` : ''
  const detail = `${consumer.address}${until}`
  await insertAudit(tx, { ...deed, action: actions[change.do], detail })
  return true
}

async function apply(
  tx: Db,
  id: string,
  address: string,
  change: ConsumerChange,
  { at }: Deed,
): Promise<boolean> {
  if (change.do === 'pause') return pauseConsumer(tx, id, change.until, at)
  if (change.do === 'resume') return resumeConsumer(tx, id, { by: 'operator' }, at)
  if (change.do === 'stop') {
    return stopConsumer(tx, id, { why: 'An administrator said so.', reason: 'operator' }, at)
  }
  if (change.do === 'enroll') {
    const isSuppressed = (await listSuppressed(tx, [address], at)).size > 0
    if (isSuppressed) await removeSuppression(tx, address)
    await markEnrolled(tx, id, at)
    await hastenFeedback(tx, id, at)
    return true
  }
  await keepTelling(tx, id, change)
  await keepLimits(tx, id, change)
  await replaceScopes(tx, id, change.scopes, at)
  return true
}

/**
 * Decides on the scope that somebody who proved the address asked for. False when nothing waits
 * there any more.
 */
export async function decideEnrollment(
  tx: Db,
  id: string,
  decision: 'accepted' | 'refused',
  deed: Deed & { reporterId: string },
): Promise<boolean> {
  const request = await findEnrollmentById(tx, id)
  if (!request || request.consumerId === null) return false
  const { wish, consumerId, address } = request
  const to = { state: decision, wish, consumerId, ...deed }
  if (!(await moveEnrollment(tx, id, 'proven', to))) return false
  if (decision === 'accepted') await addScopes(tx, consumerId, wish.scopes, deed.at)
  const action = decision === 'accepted' ? 'accept enrollment' : 'refuse enrollment'
  const scopes = wish.scopes.map(({ value }) => value).join(', ')
  await insertAudit(tx, { ...deed, action, detail: `${address}: ${scopes}`.slice(0, 1_000) })
  return true
}
