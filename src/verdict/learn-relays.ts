import type { Analysis } from '../analysis/analyze.ts'
import { providerOfHost } from '../analysis/whence/providers.ts'
import type { TracedHop } from '../analysis/whence/trace.ts'
import { registrableDomain } from '../mail/domain.ts'
import { isRoutable, parseIp } from '../mail/ip.ts'

/** Where a report's message crossed from one machine to the next, as a machine we trust tells. */
export type Crossing = {
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
export type LearnedRelay = { ip: string; name: string | null; evidence: number }

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
export function learnRelays(
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
