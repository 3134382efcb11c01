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
  name: string | null
  /** Whether the next line was written by that very machine, by name or by address. */
  isLinked: boolean
  /** The address that the next line gives for the machine before. */
  peerBelow: string | null
}

/** What an earlier report tells of the way mail takes to its reporter. */
export type PastReport = {
  /** When we got the report: the header's own times are the spammer's to choose. */
  at: Date
  kind: 'spam' | 'phishing' | 'not-spam'
  /** The domain the author registered, or claims. */
  authorDomain: string | null
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
/** Of so many latest reports, half must still come through what was learned. */
const RECENT_REPORTS = 20
const RECENT_SHARE_MIN = 0.5

/** What one analyzed report adds to the history of its reporter. */
export function pastReport(
  report: { at: Date; kind: PastReport['kind']; author: string | null },
  hops: readonly TracedHop[],
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
    crossings,
    entryIp: canonical(hops[entry]?.from.ip ?? null),
  }
}

/**
 * The relays that a reporter's mail always comes through, from the reporter's latest reports (in
 * any order). Conservative: whoever sends a reporter most of the spam must not be able to pass for
 * the reporter's relay, and then let us accuse whom he likes by the lines he writes. So a relay
 * must show, over a week at least, many independent machines behind it, and either mail that its
 * reporter wanted or the reporter's own domain; without these it is only proposed. What was
 * learned stays until the latest reports speak against it.
 */
export function learnRelays(
  history: readonly PastReport[],
  known: { learnedIps: readonly string[]; reporterDomain: string | null },
): Lesson {
  const latestFirst = history.toSorted((a, b) => b.at.getTime() - a.at.getTime())
  const entries = latestFirst.flatMap(({ entryIp }) => (entryIp === null ? [] : [entryIp]))
  const lesson: Lesson = { learned: [], proposed: [] }
  for (const ip of new Set([...known.learnedIps, ...entries])) {
    const through = throughRelay(latestFirst, ip)
    const relay = { ip, name: nameOf(through), evidence: through.length }
    if (known.learnedIps.includes(ip)) {
      if (stillHolds(latestFirst, ip)) lesson.learned.push(relay)
    } else if (isSteady(latestFirst, through, ip)) {
      const isCertain = isWanted(through) || isOwnDomain(through, known.reporterDomain)
      lesson[isCertain ? 'learned' : 'proposed'].push(relay)
    }
  }
  return lesson
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
  return through.some(({ kind }) => kind === 'not-spam')
}

/** By the name the receiver looked up: what a machine calls itself is anybody's choice. */
function isOwnDomain(through: readonly Passage[], reporterDomain: string | null): boolean {
  const own = reporterDomain === null ? undefined : registrableDomain(reporterDomain)
  return (
    own !== undefined &&
    through.every(({ crossing: { rdns } }) => rdns !== null && registrableDomain(rdns) === own)
  )
}

function nameOf(through: readonly Passage[]): string | null {
  return through.find(({ crossing }) => crossing.name !== null)?.crossing.name ?? null
}

function crossingOf(hop: TracedHop, next: TracedHop | undefined): Crossing | undefined {
  const ip = canonical(hop.from.ip)
  const receiver = hop.by.host?.toLowerCase()
  if (ip === null || receiver === undefined) return undefined
  const rdns = hop.from.rdns?.toLowerCase() ?? null
  const helo = hop.from.helo?.toLowerCase() ?? null
  const writer = next?.by.host?.toLowerCase()
  const isNamed = writer !== undefined && (writer === rdns || writer === helo)
  const isLinked = isNamed || (next !== undefined && canonical(next.by.ip) === ip)
  return {
    receiver,
    ip,
    rdns,
    name: rdns ?? helo,
    isLinked,
    peerBelow: canonical(next?.from.ip ?? null),
  }
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
