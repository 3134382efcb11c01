import type { App } from '../app.ts'
import { findConsumer, keepHealth } from '../db/consumers.ts'
import type { Feedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { suppress } from '../db/suppressions.ts'
import { statusIn } from '../mail/bounces/codes.ts'
import { storableText } from '../mail/storable-text.ts'
import { afterRefusal, type HealthRecord, healthyRecord } from '../verdict/contact-health.ts'
import { listMembers } from './merged-members.ts'
import { tellNextContact } from './tell-next-contact.ts'

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
  const told = [{ reportId, number }, ...(await listMembers(tx, feedback))]
  if (feedback.kind !== 'complaint') return
  for (const key of told) await tellNextContact(tx, key, app, at)
}
