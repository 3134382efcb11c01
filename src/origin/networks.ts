import { isWiderThanAnyHolding, parseBlock, prefixLength } from '../mail/ip-blocks.ts'
import { readAsn, readContacts, readCountry, readName } from './network-tables/text-tables.ts'

/** The network an address belongs to, as far as all that we were told of it goes. */
export type Network = {
  /** The block whose contact it is, else the most specific one that is known. */
  cidr: string
  asn: number | null
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** The address of its abuse desk: the first of `contacts`, or null. */
  abuse: string | null
  /** What the source of the contacts calls the block; absent when it does not say. */
  deskName?: string
  /** All addresses of its abuse desk, the best first. */
  contacts: string[]
  /** An administrator said that nobody is to be written to: there is no contact to look for. */
  isMuted?: true
}

/** What one source says of one block. */
export type NetworkLayer = {
  cidr: string
  /** A table's name; `registry` for answers of registries, `manual` for administrators. */
  source: string
  /** For answers of registries: of the address that was asked about. */
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
  /** The answer of a registry that counts for the address. */
  answer: Layer | undefined
}

/**
 * Puts together what several sources say of blocks around one address. For each field the first
 * layer that has it counts: those by hand before all others, then the longest prefix, then the one
 * imported last. An abuse contact is taken from a block that is shorter than the most specific
 * block with an AS number only when its own AS number is the same or unknown: a part of a network
 * that somebody else announces is not answered for by the whole. Of what registries answered only
 * that counts which is about the same AS; it tells of no AS itself. Undefined without layers.
 */
export function mergeLayers<Layer extends NetworkLayer>(
  layers: readonly Layer[],
): MergedNetwork<Layer> | undefined {
  const all = layers.toSorted(bestFirst)
  const asn = all.find(({ asn, source }) => asn !== null && source !== registrySource)
  const order = all.filter((layer) => layer.source !== registrySource || !isForeign(layer, asn))
  const specific = order.toSorted((a, b) => prefixLength(b.cidr) - prefixLength(a.cidr))[0]
  if (!specific) return undefined
  const name = order.find((layer) => layer.name !== null)
  const country = order.find((layer) => layer.country !== null)
  const speaking = all.filter((layer) => layer.isMuted || layer.contacts.length > 0)
  const foreign = speaking.filter((layer) => isForeign(layer, asn))
  const contacts = speaking.find((layer) => !foreign.includes(layer))
  return {
    network: {
      cidr: (contacts ?? specific).cidr,
      asn: asn?.asn ?? null,
      name: name?.name ?? null,
      country: country?.country ?? null,
      abuse: contacts?.contacts[0] ?? null,
      ...(contacts && contacts.name !== null && { deskName: contacts.name }),
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
    answer: order.find(({ source }) => source === registrySource),
  }
}

function isForeign(layer: NetworkLayer, announced: NetworkLayer | undefined): boolean {
  if (!announced || layer.source === manualSource) return false
  if (layer.source === registrySource) return layer.asn !== announced.asn
  if (layer.asn === null || layer.asn === announced.asn) return false
  // A number given by hand stands before every block of others, however long.
  return (
    announced.source === manualSource || prefixLength(layer.cidr) < prefixLength(announced.cidr)
  )
}

function bestFirst(a: NetworkLayer, b: NetworkLayer): number {
  return (
    Number(b.source === manualSource) - Number(a.source === manualSource) ||
    prefixLength(b.cidr) - prefixLength(a.cidr) ||
    b.importedAt.getTime() - a.importedAt.getTime() ||
    (a.source < b.source ? -1 : 1)
  )
}

/** What an administrator says of a block, before all other sources; null leaves it to them. */
export type NetworkOverride = Pick<
  NetworkLayer,
  'cidr' | 'asn' | 'name' | 'country' | 'contacts' | 'isMuted'
>

/** The same as a person writes it. Empty fields leave the word to others. */
export type OverrideFields = Record<'cidr' | 'abuse' | 'name' | 'asn' | 'country', string>

/** Written in place of abuse addresses: nobody is to be written to. */
export const NOBODY = 'none'

/**
 * Reads what a person wrote: `abuse` holds addresses between commas, or `none` when nobody is to be
 * written to. Faults are sentences, all of them at once.
 */
export function readOverride(fields: OverrideFields): NetworkOverride | { faults: string[] } {
  const cidr = parseBlock(fields.cidr)
  const isMuted = fields.abuse.trim().toLowerCase() === NOBODY
  const contacts = isMuted ? [] : readContacts(fields.abuse)
  const asn = readAsn(fields.asn.trim())
  const country = readCountry(fields.country.trim())
  const name = readName(fields.name)
  const faults: string[] = []
  if (cidr === undefined) faults.push('The block is neither an address nor a CIDR block.')
  if (!contacts) faults.push(`The abuse contact must be "${NOBODY}" or at most ten addresses.`)
  if (cidr !== undefined && contacts?.length && isWiderThanAnyHolding(cidr)) {
    faults.push('The block is too wide for one abuse contact.')
  }
  if (asn === undefined) faults.push('The AS number is none.')
  if (country === undefined) faults.push('The country must be a code of two letters.')
  if (cidr === undefined || !contacts || asn === undefined || country === undefined) {
    return { faults }
  }
  if (faults.length > 0) return { faults }
  if (!isMuted && contacts.length === 0 && asn === null && name === null && country === null) {
    return { faults: ['Say at least one thing of the network.'] }
  }
  return { cidr, asn, name, country, contacts, isMuted }
}

/** An override as a person would write it. */
export function overrideFields(override: NetworkOverride): OverrideFields {
  const { cidr, asn, name, country, contacts, isMuted } = override
  return {
    cidr,
    abuse: isMuted ? NOBODY : contacts.join(', '),
    name: name ?? '',
    asn: asn === null ? '' : String(asn),
    country: country ?? '',
  }
}
