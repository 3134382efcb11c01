import type { Network } from '../analysis/network.ts'
import { type FoundLayer, listLayers } from '../db/networks.ts'
import type { Db } from '../db/pool.ts'
import { parseIp } from '../mail/ip.ts'
import { type MergedNetwork, mergeLayers } from '../verdict/network-layers.ts'

/** The networks of addresses, by address (see `findMerged`). Unknown addresses are absent. */
export async function findNetworks(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, Network>> {
  const merged = await findMerged(db, ips, now)
  return new Map([...merged].map(([ip, { network }]) => [ip, network]))
}

/**
 * What all that imported tables, registries and administrators say by now of addresses comes to, by
 * address (see `mergeLayers`). Unknown addresses are absent.
 */
export async function findMerged(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, MergedNetwork<FoundLayer>>> {
  const asked = new Map<string, string>()
  for (const ip of ips) {
    const address = parseIp(ip)
    if (address) asked.set(ip, address.text)
  }
  if (asked.size === 0) return new Map()
  const found = await listLayers(db, [...new Set(asked.values())], now)
  const layersOf = Map.groupBy(found, ({ ip }) => ip)
  return new Map(
    [...asked].flatMap(([ip, text]) => {
      const merged = mergeLayers(layersOf.get(text) ?? [])
      return merged ? [[ip, merged] as const] : []
    }),
  )
}
