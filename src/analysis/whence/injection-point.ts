import { addressScope, isRoutable } from '../../mail/ip.ts'
import type { NetworkSet } from '../../mail/ip.ts'
import type { Hop } from './hops.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { houseOf, isBorder, isWrittenBy, providerOfHost, recognizeProvider } from './providers.ts'

/** What we know of the receiving side before reading a message. */
export type Receiver = {
  /** Relays of the reporter's provider, as given by the reporter. */
  trustedRelays: NetworkSet
  /** Relays learned from the reporter's earlier reports: believed, but less. */
  learnedRelays?: NetworkSet
}

/** The walk from the top down to where the message entered the provider. */
export type Walk = {
  provider: ProviderProfile | undefined
  /** Why each line from the top was passed over, in order; as long as there are such lines. */
  passed: string[]
  /** How sure the passing was, 0 to 1. */
  certainty: number
  /** The hop where a stranger handed the message over, or undefined. */
  entry: Hop | undefined
  /** Why there is none. */
  obstacle: string | undefined
}

type Peer =
  | { is: 'ours'; because: string; certainty: number }
  | { is: 'stranger' }
  | { is: 'unclear'; because: string }

/**
 * The hop where the message entered the reporter's mailbox provider: reading from the top, the
 * first one whose peer the provider does not run. A machine we trust saw that peer's address;
 * every line below it was written by strangers and may be forged. There is none where a line on
 * the way cannot be read or does not fit: we accuse nobody on a guess.
 */
export function walkToInjection(hops: readonly Hop[], receiver: Receiver): Walk {
  const start = hops.findIndex((hop) => !isFetched(hop))
  const provider = recognizeProvider(hops.slice(Math.max(0, start)))
  const walk: Walk = { provider, passed: [], certainty: 1, entry: undefined, obstacle: undefined }
  const home = homeDomain(hops.slice(Math.max(0, start)))
  for (const [index, hop] of hops.entries()) {
    const peer = judgePeer(hop, hops[index + 1], { ...receiver, provider, home })
    if (peer.is === 'ours') {
      walk.passed.push(peer.because)
      walk.certainty = Math.min(walk.certainty, peer.certainty)
      continue
    }
    if (peer.is === 'stranger') walk.entry = hop
    else walk.obstacle = peer.because
    return walk
  }
  walk.obstacle =
    hops.length === 0
      ? 'The message has no Received line, so nothing tells where it came from.'
      : 'Every line was written inside the provider: the message seems to have begun there.'
  return walk
}

type Context = Receiver & { provider: ProviderProfile | undefined; home: string | undefined }

function judgePeer(hop: Hop, next: Hop | undefined, context: Context): Peer {
  const { field, fromIp } = hop
  if (!field) return unclear(`Line ${hop.index} cannot be read.`)
  if (isFetched(hop)) return ours(`Line ${hop.index} tells that the mail was fetched.`, 0.9)
  if (!field.from) return withoutPeer(hop, next)
  if (!fromIp) return withoutAddress(hop, next)
  if (context.trustedRelays.has(fromIp)) return ours(`${fromIp.text} is a given trusted relay.`, 1)
  if (context.learnedRelays?.has(fromIp)) {
    return ours(`${fromIp.text} brought nearly all that the reporter reported so far.`, 0.85)
  }
  const scope = addressScope(fromIp)
  if (scope === 'loopback') return ours(`${fromIp.text} is the receiving machine itself.`, 1)
  if (scope === 'private') return fromPrivate(hop, next, context)
  const own = context.provider && fromOwnMachine(hop, next, context.provider)
  if (own) return own
  if (isSameHouse(hop, next, context)) {
    return ours(`${hop.rdns ?? fromIp.text} belongs to ${context.home ?? 'the provider'}.`, 0.9)
  }
  if (maybeSameHouse(hop, next, context)) {
    return ours(`${hop.helo ?? ''} calls itself a machine of ${context.home ?? ''}.`, 0.6)
  }
  if (!isRoutable(fromIp)) return unclear(`${fromIp.text} cannot be reached from the Internet.`)
  return { is: 'stranger' }
}

/**
 * A machine of a provider we know: by its address alone; or, where the provider sends from that
 * address to others too, or we do not know the address, because the line was written deep inside,
 * where no stranger comes, and the next one is the provider's too.
 */
function fromOwnMachine(
  hop: Hop,
  next: Hop | undefined,
  provider: ProviderProfile,
): Peer | undefined {
  const { fromIp } = hop
  if (!fromIp) return undefined
  const isInner = !isBorder(provider, hop) && isWrittenBy(provider, hop)
  const isOutbound = isInner && provider.outbound.has(fromIp)
  if (!provider.relays.has(fromIp) && !isOutbound) {
    return isInner ? fromUnknownInside(hop, next, provider) : undefined
  }
  if (!next) return unclear(`The message seems to have begun inside ${provider.name}.`)
  if (!isWrittenBy(provider, next)) {
    return unclear(`Line ${next.index} should be written by ${provider.name}, but is not.`)
  }
  return ours(`${fromIp.text} is one of ${provider.name}'s own machines.`, 1)
}

function fromUnknownInside(
  { fromIp, helo }: Hop,
  next: Hop | undefined,
  provider: ProviderProfile,
): Peer | undefined {
  if (!next || !isWrittenBy(provider, next)) return undefined
  if (helo === undefined || providerOfHost(helo) !== provider) return undefined
  return ours(`${fromIp?.text ?? ''} is inside ${provider.name}.`, 0.95)
}

/** POP and IMAP clients write a line of their own over those of the provider. */
function isFetched(hop: Hop): boolean {
  if (/^(pop3|imap|apop)/i.test(hop.field?.with ?? '')) return true
  return /fetchmail|getmail|mpop/i.test(hop.field?.software ?? '')
}

function withoutPeer(hop: Hop, next: Hop | undefined): Peer {
  if (next) return ours(`Line ${hop.index} is a hand-over inside ${hop.byHost ?? 'a machine'}.`, 1)
  return unclear(`Line ${hop.index} names nobody who handed the message over.`)
}

function withoutAddress(hop: Hop, next: Hop | undefined): Peer {
  const isLocal = isLocalProtocol(hop) || hop.helo === 'localhost'
  if (isLocal && next) return ours(`Line ${hop.index} is a hand-over on the same machine.`, 1)
  if (next && isLinked(hop, next) && houseOf(hop.byHost) === houseOf(next.byHost)) {
    return ours(`Line ${hop.index} is a hand-over inside the same organization.`, 0.9)
  }
  return unclear(`Line ${hop.index} gives no address for the peer.`)
}

/**
 * A private address is never a stranger's, but a gateway may stand before the machine and hide
 * whose it was. The line below must then be seen to come from the same house.
 */
function fromPrivate(hop: Hop, next: Hop | undefined, { home, provider }: Context): Peer {
  const because = `${hop.fromIp?.text ?? ''} is an address of an internal network.`
  if (!next) return unclear('The message seems to have begun inside an internal network.')
  if (isLocalProtocol(hop) || isLinked(hop, next)) return ours(because, 1)
  if (provider && isWrittenBy(provider, next)) return ours(because, 1)
  const house = houseOf(next.byHost)
  if (house === undefined || house === home) return ours(because, 0.9)
  return ours(because, 0.5)
}

/**
 * A peer of the provider's own domain, by the name the receiver looked up, is one of its machines
 * if the line below was written in that domain too. A name made from an address is a customer's.
 */
function isSameHouse(hop: Hop, next: Hop | undefined, { home }: Context): boolean {
  if (home === undefined || hop.rdns === undefined || next === undefined) return false
  if (houseOf(hop.rdns) !== home || houseOf(next.byHost) !== home) return false
  return !looksLikeCustomer(hop.rdns)
}

/**
 * Exchange writes what the peer calls itself and never looks its name up. A peer that says it is of
 * the provider's domain, above a line of that machine's own, is most likely one of its machines;
 * a stranger could say the same.
 */
function maybeSameHouse(hop: Hop, next: Hop | undefined, { home }: Context): boolean {
  if (home === undefined || next === undefined || houseOf(hop.helo) !== home) return false
  return /^microsoft smtp/i.test(hop.field?.with ?? '') && isLinked(hop, next)
}

function looksLikeCustomer(name: string): boolean {
  const digits = name.split(/\D+/).filter((run) => run !== '')
  if (digits.length >= 3) return true
  return /(^|[.-])(dsl|adsl|dyn|dynamic|dial|pool|ppp|cable|client|cust|dhcp|static)/.test(name)
}

function isLocalProtocol(hop: Hop): boolean {
  return /^(lmtp|local|utf8lmtp)/i.test(hop.field?.with ?? '')
}

/** Whether the peer of one line is the writer of the next, by name or by address. */
export function isLinked(hop: Hop, next: Hop): boolean {
  if (hop.fromIp && next.byIp && hop.fromIp.text === next.byIp.text) return true
  return next.byHost !== undefined && (next.byHost === hop.rdns || next.byHost === hop.helo)
}

function homeDomain(hops: readonly Hop[]): string | undefined {
  for (const { byHost } of hops.slice(0, 4)) {
    const house = houseOf(byHost)
    if (house !== undefined) return house
  }
  return undefined
}

function ours(because: string, certainty: number): Peer {
  return { is: 'ours', because, certainty }
}

function unclear(because: string): Peer {
  return { is: 'unclear', because }
}
