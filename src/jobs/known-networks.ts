import type { Network } from '../analysis/network.ts'
import type { WorkApp } from '../app.ts'
import { listRegistryRows, type RegistryRow } from '../db/registry-answers.ts'
import type { Db } from '../db/pool.ts'
import { blocksAround } from '../mail/ip-blocks.ts'
import { networkSet, parseIp } from '../mail/ip.ts'
import type { RegistryState } from '../verdict/consequences.ts'
import { findNetworks } from './find-networks.ts'

/** What the tables know of an address, and whether its registry could tell more. */
export type KnownNetwork = { network: Network | undefined; registry: RegistryState }

/**
 * The networks of addresses, by address. One without a contact is completed by what its registry
 * said; `unasked` means that it may still be asked. An operator's word ends the search.
 */
export async function findKnownNetworks(
  db: Db,
  ips: readonly string[],
  rdap: WorkApp['rdap'],
  now: Date,
): Promise<Map<string, KnownNetwork>> {
  const networks = await findNetworks(db, ips)
  const open = [...new Set(ips)].filter((ip) => !networks.get(ip)?.contacts.length)
  const rows = await findRegistryRows(db, open, now)
  return new Map(
    [...new Set(ips)].map((ip) => {
      const network = networks.get(ip)
      const row = rows.get(ip)
      if (row) return [ip, completed(network, row)]
      const mayAsk = open.includes(ip) && rdap?.mayAsk(ip) === true
      return [ip, { network, registry: mayAsk ? 'unasked' : 'off' }]
    }),
  )
}

async function findRegistryRows(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, RegistryRow>> {
  const addresses = ips.flatMap((ip) => parseIp(ip) ?? [])
  if (addresses.length === 0) return new Map()
  const blocks = new Set(addresses.flatMap(blocksAround))
  const bestFirst = (await listRegistryRows(db, [...blocks], now)).map((row) => ({
    row,
    block: networkSet([row.cidr]),
  }))
  return new Map(
    addresses.flatMap((address) => {
      const found = bestFirst.find(({ block }) => block.has(address))
      return found ? [[address.text, found.row] as const] : []
    }),
  )
}

function completed(network: Network | undefined, row: RegistryRow): KnownNetwork {
  const { source, ...registered } = row
  const registry = source === 'manual' ? 'off' : 'asked'
  if (!network) return { network: registered, registry }
  const { contacts, abuse } = row
  return { network: { ...network, name: network.name ?? row.name, contacts, abuse }, registry }
}
