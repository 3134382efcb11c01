import type { Network } from '../analysis/network.ts'

/** What one source says of one block. */
export type NetworkLayer = {
  cidr: string
  /** A table's name; `registry` for answers of registries, `manual` for administrators. */
  source: string
  asn: number | null
  name: string | null
  country: string | null
  /** Abuse addresses, the best first; empty when the source knows none. */
  contacts: string[]
  /** Nobody is to be written to, whatever others say. Said by hand only. */
  isMuted: boolean
  importedAt: Date
  /** Null does not expire. */
  expiresAt: Date | null
}

/** The source of what administrators say by hand. It comes before all others. */
export const manualSource = 'manual'

/** The source of what registries answer. */
export const registrySource = 'registry'

/** A network, and which layer each field of it came from. */
export type MergedNetwork<Layer extends NetworkLayer> = {
  network: Network
  from: { asn?: Layer; name?: Layer; country?: Layer; contacts?: Layer }
  /** Layers whose contact is not believed, because their block belongs to another AS. */
  foreign: Layer[]
}

/**
 * Puts together what several sources say of blocks around one address. For each field the first
 * layer that has it counts: those by hand before all others, then the longest prefix, then the one
 * imported last. An abuse contact is taken from a block that is shorter than the most specific
 * block with an AS number only when its own AS number is the same or unknown: a part of a network
 * that somebody else announces is not answered for by the whole. Undefined without layers.
 */
export function mergeLayers<Layer extends NetworkLayer>(
  layers: readonly Layer[],
): MergedNetwork<Layer> | undefined {
  const order = layers.toSorted(bestFirst)
  const specific = order.toSorted((a, b) => prefixOf(b) - prefixOf(a))[0]
  if (!specific) return undefined
  const asn = order.find((layer) => layer.asn !== null)
  const name = order.find((layer) => layer.name !== null)
  const country = order.find((layer) => layer.country !== null)
  const speaking = order.filter((layer) => layer.isMuted || layer.contacts.length > 0)
  const foreign = speaking.filter((layer) => isForeign(layer, asn))
  const contacts = speaking.find((layer) => !foreign.includes(layer))
  return {
    network: {
      cidr: (contacts ?? specific).cidr,
      asn: asn?.asn ?? null,
      name: name?.name ?? null,
      country: country?.country ?? null,
      abuse: contacts?.contacts[0] ?? null,
      contacts: contacts?.contacts ?? [],
      ...(contacts?.isMuted && { isMuted: true }),
    },
    from: {
      ...(asn && { asn }),
      ...(name && { name }),
      ...(country && { country }),
      ...(contacts && { contacts }),
    },
    foreign,
  }
}

function isForeign(layer: NetworkLayer, announced: NetworkLayer | undefined): boolean {
  if (!announced || layer.source === manualSource) return false
  if (layer.asn === null || layer.asn === announced.asn) return false
  // A number given by hand stands before every block of others, however long.
  return announced.source === manualSource || prefixOf(layer) < prefixOf(announced)
}

function bestFirst(a: NetworkLayer, b: NetworkLayer): number {
  return (
    Number(b.source === manualSource) - Number(a.source === manualSource) ||
    prefixOf(b) - prefixOf(a) ||
    b.importedAt.getTime() - a.importedAt.getTime() ||
    (a.source < b.source ? -1 : 1)
  )
}

function prefixOf({ cidr }: NetworkLayer): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1))
}
