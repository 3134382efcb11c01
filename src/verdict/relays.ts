import { registrableDomain } from '../mail/address.ts'
import { addressRefusal } from '../mail/ip-blocks.ts'
import { addressScope, isInternal, isRoutable, type NetworkSet, parseIp } from '../mail/ip.ts'
import { isLmtp, providerOfHost } from '../origin/providers.ts'
import type { TracedHop } from '../origin/trace.ts'
import type { Analysis } from '../pieces/analyze.ts'

/** Where a report's message crossed from one machine to the next, as a machine we trust tells. */
type Crossing = {
  /** The host that wrote the line, in lower case. */
  receiver: string
  /** The address it saw, in canonical text; one that is met across the Internet. */
  ip: string
  /** The name the receiver looked up for it. */
  rdns: string | null
  /**
   * Whether the next line was written by that very machine: by the name that was looked up, or by
   * its address. What it calls itself links nothing.
   */
  isLinked: boolean
  /** The address that the next line gives for the machine before: the machine's own word. */
  peerBelow: string | null
}

/** What an earlier report tells of the way mail takes to its reporter. */
export type PastReport = {
  /** When we got the report: the header's own times are the spammer's to choose. */
  at: Date
  kind: 'spam' | 'phishing' | 'not-spam'
  /** The domain the author registered, or claims. */
  authorDomain: string | null
  /** Whether a signature in the author's name was verified: then that domain sent it. */
  isSigned: boolean
  /** The lines down to the one where a stranger was seen; those below prove nothing. */
  crossings: readonly Crossing[]
  /** The address of that stranger. */
  entryIp: string | null
}

/** A relay that a reporter's reports speak for, and how many of them. */
type LearnedRelay = { ip: string; name: string | null; evidence: number }

/** What a reporter's reports teach; what was learned and is in neither list is to be forgotten. */
export type Lesson = { learned: LearnedRelay[]; proposed: LearnedRelay[] }

const REPORTS_MIN = 10
const SPAN_MS_MIN = 7 * 86_400_000
const SHARE_MIN = 0.9
const PEER_NETWORKS_MIN = 5
const AUTHOR_DOMAINS_MIN = 5
/** Wanted mail that machines of so many domains signed: one may be a slip of the reporter's. */
const WANTED_DOMAINS_MIN = 3
/** Of so many latest reports, half must still come through what was learned. */
const RECENT_REPORTS = 20
const RECENT_SHARE_MIN = 0.5

/** What one analyzed report adds to the history of its reporter. */
export function pastReport(
  report: { at: Date; kind: PastReport['kind']; author: string | null },
  { hops, authentication }: Pick<Analysis, 'hops' | 'authentication'>,
): PastReport {
  const entry = hops.findIndex(({ trust }) => trust === 'injection')
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

/**
 * The relays that a reporter's mail always comes through, from the reporter's latest reports (in
 * any order). Conservative: whoever sends a reporter most of the spam must not be able to pass for
 * the reporter's relay, and then let us accuse whom he likes by the lines he writes. Many machines
 * and authors behind it are needed but prove nothing, because a spammer's machine can invent both.
 * What it cannot make is mail that the reporter wanted, signed by several domains; without it a
 * relay is only proposed. At a receiver whose relays we know there is nothing to learn. What was
 * learned stays until the latest reports speak against it.
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
    const relay = { ip, name: nameOf(through), evidence: through.length }
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

/** The reports that came through an address, with the line that tells so. */
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
  const peers = through.flatMap(({ crossing }) => networkOf(crossing.peerBelow))
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

function nameOf(through: readonly Passage[]): string | null {
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

/** The canonical text of an address that is met across the Internet, else null. */
function canonical(text: string | null): string | null {
  const address = text === null ? undefined : parseIp(text)
  return address && isRoutable(address) ? address.text : null
}

/** The /16 (IPv4) or /32 (IPv6) of an address: machines of one owner are seldom in five. */
function networkOf(ip: string | null): string[] {
  const address = ip === null ? undefined : parseIp(ip)
  if (!address) return []
  const at = address.family === 4 ? 6 : 0
  const groups = address.groups.slice(at, address.family === 4 ? at + 1 : at + 2)
  return [`${address.family}:${groups.join(':')}`]
}

/** A machine of which the reporter may say that it is theirs or their provider's. */
export type RelayCandidate = {
  /** Canonical text. */
  ip: string
  /** The name that a machine we trust looked up for it. */
  name: string | null
  /** Another name it goes by: its greeting, or what a stranger's line says. Anybody's choice. */
  callsItself: string | null
  /** The Received line that names it, 0 = top. */
  line: number
  /** Whether a machine we trust saw it; otherwise a stranger may have invented it. */
  isSeen: boolean
  /** Whether its address is loopback or of an internal network: a gateway may stand before it. */
  isInternal: boolean
}

const CANDIDATES_MAX = 6
const ADDRESSES_MAX = 30

/**
 * The machines to ask about when an origin is too uncertain, in the order of the walk: internal
 * ones it passed that may hide behind a gateway, where it stopped, and those that the lines below
 * claim came before. Empty when no line gives an address that can be trusted by itself. What
 * cannot be true is not asked about, nor what is below it.
 */
export function relayCandidates(hops: readonly TracedHop[]): RelayCandidate[] {
  const entry = hops.findIndex(({ trust }) => trust === 'injection')
  const start = entry >= 0 ? entry : hops.findLastIndex(({ trust }) => trust === 'trusted')
  const found: RelayCandidate[] = []
  for (const [at, hop] of hops.entries()) {
    if (hop.trust === 'forged' || found.length === CANDIDATES_MAX) break
    const candidate = candidateOf(hop)
    if (!candidate || found.some(({ ip }) => ip === candidate.ip)) continue
    const isMeant = candidate.isInternal
      ? candidate.isSeen && !isShownInside(hop, hops[at + 1])
      : at >= start
    if (isMeant) found.push(candidate)
  }
  return found
}

/**
 * The addresses on the way down to the last machine that is asked about: what the reporter says of
 * any of them may change where the walk goes. At most 30.
 */
export function addressesAsked(hops: readonly TracedHop[]): string[] {
  const last = relayCandidates(hops).at(-1)?.line ?? -1
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

/** Whether there is nothing to ask of an internal machine: it is known, or nothing is below it. */
function isShownInside(hop: TracedHop, next: TracedHop | undefined): boolean {
  if (!next || isLmtp(hop.with ?? undefined)) return true
  if (hop.by.host !== null && providerOfHost(hop.by.host.toLowerCase()) !== undefined) return true
  const address = hop.from.ip === null ? undefined : parseIp(hop.from.ip)
  if (address && addressScope(address) === 'loopback') return false
  return hop.from.rdns !== null && hop.from.rdns.toLowerCase() === next.by.host?.toLowerCase()
}

/**
 * The candidates that the reporter has not spoken of. Whoever is not theirs ends the list: what
 * stands below, a stranger wrote.
 */
export function openCandidates<Candidate extends { ip: string }>(
  candidates: readonly Candidate[],
  said: { mine: NetworkSet; notMine: NetworkSet },
): Candidate[] {
  const isIn = (set: NetworkSet, { ip }: Candidate) => {
    const address = parseIp(ip)
    return address !== undefined && set.has(address)
  }
  const end = candidates.findIndex((candidate) => isIn(said.notMine, candidate))
  const open = end < 0 ? candidates : candidates.slice(0, end)
  return open.filter((candidate) => !isIn(said.mine, candidate))
}

/** What an answer comes to: whom to trust and whom never to ask about again; or why it cannot. */
export type RelayAnswer =
  | { mine: RelayCandidate[]; notMine: RelayCandidate[] }
  | { gap: { picked: RelayCandidate; between: RelayCandidate } }

/**
 * Reads which of the candidates the reporter picked. What stands nearer to the mailbox than a
 * machine of theirs must be theirs too: otherwise a stranger wrote the line that names it, and
 * trusting it would be trusting the stranger.
 */
export function readAnswer(
  candidates: readonly RelayCandidate[],
  pickedIps: readonly string[],
): RelayAnswer {
  const isPicked = ({ ip }: RelayCandidate) => pickedIps.includes(ip)
  const first = candidates.findIndex((candidate) => !isPicked(candidate))
  const between = first < 0 ? undefined : candidates[first]
  const picked = between && candidates.slice(first).find(isPicked)
  if (between && picked) return { gap: { picked, between } }
  const mine = candidates.filter(isPicked)
  return { mine, notMine: candidates.filter((candidate) => !isPicked(candidate)) }
}
