import { houseOf } from '../../mail/domain.ts'
import { domainOf } from '../../mail/address.ts'
import { authorAddress } from '../../mail/extract-fields.ts'
import { fieldValue } from '../../mail/header.ts'
import type { HeaderField } from '../../mail/header.ts'
import { networkSet } from '../../mail/ip.ts'
import { custodyOf } from './custody.ts'
import type { Custody } from './custody.ts'
import type { DnsFindings } from '../dns-findings.ts'
import { followForwarder } from './forwarders.ts'
import type { ForwardingProof } from './forwarders.ts'
import type { Client, Hop } from './hops.ts'
import { walkToInjection } from './injection-point.ts'
import type { Walk } from './injection-point.ts'
import { originOf } from './origin.ts'
import type { Origin } from './origin.ts'
import { senderOf } from './providers.ts'
import { submitterOf } from './submitter.ts'
import type { Submitter } from './submitter.ts'
import { traceHops } from './trace.ts'
import type { TracedHop } from './trace.ts'

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
    const house = houseOf(domain)
    return custody.provider.hosts.some((end) => houseOf(`x${end}`) === house)
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
    const house = houseOf(address === null ? undefined : domainOf(address))
    if (house !== undefined) houses.add(house)
  }
  const idHost = /@([^<>\s@]{1,253})>?\s*$/.exec(fieldValue(fields, 'message-id') ?? '')?.[1]
  const house = houseOf(idHost?.toLowerCase())
  if (house !== undefined) houses.add(house)
  return houses
}
