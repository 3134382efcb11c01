import { parseBlock } from '../mail/ip-blocks.ts'
import { readAsn, readContacts, readCountry, readName } from '../mail/ip-tables/reading.ts'
import type { NetworkLayer } from './network-layers.ts'

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
  if (asn === undefined) faults.push('The AS number is none.')
  if (country === undefined) faults.push('The country must be a code of two letters.')
  if (cidr === undefined || !contacts || asn === undefined || country === undefined) {
    return { faults }
  }
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
