import { type IpAddress, parseIp } from '../mail/ip.ts'
import type { Authentication } from '../origin/authenticity/authenticate.ts'

/** How a marketer's mail is told from others, as it was declared. All in lower case. */
export type MarketerMarks = {
  key: string
  name: string
  /** Domains that sign for it; `*.example.org` stands for every name below, not for itself. */
  signers: readonly string[]
  /** CIDR blocks from which only its mail comes. */
  ranges: readonly string[]
  /** Narrowing: where there are some, a message must have one. `*.` as with signers. */
  listIds: readonly string[]
  /** Narrowing too: the author's domain must be one of them, and stand behind the message. */
  authors: readonly string[]
  /** Where complaints about its mail go besides the network; null: nowhere. */
  feedback: string | null
}

/** What a message has to show for itself. */
export type MarketerEvidence = {
  /** Null when the DNS was not asked: then no signature proves anything. */
  authentication: Pick<Authentication, 'spf' | 'dkim'> | null
  origin: { ip: string; confidence: number } | null
  /** Of its only List-Id; null without one, or with several. */
  listId: string | null
  /** The domain of its only author. */
  authorDomain: string | null
}

/** Whose mail it is, and why we believe it. Kept with the analysis. */
export type RecognizedMarketer = {
  key: string
  name: string
  by: 'signature' | 'range'
  /** The signing domain, or the block of addresses. */
  proof: string
  /** Where it wants to be told; null: nowhere. */
  feedback: string | null
  /** A sentence for a person. */
  why: string
}

/** Recognizes the mail of those it was made of. */
export type MarketerBook = {
  recognize: (evidence: MarketerEvidence, originConfidenceMin: number) => RecognizedMarketer | null
  /** How many marketers are in it. */
  count: number
}

type Entry = MarketerMarks & { isNarrowed: boolean }
type Proof = { entry: Entry; by: 'signature' | 'range'; proof: string }

/**
 * Makes the book of marketers: a look into it costs by the names and prefix lengths of a message,
 * not by how many marketers there are.
 */
export function createMarketerBook(marketers: readonly MarketerMarks[]): MarketerBook {
  const entries = marketers.map((one): Entry => {
    return { ...one, isNarrowed: one.listIds.length + one.authors.length > 0 }
  })
  const signers = new Map<string, Entry[]>()
  const ranges = new Map<string, { entry: Entry; cidr: string }[]>()
  const prefixes = new Set<number>()
  for (const entry of entries) {
    for (const signer of entry.signers) addTo(signers, signer, entry)
    for (const cidr of entry.ranges) {
      const [start = '', length = ''] = cidr.split('/')
      const address = parseIp(start)
      if (!address) continue
      const width = address.family === 4 ? 32 : 128
      const bits = (length === '' ? width : Number(length)) + (128 - width)
      prefixes.add(bits)
      addTo(ranges, blockKey(address, bits), { entry, cidr })
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
      if (proofs.length === 0) return null
      const [first] = proofs.filter(({ entry }) => hasNarrowing(entry, evidence)).sort(byStrength)
      return first ? recognized(first, evidence) : null
    },
  }
}

/** The name itself, and each name above it with `*.` in front. */
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
  if (authorDomain === null || !standsBehind(evidence)) return false
  return namesOver(authorDomain).some((name) => authors.includes(name))
}

/** Whether the author's own domain vouches: a From that nobody vouches for is anybody's. */
function standsBehind({ authentication, authorDomain }: MarketerEvidence): boolean {
  if (!authentication || authorDomain === null) return false
  const { spf, dkim } = authentication
  if (dkim.some(({ result, aligned }) => result === 'pass' && aligned)) return true
  return spf?.result === 'pass' && spf.domain === authorDomain
}

/** What is narrowed says more, a signature more than a range; the key decides the rest. */
function byStrength(a: Proof, b: Proof): number {
  const strength = ({ entry, by }: Proof) =>
    (entry.isNarrowed ? 2 : 0) + (by === 'signature' ? 1 : 0)
  return strength(b) - strength(a) || (a.entry.key < b.entry.key ? -1 : 1)
}

function recognized({ entry, by, proof }: Proof, evidence: MarketerEvidence): RecognizedMarketer {
  const { key, name, feedback, listIds, authors } = entry
  const said =
    by === 'signature'
      ? `${proof} signed the message, and the signature verifies`
      : `The message came from ${evidence.origin?.ip ?? ''}, in the range ${proof}`
  const narrowed = [
    ...(listIds.length > 0 ? [`its List-Id is ${evidence.listId ?? ''}`] : []),
    ...(authors.length > 0 ? [`${evidence.authorDomain ?? ''} stands behind its From`] : []),
  ]
  const both = [said, ...narrowed].join(', ')
  return { key, name, by, proof, feedback, why: `${both}: that is how ${name} is known.` }
}

function addTo<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key)
  if (known) known.push(value)
  else map.set(key, [value])
}

/** The block of this many bits, of 128, that holds an address. */
function blockKey({ groups }: IpAddress, bits: number): string {
  let key = `${bits}`
  for (let at = 0; at * 16 < bits; at++) {
    const kept = Math.min(16, bits - at * 16)
    key += `:${(groups[at] ?? 0) >>> (16 - kept)}`
  }
  return key
}
