import { isWiderThanAnyHolding, parseBlock, prefixLength } from '../mail/ip-blocks.ts'
import { refusal } from '../phrase.ts'
import { readAsn, readContacts, readCountry, readName } from './network-tables/text-tables.ts'

/** The network of an address, merged from all sources. */
export type Network = {
  /** The block to which the abuse contact belongs, else the most specific block that is known. */
  cidr: string
  asn: number | null
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** The preferred abuse contact: the first of `contacts`, or null. */
  abuse: string | null
  /** The name of the block in the source of the contacts; absent when the source gives none. */
  deskName?: string
  /** All abuse contacts, the best first. */
  contacts: string[]
  /** An administrator has decided that no report is sent, so no contact is looked up. */
  isMuted?: true
}

/** The information of one source about one block. */
export type NetworkLayer = {
  cidr: string
  /** The name of a table; `registry` for answers of registries, `manual` for administrators. */
  source: string
  /** For answers of registries: the AS number of the address that was looked up. */
  asn: number | null
  name: string | null
  country: string | null
  /** Abuse contacts, the best first; empty when the source has none. */
  contacts: string[]
  /** No report is sent, whatever other sources say. Only administrators set this. */
  isMuted: boolean
  importedAt: Date
  /** Null when the entry does not expire. */
  expiresAt: Date | null
}

/** The source of entries by administrators. It takes precedence over all others. */
export const manualSource = 'manual'

/** The source of the answers of registries. */
export const registrySource = 'registry'

/** A network, and the layer from which each field was taken. */
export type MergedNetwork<Layer extends NetworkLayer> = {
  network: Network
  from: { asn?: Layer; name?: Layer; country?: Layer; contacts?: Layer }
  /** Layers whose contact is ignored because their block belongs to another AS. */
  foreign: Layer[]
  /** The answer of a registry that applies to the address. */
  answer: Layer | undefined
}

/**
 * Merges what several sources say about blocks around one address. Each field is taken from the
 * first layer that has a value for it: entries by administrators first, then the longest prefix,
 * then the latest import. If an abuse contact is from a wider block than the most specific block
 * with an AS number, it is used only if its own AS number is the same or unknown: the holder of a
 * network is not responsible for a part of it that another AS announces. Answers of registries are
 * used only if they are about the same AS; they never provide the AS number. Undefined without
 * layers.
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
  // An AS number set by an administrator takes precedence over blocks of any prefix length.
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

/**
 * An administrator's entry about a block, which takes precedence over all other sources; null
 * leaves a field to the other sources.
 */
export type NetworkOverride = Pick<
  NetworkLayer,
  'cidr' | 'asn' | 'name' | 'country' | 'contacts' | 'isMuted'
>

/** An override as a person enters it. Empty fields are left to the other sources. */
export type OverrideFields = Record<'cidr' | 'abuse' | 'name' | 'asn' | 'country', string>

/** Entered in place of abuse contacts, when no report is to be sent. */
export const NO_CONTACT = 'none'

/**
 * Parses the contacts that a person entered in place of others: addresses separated by commas, or
 * `none`, which mutes. An empty text gives no contacts.
 */
export function readOverriddenContacts(
  text: string,
): Pick<NetworkOverride, 'contacts' | 'isMuted'> | { fault: string } {
  if (text.trim().toLowerCase() === NO_CONTACT) return { contacts: [], isMuted: true }
  const contacts = readContacts(text)
  if (!contacts) return { fault: refusal('refused.contacts', { none: NO_CONTACT }) }
  return { contacts, isMuted: false }
}

/** Formats contacts as a person would enter them. */
export function overriddenContacts({
  contacts,
  isMuted,
}: {
  contacts: readonly string[]
  isMuted: boolean
}): string {
  return isMuted ? NO_CONTACT : contacts.join(', ')
}

/**
 * Parses an override that a person entered: `abuse` contains addresses separated by commas, or
 * `none` if no report is to be sent. Returns all errors together, as sentences.
 */
export function readOverride(fields: OverrideFields): NetworkOverride | { faults: string[] } {
  const cidr = parseBlock(fields.cidr)
  const said = readOverriddenContacts(fields.abuse)
  const asn = readAsn(fields.asn.trim())
  const country = readCountry(fields.country.trim())
  const name = readName(fields.name)
  const faults: string[] = []
  if (cidr === undefined) faults.push(refusal('refused.block'))
  if ('fault' in said) faults.push(said.fault)
  else if (cidr !== undefined && said.contacts.length > 0 && isWiderThanAnyHolding(cidr)) {
    faults.push(refusal('refused.block-wide'))
  }
  if (asn === undefined) faults.push(refusal('refused.as-number'))
  if (country === undefined) faults.push(refusal('refused.country'))
  if (cidr === undefined || 'fault' in said || asn === undefined || country === undefined) {
    return { faults }
  }
  if (faults.length > 0) return { faults }
  const { contacts, isMuted } = said
  if (!isMuted && contacts.length === 0 && asn === null && name === null && country === null) {
    return { faults: [refusal('refused.network-empty')] }
  }
  return { cidr, asn, name, country, contacts, isMuted }
}

/** Formats an override as a person would enter it. */
export function overrideFields(override: NetworkOverride): OverrideFields {
  const { cidr, asn, name, country } = override
  return {
    cidr,
    abuse: overriddenContacts(override),
    name: name ?? '',
    asn: asn === null ? '' : String(asn),
    country: country ?? '',
  }
}
