import type { Network } from '../analysis/network.ts'
import type { WorkApp } from '../app.ts'
import type { Db } from '../db/pool.ts'
import { listAnswered } from '../db/registry-answers.ts'
import type { RegistryState } from '../verdict/consequences.ts'
import { findNetworks } from './find-networks.ts'

/** What is known of an address, and whether its registry could tell more. */
export type KnownNetwork = { network: Network | undefined; registry: RegistryState }

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
  const networks = await findNetworks(db, ips, now)
  const open = [...new Set(ips)].filter((ip) => {
    const network = networks.get(ip)
    return !network?.isMuted && !network?.contacts.length
  })
  const answered = await listAnswered(db, open, now)
  return new Map(
    ips.map((ip) => {
      const mayAsk = open.includes(ip) && rdap?.mayAsk(ip) === true
      const registry = answered.has(ip) ? 'asked' : mayAsk ? 'unasked' : 'off'
      return [ip, { network: networks.get(ip), registry }]
    }),
  )
}
