import type { Listing } from '../../mail/dnsbl.ts'
import type { SpfFinding } from '../dns-findings.ts'
import type { Hop } from './hops.ts'
import type { Walk } from './injection-point.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isWrittenBy, senderOf } from './providers.ts'

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
export type OriginEvidence = {
  /** Whether the Received lines stand above what the author wrote (RFC 5321 §4.4). */
  isTraceOnTop: boolean
  /** How SPF judged the origin's address; undefined when it was not asked. */
  spf: SpfFinding | undefined
  listings: readonly Listing[]
}

/** The host name the receiver saw or was told, for a person to read. */
export function peerName(hop: Hop): string {
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
export function originOf(walk: Walk, evidence: OriginEvidence): Origin | null {
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
