import { domainOf, registrableDomainOf } from '../mail/address.ts'
import type { BlacklistEntry } from '../mail/dnsbl.ts'
import { fieldValue, type HeaderField } from '../mail/header.ts'
import { networkSet } from '../mail/ip.ts'
import { authorAddress } from '../mail/message.ts'
import type { DnsFindings, SpfFinding } from './authenticity/authenticate.ts'
import { followForwarder, type ForwardingProof, type Submitter, submitterOf } from './forwarders.ts'
import { type Walk, walkToInjection } from './injection-point.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isWrittenBy, senderOf } from './providers.ts'
import {
  type Client,
  type Custody,
  custodyOf,
  type Hop,
  type TracedHop,
  traceHops,
} from './trace.ts'

/** Where a message came from: who handed it to the reporter's provider. */
export type Origin = {
  /** Canonical text of the address. */
  ip: string
  /** Index of the Received line that carries it, 0 = top. */
  hop: number
  /** How far to believe it, 0 to 1. */
  confidence: number
  /** Sentences a person understands, in the order of the walk. */
  why: string[]
}

/** What speaks for or against an origin besides the lines themselves. */
type OriginEvidence = {
  /** Whether the Received lines stand above what the author wrote (RFC 5321 §4.4). */
  isTraceOnTop: boolean
  /** How SPF judged the origin's address; undefined when it was not asked. */
  spf: SpfFinding | undefined
  listings: readonly BlacklistEntry[]
}

/** The host name the receiver saw or was told, for a person to read. */
function peerName(hop: Hop): string {
  return hop.rdns ?? hop.helo ?? 'a machine without a name'
}

const knownProviderConfidence = 0.98
const unknownProviderConfidence = 0.9
/** Receivers put their lines on top. Lines elsewhere were there before the message was sent. */
const misplacedTraceFactor = 0.4
/** What independent evidence leaves of the doubt. */
const supportedDoubt = 0.6
const CONFIDENCE_MAX = 0.99
const supportableCertainty = 0.9

/** The origin a walk arrived at, with its confidence and the reasons; null when at none. */
function originOf(walk: Walk, evidence: OriginEvidence): Origin | null {
  const { entry, provider } = walk
  if (!entry?.fromIp) return null
  const { text: ip } = entry.fromIp
  const support = supportOf(ip, walk, evidence)
  return {
    ip,
    hop: entry.index,
    confidence: confidenceOf(walk, evidence, support.length),
    why: [
      provider
        ? `The topmost lines were written by ${provider.name}, where the message was received.`
        : 'The topmost line was written by the provider where the message was received.',
      ...new Set(walk.passed),
      seenSentence(entry, provider),
      ...(evidence.isTraceOnTop ? [] : [misplaced]),
      ...support,
    ],
  }
}

/** A provider counts the machines it sends from as strangers, since any customer may be behind. */
function seenSentence(entry: Hop, provider: ProviderProfile | undefined): string {
  const isSeenByProvider = provider !== undefined && isWrittenBy(provider, entry)
  const witness = isSeenByProvider ? provider.name : (entry.byHost ?? 'the receiving provider')
  const line = entry.index + 1
  const ip = entry.fromIp?.text ?? ''
  return provider !== undefined && senderOf(entry) === provider
    ? `Line ${line}: ${witness} saw ${ip} (${peerName(entry)}) hand the message over, ` +
        'one of those it sends from.'
    : `Line ${line}: ${witness} saw ${ip} (${peerName(entry)}) hand the message over, ` +
        'a machine that it does not run.'
}

const misplaced =
  'The Received lines stand below what the author wrote, where no receiver puts them: they may ' +
  'be invented.'

function confidenceOf(walk: Walk, { isTraceOnTop }: OriginEvidence, supports: number): number {
  const base = walk.provider ? knownProviderConfidence : unknownProviderConfidence
  const placed = isTraceOnTop ? 1 : misplacedTraceFactor
  const doubt = 1 - base * walk.certainty * placed
  const left = isTraceOnTop ? doubt * supportedDoubt ** supports : doubt
  return Math.min(CONFIDENCE_MAX, Math.round((1 - left) * 100) / 100)
}

/**
 * What others say of the address, independently of the lines: only where the walk is sure. A
 * stranger who leads it astray has a domain too, and its SPF says what he likes.
 */
function supportOf(ip: string, walk: Walk, { spf, listings }: OriginEvidence): string[] {
  const found: string[] = []
  if (walk.certainty < supportableCertainty) return found
  if (spf?.result === 'pass' && spf.ip === ip) {
    found.push(`${spf.domain} says that ${ip} may send its mail (SPF).`)
  }
  const listing = listings.find(
    ({ subject, category }) =>
      subject === ip && (category === 'spam' || category === 'compromised'),
  )
  if (listing) found.push(`${listing.zone} lists ${ip}: ${listing.meaning}`)
  return found
}

/** What is known of the receiving side, and of the message besides its header. */
export type WhenceClues = {
  /** CIDRs of relays the reporter named; what cannot be read is left out. */
  trustedRelays: readonly string[]
  /** CIDRs learned from the reporter's earlier reports: believed, but less. */
  learnedRelays?: readonly string[]
  /** Addresses of the reporter. */
  reporterAddresses?: readonly string[]
  /** The verified chain of seals, newest first (RFC 8617); absent when there is none. */
  seals?: ForwardingProof['seals']
  /** What the DNS told; absent when nobody was asked. */
  dns?: Pick<DnsFindings, 'spf' | 'listings'>
  /** Who hands the message over just now: the first of the hops. */
  client?: Client
}

/** Where a message came from, and how each of its Received lines was judged. */
export type Whence = {
  hops: TracedHop[]
  origin: Origin | null
  /** Why there is no origin, as a sentence; null when there is one. */
  originObstacle: string | null
  submitter: Submitter | null
}

/**
 * Walks the Received lines of a header from the top to where the message entered the reporter's
 * provider, and, where a provider we know handed it over, on to the client behind it. Never throws.
 */
export function findWhence(
  fields: readonly HeaderField[],
  hops: readonly Hop[],
  clues: WhenceClues,
): Whence {
  const walk = walkThrough(fields, hops, clues)
  const custody = custodyBelow(walk, hops)
  const origin = originOf(walk, {
    // Whom a mail server sees, no order of the header makes doubtful.
    isTraceOnTop: (clues.client && walk.entry?.index === 0) || isTraceOnTop(fields),
    spf: clues.dns?.spf,
    listings: clues.dns?.listings ?? [],
  })
  return {
    hops: traceHops(hops, { walk, custody, isHouseOfAuthor: houseChecker(fields) }),
    origin,
    originObstacle: origin ? null : (walk.obstacle ?? null),
    submitter: custody && walk.entry ? submitter(walk.entry, custody, fields, clues) : null,
  }
}

/** The walk down to the stranger who handed the message over, through proven forwarders. */
export function walkThrough(
  fields: readonly HeaderField[],
  hops: readonly Hop[],
  { trustedRelays, learnedRelays = [], reporterAddresses = [], seals = [] }: WhenceClues,
): Walk {
  const walk = walkToInjection(hops, {
    trustedRelays: networkSet(trustedRelays),
    learnedRelays: networkSet(learnedRelays),
  })
  return followForwarder(walk, hops, fields, { reporterAddresses, seals })
}

/** The way through the provider that handed the message over, where we know that provider. */
function custodyBelow({ entry }: Walk, hops: readonly Hop[]): Custody | undefined {
  const sender = entry && senderOf(entry)
  return sender && custodyOf(sender, hops, entry.index + 1)
}

function submitter(
  entry: Hop,
  custody: Custody,
  fields: readonly HeaderField[],
  { seals }: WhenceClues,
): Submitter | null {
  const sealed = seals?.find(({ domain }) => {
    const house = registrableDomainOf(domain)
    return custody.provider.hosts.some((end) => registrableDomainOf(`x${end}`) === house)
  })
  return submitterOf(entry, custody, fields, sealed?.clientIp)
}

const authorKeys = new Set(['from', 'subject', 'to', 'message-id'])

/** RFC 5321 §4.4: a receiver puts its line on top. Fields of an author above it tell of a fake. */
function isTraceOnTop(fields: readonly HeaderField[]): boolean {
  for (const { key } of fields) {
    if (key === 'received') return true
    if (authorKeys.has(key)) return false
  }
  return true
}

/** Whether a registered domain is that of an author, read when somebody asks. */
function houseChecker(fields: readonly HeaderField[]): (house: string) => boolean {
  let houses: Set<string> | undefined
  return (house) => (houses ??= authorHousesOf(fields)).has(house)
}

function authorHousesOf(fields: readonly HeaderField[]): Set<string> {
  const houses = new Set<string>()
  for (const key of ['from', 'reply-to', 'sender', 'return-path']) {
    const value = fieldValue(fields, key)
    const address = value === undefined ? null : authorAddress(value.slice(0, 8_192))
    const house = registrableDomainOf(address === null ? undefined : domainOf(address))
    if (house !== undefined) houses.add(house)
  }
  const idHost = /@([^<>\s@]{1,253})>?\s*$/.exec(fieldValue(fields, 'message-id') ?? '')?.[1]
  const house = registrableDomainOf(idHost?.toLowerCase())
  if (house !== undefined) houses.add(house)
  return houses
}
