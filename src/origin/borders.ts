import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { block24Or48 } from '../mail/ip-blocks.ts'
import { isInternal, isRoutable, type NetworkSet } from '../mail/ip.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { gatewayOfHost, gatewayOfPeer, isSameGateway } from './gateways.ts'
import { type Hop, isLinked } from './hop.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isByUser, isHandedIn, providerOfHost, senderOf } from './providers.ts'
import { compareRecipients, type Recipients } from './recipients.ts'
import { isSameServer } from './same-server.ts'

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
type Receiver = Recipients & {
  exchangers?: Exchangers | undefined
  /** The names of hosts that received a test letter for the reporter. */
  borders?: readonly string[]
  provider: ProviderProfile | undefined
  /** Index of the first line below the last machine that the reporter or an operator named. */
  belowNamed: number
  seesClient?: boolean
}

/**
 * Judges the last hand-over: the peer is no known machine of the reporter's side. But an unknown
 * one may be: a gateway, the border of another domain, or a forwarder. Then nobody is named, and
 * the reporter is asked. The hand-over is certain if the MX records say so, if a host of a known
 * provider or one that received a test letter wrote the line, or if the peer did not receive the
 * message from outside itself. Records, providers and letters tell nothing about forwarders, which
 * receive for another address.
 */
export function judgeHandOver(
  hop: Hop,
  hops: readonly Hop[],
  receiver: Receiver,
): { is: 'stranger'; doubt?: Phrase; because?: Phrase } {
  const ip = hop.fromIp?.text ?? ''
  const gateway = gatewayOfPeer(hop, hops[hop.index + 1])
  const { exchangers, borders, provider, belowNamed, seesClient } = receiver
  const found = exchangers && byRecords(hop, hops, { ...receiver, exchangers }, gateway)
  const isAtBorder = borders?.includes(hop.byHost ?? '') === true
  const isGuess = found === 'unclear' || (gateway && found === undefined && !isAtBorder)
  if (!isGuess) {
    if (seesClient && hop.index === 0) return { is: 'stranger' }
    // Only where the account's mail is received, its address is that of the mailbox.
    const isOfAccount = isAtBorder || exchangers?.names.has(hop.byHost ?? '') === true
    const reporterAddresses = isOfAccount ? receiver.reporterAddresses : []
    const outside = fromOutside(hop, hops, { fields: receiver.fields, reporterAddresses })
    const isAtProvider = provider !== undefined && belowNamed === 0
    const isKnown = found === 'stranger' || isAtProvider || isAtBorder
    if (!outside || (outside !== 'other' && isKnown)) {
      if (found === 'stranger') return { is: 'stranger', because: phrase('peer-not-in-mx', { ip }) }
      if (!isAtBorder) return { is: 'stranger' }
      return { is: 'stranger', because: phrase('peer-at-border', { ip, host: hop.byHost ?? '' }) }
    }
  }
  const doubt = gateway
    ? phrase('peer-is-gateway', { ip, service: gateway.name })
    : phrase('peer-may-receive', { ip, host: hop.rdns ?? hop.helo ?? ip })
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
  receiver: Receiver & { exchangers: Exchangers },
  gateway: ReturnType<typeof gatewayOfPeer>,
): 'stranger' | 'unclear' | undefined {
  const { provider, belowNamed } = receiver
  const { domain, names } = receiver.exchangers
  const all = [...names]
  const host = hop.rdns ?? hop.helo ?? ''
  if (gateway && all.some((name) => isSameGateway(name, host))) return 'unclear'
  // Providers hand mail of their customers on to other servers of these customers.
  const sender = senderOf(hop)
  const isSenderInMx = sender && all.some((name) => providerOfHost(name) === sender)
  if (isSenderInMx && sender !== provider) return 'unclear'
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
  // A machine that was named may have received the message for another domain.
  const above = hops.slice(belowNamed, hop.index + 1)
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
  if (next?.byHost === undefined || !isSameGateway(rdns, next.byHost)) return undefined
  return [...exchangers.names].find((name) => isSameGateway(name, rdns))
}

/**
 * Whether the peer received the message from an outside host that did not authenticate, by the
 * lines of the peer and of the machines of its domain, for the same address as the receiver or for
 * another one; `unknown` if one of them names none. Such a peer may receive mail for the reporter.
 * The machines of an author take mail from inside, and from users who authenticate.
 */
function fromOutside(
  entry: Hop,
  hops: readonly Hop[],
  recipients: Recipients,
): ReturnType<typeof compareRecipients> | undefined {
  // A line of qmail about itself names no machine.
  const first = hops.slice(entry.index + 1).find(({ byHost, field }) => byHost ?? field?.from)
  if (!first || senderOf(entry)) return undefined
  const domains = new Set(
    [entry.rdns, entry.helo].flatMap((host) => registrableDomainOf(host) ?? []),
  )
  // Machines of one organization are often neighbors.
  const block = entry.fromIp && block24Or48(entry.fromIp)
  const isOfPeer = (host: string | undefined) => domains.has(registrableDomainOf(host) ?? '')
  const recipient = entry.field?.for
  const isSameRecipient = recipient !== undefined && recipient === first.field?.for
  if (!isLinked(entry, first) && !isOfPeer(first.byHost) && !isSameRecipient) return undefined
  for (let at = entry.index + 1; at < hops.length; at++) {
    const [hop, above, below] = [hops[at], hops[at - 1], hops[at + 1]]
    if (!hop?.field || isHandedIn(hop)) return undefined
    // A filter that runs as a user hands the message back to its own mail server.
    if (isByUser(hop) && !(below && isSameServer(hop, below))) return undefined
    const { fromIp, rdns, byHost } = hop
    const isInside = !byHost?.includes('.') || (above?.fromIp && isInternal(above.fromIp))
    if (hop.index > first.index && !isInside && !isOfPeer(byHost)) return undefined
    const isOwnName = isOfPeer(rdns) && rdns !== undefined && !looksLikeCustomer(rdns)
    const isNear = isOwnName || (fromIp && block24Or48(fromIp) === block)
    if (!fromIp || !isRoutable(fromIp) || isNear) continue
    return compareRecipients(entry, hop, hops, recipients)
  }
  return undefined
}

/** Whether a reverse name is one that a network gives to the machines of its customers. */
export function looksLikeCustomer(name: string): boolean {
  const digits = name.split(/\D+/).filter((run) => run !== '')
  if (digits.length >= 3) return true
  return /(^|[.-])(dsl|adsl|dyn|dynamic|dial|pool|ppp|cable|client|cust|dhcp|static)/.test(name)
}
