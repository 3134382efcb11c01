import { networkSet, type NetworkSet } from '../mail/ip.ts'
import profiles from './provider-profiles.json' with { type: 'json' }

/** How to distinguish a mailbox provider's own machines from other hosts. */
export type ProviderProfile = {
  name: string
  /**
   * Suffixes of the names that the provider's machines give themselves in `by`; a suffix with a
   * leading dot matches only names below it.
   */
  hosts: readonly string[]
  /** The suffixes among `hosts` of machines that accept mail from outside the provider. */
  borders: readonly string[]
  /** Short names without a domain that the provider's machines give themselves in `by`. */
  bareHosts?: RegExp
  /**
   * Addresses that the provider's machines use among themselves. A peer with such an address is one
   * of them.
   */
  relays: NetworkSet
  /**
   * Addresses from which the provider sends to others, and to itself when one customer writes to
   * another.
   */
  outbound: NetworkSet
  /**
   * For a provider that rents out the ranges it sends from: suffixes of the names of its sending
   * machines, used instead of `outbound`. A name is trusted if the receiver looked it up.
   */
  outboundHosts?: readonly string[]
  /** The field that names the customer for whom the provider handed a message on, in lower case. */
  tenantField?: string
  /** The domains that seal for the provider besides those of its hosts. */
  sealers?: readonly string[]
  /** Fields that record the client behind a message, in lower case; the most reliable one first. */
  submitterFields?: readonly string[]
  /** Protocol names that only this provider writes, between its own machines; in upper case. */
  protocols?: readonly string[]
}

/** A profile in the file: with CIDR blocks, and the source of the regular expression. */
type WrittenProfile = Omit<ProviderProfile, 'bareHosts' | 'relays' | 'outbound'> & {
  bareHosts?: string
  relays?: readonly string[]
  outbound?: readonly string[]
  note?: string
}

/**
 * The known providers. Their ranges are trusted only for mailboxes at the same provider: a
 * Microsoft address is a relay for a Microsoft mailbox and an external host for any other. Sources:
 * the providers' SPF records and published ranges, and the Received lines that their machines
 * write. For a provider that rents out the ranges it sends from, only the names count.
 */
export const providerProfiles = profiles.map(
  ({ bareHosts, relays = [], outbound = [], ...profile }: WrittenProfile): ProviderProfile => ({
    ...profile,
    ...(bareHosts !== undefined && { bareHosts: new RegExp(bareHosts) }),
    ...{ relays: networkSet(relays), outbound: networkSet(outbound) },
  }),
)
