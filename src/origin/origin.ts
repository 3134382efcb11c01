import { domainOf, registrableDomainOf } from '../mail/address.ts'
import type { BlacklistEntry } from '../mail/dnsbl.ts'
import { fieldValue, type HeaderField } from '../mail/header.ts'
import { networkSet, parseIp } from '../mail/ip.ts'
import { authorAddress } from '../mail/message.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { DnsFindings, SpfFinding } from './authenticity/dns-findings.ts'
import {
  followForwarder,
  listDomain,
  type ForwardingProof,
  type Submitter,
  submitterOf,
} from './forwarders.ts'
import { gatewayOfHost } from './gateways.ts'
import { guessed, type Walk, walkToInjection } from './injection-point.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isSealer, isWrittenBy, senderOf } from './providers.ts'
import { followProvider, type ProviderPath, type TracedHop, traceHops } from './trace.ts'
import { type Client, type Hop } from './hop.ts'

/** The origin of a message: the host that handed it to the reporter's provider. */
export type Origin = {
  /** Canonical text of the address. */
  ip: string
  /** Index of the Received line that contains the address; 0 is the topmost. */
  hop: number
  /** The confidence, 0 to 1. */
  confidence: number
  /** The reasons, in the order of the walk. */
  why: Phrase[]
}

/** Evidence for or against an origin besides the Received lines themselves. */
type OriginEvidence = {
  /** Whether the Received lines are above the fields that the author wrote (RFC 5321 §4.4). */
  isTraceOnTop: boolean
  /** The SPF result for the origin's address; undefined when it was not checked. */
  spf: SpfFinding | undefined
  listings: readonly BlacklistEntry[]
}

const knownProviderConfidence = 0.98
const unknownProviderConfidence = 0.9
/**
 * Factor for Received lines that are not on top. Receivers add their lines on top; lines elsewhere
 * existed before the message was sent.
 */
const misplacedTraceFactor = 0.4
/** The share of the doubt that remains after each piece of independent evidence. */
const supportedDoubt = 0.6
const CONFIDENCE_MAX = 0.99
const supportableCertainty = 0.9

/**
 * The origin that a walk found, with its confidence and the reasons; null when the walk found none.
 */
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
      provider ? phrase('received-by', { provider: provider.name }) : phrase('received-by-unknown'),
      ...distinct(walk.passed),
      entrySeen(entry, provider),
      ...(walk.because ? [walk.because] : []),
      ...(walk.doubt ? [walk.doubt] : []),
      ...(evidence.isTraceOnTop ? [] : [phrase('trace-misplaced')]),
      ...support,
    ],
  }
}

/**
 * Describes the last hand-over. The machines from which a provider sends count as external, because
 * any customer may be behind them.
 */
function entrySeen(entry: Hop, provider: ProviderProfile | undefined): Phrase {
  const isSeenByProvider = provider !== undefined && isWrittenBy(provider, entry)
  const witness = isSeenByProvider ? provider.name : entry.byHost
  const name = entry.rdns ?? entry.helo
  const ip = entry.fromIp?.text ?? ''
  const seen = { line: entry.index + 1, client: name === undefined ? ip : `${ip} (${name})` }
  if (witness === undefined) return phrase('entry-unwitnessed', seen)
  const isOwn = provider !== undefined && senderOf(entry) === provider
  return phrase(isOwn ? 'entry-of-provider' : 'entry-foreign', { ...seen, witness })
}

function distinct(phrases: readonly Phrase[]): readonly Phrase[] {
  if (phrases.length < 2) return phrases
  return [...new Map(phrases.map((one) => [JSON.stringify(one), one])).values()]
}

function confidenceOf(walk: Walk, { isTraceOnTop }: OriginEvidence, supports: number): number {
  const base = walk.provider ? knownProviderConfidence : unknownProviderConfidence
  const placed = isTraceOnTop ? 1 : misplacedTraceFactor
  const doubt = 1 - base * walk.certainty * placed
  const left = isTraceOnTop ? doubt * supportedDoubt ** supports : doubt
  return Math.min(CONFIDENCE_MAX, Math.round((1 - left) * 100) / 100)
}

/**
 * Evidence about the address that is independent of the Received lines. Used only if the walk is
 * certain: an untrusted host that misleads the walk also has a domain, and controls its SPF record.
 */
function supportOf(ip: string, walk: Walk, { spf, listings }: OriginEvidence): Phrase[] {
  const found: Phrase[] = []
  if (walk.certainty < supportableCertainty) return found
  if (spf?.result === 'pass' && spf.ip === ip) {
    found.push(phrase('spf-passes', { domain: spf.domain, ip }))
  }
  const listing = listings.find(
    ({ subject, category }) =>
      subject === ip && (category === 'spam' || category === 'compromised'),
  )
  if (listing) found.push(phrase('blacklist-contains', { zone: listing.zone, ip }))
  return found
}

/** The hosts that receive mail for the reporter's domain, according to its MX records. */
export type ExchangerHosts = {
  domain: string
  names: readonly string[]
  addresses: readonly string[]
}

/** The known information about the receiving side, and about the message besides its header. */
export type OriginClues = {
  /** CIDR blocks of relays that the reporter declared; invalid ones are ignored. */
  trustedRelays: readonly string[]
  /** CIDR blocks learned from the reporter's earlier reports; trusted, but with lower certainty. */
  learnedRelays?: readonly string[]
  /** CIDR blocks of machines that the reporter said are not the provider's. */
  deniedRelays?: readonly string[]
  exchangers?: ExchangerHosts | undefined
  /** The names of hosts that received a test letter for the reporter, in lower case. */
  borders?: readonly string[]
  reporterAddresses?: readonly string[]
  /** The verified ARC seals, newest first (RFC 8617); absent when there are none. */
  seals?: ForwardingProof['seals']
  poster?: ForwardingProof['poster']
  /** The DNS answers; absent when no queries were sent. */
  dns?: Pick<DnsFindings, 'spf' | 'listings'>
  /** The client that is handing the message over now: the first of the hops. */
  client?: Client
}

/** The origin of a message, and the result for each of its Received lines. */
export type OriginFindings = {
  hops: TracedHop[]
  origin: Origin | null
  /** Why there is no origin; null when there is one. */
  originObstacle: Phrase | null
  submitter: Submitter | null
}

/**
 * Walks the Received lines of a header from the top to where the message entered the reporter's
 * provider and, if a known provider handed it over, on to the client behind it. Never throws.
 */
export function findOrigin(
  fields: readonly HeaderField[],
  hops: readonly Hop[],
  clues: OriginClues,
): OriginFindings {
  const walk = walkThrough(fields, hops, clues)
  const custody = custodyBelow(walk, hops)
  const origin = originOf(walk, {
    // The order of the header does not matter for a client that the mail server sees itself.
    isTraceOnTop: (clues.client && walk.entry?.index === 0) || isTraceOnTop(fields),
    spf: clues.dns?.spf,
    listings: clues.dns?.listings ?? [],
  })
  return {
    hops: traceHops(hops, { walk, custody, isAuthorDomain: authorDomainCheck(fields) }),
    origin,
    originObstacle: origin ? null : (walk.obstacle ?? null),
    submitter: custody && walk.entry ? submitter(walk.entry, custody, fields, clues) : null,
  }
}

/** Walks down to the external host that handed the message over, through proven forwarders. */
export function walkThrough(
  fields: readonly HeaderField[],
  hops: readonly Hop[],
  clues: OriginClues,
): Walk {
  const { reporterAddresses = [], seals = [], poster, exchangers, borders = [] } = clues
  // A gateway delivers under other names than the one that received a test letter.
  const gateways = borders.filter((host) => gatewayOfHost(host))
  const { domain, names, addresses } = exchangers ?? { domain: '', names: [], addresses: [] }
  const isKnown = exchangers !== undefined || gateways.length > 0
  const walk = walkToInjection(hops, {
    trustedRelays: networkSet(clues.trustedRelays),
    learnedRelays: networkSet(clues.learnedRelays ?? []),
    deniedRelays: networkSet(clues.deniedRelays ?? []),
    exchangers: isKnown
      ? { domain, names: new Set([...names, ...gateways]), addresses: networkSet(addresses) }
      : undefined,
    borders,
    recipients: { fields, reporterAddresses },
    seesClient: clues.client !== undefined,
  })
  const proof = { reporterAddresses, seals, poster, exchangers }
  const followed = followForwarder(walk, hops, fields, proof)
  if (followed.entry !== walk.entry) return { ...followed, doubt: undefined }
  if (!walk.doubt) return followed
  if (!maySendForAuthor(walk, hops, fields)) {
    return { ...walk, entry: undefined, obstacle: walk.doubt }
  }
  return { ...walk, certainty: Math.min(walk.certainty, guessed) }
}

/**
 * Whether a peer that may be of the reporter's side is rather on the author's, by names that anyone
 * may choose. It is then named as the origin, but with doubt, so that nobody is accused.
 */
function maySendForAuthor(
  { entry, provider }: Walk,
  hops: readonly Hop[],
  fields: readonly HeaderField[],
): boolean {
  if (provider || !entry) return true
  const domain = registrableDomainOf(entry.rdns ?? entry.helo)
  if (domain === undefined) return false
  if (listDomain(fields) === domain) return true
  if (registrableDomainOf(hops[entry.index + 1]?.helo) === domain) return true
  return authorDomainsOf(fields).has(domain)
}

/** The path through the provider that handed the message over, if that provider is known. */
function custodyBelow({ entry }: Walk, hops: readonly Hop[]): ProviderPath | undefined {
  const sender = entry && senderOf(entry)
  return sender && followProvider(sender, hops, entry.index + 1)
}

function submitter(
  entry: Hop,
  custody: ProviderPath,
  fields: readonly HeaderField[],
  { seals }: OriginClues,
): Submitter | null {
  const sealed = seals?.filter(({ domain }) => isSealer(custody.provider, domain)) ?? []
  const clients = sealed.flatMap(({ clientIp = '' }) => parseIp(clientIp) ?? [])
  return submitterOf(entry, custody, fields, clients)
}

const authorKeys = new Set(['from', 'subject', 'to', 'message-id'])

/**
 * Whether the Received lines are on top, where receivers add them (RFC 5321 §4.4). Fields of an
 * author above them indicate a forgery.
 */
function isTraceOnTop(fields: readonly HeaderField[]): boolean {
  for (const { key } of fields) {
    if (key === 'received') return true
    if (authorKeys.has(key)) return false
  }
  return true
}

/**
 * Returns a check for whether a registrable domain is an author's; it reads the fields on first
 * use.
 */
function authorDomainCheck(fields: readonly HeaderField[]): (domain: string) => boolean {
  let domains: Set<string> | undefined
  return (registrable) => (domains ??= authorDomainsOf(fields)).has(registrable)
}

function authorDomainsOf(fields: readonly HeaderField[]): Set<string> {
  const domains = new Set<string>()
  for (const key of ['from', 'reply-to', 'sender', 'return-path']) {
    const value = fieldValue(fields, key)
    const address = value === undefined ? null : authorAddress(value.slice(0, 8_192))
    const registrable = registrableDomainOf(address === null ? undefined : domainOf(address))
    if (registrable !== undefined) domains.add(registrable)
  }
  const idHost = /@([^<>\s@]{1,253})>?\s*$/.exec(fieldValue(fields, 'message-id') ?? '')?.[1]
  const registrable = registrableDomainOf(idHost?.toLowerCase())
  if (registrable !== undefined) domains.add(registrable)
  return domains
}
