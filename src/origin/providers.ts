import { registrableDomainOf } from '../mail/address.ts'
import { addressScope, type IpAddress, isInternal } from '../mail/ip.ts'
import { type ProviderProfile, providerProfiles } from './provider-profiles.ts'
import type { Hop } from './trace.ts'

const profilesByHouse = byHouse()
const bareHostProfiles = providerProfiles.filter(({ bareHosts }) => bareHosts)
const senders = new Map<string, ProviderProfile | undefined>()
const SENDERS_MAX = 5_000

/** Whether the machine that wrote this line belongs to the provider, by the name it gives. */
export function isWrittenBy(profile: ProviderProfile, hop: Hop): boolean {
  const { byHost, byIp } = hop
  if (byHost === undefined) return byIp !== undefined && profile.relays.has(byIp)
  if (endsWithAny(byHost, profile.hosts)) return true
  return !byHost.includes('.') && profile.bareHosts?.test(byHost) === true
}

/** Whether the machine that wrote this line is one that strangers hand messages to. */
export function isBorder(profile: ProviderProfile, hop: Hop): boolean {
  return hop.byHost !== undefined && endsWithAny(hop.byHost, profile.borders)
}

/** The provider whose machines call themselves by such a name, if we know it. */
export function providerOfHost(host: string): ProviderProfile | undefined {
  const house = registrableDomainOf(host)
  if (house === undefined) {
    if (host.includes('.')) return hostEndsIn(host)
    return bareHostProfiles.find(({ bareHosts }) => bareHosts?.test(host))
  }
  return profilesByHouse.get(house)?.find(({ hosts }) => endsWithAny(host, hosts))
}

/** The provider that sends from the peer of this line: by address, else by the name looked up. */
export function senderOf({ fromIp, rdns }: Hop): ProviderProfile | undefined {
  if (!fromIp) return undefined
  return senderProfile(fromIp) ?? (rdns === undefined ? undefined : senderNamed(rdns))
}

/** The provider that sends from this address, if we know it. */
export function senderProfile(fromIp: IpAddress): ProviderProfile | undefined {
  const known = senders.get(fromIp.text)
  if (known !== undefined || senders.has(fromIp.text)) return known
  const found = providerProfiles.find(({ outbound }) => outbound.has(fromIp))
  if (senders.size >= SENDERS_MAX) senders.clear()
  senders.set(fromIp.text, found)
  return found
}

/**
 * The provider whose machines wrote the topmost lines, if we know it. Lines whose writer gives an
 * address only, or a short name, are passed over where nobody but the receiver can have written
 * the next one.
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
 * Whether nobody but the receiver can have written the next line: the peer is a program behind it
 * (RFC 2033), or a machine of an internal network with the very name that the next writer gives
 * itself. An internal address alone may be that of a gateway, with a stranger behind it who calls
 * himself as he likes. Nor does the name of the machine itself tell its programs apart.
 */
export function isInsidePeer({ field, fromIp, rdns }: Hop, next: Hop | undefined): boolean {
  if (!fromIp) return field?.from === undefined || isLmtp(field.with)
  if (!isInternal(fromIp)) return false
  if (isLmtp(field?.with)) return true
  return addressScope(fromIp) === 'private' && rdns !== undefined && rdns === next?.byHost
}

/**
 * Whether a user handed the message in: by logging in, or out of a mailbox (MAPI). Then the lines
 * below may have been brought along.
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

/** The protocol between a mail system and its mailboxes (RFC 2033): no stranger speaks it. */
export function isLmtp(protocol: string | undefined): boolean {
  return /^(utf8)?lmtp/i.test(protocol ?? '')
}

function senderNamed(name: string): ProviderProfile | undefined {
  const house = registrableDomainOf(name)
  if (house === undefined) return undefined
  return profilesByHouse
    .get(house)
    ?.find(({ outboundHosts = [] }) => endsWithAny(name, outboundHosts))
}

/** Names below no public suffix, such as `.internal`. */
function hostEndsIn(host: string): ProviderProfile | undefined {
  return providerProfiles.find(({ hosts }) => endsWithAny(host, hosts))
}

function byHouse(): Map<string, ProviderProfile[]> {
  const found = new Map<string, ProviderProfile[]>()
  for (const profile of providerProfiles) {
    for (const end of [...profile.hosts, ...(profile.outboundHosts ?? [])]) {
      const house = registrableDomainOf(end.startsWith('.') ? `x${end}` : end)
      if (house === undefined) continue
      const known = found.get(house) ?? []
      if (!known.includes(profile)) found.set(house, [...known, profile])
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
