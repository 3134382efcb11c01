import { registrableDomainOf } from '../mail/address.ts'
import { addressScope, isInternal, isRoutable, type NetworkSet } from '../mail/ip.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import {
  isBorder,
  isByUser,
  isHandedIn,
  isInsidePeer,
  isLmtp,
  isWrittenBy,
  providerOfHost,
  recognizeProvider,
} from './providers.ts'
import type { Hop } from './trace.ts'

/** What we know of the receiving side before reading a message. */
export type ReceivingSide = {
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
export function walkToInjection(hops: readonly Hop[], receiver: ReceivingSide): Walk {
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

/** Certainties that keep an origin below the usual threshold: the reporter is asked. */
const doubtful = 0.7
const guessed = 0.6

type Context = ReceivingSide & { provider: ProviderProfile | undefined; home: string | undefined }

function judgePeer(hop: Hop, next: Hop | undefined, context: Context): Peer {
  const { field, fromIp } = hop
  if (!field) return unclear(`Line ${hop.index + 1} cannot be read.`)
  if (isFetched(hop)) return ours(`Line ${hop.index + 1} tells that the mail was fetched.`, 0.9)
  if (!field.from) return withoutPeer(hop, next)
  if (!fromIp) return withoutAddress(hop, next)
  if (context.trustedRelays.has(fromIp)) return ours(`${fromIp.text} is a given trusted relay.`, 1)
  if (context.learnedRelays?.has(fromIp)) {
    return ours(`${fromIp.text} brought nearly all that the reporter reported so far.`, 0.85)
  }
  if (isInternal(fromIp)) return fromInternal(hop, next, context)
  const own = context.provider && fromOwnMachine(hop, next, context.provider)
  if (own) return own
  if (isSameHouse(hop, next, context)) {
    const name = hop.rdns ?? fromIp.text
    return ours(`${name} belongs to ${context.home ?? 'the provider'}.`, doubtful)
  }
  if (maybeSameHouse(hop, next, context)) {
    return ours(`${hop.helo ?? ''} calls itself a machine of ${context.home ?? ''}.`, guessed)
  }
  if (!isRoutable(fromIp)) return unclear(`${fromIp.text} cannot be reached from the Internet.`)
  return { is: 'stranger' }
}

/**
 * A machine of a provider we know: by its address alone; or, where the provider sends from that
 * address to others too, because the line was written deep inside, where strangers do not come. At
 * an address we do not know it may be a customer who calls himself as he likes.
 */
function fromOwnMachine(
  hop: Hop,
  next: Hop | undefined,
  provider: ProviderProfile,
): Peer | undefined {
  const { fromIp, helo, field } = hop
  if (!fromIp) return undefined
  const isInner = !isBorder(provider, hop) && isWrittenBy(provider, hop)
  if (!provider.relays.has(fromIp) && !(isInner && provider.outbound.has(fromIp))) {
    const isNamed = helo !== undefined && providerOfHost(helo) === provider
    if (!isInner || !isNamed || field?.auth !== undefined) return undefined
    if (!next || !isWrittenBy(provider, next)) return undefined
    return ours(`${fromIp.text} calls itself a machine of ${provider.name}.`, guessed)
  }
  if (!next) return unclear(`The message seems to have begun inside ${provider.name}.`)
  if (!isWrittenBy(provider, next)) {
    return unclear(`Line ${next.index + 1} should be written by ${provider.name}, but is not.`)
  }
  return ours(`${fromIp.text} is one of ${provider.name}'s own machines.`, 1)
}

/** POP and IMAP clients write a line of their own over those of the provider. */
function isFetched(hop: Hop): boolean {
  if (/^(pop3|imap|apop)/i.test(hop.field?.with ?? '')) return true
  return /fetchmail|getmail|mpop/i.test(hop.field?.software ?? '')
}

/** A program on the machine may hand over what it was given, or what its user wrote himself. */
function withoutPeer(hop: Hop, next: Hop | undefined): Peer {
  if (!next) return unclear(`Line ${hop.index + 1} names nobody who handed the message over.`)
  const place = hop.byHost ?? 'a machine'
  if (isByUser(hop))
    return ours(`Line ${hop.index + 1}: a program or user of ${place} handed it in.`, doubtful)
  return ours(`Line ${hop.index + 1} is a hand-over inside ${place}.`, 1)
}

function withoutAddress(hop: Hop, next: Hop | undefined): Peer {
  if (next && isLmtp(hop.field?.with)) {
    return ours(`Line ${hop.index + 1} is a hand-over to a mailbox.`, 1)
  }
  if (next && (/^local/i.test(hop.field?.with ?? '') || hop.helo === 'localhost')) {
    return ours(`Line ${hop.index + 1} is a hand-over on the same machine.`, doubtful)
  }
  const house = registrableDomainOf(hop.byHost)
  if (
    next &&
    house !== undefined &&
    isLinked(hop, next) &&
    house === registrableDomainOf(next.byHost)
  ) {
    return ours(`Line ${hop.index + 1} is a hand-over inside the same organization.`, doubtful)
  }
  return unclear(`Line ${hop.index + 1} gives no address for the peer.`)
}

/**
 * An internal address is never a stranger's own, but a gateway (a container's proxy, a tunnel on
 * the machine itself) may stand before the machine and hide whose it was; then the stranger wrote
 * the line below, with whatever name he gave. So it takes a name that was looked up, or a provider
 * that writes both lines. A user who hands in a message may bring lines along too.
 */
function fromInternal(hop: Hop, next: Hop | undefined, { home, provider }: Context): Peer {
  const ip = hop.fromIp?.text ?? ''
  const isSelf = hop.fromIp !== undefined && addressScope(hop.fromIp) === 'loopback'
  const because = isSelf
    ? `${ip} is the receiving machine itself.`
    : `${ip} is an address of an internal network.`
  if (!next) return unclear('The message seems to have begun inside an internal network.')
  // Inside a provider, machines hand over by HTTP too.
  const isOfMachine = provider && isWrittenBy(provider, hop) && hop.field?.auth === 'HTTP'
  if (isHandedIn(hop) && !isOfMachine) {
    return ours(`Line ${hop.index + 1}: a user handed the message in.`, guessed)
  }
  if (isInsidePeer(hop, next)) return ours(because, 1)
  if (provider && isOfProvider(provider, hop, next)) return ours(because, 1)
  const isSame = isLinked(hop, next) || (isSelf && hop.byHost === next.byHost)
  const isHome = home !== undefined && registrableDomainOf(next.byHost) === home
  return ours(because, isSame && isHome ? doubtful : 0.5)
}

/** Whether a provider wrote both lines; one by its address only is the other's peer. */
function isOfProvider(provider: ProviderProfile, hop: Hop, next: Hop): boolean {
  if (isWrittenBy(provider, next)) return isWrittenBy(provider, hop) || !hop.byHost?.includes('.')
  return isWrittenBy(provider, hop) && next.byHost === undefined && isLinked(hop, next)
}

/**
 * A peer of the provider's own domain, by the name the receiver looked up, is one of its machines
 * if the line below was written in that domain too; where the domain is a hoster's, it may as well
 * be a customer's. A name made from an address is. The machines of providers we know are known.
 */
function isSameHouse(hop: Hop, next: Hop | undefined, { home, provider }: Context): boolean {
  if (provider || home === undefined || hop.rdns === undefined || next === undefined) return false
  if (registrableDomainOf(hop.rdns) !== home || registrableDomainOf(next.byHost) !== home)
    return false
  return !looksLikeCustomer(hop.rdns)
}

/**
 * Exchange writes what the peer calls itself and never looks its name up. A peer that says it is of
 * the provider's domain, above a line of that machine's own, is most likely one of its machines;
 * a stranger could say the same.
 */
function maybeSameHouse(hop: Hop, next: Hop | undefined, { home }: Context): boolean {
  if (home === undefined || next === undefined || registrableDomainOf(hop.helo) !== home)
    return false
  return /^microsoft smtp/i.test(hop.field?.with ?? '') && isLinked(hop, next)
}

function looksLikeCustomer(name: string): boolean {
  const digits = name.split(/\D+/).filter((run) => run !== '')
  if (digits.length >= 3) return true
  return /(^|[.-])(dsl|adsl|dyn|dynamic|dial|pool|ppp|cable|client|cust|dhcp|static)/.test(name)
}

/** Whether the peer of one line is the writer of the next, by name or by address. */
export function isLinked(hop: Hop, next: Hop): boolean {
  if (hop.fromIp && next.byIp && hop.fromIp.text === next.byIp.text) return true
  return next.byHost !== undefined && (next.byHost === hop.rdns || next.byHost === hop.helo)
}

/** The receiver's domain: of the first line with one, unless a stranger may have written it. */
function homeDomain(hops: readonly Hop[]): string | undefined {
  for (const [at, hop] of hops.slice(0, 4).entries()) {
    const house = registrableDomainOf(hop.byHost)
    if (house !== undefined) return house
    if (!isInsidePeer(hop, hops[at + 1])) return undefined
  }
  return undefined
}

function ours(because: string, certainty: number): Peer {
  return { is: 'ours', because, certainty }
}

function unclear(because: string): Peer {
  return { is: 'unclear', because }
}
