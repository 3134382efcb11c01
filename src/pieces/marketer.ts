import { type IpAddress, parseIp } from '../mail/ip.ts'
import type { Authentication } from '../origin/authenticity/authenticate.ts'
import { type Phrase, phrase } from '../phrase.ts'

/** Declared marks that identify the mail of a marketer. All in lower case. */
export type MarketerMarks = {
  key: string
  /** A `service` sends the mail of many marketers. */
  kind: 'marketer' | 'service'
  name: string
  /** Signing domains; `*.example.org` matches every subdomain, but not the domain itself. */
  signers: readonly string[]
  /** CIDR blocks used only by the marketer. */
  ranges: readonly string[]
  /** If not empty, a message must have one of the List-Ids. Wildcards as in `signers`. */
  listIds: readonly string[]
  /** If not empty, the author’s domain must be in the list and be authenticated. */
  authors: readonly string[]
  /**
   * Address for complaints about its mail, in addition to the network's; null: none. Of a service:
   * its abuse desk.
   */
  feedback: string | null
}

export type MarketerEvidence = {
  /** Null without DNS lookups; signatures then prove nothing. */
  authentication: Pick<Authentication, 'spf' | 'dkim'> | null
  origin: { ip: string; confidence: number } | null
  /** The value of the only List-Id field; null without one, or with several. */
  listId: string | null
  /** The domain of the message's only author. */
  authorDomain: string | null
}

/** The recognized marketer, and the reason. Stored with the analysis. */
export type RecognizedMarketer = {
  key: string
  name: string
  by: 'signature' | 'range'
  /** The signing domain, or the block of addresses. */
  proof: string
  /** Address for feedback reports; null: none. */
  feedback: string | null
  why: readonly Phrase[]
}

/**
 * The marketer of a message, and the mailing service that sent it; each is null if none was
 * recognized.
 */
type Recognized = {
  marketer: RecognizedMarketer | null
  service: RecognizedMarketer | null
}

/** Recognizes the mail of a fixed set of marketers and services. */
export type MarketerBook = {
  recognize: (evidence: MarketerEvidence, originConfidenceMin: number) => Recognized
  count: number
}

const none: Recognized = { marketer: null, service: null }

type Entry = MarketerMarks & { isNarrowed: boolean }
type Proof = { entry: Entry; by: 'signature' | 'range'; proof: string }

/**
 * Creates a book of marketers and services. The time of a lookup depends on the number of labels in
 * the names of the message and on the number of different prefix lengths, not on the number of
 * marketers.
 */
export function createMarketerBook(marketers: readonly MarketerMarks[]): MarketerBook {
  const entries = marketers.map((one): Entry => {
    return { ...one, isNarrowed: one.listIds.length + one.authors.length > 0 }
  })
  const signers = new Map<string, Entry[]>()
  const ranges = new Map<string, { entry: Entry; cidr: string }[]>()
  const prefixes = new Set<number>()
  for (const entry of entries) {
    for (const signer of entry.signers) signers.getOrInsertComputed(signer, () => []).push(entry)
    for (const cidr of entry.ranges) {
      const [start = '', length = ''] = cidr.split('/')
      const address = parseIp(start)
      if (!address) continue
      const width = address.family === 4 ? 32 : 128
      const bits = (length === '' ? width : Number(length)) + (128 - width)
      prefixes.add(bits)
      ranges.getOrInsertComputed(blockKey(address, bits), () => []).push({ entry, cidr })
    }
  }
  const lengths = [...prefixes].sort((a, b) => b - a)
  return {
    count: entries.length,
    recognize(evidence, originConfidenceMin) {
      const proofs = [
        ...signatureProofs(evidence, signers),
        ...rangeProofs(evidence, originConfidenceMin, lengths, ranges),
      ]
      if (proofs.length === 0) return none
      const valid = proofs.filter(({ entry }) => hasNarrowing(entry, evidence)).sort(byStrength)
      const first = (kind: MarketerMarks['kind']) => {
        const proof = valid.find(({ entry }) => entry.kind === kind)
        return proof ? recognized(proof, evidence) : null
      }
      return { marketer: first('marketer'), service: first('service') }
    },
  }
}

/** Returns the name itself, and each parent domain with the prefix `*.`. */
export function namesOver(name: string): string[] {
  const names = [name]
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    names.push(`*${name.slice(dot)}`)
  }
  return names
}

function signatureProofs(
  { authentication }: MarketerEvidence,
  signers: ReadonlyMap<string, readonly Entry[]>,
): Proof[] {
  if (!authentication) return []
  return authentication.dkim
    .filter(({ result }) => result === 'pass')
    .flatMap(({ domain }) =>
      namesOver(domain).flatMap((name) =>
        (signers.get(name) ?? []).map((entry) => ({
          entry,
          by: 'signature' as const,
          proof: domain,
        })),
      ),
    )
}

function rangeProofs(
  { origin }: MarketerEvidence,
  originConfidenceMin: number,
  lengths: readonly number[],
  ranges: ReadonlyMap<string, readonly { entry: Entry; cidr: string }[]>,
): Proof[] {
  if (!origin || origin.confidence < originConfidenceMin || lengths.length === 0) return []
  const address = parseIp(origin.ip)
  if (!address) return []
  return lengths.flatMap((bits) =>
    (ranges.get(blockKey(address, bits)) ?? []).map(({ entry, cidr }) => ({
      entry,
      by: 'range' as const,
      proof: cidr,
    })),
  )
}

function hasNarrowing({ listIds, authors }: Entry, evidence: MarketerEvidence): boolean {
  const { listId, authorDomain } = evidence
  if (listIds.length > 0) {
    if (listId === null || !namesOver(listId).some((name) => listIds.includes(name))) return false
  }
  if (authors.length === 0) return true
  if (authorDomain === null || !isAuthorAuthenticated(evidence)) return false
  return namesOver(authorDomain).some((name) => authors.includes(name))
}

/** Whether the author's own domain is authenticated. Otherwise the From field may be forged. */
function isAuthorAuthenticated({ authentication, authorDomain }: MarketerEvidence): boolean {
  if (!authentication || authorDomain === null) return false
  const { spf, dkim } = authentication
  if (dkim.some(({ result, aligned }) => result === 'pass' && aligned)) return true
  return spf?.result === 'pass' && spf.domain === authorDomain
}

/**
 * Orders proofs: marketers that also require a List-Id or an author first, then signatures before
 * ranges, then by key.
 */
function byStrength(a: Proof, b: Proof): number {
  const strength = ({ entry, by }: Proof) =>
    (entry.isNarrowed ? 2 : 0) + (by === 'signature' ? 1 : 0)
  return strength(b) - strength(a) || (a.entry.key < b.entry.key ? -1 : 1)
}

function recognized({ entry, by, proof }: Proof, evidence: MarketerEvidence): RecognizedMarketer {
  const { key, name, feedback, listIds, authors } = entry
  const { origin, listId, authorDomain } = evidence
  const why = [
    proofPhrase({ entry, by, proof }, origin?.ip ?? ''),
    ...(listIds.length > 0 ? [phrase('marketer-list-id', { listId: listId ?? '' })] : []),
    ...(authors.length > 0 ? [phrase('marketer-author', { domain: authorDomain ?? '' })] : []),
  ]
  return { key, name, by, proof, feedback, why }
}

function proofPhrase({ entry: { kind, name }, by, proof }: Proof, ip: string): Phrase {
  if (by === 'range') return phrase('marketer-range', { ip, range: proof, marketer: name })
  if (kind === 'service') return phrase('service-signature', { domain: proof, service: name })
  return phrase('marketer-signature', { domain: proof, marketer: name })
}

/** Returns the block with this prefix length (of 128 bits) that contains an address. */
function blockKey({ groups }: IpAddress, bits: number): string {
  let key = `${bits}`
  for (let at = 0; at * 16 < bits; at++) {
    const kept = Math.min(16, bits - at * 16)
    key += `:${(groups[at] ?? 0) >>> (16 - kept)}`
  }
  return key
}
