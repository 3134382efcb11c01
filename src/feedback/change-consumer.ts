import type { App } from '../app.ts'
import type { AuditDetail } from '../actions.ts'
import type { AuditAction } from '../db/audit-log.ts'
import { replaceScopes } from '../db/consumer-scopes.ts'
import {
  findConsumer,
  keepLimits,
  markEnrolled,
  markPaused,
  markResumed,
  markStopped,
  updateFeedbackSettings,
} from '../db/consumers.ts'
import { advanceDueFeedback, withdrawFeedbackOf } from '../db/feedback-waiting.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listSuppressed, removeSuppression, suppress } from '../db/suppressions.ts'
import { phrase } from '../phrase.ts'
import type { ConsumerLimits, ConsumerScope, FeedbackSettings } from '../verdict/consumers.ts'
import { resumesAtOf } from './pace-feedback.ts'

/**
 * Stops all feedback to a consumer: marks it as stopped, suppresses its address and withdraws its
 * unsent feedback reports. With the reason `operator`, the consumer cannot resume by itself.
 * Returns false and changes nothing if the consumer does not exist. Safe to repeat.
 */
export async function stopFeedback(
  tx: Db,
  consumerId: string,
  reason: 'stop' | 'complaint' | 'operator',
  now: Date,
): Promise<boolean> {
  const consumer = await findConsumer(tx, consumerId)
  if (!consumer) return false
  await markStopped(tx, consumerId)
  const { address } = consumer
  const suppression = { address, status: null, detail: '', since: now, until: null }
  await suppress(tx, { ...suppression, reason })
  const withdrawn = await withdrawFeedbackOf(tx, consumerId, now)
  const phrases = [phrase('feedback-withdrawn'), phrase('recipient-unsubscribed')]
  await insertEvents(
    tx,
    withdrawn.map(({ reportId }) => ({ reportId, at: now, event: 'withdrawn' as const, phrases })),
  )
  return true
}

/**
 * Resumes feedback to a paused or stopped consumer; an enrolled consumer becomes enrolled again.
 * Also lifts the suppression of its address, unless an operator suppressed it and `by` is
 * `consumer`. Feedback that waited for the end of the pause becomes due now. Returns false and
 * changes nothing if resuming is not allowed or the consumer is neither paused nor stopped.
 */
async function resumeConsumer(
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
  await advanceDueFeedback(tx, consumerId, now)
  return true
}

/**
 * Pauses a consumer until an instant, or until it is resumed if `until` is null. Feedback postponed
 * by a longer earlier pause becomes due at the end of this one. Returns false if the consumer does
 * not currently receive feedback.
 */
async function pauseConsumer(
  tx: Db,
  consumerId: string,
  until: Date | null,
  now: Date,
): Promise<boolean> {
  if (!(await markPaused(tx, consumerId, until))) return false
  const resumesAt = resumesAtOf({ state: 'paused', pausedUntil: until }, now)
  await advanceDueFeedback(tx, consumerId, resumesAt ?? now)
  return true
}

export type ConsumerChange =
  | { do: 'pause'; until: Date | null }
  | { do: 'resume' }
  | { do: 'stop' }
  | { do: 'enroll' }
  | ({ do: 'set'; scopes: readonly ConsumerScope[] } & FeedbackSettings & ConsumerLimits)

const actions: Record<ConsumerChange['do'], AuditAction> = {
  set: 'set consumer',
  pause: 'pause consumer',
  resume: 'resume consumer',
  stop: 'stop consumer',
  enroll: 'enroll consumer',
}

/**
 * Changes a consumer on behalf of an operator and returns the audit entry. Returns undefined and
 * changes nothing if the consumer does not exist, or if there is nothing to pause or to resume.
 */
export async function changeConsumer(
  tx: Db,
  id: string,
  change: ConsumerChange,
  at: Date,
): Promise<AuditDetail | undefined> {
  const consumer = await findConsumer(tx, id)
  if (!consumer || !(await apply(tx, id, consumer.address, change, at))) return undefined
  const until = change.do === 'pause' && change.until ? `, until ${change.until.toISOString()}` : ''
  return { action: actions[change.do], detail: `${consumer.address}${until}` }
}

async function apply(
  tx: Db,
  id: string,
  address: string,
  change: ConsumerChange,
  at: Date,
): Promise<boolean> {
  if (change.do === 'pause') return pauseConsumer(tx, id, change.until, at)
  if (change.do === 'resume') return resumeConsumer(tx, id, { by: 'operator' }, at)
  if (change.do === 'stop') {
    return stopFeedback(tx, id, 'operator', at)
  }
  if (change.do === 'enroll') {
    const isSuppressed = (await listSuppressed(tx, [address], at)).size > 0
    if (isSuppressed) await removeSuppression(tx, address)
    await markEnrolled(tx, id, at)
    await advanceDueFeedback(tx, id, at)
    return true
  }
  await updateFeedbackSettings(tx, id, change)
  await keepLimits(tx, id, change)
  await replaceScopes(tx, id, change.scopes, at)
  return true
}

/** A change that a consumer makes on its own page. */
export type OwnChange =
  | { do: 'stop' }
  | { do: 'resume' }
  | { do: 'pause'; until: Date | null }
  | { do: 'keep'; settings: FeedbackSettings }

/**
 * Makes a change that a consumer requested on its own page; `refused` if it is not possible or not
 * allowed.
 */
export async function changeOwnConsumer(
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
  id: string,
  change: OwnChange,
): Promise<'stopped' | 'resumed' | 'paused' | 'kept' | 'refused'> {
  const now = clock()
  return inTransaction(pool, async (tx) => {
    if (change.do === 'stop') {
      return (await stopFeedback(tx, id, 'stop', now)) ? 'stopped' : 'refused'
    }
    if (change.do === 'resume') {
      return (await resumeConsumer(tx, id, { by: 'consumer' }, now)) ? 'resumed' : 'refused'
    }
    if (change.do === 'pause') {
      return (await pauseConsumer(tx, id, change.until, now)) ? 'paused' : 'refused'
    }
    await updateFeedbackSettings(tx, id, change.settings)
    return 'kept'
  })
}
