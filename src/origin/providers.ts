import { LRUCache } from 'lru-cache'
import { registrableDomainOf } from '../mail/address.ts'
import { addressScope, type IpAddress, isInternal, isRoutable } from '../mail/ip.ts'
import { type ProviderProfile, providerProfiles } from './provider-profiles.ts'
import type { Hop } from './hop.ts'

const profilesByDomain = byDomain()
const bareHostProfiles = providerProfiles.filter(({ bareHosts }) => bareHosts)
const senders = new LRUCache<string, { profile: ProviderProfile | undefined }, IpAddress>({
  max: 5_000,
  memoMethod: (_text, _stale, { context: fromIp }) => ({
    profile: providerProfiles.find(({ outbound }) => outbound.has(fromIp)),
  }),
})

/**
 * Whether the machine that wrote the line belongs to the provider, judged by the name that it gives
 * itself.
 */
export function isWrittenBy(profile: ProviderProfile, hop: Hop): boolean {
  const { byHost, byIp } = hop
  if (byHost === undefined) return byIp !== undefined && profile.relays.has(byIp)
  if (endsWithAny(byHost, profile.hosts)) return true
  return !byHost.includes('.') && profile.bareHosts?.test(byHost) === true
}

/** Whether the machine that wrote the line accepts messages from outside the provider. */
export function isBorder(profile: ProviderProfile, hop: Hop): boolean {
  return hop.byHost !== undefined && endsWithAny(hop.byHost, profile.borders)
}

/** The known provider whose machines use a host name like the given one. */
export function providerOfHost(host: string): ProviderProfile | undefined {
  const registrable = registrableDomainOf(host)
  if (registrable === undefined) {
    if (host.includes('.')) return hostEndsIn(host)
    return bareHostProfiles.find(({ bareHosts }) => bareHosts?.test(host))
  }
  return profilesByDomain.get(registrable)?.find(({ hosts }) => endsWithAny(host, hosts))
}

/** The provider that sends from the peer of the line: by address, else by reverse DNS name. */
export function senderOf({ fromIp, rdns }: Hop): ProviderProfile | undefined {
  if (!fromIp) return undefined
  return senderProfile(fromIp) ?? (rdns === undefined ? undefined : senderNamed(rdns))
}

/** Whether the provider seals messages (RFC 8617) under the domain. */
export function isSealer({ hosts, sealers = [] }: ProviderProfile, domain: string): boolean {
  const registrable = registrableDomainOf(domain)
  if (registrable === undefined) return false
  if (sealers.includes(registrable)) return true
  return hosts.some((end) => registrableDomainOf(`x${end}`) === registrable)
}

/** Whether an address can be that of a client: it is public and not one of the provider's own. */
export function isClientAddress(profile: ProviderProfile, address: IpAddress): boolean {
  return isRoutable(address) && !profile.relays.has(address) && !profile.outbound.has(address)
}

/** The known provider that sends from this address. */
export function senderProfile(fromIp: IpAddress): ProviderProfile | undefined {
  return senders.memo(fromIp.text, { context: fromIp }).profile
}

/**
 * The known provider whose machines wrote the topmost lines. Skips a line whose writer gives only
 * an address or a short name, if only the receiver can have written the next line.
 */
export function recognizeProvider(hops: readonly Hop[]): ProviderProfile | undefined {
  for (const [at, hop] of hops.slice(0, 4).entries()) {
    const { byHost, byIp } = hop
    const inner = byIp && providerProfiles.find(({ relays }) => relays.has(byIp))
    const found = inner ?? (byHost === undefined ? undefined : providerOfHost(byHost))
    if (found) return found
    if (byHost?.includes('.') || !isInsidePeer(hop, hops[at + 1])) return undefined
  }
  return undefined
}

/**
 * Whether only the receiver can have written the next line: the peer is a local program (RFC 2033),
 * or a machine of an internal network whose reverse DNS name is the name that the next writer gives
 * itself. An internal address alone does not suffice: it may be that of a gateway, and the
 * untrusted client behind it can use any name. The machine's own name does not suffice either,
 * because it does not identify a program.
 */
export function isInsidePeer({ field, fromIp, rdns }: Hop, next: Hop | undefined): boolean {
  if (!fromIp) return field?.from === undefined || isLmtp(field.with)
  if (!isInternal(fromIp)) return false
  if (isLmtp(field?.with)) return true
  if (addressScope(fromIp) !== 'private' || rdns === undefined || isRouterName(rdns)) return false
  return rdns === next?.byHost
}

const routerName = /^(?:_?gateway|gw|router|firewall|fw|nat|fritz|host|bridge)[\d-]*$/
const privateEnd =
  /\.(?:docker\.internal|home\.arpa|lan|local|localdomain|internal|home|corp|intern|box|private)$/

/** Whether a name is in a domain that everybody may use inside. */
export function isPrivateName(host: string): boolean {
  return privateEnd.test(host)
}

/**
 * Whether a name outside the public DNS is that of a router or of a container's host, which may
 * hide the addresses of any clients behind its own.
 */
export function isRouterName(host: string): boolean {
  return routerName.test(host.replace(privateEnd, ''))
}

/**
 * Whether a user submitted the message, by authenticating or from a mailbox (MAPI). Then the user
 * may also have supplied the lines below.
 */
export function isHandedIn({ field }: Hop): boolean {
  if (/^mapi\b/i.test(field?.with ?? '')) return true
  return field?.auth !== undefined && !isLmtp(field.with)
}

/** Whether a user's program wrote the message: `from userid`, `invoked by uid`, `Submit`, sSMTP. */
export function isByUser({ field }: Hop): boolean {
  const software = field?.software ?? ''
  return /\bfrom userid \d|\binvoked by uid \d|\/submit$|sendmail emulation/i.test(software)
}

/**
 * Whether a protocol is LMTP, between a mail system and its mailboxes (RFC 2033); external hosts do
 * not use it.
 */
export function isLmtp(protocol: string | undefined): boolean {
  return /^(utf8)?lmtp/i.test(protocol ?? '')
}

function senderNamed(name: string): ProviderProfile | undefined {
  const registrable = registrableDomainOf(name)
  if (registrable === undefined) return undefined
  return profilesByDomain
    .get(registrable)
    ?.find(({ outboundHosts = [] }) => endsWithAny(name, outboundHosts))
}

/** Returns the provider of names without a public suffix, such as `.internal`. */
function hostEndsIn(host: string): ProviderProfile | undefined {
  return providerProfiles.find(({ hosts }) => endsWithAny(host, hosts))
}

function byDomain(): Map<string, ProviderProfile[]> {
  const found = new Map<string, ProviderProfile[]>()
  for (const profile of providerProfiles) {
    for (const end of [...profile.hosts, ...(profile.outboundHosts ?? [])]) {
      const registrable = registrableDomainOf(end.startsWith('.') ? `x${end}` : end)
      if (registrable === undefined) continue
      const known = found.get(registrable) ?? []
      if (!known.includes(profile)) found.set(registrable, [...known, profile])
    }
  }
  return found
}

function endsWithAny(host: string, ends: readonly string[]): boolean {
  for (const end of ends) {
    if (end.startsWith('.') ? host.endsWith(end) : host === end) return true
  }
  return false
}
