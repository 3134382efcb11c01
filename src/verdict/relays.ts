import { WEEK_MS } from '../durations.ts'
import { registrableDomain } from '../mail/address.ts'
import { addressPrefix, addressRefusal } from '../mail/ip-blocks.ts'
import { addressScope, isInternal, isRoutable, type NetworkSet, parseIp } from '../mail/ip.ts'
import { isLmtp, providerOfHost } from '../origin/providers.ts'
import type { TracedHop } from '../origin/trace.ts'
import type { PhraseCode } from '../phrase.ts'
import type { Analysis } from '../pieces/analyze.ts'

/** One transfer of a reported message from one host to the next, according to a trusted relay. */
type Crossing = {
  /** The name of the host that wrote the Received field, in lower case. */
  receiver: string
  /** The client address that the relay observed, in canonical form; a public address. */
  ip: string
  /** Reverse DNS name of the client, as looked up by the receiver. */
  rdns: string | null
  /**
   * Whether the client wrote the next field, according to its reverse DNS name or its address. The
   * name it claims for itself does not count.
   */
  isLinked: boolean
  /** The client address in the next field, as stated by the client itself. */
  peerBelow: string | null
}

/** Route of an earlier report of the same reporter. */
export type PastReport = {
  /** When we received the report. Times in the header are under the control of the spammer. */
  at: Date
  kind: 'spam' | 'phishing' | 'not-spam'
  /** Registrable domain of the author address, which may be forged. */
  authorDomain: string | null
  /** Whether an aligned signature was verified. If so, the author's domain sent the message. */
  isSigned: boolean
  /**
   * The transfers down to the one where an untrusted client was observed. Fields below it prove
   * nothing.
   */
  crossings: readonly Crossing[]
  /** Public address of the client at which the `crossings` end; null when unknown. */
  entryIp: string | null
}

type LearnedRelay = { ip: string; name: string | null; evidence: number }

/**
 * Relays learned or proposed from a reporter's reports. A previously learned relay that is in
 * neither list must be deleted.
 */
export type Lesson = { learned: LearnedRelay[]; proposed: LearnedRelay[] }

const REPORTS_MIN = 10
const SPAN_MS_MIN = WEEK_MS
const SHARE_MIN = 0.9
const PEER_NETWORKS_MIN = 5
const AUTHOR_DOMAINS_MIN = 5
/**
 * A relay is learned without a question to the reporter if aligned signatures of at least this many
 * author domains came through it in not-spam reports; otherwise it is only proposed. A single
 * domain may be the reporter's mistake.
 */
const WANTED_DOMAINS_MIN = 3
/**
 * Number of latest reports considered, and the minimum share of them that must have come through a
 * learned relay for it to stay.
 */
const RECENT_REPORTS = 20
const RECENT_SHARE_MIN = 0.5

/** Returns the entry that an analyzed report adds to the history of its reporter. */
export function pastReport(
  report: { at: Date; kind: PastReport['kind']; author: string | null },
  { hops, authentication }: Pick<Analysis, 'hops' | 'authentication'>,
): PastReport {
  const entry = stopOf(hops)
  const crossings = hops.flatMap((hop, index) => {
    const isSeen = hop.trust === 'trusted' || index === entry
    const crossing = isSeen ? crossingOf(hop, hops[index + 1]) : undefined
    return crossing ? [crossing] : []
  })
  const domain = report.author?.split('@').at(-1)
  return {
    at: report.at,
    kind: report.kind,
    authorDomain: (domain && registrableDomain(domain)) ?? null,
    isSigned:
      authentication?.dkim.some(({ result, aligned }) => aligned && result === 'pass') ?? false,
    crossings,
    entryIp: canonical(hops[entry]?.from.ip ?? null),
  }
}

/** The index of the hop at which the walk ended, with an origin or without; -1 if there is none. */
function stopOf(hops: readonly TracedHop[]): number {
  const entry = hops.findIndex(({ trust }) => trust === 'injection')
  return entry >= 0 ? entry : hops.findLastIndex(({ trust }) => trust === 'trusted')
}

/**
 * Learns the relays through which a reporter's mail always passes, from the latest reports in any
 * order. Conservative: the main source of a reporter's spam must not be mistaken for the reporter's
 * relay, because it could then forge Received fields and direct our reports at anyone. Many hosts
 * and authors behind a relay are required, but they are no proof, because a spammer can invent
 * both. The proof is mail that the reporter wanted, signed by several domains; without it a relay
 * is only proposed. Relays of known providers are not learned. A learned relay stays until the
 * latest reports contradict it.
 */
export function relaysFromHistory(
  history: readonly PastReport[],
  { learnedIps }: { learnedIps: readonly string[] },
): Lesson {
  const latestFirst = history
    .map((report) => ({ ...report, crossings: report.crossings.filter(isAtUnknown) }))
    .toSorted((a, b) => b.at.getTime() - a.at.getTime())
  const entries = latestFirst.flatMap(({ entryIp }) => (entryIp === null ? [] : [entryIp]))
  const lesson: Lesson = { learned: [], proposed: [] }
  for (const ip of new Set([...learnedIps, ...entries])) {
    const through = throughRelay(latestFirst, ip)
    const relay = { ip, name: reverseNameOf(through), evidence: through.length }
    if (learnedIps.includes(ip)) {
      if (stillHolds(latestFirst, ip)) lesson.learned.push(relay)
    } else if (isSteady(latestFirst, through, ip)) {
      lesson[isWanted(through) ? 'learned' : 'proposed'].push(relay)
    }
  }
  return lesson
}

function isAtUnknown({ receiver }: Crossing): boolean {
  return providerOfHost(receiver) === undefined
}

type Passage = PastReport & { crossing: Crossing }

/** Returns the reports that passed an address, each with the transfer from that address. */
function throughRelay(history: readonly PastReport[], ip: string): Passage[] {
  return history.flatMap((report) => {
    const crossing = report.crossings.find((one) => one.ip === ip)
    return crossing ? [{ ...report, crossing }] : []
  })
}

function isSteady(history: readonly PastReport[], through: readonly Passage[], ip: string) {
  if (through.length < REPORTS_MIN || !through.every(({ crossing }) => crossing.isLinked)) {
    return false
  }
  const times = through.map(({ at }) => at.getTime())
  if (Math.max(...times) - Math.min(...times) < SPAN_MS_MIN) return false
  const receivers = new Set(through.map(({ crossing }) => crossing.receiver))
  const atReceiver = history.flatMap(({ crossings }) =>
    crossings.filter(({ receiver }) => receivers.has(receiver)).slice(0, 1),
  )
  const share = atReceiver.filter((crossing) => crossing.ip === ip).length / atReceiver.length
  if (share < SHARE_MIN) return false
  const peers = through.flatMap(({ crossing }) => prefix16Or32(crossing.peerBelow))
  const authors = through.flatMap(({ authorDomain }) => authorDomain ?? [])
  return new Set(peers).size >= PEER_NETWORKS_MIN && new Set(authors).size >= AUTHOR_DOMAINS_MIN
}

function stillHolds(latestFirst: readonly PastReport[], ip: string): boolean {
  const recent = latestFirst.slice(0, RECENT_REPORTS)
  const through = throughRelay(recent, ip).filter(({ crossing }) => crossing.isLinked)
  return recent.length < RECENT_REPORTS || through.length >= recent.length * RECENT_SHARE_MIN
}

function isWanted(through: readonly Passage[]): boolean {
  const domains = through.flatMap(({ kind, isSigned, authorDomain }) =>
    kind === 'not-spam' && isSigned && authorDomain !== null ? [authorDomain] : [],
  )
  return new Set(domains).size >= WANTED_DOMAINS_MIN
}

function reverseNameOf(through: readonly Passage[]): string | null {
  return through.find(({ crossing }) => crossing.rdns !== null)?.crossing.rdns ?? null
}

function crossingOf({ from, by }: TracedHop, next: TracedHop | undefined): Crossing | undefined {
  const ip = canonical(from.ip)
  const receiver = by.host?.toLowerCase()
  if (ip === null || receiver === undefined) return undefined
  const rdns = from.rdns?.toLowerCase() ?? null
  const isNamed = rdns !== null && next?.by.host?.toLowerCase() === rdns
  const isLinked = isNamed || canonical(next?.by.ip ?? null) === ip
  return { receiver, ip, rdns, isLinked, peerBelow: canonical(next?.from.ip ?? null) }
}

/** Returns the canonical form of a public address, otherwise null. */
function canonical(text: string | null): string | null {
  const address = text === null ? undefined : parseIp(text)
  return address && isRoutable(address) ? address.text : null
}

/**
 * Returns the /16 (IPv4) or /32 (IPv6) of an address. One owner seldom has hosts in five such
 * networks.
 */
function prefix16Or32(ip: string | null): string[] {
  const address = ip === null ? undefined : parseIp(ip)
  return address ? [addressPrefix(address, { octets: 2, groups: 2 })] : []
}

/** A host about which the reporter can be asked whether it is theirs or their provider's. */
export type RelayCandidate = {
  /** In canonical form. */
  ip: string
  /** Reverse DNS name, as looked up by a trusted relay. */
  name: string | null
  /**
   * Another name of the host: from its greeting, or from an untrusted Received field. It may be
   * forged.
   */
  callsItself: string | null
  /** Index of the Received field that names it, 0 = top. */
  line: number
  /** Whether a trusted relay observed the address. Otherwise the address may be forged. */
  isSeen: boolean
  /**
   * Whether the relay’s address is loopback or of an internal network, so that a gateway may be in
   * front of it.
   */
  isInternal: boolean
}

const CANDIDATES_MAX = 6
/** Why the trace passed a host that only seems to be the provider's. */
const doubtfulCodes: ReadonlySet<string | undefined> = new Set<PhraseCode>([
  'relay-in-domain',
  'relay-claims-domain',
])
const ADDRESSES_MAX = 30

/**
 * Returns the hosts to ask about when an origin is too uncertain, in the order of the trace:
 * internal hosts that may be behind a gateway, hosts that seem to be the provider's by their names,
 * the host where the trace stopped, and the earlier hosts claimed by the fields below. Empty when
 * no field gives an address that can be trusted on its own. Omits implausible hosts and all hosts
 * below them.
 */
export function relayCandidates(hops: readonly TracedHop[]): RelayCandidate[] {
  const start = stopOf(hops)
  const found: RelayCandidate[] = []
  for (const [at, hop] of hops.entries()) {
    if (hop.trust === 'forged' || found.length === CANDIDATES_MAX) break
    const candidate = candidateOf(hop)
    if (!candidate || found.some(({ ip }) => ip === candidate.ip)) continue
    const isMeant = candidate.isInternal
      ? candidate.isSeen && !isShownInside(hop, hops[at + 1])
      : at >= start || doubtfulCodes.has(hop.because?.code)
    if (isMeant) found.push(candidate)
  }
  return found
}

/**
 * Returns the addresses from the top to the last host that is asked about. A statement of the
 * reporter about any of them can change the trace. At most 30. `candidates` are those of the hops.
 */
export function addressesAsked(
  hops: readonly TracedHop[],
  candidates: readonly RelayCandidate[] = relayCandidates(hops),
): string[] {
  const last = candidates.at(-1)?.line ?? -1
  const above = hops.filter(({ index }) => index <= last)
  const found = above.flatMap((hop) => candidateOf(hop)?.ip ?? [])
  return [...new Set(found)].slice(-ADDRESSES_MAX)
}

function candidateOf({ index, from, trust }: TracedHop): RelayCandidate | undefined {
  const address = from.ip === null ? undefined : parseIp(from.ip)
  if (!address || addressRefusal(address)) return undefined
  const isSeen = trust === 'injection' || trust === 'trusted'
  const name = isSeen ? from.rdns : null
  const claim = isSeen ? from.helo : (from.rdns ?? from.helo)
  return {
    ip: address.text,
    name,
    callsItself: claim?.toLowerCase() === name?.toLowerCase() ? null : claim,
    line: index,
    isSeen,
    isInternal: isInternal(address),
  }
}

/**
 * Whether no question about an internal host is needed, because the host is known or because no
 * host is below it.
 */
function isShownInside(hop: TracedHop, next: TracedHop | undefined): boolean {
  if (!next || isLmtp(hop.with ?? undefined)) return true
  if (hop.by.host !== null && providerOfHost(hop.by.host.toLowerCase()) !== undefined) return true
  const address = hop.from.ip === null ? undefined : parseIp(hop.from.ip)
  if (address && addressScope(address) === 'loopback') return false
  return hop.from.rdns !== null && hop.from.rdns.toLowerCase() === next.by.host?.toLowerCase()
}

/**
 * Returns the candidates about which the reporter has not made a statement. The first candidate
 * that is not the reporter's ends the list, because untrusted hosts wrote the fields below it.
 */
export function openCandidates<Candidate extends { ip: string }>(
  candidates: readonly Candidate[],
  stated: { mine: NetworkSet; notMine: NetworkSet },
): Candidate[] {
  const isIn = (set: NetworkSet, { ip }: Candidate) => {
    const address = parseIp(ip)
    return address !== undefined && set.has(address)
  }
  const end = candidates.findIndex((candidate) => isIn(stated.notMine, candidate))
  const open = end < 0 ? candidates : candidates.slice(0, end)
  return open.filter((candidate) => !isIn(stated.mine, candidate))
}
