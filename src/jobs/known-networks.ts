import type { Network } from '../analysis/network.ts'
import type { WorkApp } from '../app.ts'
import type { Db } from '../db/pool.ts'
import type { RegistryState } from '../verdict/consequences.ts'
import type { MergedNetwork, NetworkLayer } from '../verdict/network-layers.ts'
import { findDesks } from '../feedback/find-desks.ts'

/** What is known of an address, and whether its registry could tell more. */
export type KnownNetwork = {
  network: Network | undefined
  registry: RegistryState
  /** The AS that announces the address, and the block that says so. */
  announced?: { asn: number; cidr: string } | undefined
}

/**
 * The networks of addresses, by address. Where nobody is known to be written to, `unasked` means
 * that the registry may be asked, unless an administrator's word ends the search.
 */
export async function findKnownNetworks(
  db: Db,
  ips: readonly string[],
  rdap: WorkApp['rdap'],
  now: Date,
): Promise<Map<string, KnownNetwork>> {
  const found = await findDesks(db, ips, now)
  return new Map(
    ips.map((ip) => {
      const merged = found.get(ip)?.merged
      const { asn, cidr } = merged?.from.asn ?? { asn: null, cidr: '' }
      const announced = asn === null ? undefined : { asn, cidr }
      return [ip, { network: merged?.network, announced, registry: registryOf(ip, merged, rdap) }]
    }),
  )
}

function registryOf(
  ip: string,
  merged: MergedNetwork<NetworkLayer> | undefined,
  rdap: WorkApp['rdap'],
): RegistryState {
  const isOpen = !merged?.network.isMuted && !merged?.network.contacts.length
  if (isOpen && merged?.answer) return 'asked'
  return isOpen && rdap?.mayAsk(ip) === true ? 'unasked' : 'off'
}
