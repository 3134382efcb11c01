import type { App } from '../app.ts'
import { insertAudit, type OperatorAction } from '../db/audit-log.ts'
import { findConsumer, keepHealth, listConsumers } from '../db/consumers.ts'
import type { Feedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { removeSuppression, suppress, type Suppression } from '../db/suppressions.ts'
import { type RefusedRecipient, suppressRefused } from '../letters/relay-gate.ts'
import { healthyRecord } from '../verdict/contact-health.ts'
import { notifyNextContact } from './next-contact.ts'
import { listMergedReports } from './queue-feedback.ts'

const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$/

/**
 * Returns a mail address in lower case, as suppressions store it; undefined if the text is not one.
 */
export function readAddress(text: string): string | undefined {
  const address = text.trim().toLowerCase()
  return addressShape.test(address) ? address : undefined
}

/** Suppresses an address on behalf of an operator, permanently or until an instant. */
export async function suppressManually(
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

/**
 * Lifts the suppression of an address and clears its bounce record. False if it is not suppressed.
 */
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

/**
 * Suppresses the refused consumer of a feedback report and notifies the next contact of the
 * network.
 */
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
  for (const key of told) await notifyNextContact(tx, key, app, at)
}
