import type { Network } from '../analysis/network.ts'
import { listNetworks } from '../db/networks.ts'
import type { Db } from '../db/pool.ts'
import { blocksAround } from '../mail/ip-blocks.ts'
import { networkSet, parseIp } from '../mail/ip.ts'

/**
 * The networks of addresses, by address: of all imported blocks that hold one, the longest prefix,
 * and of two sources for the same block the one imported last. Unknown addresses are absent.
 */
export async function findNetworks(db: Db, ips: readonly string[]): Promise<Map<string, Network>> {
  const addresses = [...new Set(ips)].flatMap((ip) => {
    const address = parseIp(ip)
    return address ? [{ ip, address }] : []
  })
  if (addresses.length === 0) return new Map()
  const blocks = new Set(addresses.flatMap(({ address }) => blocksAround(address)))
  const bestFirst = (await listNetworks(db, [...blocks])).map((network) => ({
    network,
    block: networkSet([network.cidr]),
  }))
  return new Map(
    addresses.flatMap(({ ip, address }) => {
      const found = bestFirst.find(({ block }) => block.has(address))
      return found ? [[ip, found.network] as const] : []
    }),
  )
}
