import type { App } from '../app.ts'
import { insertAudit, type OperatorAction } from '../db/audit-log.ts'
import { findConsumer, keepHealth, listConsumers } from '../db/consumers.ts'
import type { Feedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { removeSuppression, suppress, type Suppression } from '../db/suppressions.ts'
import { statusIn } from '../mail/bounces/codes.ts'
import { storableText } from '../mail/text.ts'
import { afterRefusal, type HealthRecord, healthyRecord } from '../verdict/contact-health.ts'
import { tellNextContact } from './next-contact.ts'
import { listMergedReports } from './owe-feedback.ts'

const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$/

/** An address as it is suppressed, in lower case; undefined when a text is none. */
export function readAddress(text: string): string | undefined {
  const address = text.trim().toLowerCase()
  return addressShape.test(address) ? address : undefined
}

/** Never writes to an address again, or not until an instant, because an operator says so. */
export async function suppressByHand(
  tx: Db,
  { address, detail, until }: Pick<Suppression, 'address' | 'detail' | 'until'>,
  { at, reporterId }: OperatorAction,
): Promise<void> {
  await suppress(tx, { address, reason: 'operator', status: null, detail, since: at, until })
  const term = until ? `until ${until.toISOString().slice(0, 10)}` : 'for good'
  await insertAudit(tx, {
    ...{ at, reporterId, action: 'suppress' },
    detail: `${address}, ${term}: ${detail}`,
  })
}

/** Lets an address be written to again, as if no mail had come back; false: not suppressed. */
export async function liftSuppression(
  tx: Db,
  address: string,
  { at, reporterId }: OperatorAction,
): Promise<boolean> {
  const lifted = await removeSuppression(tx, address)
  if (!lifted) return false
  const consumer = (await listConsumers(tx, [lifted.address])).get(lifted.address)
  if (consumer) await keepHealth(tx, consumer.id, healthyRecord)
  const detail = `${lifted.address} (was: ${lifted.reason})`
  await insertAudit(tx, { at, reporterId, action: 'unsuppress', detail })
  return true
}

/** Why our mail server refused a recipient: nobody has the address, or it takes nothing. */
export type RefusedRecipient = { about: 'gone' | 'unreachable'; reply: string }

/** Suppresses an address that our mail server refused. */
export async function suppressRefused(
  tx: Db,
  address: string,
  { about, reply }: RefusedRecipient,
  at: Date,
  record: HealthRecord = healthyRecord,
): Promise<HealthRecord> {
  const isGone = about === 'gone'
  const after = afterRefusal(record, { isGone, at })
  const status = statusIn(reply)
  await suppress(tx, {
    address,
    reason: isGone ? 'hard-bounce' : 'soft-bounces',
    status: status === undefined ? null : storableText(status, 20),
    detail: isGone
      ? 'Our mail server says that the address does not exist.'
      : 'Our mail server says that the mailbox takes no mail.',
    since: at,
    until: after.healthUntil,
  })
  return after
}

/** The same for the consumer of a feedback report; the next contact of the network is told. */
export async function suppressConsumer(
  tx: Db,
  feedback: Feedback,
  refused: RefusedRecipient,
  app: Pick<App, 'boss' | 'config'>,
  at: Date,
): Promise<void> {
  const { consumerId, address, reportId, number } = feedback
  const consumer = await findConsumer(tx, consumerId)
  if (consumer?.address !== address) return
  const record = await suppressRefused(tx, address, refused, at, consumer)
  await keepHealth(tx, consumerId, record)
  const told = [{ reportId, number }, ...(await listMergedReports(tx, feedback))]
  if (feedback.kind !== 'complaint') return
  for (const key of told) await tellNextContact(tx, key, app, at)
}
