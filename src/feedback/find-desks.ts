import { listDisowned } from '../db/contact-corrections.ts'
import { type FoundLayer, listLayers } from '../db/networks.ts'
import type { Db } from '../db/pool.ts'
import { parseIp } from '../mail/ip.ts'
import { type MergedNetwork, mergeLayers } from '../verdict/network-layers.ts'

/** The network of an address, and who said that it is not theirs: in lower case. */
export type Desk = {
  merged: MergedNetwork<FoundLayer> | undefined
  disowned: ReadonlySet<string>
}

const nobody: ReadonlySet<string> = new Set()

/**
 * Who answers for addresses, by address: what all tables, registries and administrators say comes
 * to (`mergeLayers`), without those who said that the address is not in their network. An address
 * that cannot be read is absent.
 */
export async function findDesks(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, Desk>> {
  const asked = new Map<string, string>()
  for (const ip of ips) {
    const address = parseIp(ip)
    if (address) asked.set(ip, address.text)
  }
  const texts = [...new Set(asked.values())]
  if (texts.length === 0) return new Map()
  const [layers, disowned] = await Promise.all([
    listLayers(db, texts, now),
    listDisowned(db, texts, now),
  ])
  const layersOf = Map.groupBy(layers, ({ ip }) => ip)
  return new Map(
    [...asked].map(([ip, text]) => {
      const without = disowned.get(text) ?? nobody
      const left = (layersOf.get(text) ?? []).map((layer) => withoutDisowned(layer, without))
      return [ip, { merged: mergeLayers(left), disowned: without }]
    }),
  )
}

function withoutDisowned(layer: FoundLayer, disowned: ReadonlySet<string>): FoundLayer {
  if (disowned.size === 0) return layer
  const contacts = layer.contacts.filter((address) => !disowned.has(address.toLowerCase()))
  return contacts.length === layer.contacts.length ? layer : { ...layer, contacts }
}
