import { insertAudit } from '../db/audit-log.ts'
import { keepHealth, listConsumers } from '../db/consumers.ts'
import type { Db } from '../db/pool.ts'
import { removeSuppression, suppress, type Suppression } from '../db/suppressions.ts'
import { healthyRecord } from '../verdict/contact-health.ts'

/** When an operator does something, and who; null at the command line. */
export type Deed = { at: Date; reporterId: string | null }

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
  { at, reporterId }: Deed,
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
  { at, reporterId }: Deed,
): Promise<boolean> {
  const lifted = await removeSuppression(tx, address)
  if (!lifted) return false
  const consumer = (await listConsumers(tx, [lifted.address])).get(lifted.address)
  if (consumer) await keepHealth(tx, consumer.id, healthyRecord)
  const detail = `${lifted.address} (was: ${lifted.reason})`
  await insertAudit(tx, { at, reporterId, action: 'unsuppress', detail })
  return true
}
