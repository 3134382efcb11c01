import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { block24Or48 } from '../mail/ip-blocks.ts'
import { addressScope, isInternal, isRoutable, type NetworkSet } from '../mail/ip.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import {
  isBorder,
  isByUser,
  isHandedIn,
  isInsidePeer,
  isLmtp,
  isRouterName,
  isWrittenBy,
  providerOfHost,
  recognizeProvider,
} from './providers.ts'
import { type Exchangers, exchangerOf, judgeHandOver, looksLikeCustomer } from './borders.ts'
import type { Recipients } from './recipients.ts'
import { isSameServer } from './same-server.ts'
import { type Hop, isLinked } from './hop.ts'

/** The information about the receiving side that is known before a message is read. */
export type ReceivingSide = {
  /** Relays of the reporter's provider, as declared by the reporter. */
  trustedRelays: NetworkSet
  /** Relays learned from the reporter's earlier reports; trusted, but with lower certainty. */
  learnedRelays?: NetworkSet
  /** Machines that the reporter said are not the provider's. */
  deniedRelays?: NetworkSet
  /** The hosts that receive mail for the reporter's domains; undefined when they are not known. */
  exchangers?: Exchangers | undefined
  /** The names of hosts that received a test letter for the reporter. */
  borders?: readonly string[]
  /** The fields of the header, and the reporter's addresses. */
  recipients: Recipients
  /** Whether the first hop is a client that is handing the message over to the receiver now. */
  seesClient?: boolean
}

/** The walk from the topmost Received line down to where the message entered the provider. */
export type Walk = {
  provider: ProviderProfile | undefined
  /** Why each line from the top was passed, in order; one entry for each passed line. */
  passed: Phrase[]
  /** The certainty that the lines were passed correctly, 0 to 1. */
  certainty: number
  /** The hop where an external host handed the message over; undefined when there is none. */
  entry: Hop | undefined
  /** Why there is no entry; undefined when there is one. */
  obstacle: Phrase | undefined
  /**
   * Why the peer of the entry may be a machine of the reporter's side; undefined when it is not.
   */
  doubt?: Phrase | undefined
  /** How it is known that the peer of the entry does not receive mail for the reporter. */
  because?: Phrase | undefined
}

type Peer =
  | { is: 'ours'; because: Phrase; certainty: number }
  | { is: 'stranger'; doubt?: Phrase; because?: Phrase }
  | { is: 'unclear'; because: Phrase }

/**
 * Finds the hop where the message entered the reporter's mailbox provider: from the top, the first
 * one whose peer the provider does not run. A trusted machine recorded that peer's address; all
 * lines below it come from untrusted hosts and may be forged. There is no entry if a line above it
 * cannot be parsed or is inconsistent, because we accuse nobody on a guess.
 */
export function walkToInjection(hops: readonly Hop[], receiver: ReceivingSide): Walk {
  // What fetched the message from a mailbox elsewhere, and what took it from there, is above.
  const start = hops.slice(0, FETCHING_LINES_MAX).findLastIndex(isFetched) + 1
  const provider = recognizeProvider(hops.slice(start))
  const walk: Walk = { provider, passed: [], certainty: 1, entry: undefined, obstacle: undefined }
  const home = homeOf(hops.slice(start))
  let belowNamed = 0
  for (const hop of hops) {
    const peer = judgePeer(hop, hops, { ...receiver, provider, home, belowNamed })
    if (peer.is === 'ours') {
      const { fromIp } = hop
      const isNamed = fromIp && isRoutable(fromIp) && receiver.trustedRelays.has(fromIp)
      if (isNamed) belowNamed = hop.index + 1
      walk.passed.push(peer.because)
      walk.certainty = Math.min(walk.certainty, peer.certainty)
      continue
    }
    if (peer.is === 'stranger') {
      walk.entry = hop
      const fetched = hops[start - 1]
      if (fetched && !isOfMailbox(hop, fetched, provider)) {
        walk.certainty = Math.min(walk.certainty, guessed)
      }
      walk.doubt = peer.doubt
      walk.because = peer.because
    } else walk.obstacle = peer.because
    return walk
  }
  walk.obstacle = hops.length === 0 ? phrase('no-received-lines') : phrase('began-inside-provider')
  return walk
}

const FETCHING_LINES_MAX = 4

/**
 * Certainties that keep the confidence below the usual threshold, so that the reporter is asked.
 */
const doubtful = 0.7
export const guessed = 0.6

type Context = ReceivingSide & {
  provider: ProviderProfile | undefined
  home: Home | undefined
  /** Index of the first line below the last machine that the reporter or an operator named. */
  belowNamed: number
}

/** Judges the peer of a line, also by what the reporter said about it. */
function judgePeer(hop: Hop, hops: readonly Hop[], context: Context): Peer {
  const peer = judgeByLines(hop, hops, context)
  const { fromIp } = hop
  const isCertain =
    (peer.is === 'stranger' && !peer.doubt) || (peer.is === 'ours' && peer.certainty > doubtful)
  // Behind an internal address there may be a gateway, so denying it names no other machine.
  if (isCertain || !fromIp || isInternal(fromIp) || !context.deniedRelays?.has(fromIp)) return peer
  const ip = fromIp.text
  if (isOfHome(hop, hops[hop.index + 1], context) || isNeighbor(hop, hops)) {
    return unclear(phrase('peer-denied-but-near', { ip }))
  }
  return isRoutable(fromIp) ? { is: 'stranger' } : peer
}

function judgeByLines(hop: Hop, hops: readonly Hop[], context: Context): Peer {
  const { field, fromIp } = hop
  const next = hops[hop.index + 1]
  const line = hop.index + 1
  if (!field) return unclear(phrase('line-unreadable', { line }))
  if (isFetched(hop)) return ours(phrase('line-fetched', { line }), 0.9)
  if (!field.from) return withoutPeer(hop, next)
  if (!fromIp) return withoutAddress(hop, next, context.provider)
  const ip = fromIp.text
  if (context.trustedRelays.has(fromIp)) return ours(phrase('relay-declared', { ip }), 1)
  const exchanger = exchangerOf(hop, next, context.exchangers)
  if (exchanger !== undefined) return ours(phrase('relay-in-mx', { ip, host: exchanger }), 1)
  if (context.learnedRelays?.has(fromIp)) return ours(phrase('relay-learned', { ip }), 0.85)
  if (isInternal(fromIp)) return fromInternal(hop, hops, context)
  const own = context.provider && fromOwnMachine(hop, next, context.provider)
  if (own) return own
  if (isSameDomain(hop, next, context)) {
    const [host, domain] = [hop.rdns ?? ip, context.home?.domain ?? '']
    const certainty = isSibling(hop, context) ? 1 : doubtful
    return ours(phrase('relay-in-domain', { host, domain }), certainty)
  }
  if (maybeSameDomain(hop, next, context)) {
    const [host, domain] = [hop.helo ?? '', context.home?.domain ?? '']
    return ours(phrase('relay-claims-domain', { host, domain }), guessed)
  }
  if (!isRoutable(fromIp)) return unclear(phrase('address-unroutable', { ip }))
  return judgeHandOver(hop, hops, { ...context, ...context.recipients })
}

/**
 * Judges whether the peer is a machine of a known provider. An address that the provider uses only
 * internally is sufficient. An address from which it also sends to others is sufficient only if an
 * internal machine wrote the line, because external hosts do not connect to such machines. At an
 * unknown address, the HELO name is weak evidence: the peer may be a customer, who can use any
 * name. Undefined when nothing indicates the provider.
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
    const claimed = { host: fromIp.text, domain: provider.name }
    return ours(phrase('relay-claims-domain', claimed), guessed)
  }
  const { name } = provider
  if (!next) return unclear(phrase('began-inside', { provider: name }))
  if (!isWrittenBy(provider, next)) {
    return unclear(phrase('line-not-by-provider', { line: next.index + 1, provider: name }))
  }
  return ours(phrase('relay-of-provider', { ip: fromIp.text, provider: name }), 1)
}

/**
 * Whether the line is from a POP or IMAP client, which writes its line above the lines of the
 * provider.
 */
function isFetched(hop: Hop): boolean {
  if (/^(pop3|imap|apop)/i.test(hop.field?.with ?? '')) return true
  return /fetchmail|getmail|mpop/i.test(hop.field?.software ?? '')
}

/** Whether the mailbox from which a message was fetched names itself in the line of its border. */
function isOfMailbox(entry: Hop, { helo, rdns }: Hop, provider: ProviderProfile | undefined) {
  if (provider) return isBorder(provider, entry)
  const domain = registrableDomainOf(rdns ?? helo)
  return domain !== undefined && registrableDomainOf(entry.byHost) === domain
}

/**
 * Judges a line without a peer: a local program may hand over a message that it received, or one
 * that its user wrote.
 */
function withoutPeer(hop: Hop, next: Hop | undefined): Peer {
  const [line, host] = [hop.index + 1, hop.byHost]
  // A filter that runs as a user hands the message back to its own mail server.
  const isFilter = isByUser(hop) && next !== undefined && isSameServer(hop, next)
  if (!next) return unclear(phrase('line-without-client', { line }))
  if (host === undefined) {
    if (isByUser(hop)) return ours(phrase('line-by-program', { line }), doubtful)
    return ours(phrase('line-internal', { line }), 1)
  }
  if (isByUser(hop)) {
    return ours(phrase('line-by-program-at', { line, host }), isFilter ? 1 : doubtful)
  }
  return ours(phrase('line-internal-at', { line, host }), 1)
}

/**
 * Judges a peer whose address was not recorded. Inside a known provider, a machine that accepts no
 * mail from outside may record only the name of the machine that wrote the next line.
 */
function withoutAddress(
  hop: Hop,
  next: Hop | undefined,
  provider: ProviderProfile | undefined,
): Peer {
  const line = hop.index + 1
  if (next && isLmtp(hop.field?.with)) return ours(phrase('line-to-mailbox', { line }), 1)
  if (next && (/^local/i.test(hop.field?.with ?? '') || hop.helo === 'localhost')) {
    return ours(phrase('line-same-machine', { line }), doubtful)
  }
  if (next && provider && isInsideProvider(provider, hop, next)) {
    return ours(phrase('line-internal-at', { line, host: hop.byHost ?? provider.name }), 1)
  }
  const registrable = registrableDomainOf(hop.byHost)
  if (
    next &&
    registrable !== undefined &&
    isLinked(hop, next) &&
    registrable === registrableDomainOf(next.byHost)
  ) {
    return ours(phrase('line-same-organization', { line }), doubtful)
  }
  return unclear(phrase('line-without-address', { line }))
}

function isInsideProvider(provider: ProviderProfile, hop: Hop, next: Hop): boolean {
  if (isBorder(provider, hop) || isHandedIn(hop) || !isLinked(hop, next)) return false
  return isWrittenBy(provider, hop) && isWrittenBy(provider, next)
}

/**
 * Judges a peer with an internal address. Such an address is never that of an external host, but a
 * gateway (a container's proxy, a tunnel) may be in front of the machine and hide the client's
 * address; in that case an untrusted client wrote the line below, and could use any name. Full
 * certainty requires a name that was looked up, a provider that wrote both lines, or a loop through
 * a filter on the same machine. A user who submits a message may also supply Received lines.
 */
function fromInternal(hop: Hop, hops: readonly Hop[], { home, provider }: Context): Peer {
  const ip = hop.fromIp?.text ?? ''
  const next = hops[hop.index + 1]
  const isSelf = hop.fromIp !== undefined && addressScope(hop.fromIp) === 'loopback'
  const because = phrase(isSelf ? 'address-loopback' : 'address-internal', { ip })
  if (!next) return unclear(phrase('began-internal'))
  // Inside a provider, machines also hand messages over by HTTP.
  const isOfMachine = provider && isWrittenBy(provider, hop) && hop.field?.auth === 'HTTP'
  if (isHandedIn(hop) && !isOfMachine) {
    return ours(phrase('line-by-user', { line: hop.index + 1 }), guessed)
  }
  if (isInsidePeer(hop, next)) return ours(because, 1)
  if (provider && isOfProvider(provider, hop, next)) return ours(because, 1)
  if (isSelf ? isInLoop(hop, hops) : isRelay(hop, next, home)) return ours(because, 1)
  if (isSelf && isFetched(next) && isLinked(hop, next)) return ours(because, 1)
  const isSame = isLinked(hop, next) || (isSelf && hop.byHost === next.byHost)
  const isHomeDomain = home !== undefined && registrableDomainOf(next.byHost) === home.domain
  return ours(because, isSame && isHomeDomain ? doubtful : 0.5)
}

/**
 * Whether a machine with an internal address wrote the next line: it greeted with the name that the
 * next writer gives itself, in the receiver's domain or without a domain, and has a reverse name in
 * that domain too, or one that begins with the same word. The name of a router does not suffice,
 * because it may hide its clients.
 */
function isRelay({ helo, rdns, byHost }: Hop, next: Hop, home: Home | undefined): boolean {
  if (helo === undefined || rdns === undefined || helo === byHost || next.byHost !== helo) {
    return false
  }
  const isAtHome = (host: string) => home !== undefined && registrableDomainOf(host) === home.domain
  const isNamed = firstWord(rdns) === firstWord(helo) || isAtHome(rdns)
  if (!isNamed || isRouterName(isAtHome(rdns) ? firstWord(rdns) : rdns)) return false
  return !helo.includes('.') || isAtHome(helo)
}

function firstWord(host: string): string {
  return host.split('.', 1)[0] ?? host
}

const LOOP_LINES_MAX = 6

/**
 * Whether a machine handed the message to itself, through a filter such as amavis: below its line,
 * after lines of local programs, follows another line of the same mail server.
 */
function isInLoop({ index }: Hop, hops: readonly Hop[]): boolean {
  const top = hops.slice(0, index + 1).findLast((hop) => !isLocalName(hop.byHost))
  if (!top) return false
  for (const hop of hops.slice(index + 1, index + 1 + LOOP_LINES_MAX)) {
    if (hop.byHost === top.byHost) return isSameServer(top, hop)
    const isSelf = hop.fromIp !== undefined && addressScope(hop.fromIp) === 'loopback'
    if (!hop.field || !isLocalName(hop.byHost) || (hop.field.from && !isSelf)) return false
  }
  return false
}

function isLocalName(host: string | undefined): boolean {
  return host === undefined || /^(?:localhost|127\.)/.test(host)
}

/**
 * Whether a provider wrote both lines. One of them may lack a full host name; if it is the lower
 * line, the upper one must name the writer of the lower line as its peer.
 */
function isOfProvider(provider: ProviderProfile, hop: Hop, next: Hop): boolean {
  if (isWrittenBy(provider, next)) return isWrittenBy(provider, hop) || !hop.byHost?.includes('.')
  return isWrittenBy(provider, hop) && next.byHost === undefined && isLinked(hop, next)
}

/**
 * Whether the peer belongs to the provider's own domain. Uses the reverse DNS name that the
 * receiver looked up, and only if the line below was written in that domain too. In the domain of a
 * hosting company the peer may be a customer's machine; a name derived from an address counts as
 * one. Not used for known providers, because their machines are known.
 */
function isSameDomain(hop: Hop, next: Hop | undefined, { home, provider }: Context): boolean {
  if (provider || !home || hop.rdns === undefined || next === undefined) return false
  if (registrableDomainOf(hop.rdns) !== home.domain) return false
  return registrableDomainOf(next.byHost) === home.domain && !looksLikeCustomer(hop.rdns)
}

/**
 * Whether a peer of the provider's domain certainly is a machine of the provider: the domain is the
 * recipient's own, and not one of a hosting company, whose customers have names below their own.
 */
function isSibling({ rdns }: Hop, { home }: Context): boolean {
  return home?.isRecipient === true && rdns?.slice(rdns.indexOf('.') + 1) === home.domain
}

/**
 * Whether a peer has a name of the provider's domain or of the MX records: looked up, or its own
 * name in a line that such a host continues.
 */
function isOfHome({ rdns, helo }: Hop, next: Hop | undefined, { home, exchangers }: Context) {
  const isNear = (host: string | undefined) =>
    host !== undefined &&
    (registrableDomainOf(host) === home?.domain || exchangers?.names.has(host) === true)
  return isNear(rdns) || (isNear(helo) && isNear(next?.byHost))
}

/** Whether the peer is in the block of a machine that took the message from there on. */
function isNeighbor({ index, fromIp }: Hop, hops: readonly Hop[]): boolean {
  const block = fromIp && block24Or48(fromIp)
  const above = hops.slice(0, index + 1)
  const machines = above.flatMap((hop) => [hop.byIp, hop.index < index ? hop.fromIp : undefined])
  return machines.some((ip) => ip && isRoutable(ip) && block24Or48(ip) === block)
}

/**
 * Whether the peer may belong to the provider's own domain, for Exchange, which records the HELO
 * name and never looks up the reverse DNS name. If the HELO is in the provider's domain and the
 * same machine wrote the line below, the peer is most likely a machine of the provider. But an
 * untrusted host could use the same HELO.
 */
function maybeSameDomain(hop: Hop, next: Hop | undefined, { home }: Context): boolean {
  if (!home || next === undefined || registrableDomainOf(hop.helo) !== home.domain) return false
  return /^microsoft smtp/i.test(hop.field?.with ?? '') && isLinked(hop, next)
}

type Home = {
  /** A registrable domain. */
  domain: string
  /** Whether the lines of the receiver name a recipient in this domain. */
  isRecipient: boolean
}

/**
 * The receiver's domain: that of the first line with one, among the first four. Undefined if an
 * untrusted host may have written that line.
 */
function homeOf(hops: readonly Hop[]): Home | undefined {
  for (const [at, hop] of hops.slice(0, 4).entries()) {
    const domain = registrableDomainOf(hop.byHost)
    const recipient = registrableDomainOf(domainOf(hop.field?.for ?? ''))
    if (domain !== undefined) return { domain, isRecipient: recipient === domain }
    // A machine without a domain in its name, for a recipient in the domain of its peer.
    if (recipient !== undefined && registrableDomainOf(hop.rdns) === recipient) {
      return { domain: recipient, isRecipient: true }
    }
    if (!isInsidePeer(hop, hops[at + 1])) return undefined
  }
  return undefined
}

function ours(because: Phrase, certainty: number): Peer {
  return { is: 'ours', because, certainty }
}

function unclear(because: Phrase): Peer {
  return { is: 'unclear', because }
}
