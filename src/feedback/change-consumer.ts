import { type AuditAction, insertAudit } from '../db/audit-log.ts'
import { keepLimits } from '../db/consumer-list.ts'
import { replaceScopes } from '../db/consumer-scopes.ts'
import { findConsumer, keepTelling, markEnrolled } from '../db/consumers.ts'
import { moveEnrollment, findEnrollmentById } from '../db/enrollment-requests.ts'
import { hastenFeedback } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { listSuppressed, removeSuppression } from '../db/suppressions.ts'
import type { Scope } from '../verdict/consumers/consumer-scope.ts'
import type { ConsumerLimits, TellingWish } from '../verdict/consumers/consumer-settings.ts'
import { addScopes } from './enroll.ts'
import { pauseConsumer, resumeConsumer, stopConsumer } from './stop-consumer.ts'

/** What an administrator does to a consumer. */
export type ConsumerChange =
  | { do: 'pause'; until: Date | null }
  | { do: 'resume' }
  | { do: 'stop' }
  | { do: 'enroll' }
  | ({ do: 'set'; scopes: readonly Scope[] } & TellingWish & ConsumerLimits)

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
