import { networkSet } from '../mail/ip.ts'
import type { IpAddress, NetworkSet } from '../mail/ip.ts'
import type { Hop } from './hops.ts'

/** How a mailbox provider's own machines can be told from strangers. */
export type ProviderProfile = {
  name: string
  /** Ends of the names its machines give themselves in `by`; a leading dot means below only. */
  hosts: readonly string[]
  /** Those of them that strangers talk to. */
  borders: readonly string[]
  /** Addresses its machines use among themselves. A peer from there is one of its own. */
  relays: NetworkSet
  /** Addresses it sends from to others: to itself too, where one customer writes to another. */
  outbound: NetworkSet
  /** The field in which it names the customer for whom it handed a message on, in lower case. */
  tenantField?: string
}

/**
 * The providers we know. Their ranges are trusted only in a mailbox of theirs: the same Microsoft
 * address is a relay to a Microsoft mailbox and a stranger to any other. Sources: the providers'
 * SPF records and published ranges, and the lines their machines write.
 */
export const providerProfiles: readonly ProviderProfile[] = [
  {
    name: 'Microsoft',
    hosts: [
      '.prod.outlook.com',
      '.outlook.office365.com',
      '.protection.outlook.com',
      '.prod.exchangelabs.com',
      '.prod.protection.outlook.com',
      '.outlook.cn',
      '.hotmail.com',
      '.hotmail.msn.com',
    ],
    borders: [
      '.mail.protection.outlook.com',
      '.mail.protection.partner.outlook.cn',
      '.hotmail.com',
      '.hotmail.msn.com',
    ],
    tenantField: 'x-originatororg',
    relays: networkSet([
      ...['2603:1036::/32', '2603:1046::/32', '2603:1056::/32', '2603:1096::/32'],
      ...['2603:10a6::/32', '2603:10b6::/32', '2603:10c6::/32', '2603:10d6::/32'],
      ...['2603:1061::/32', '2a01:111:e400::/40', '2a01:111:f800::/40'],
    ]),
    outbound: networkSet([
      ...['40.92.0.0/15', '40.107.0.0/16', '52.100.0.0/14', '104.47.0.0/17'],
      ...['2a01:111:f400::/48', '2a01:111:f403::/48'],
    ]),
  },
  {
    name: 'Google',
    hosts: ['.google.com', 'smtp.gmail.com'],
    borders: ['mx.google.com', 'gmr-mx.google.com'],
    relays: networkSet(['2002:a00::/24']),
    outbound: networkSet([
      ...['209.85.128.0/17', '74.125.0.0/16', '64.233.160.0/19', '66.102.0.0/20'],
      ...['66.249.80.0/20', '72.14.192.0/18', '108.177.8.0/21', '172.217.0.0/19'],
      ...['173.194.0.0/16', '216.239.32.0/19', '216.58.192.0/19', '35.190.247.0/24'],
      ...['35.191.0.0/16', '2607:f8b0:4000::/36', '2a00:1450:4000::/36', '2404:6800:4000::/36'],
      ...['2800:3f0:4000::/36', '2c0f:fb50:4000::/36', '2001:4860:4000::/36'],
    ]),
  },
  {
    name: 'Proton',
    hosts: ['.protonmail.ch', '.proton.ch', '.protonmail.com'],
    borders: ['.protonmail.ch', '.proton.ch'],
    relays: networkSet([]),
    outbound: networkSet(['185.70.40.0/22', '185.205.70.0/24', '79.135.106.0/23']),
  },
]

/** Whether the machine that wrote this line belongs to the provider, by the name it gives. */
export function isWrittenBy(profile: ProviderProfile, hop: Hop): boolean {
  if (hop.byHost !== undefined) return endsWithAny(hop.byHost, profile.hosts)
  return hop.byIp !== undefined && profile.relays.has(hop.byIp)
}

/** Whether the machine that wrote this line is one that strangers hand messages to. */
export function isBorder(profile: ProviderProfile, hop: Hop): boolean {
  return hop.byHost !== undefined && endsWithAny(hop.byHost, profile.borders)
}

/** The provider that sends from this address, if we know it. */
export function senderProfile(fromIp: IpAddress): ProviderProfile | undefined {
  return providerProfiles.find(({ outbound }) => outbound.has(fromIp))
}

/**
 * The provider whose machines wrote the topmost lines, if we know it. Lines that name nobody (an
 * address only) are passed over: the next one below was written by the same provider.
 */
export function recognizeProvider(hops: readonly Hop[]): ProviderProfile | undefined {
  for (const hop of hops.slice(0, 4)) {
    const profile = providerProfiles.find((known) => isWrittenBy(known, hop))
    if (profile) return profile
    if (hop.byHost !== undefined) return undefined
  }
  return undefined
}

function endsWithAny(host: string, ends: readonly string[]): boolean {
  return ends.some((end) => (end.startsWith('.') ? host.endsWith(end) : host === end))
}
