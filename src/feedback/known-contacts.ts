import { type Consumer, listConsumers } from '../db/consumers.ts'
import type { Db } from '../db/pool.ts'
import { listSuppressed } from '../db/suppressions.ts'
import type { KnownContact } from '../verdict/choose-contact.ts'
import { contactOf } from '../verdict/contact-health.ts'

/** The known consumers at some addresses, and whether they may be notified. */
type KnownContacts = {
  consumers: ReadonlyMap<string, Consumer>
  /** Also contains addresses that are suppressed without being consumers. */
  byAddress: ReadonlyMap<string, KnownContact>
}

/** Returns the known consumers at addresses. Uses two queries in total. */
export async function knownContacts(
  db: Db,
  addresses: readonly string[],
  now: Date,
): Promise<KnownContacts> {
  if (addresses.length === 0) return { consumers: new Map(), byAddress: new Map() }
  const [consumers, suppressed] = await Promise.all([
    listConsumers(db, addresses),
    listSuppressed(db, addresses, now),
  ])
  const byAddress = new Map<string, KnownContact>()
  for (const address of addresses) {
    const consumer = consumers.get(address)
    const suppression = suppressed.get(address.toLowerCase())
    if (consumer || suppression) byAddress.set(address, contactOf(consumer, suppression, now))
  }
  return { consumers, byAddress }
}
