import { z } from 'zod'
import { daysField, defineAction, endOf, textField } from '../actions.ts'
import type { App } from '../app.ts'
import { findConsumer, keepHealth, listConsumers } from '../db/consumers.ts'
import type { Feedback } from '../db/feedback-reports.ts'
import { listMergedReports } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { removeSuppression, suppress } from '../db/suppressions.ts'
import { dateOf } from '../durations.ts'
import { type RefusedRecipient, suppressRefused } from '../letters/relay-gate.ts'
import { refusal } from '../phrase.ts'
import { healthyRecord } from '../verdict/contact-health.ts'
import { notifyNextContact } from './next-contact.ts'

const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$/
const addressError = refusal('refused.email')
const REASON_CHARS_MAX = 500

const addressField = z
  .string({ error: addressError })
  .transform((text) => text.trim().toLowerCase())
  .pipe(z.string().regex(addressShape, addressError))

/** Stops all mail to an address, permanently or for some days. */
export const suppressAddress = defineAction({
  name: 'suppressions add',
  summary: 'stop all mail to an address',
  audit: 'suppress',
  role: 'operator',
  input: z.object({
    address: addressField.meta({ argument: 'ADDRESS' }),
    reason: textField(REASON_CHARS_MAX, refusal('refused.reason')).meta({ option: 'why' }),
    days: daysField,
  }),
  async run(tx, { address, reason, days }, context) {
    const until = endOf(days, context)
    const suppression = { address, status: null, detail: reason, since: context.at, until }
    await suppress(tx, { ...suppression, reason: 'operator' })
    const term = until ? `until ${dateOf(until)}` : 'for good'
    return { done: 'set', audit: `${address}, ${term}: ${reason}` }
  },
})

/** Removes the suppression of an address and clears its bounce record. */
export const unsuppressAddress = defineAction({
  name: 'suppressions remove',
  summary: 'remove the suppression of an address',
  audit: 'unsuppress',
  role: 'operator',
  input: z.object({ address: textField(320, addressError).meta({ argument: 'ADDRESS' }) }),
  async run(tx, { address }) {
    const lifted = await removeSuppression(tx, address)
    if (!lifted) return { unchanged: 'nothing' }
    const consumer = (await listConsumers(tx, [lifted.address])).get(lifted.address)
    if (consumer) await keepHealth(tx, consumer.id, healthyRecord)
    return { done: 'lifted', audit: `${lifted.address} (was: ${lifted.reason})` }
  },
})

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
  const covered = [{ reportId, number }, ...(await listMergedReports(tx, feedback))]
  if (feedback.kind !== 'complaint') return
  for (const key of covered) await notifyNextContact(tx, key, app, at)
}
