import { type Consumer, listConsumers } from '../db/consumers.ts'
import type { Db } from '../db/pool.ts'
import { listSuppressed } from '../db/suppressions.ts'
import type { KnownContact } from '../verdict/choose-contact.ts'
import { contactOf } from '../verdict/may-tell.ts'

/** What is known of addresses: the consumers there, and how they stand just now. */
export type KnownContacts = {
  consumers: ReadonlyMap<string, Consumer>
  /** Also of those that are no consumers yet, but are not written to. */
  byAddress: ReadonlyMap<string, KnownContact>
}

/** Looks addresses up, all in two questions. */
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
