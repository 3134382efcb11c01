import { houseOf } from '../../mail/domain.ts'
import type { Listing } from '../../mail/dnsbl.ts'
import { parseIp } from '../../mail/ip.ts'
import { bool, double, type FactTable, string, strings } from './fact-table.ts'

/** What a reporter says; absent when a mail server asks. */
export type ReportedAs = {
  kind: 'spam' | 'phishing' | 'not-spam'
  /** Of the reporter, 0 to 1. */
  karma: number
  channel: string
}

/** What a mail server says of a message it holds; absent when it is reported. */
export type Envelope = {
  /** The address that hands the message over. */
  ip?: string | undefined
  helo?: string | undefined
  /** Empty for a bounce. */
  returnPath?: string | undefined
  recipients?: readonly string[] | undefined
}

/** The network of the origin, as far as it is known. */
export type OriginNetwork = {
  asn: number | null
  name: string | null
  country: string | null
}

type ReportFacts = { is_given: boolean; kind: string; karma: number; channel: string }

type EnvelopeFacts = {
  is_given: boolean
  helo_missing: boolean
  helo_literal: boolean
  helo_bare: boolean
  return_path_empty: boolean
  return_path_domain: string
  return_path_other_domain: boolean
  recipients: number
  is_ipv6: boolean
}

type NetworkFacts = { is_known: boolean; asn: number; name: string; country: string }

type BlacklistFacts = {
  is_asked: boolean
  origin_spam: boolean
  origin_compromised: boolean
  origin_dynamic: boolean
  origin_welcome: boolean
  domain_spam: boolean
  domain_compromised: boolean
  has_phishing: boolean
  has_malware: boolean
  domain_welcome: boolean
  bad_zones: number
  zones: readonly string[]
}

/** What the reporter says. */
export const reportTable: FactTable<ReportFacts> = {
  is_given: bool('It was reported; otherwise a mail server asks what to do with it.'),
  kind: string('spam, phishing or not-spam, as the reporter says; empty when nobody reported it.'),
  karma: double('The karma of the reporter, 0 to 1; 0 when nobody reported it.'),
  channel: string('How the report came in.'),
}

/** What the mail server says that asks. */
export const envelopeTable: FactTable<EnvelopeFacts> = {
  is_given: bool('A mail server asks, and says whose message it holds.'),
  helo_missing: bool('The client did not say what it is called.'),
  helo_literal: bool('The client called itself by an address.'),
  helo_bare: bool('The client called itself by a name without a dot.'),
  return_path_empty: bool('The return path is empty, as that of a bounce.'),
  return_path_domain: string('The domain of the return path, in lower case.'),
  return_path_other_domain: bool('The return path is of another organization than the author.'),
  recipients: double('How many recipients the mail server names.'),
  is_ipv6: bool('The client’s address is of IPv6.'),
}

/** The network of the origin. */
export const networkTable: FactTable<NetworkFacts> = {
  is_known: bool('An imported table or a registry knows the network of the origin.'),
  asn: double('The number of its autonomous system; 0 when unknown.'),
  name: string('What the network is called.'),
  country: string('Its country, by two letters.'),
}

/** What DNS blacklists say. */
export const blacklistsTable: FactTable<BlacklistFacts> = {
  is_asked: bool('DNS blacklists were asked; without it all of this group is empty.'),
  origin_spam: bool('A blacklist knows the origin as a source of spam.'),
  origin_compromised: bool('A blacklist knows the origin as taken over.'),
  origin_dynamic: bool('A blacklist knows the origin as a line from which no mail server sends.'),
  origin_welcome: bool('A welcome list vouches for the origin.'),
  domain_spam: bool('A blacklist knows a domain in the message for spam.'),
  domain_compromised: bool('A blacklist knows a domain in the message as taken over.'),
  has_phishing: bool('A blacklist knows a domain in the message for phishing.'),
  has_malware: bool('A blacklist knows a domain in the message for malware.'),
  domain_welcome: bool('A welcome list vouches for a domain in the message.'),
  bad_zones: double('How many blacklists know the origin or a domain as bad.'),
  zones: strings('The zones of those blacklists, sorted; at most 20.'),
}

const textCharsMax = 100
const zonesMax = 20

/** What a report says; nothing without one. */
export function reportFacts(report: ReportedAs | undefined): ReportFacts | undefined {
  if (!report) return undefined
  const karma = Math.min(1, Math.max(0, report.karma))
  return { is_given: true, kind: report.kind, karma, channel: report.channel }
}

/** What a mail server says; `organization` is the author's. */
export function envelopeFacts(
  envelope: Envelope | undefined,
  organization: string,
): EnvelopeFacts | undefined {
  if (!envelope) return undefined
  const { ip, helo = '', returnPath, recipients = [] } = envelope
  const bare = (returnPath ?? '').replace(/^<|>$/g, '').trim().toLowerCase()
  const domain = bare.slice(bare.lastIndexOf('@') + 1)
  const house = houseOf(domain) ?? domain
  const name = helo.trim()
  return {
    is_given: true,
    helo_missing: name === '',
    helo_literal: name.startsWith('[') || parseIp(name) !== undefined,
    helo_bare: name !== '' && !/[.:]/.test(name),
    return_path_empty: returnPath !== undefined && bare === '',
    return_path_domain: domain.slice(0, 253),
    return_path_other_domain: house !== '' && organization !== '' && house !== organization,
    recipients: recipients.length,
    is_ipv6: ip?.includes(':') === true,
  }
}

/** What is known of the network of the origin. */
export function networkFacts(network: OriginNetwork | null | undefined): NetworkFacts | undefined {
  if (!network) return undefined
  return {
    is_known: true,
    asn: network.asn ?? 0,
    name: (network.name ?? '').slice(0, textCharsMax),
    country: network.country ?? '',
  }
}

/** What blacklists say of the origin's address and of the domains; null when not asked. */
export function blacklistFacts(
  listings: readonly Listing[] | null | undefined,
): BlacklistFacts | undefined {
  if (!listings) return undefined
  const ofOrigin = new Set<Listing['category']>()
  const ofDomain = new Set<Listing['category']>()
  const zones = new Set<string>()
  for (const { subject, category, zone } of listings) {
    if (parseIp(subject)) ofOrigin.add(category)
    else ofDomain.add(category)
    if (category !== 'welcome' && category !== 'other') zones.add(zone)
  }
  return {
    is_asked: true,
    origin_spam: ofOrigin.has('spam'),
    origin_compromised: ofOrigin.has('compromised'),
    origin_dynamic: ofOrigin.has('dynamic'),
    origin_welcome: ofOrigin.has('welcome'),
    domain_spam: ofDomain.has('spam'),
    domain_compromised: ofDomain.has('compromised'),
    has_phishing: ofDomain.has('phishing'),
    has_malware: ofDomain.has('malware'),
    domain_welcome: ofDomain.has('welcome'),
    bad_zones: zones.size,
    zones: [...zones].sort().slice(0, zonesMax),
  }
}
