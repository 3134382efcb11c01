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
  /** Mail addresses, in lower case, that said that the address is not in their network. */
  disowned: ReadonlySet<string>
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
      const { merged, disowned } = found.get(ip) ?? {
        merged: undefined,
        disowned: new Set<string>(),
      }
      const { asn, cidr } = merged?.from.asn ?? { asn: null, cidr: '' }
      const announced = asn === null ? undefined : { asn, cidr }
      const registry = registryOf(ip, merged, rdap)
      return [ip, { network: merged?.network, announced, registry, disowned }]
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
