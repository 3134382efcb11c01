import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { block24Or48 } from '../mail/ip-blocks.ts'
import { isRoutable, type NetworkSet } from '../mail/ip.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { gatewayOfHost, gatewayOfPeer } from './gateways.ts'
import { type Hop, isLinked } from './hop.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isByUser, isHandedIn, providerOfHost, senderOf } from './providers.ts'

/** The hosts that the MX records of a reporter's domains name (RFC 5321 §5). */
export type Exchangers = {
  /** The domain whose records these are, in lower case. */
  domain: string
  /** Host names, in lower case. */
  names: ReadonlySet<string>
  /** The addresses to which these names resolve. */
  addresses: NetworkSet
}

/** The receiver, as far as it is known. */
type Receiver = {
  exchangers?: Exchangers | undefined
  provider: ProviderProfile | undefined
  seesClient?: boolean
}

/**
 * Judges the last hand-over: the peer is no known machine of the reporter's side. But an unknown
 * one may be: a gateway, or the border of another domain. Then nobody is named, and the reporter
 * is asked. The hand-over is certain if the MX records say so, if a host of a known provider wrote
 * the line, or if the peer did not receive the message from outside itself.
 */
export function judgeHandOver(
  hop: Hop,
  hops: readonly Hop[],
  { exchangers, provider, seesClient }: Receiver,
): { is: 'stranger'; doubt?: Phrase } {
  const ip = hop.fromIp?.text ?? ''
  const gateway = gatewayOfPeer(hop, hops[hop.index + 1])
  const doubt = gateway
    ? phrase('peer-is-gateway', { ip, service: gateway.name })
    : phrase('peer-may-receive', { ip, host: hop.rdns ?? hop.helo ?? ip })
  if (exchangers) {
    const found = byRecords(hop, hops, exchangers, gateway)
    if (found) return found === 'unclear' ? { is: 'stranger', doubt } : { is: 'stranger' }
  }
  const isClient = seesClient === true && hop.index === 0
  if (!gateway && (provider || isClient || !isFromOutside(hop, hops))) return { is: 'stranger' }
  return { is: 'stranger', doubt }
}

/**
 * Judges a peer at an address that the MX records do not name. It is a stranger if a host that they
 * name wrote the line, or if the message is for their domain: then such a host must have received
 * it. It is unclear if the peer has a name in the domain of such a host, or calls itself by its
 * name and continues so, or if such a host wrote a line below: the records may have changed, and
 * services deliver under other names. Undefined if the records say nothing, because the message is
 * for another mailbox of the reporter.
 */
function byRecords(
  hop: Hop,
  hops: readonly Hop[],
  { domain, names }: Exchangers,
  gateway: ReturnType<typeof gatewayOfPeer>,
): 'stranger' | 'unclear' | undefined {
  const all = [...names]
  if (gateway && all.some((name) => gatewayOfHost(name) === gateway)) return 'unclear'
  const domains = new Set(
    all.flatMap((name) => {
      if (providerOfHost(name) || gatewayOfHost(name)) return []
      return registrableDomainOf(name) ?? []
    }),
  )
  const isNear = (host: string | undefined) =>
    host !== undefined && (names.has(host) || domains.has(registrableDomainOf(host) ?? ''))
  const next = hops[hop.index + 1]
  const isContinued = names.has(hop.helo ?? '') && names.has(next?.byHost ?? '')
  if (isNear(hop.rdns) || isContinued) return 'unclear'
  if (hop.byHost !== undefined && names.has(hop.byHost)) return 'stranger'
  if (hops.slice(hop.index + 1).some(({ byHost }) => isNear(byHost))) return 'unclear'
  const above = hops.slice(0, hop.index + 1)
  return above.some(({ field }) => domainOf(field?.for ?? '') === domain) ? 'stranger' : undefined
}

/**
 * The name by which the peer is a host that the MX records name; undefined when it is none. The
 * machines of a gateway that the records name deliver under other names, which must be looked up.
 */
export function exchangerOf(
  { fromIp, rdns }: Hop,
  next: Hop | undefined,
  exchangers: Exchangers | undefined,
): string | undefined {
  if (!exchangers || !fromIp) return undefined
  if (exchangers.addresses.has(fromIp)) return rdns ?? fromIp.text
  if (rdns === undefined) return undefined
  if (exchangers.names.has(rdns)) return rdns
  const gateway = gatewayOfHost(rdns)
  if (!gateway || !next || gatewayOfHost(next.byHost) !== gateway) return undefined
  return [...exchangers.names].find((name) => gatewayOfHost(name) === gateway)
}

/**
 * Whether the peer received the message from an outside host that did not authenticate, by the
 * lines of the peer and of the machines of its domain. Such a peer may receive mail for the
 * reporter. The machines of an author take mail from inside, and from users who authenticate.
 */
function isFromOutside(entry: Hop, hops: readonly Hop[]): boolean {
  const { rdns } = entry
  const first = hops[entry.index + 1]
  if (!first || senderOf(entry)) return false
  const domain = registrableDomainOf(rdns ?? entry.helo)
  // Machines of one organization are often neighbors.
  const block = entry.fromIp && block24Or48(entry.fromIp)
  const isOfPeer = (host: string | undefined) =>
    host !== undefined && domain !== undefined && registrableDomainOf(host) === domain
  const isSameRecipient = entry.field?.for !== undefined && entry.field.for === first.field?.for
  if (!isLinked(entry, first) && !isOfPeer(first.byHost) && !isSameRecipient) return false
  for (const hop of hops.slice(entry.index + 1)) {
    const { field, fromIp, byHost } = hop
    if (!field || isHandedIn(hop) || isByUser(hop)) return false
    const isLocal = byHost === undefined || !byHost.includes('.') || byHost.endsWith('.local')
    if (hop !== first && !isLocal && !isOfPeer(byHost)) return false
    const isNear = isOfPeer(hop.rdns) || (fromIp && block24Or48(fromIp) === block)
    if (fromIp && isRoutable(fromIp) && !isNear) return true
  }
  return false
}
