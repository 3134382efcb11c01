import type { TracedHop, Trust } from '../origin/trace.ts'
import type { Phrase, PhraseCode } from '../phrase.ts'
import type { Analysis } from '../pieces/analyze.ts'

/**
 * Role of a host in the picture. `ours`: run by the reporter's provider; `origin`: the host that
 * handed the message over; `unclear`: the host at which the trace stopped; `believed`, `claimed`
 * and `forged`: the trust in the field that names the host.
 */
export type StationRole =
  | 'mailbox'
  | 'ours'
  | 'origin'
  | 'unclear'
  | 'believed'
  | 'claimed'
  | 'forged'

/** One host on the route of a message, according to the Received fields. */
export type Station = {
  role: StationRole
  /** Reverse DNS name, as looked up by a trusted relay. Null when no field names it. */
  name: string | null
  ip: string | null
  /** Other names of the host: from its greeting, or from the field that it wrote. */
  aliases: string[]
  /**
   * Index (0 = top) of the Received field in which the station above names this one. Null for the
   * mailbox, for the host next to it, and for a station that is not linked to the one above.
   */
  line: number | null
  /** Whether no field links the station to the one above, although a field that it wrote exists. */
  isUnlinked: boolean
  /** Whether the station is the client that the sending provider recorded in the message. */
  isSubmitter: boolean
  /**
   * Anomalies of the field that names the station, or of the field that it seems to have written.
   */
  notes: Phrase[]
}

/** The trace as a picture: from the mailbox outward, each host below the one that observed it. */
export type WalkPicture = {
  stations: Station[]
  /** Index of the first station that may be forged; null when there is none. */
  border: number | null
}

/** Confidence of an origin, in words. */
export type Sureness = 'very' | 'fairly' | 'not'

const VERY_SURE_MIN = 0.9
const FAIRLY_SURE_MIN = 0.7

/** Returns the word for a confidence of 0 to 1. */
export function surenessOf(confidence: number): Sureness {
  if (confidence >= VERY_SURE_MIN) return 'very'
  return confidence >= FAIRLY_SURE_MIN ? 'fairly' : 'not'
}

/** Returns a confidence as a whole percentage; 100 only for complete certainty. */
export function percentOf(confidence: number): number {
  return Math.min(Math.round(confidence * 100), confidence < 1 ? 99 : 100)
}

/** Returns the reasons for an origin that are not already shown next to a Received field. */
export function ownReasons({ hops, origin }: Pick<Analysis, 'hops' | 'origin'>): Phrase[] {
  const shown = new Set(hops.map(({ because }) => JSON.stringify(because)))
  return origin?.why.filter((reason) => !shown.has(JSON.stringify(reason))) ?? []
}

/**
 * Lays out the hosts named by the Received fields. Each field adds one station, the client that it
 * names; the host that wrote it is the previous station. A writer gets its own station only where a
 * field does not fit the one above.
 */
export function drawWalk(found: Pick<Analysis, 'hops' | 'origin' | 'submitter'>): WalkPicture {
  const { hops, origin, submitter } = found
  const stations: Station[] = [station('mailbox', null)]
  const stop = origin ? undefined : hops.findLastIndex(({ trust }) => trust === 'trusted')
  for (const [index, hop] of hops.entries()) {
    placeWriter(stations, hop)
    const role = origin?.hop === index ? 'origin' : roleOf(hop.trust)
    const { from } = hop
    const peer = station(index === stop ? 'unclear' : role, hop.index)
    peer.ip = from.ip
    const looked = shownName(from.rdns, from.ip)
    const greeting = shownName(from.helo, from.ip)
    // The name that an untrusted client claims for itself is not shown as its main name.
    peer.name = isUntrustedClient(peer) ? looked : (looked ?? greeting)
    addAlias(peer, greeting)
    const shown = stations.at(-1)?.notes ?? []
    peer.notes = hop.notes.filter((note) => !shown.includes(note))
    stations.push(peer)
  }
  const named = stations.filter((one) => submitter && one.ip === submitter.ip)
  for (const one of named.slice(0, 1)) one.isSubmitter = true
  return { stations, border: borderOf(stations, hops) }
}

/**
 * Names the last station as the writer of a field, or adds a station if it cannot be the last one.
 */
function placeWriter(stations: Station[], { by, trust, notes: found }: TracedHop): void {
  const last = stations.at(-1)
  const name = shownName(by.host, by.ip)
  const mismatches = found.filter(({ code }) => mismatchNotes.has(code))
  const isBeside = last?.role === 'mailbox'
  if (!last || isBeside || (mismatches.length > 0 && (last.name ?? last.ip) !== null)) {
    const writer = station(trust === 'injection' ? 'ours' : roleOf(trust), null)
    const notes = isBeside ? [] : mismatches
    stations.push(Object.assign(writer, { name, ip: by.ip, isUnlinked: !isBeside, notes }))
    return
  }
  if (last.name === null && last.ip === null) last.ip = by.ip
  if (last.name === null && !isUntrustedClient(last)) last.name = name
  else addAlias(last, name)
}

/** Whether a trusted relay observed the host, and the reporter may be asked about it. */
function isUntrustedClient({ role }: Station): boolean {
  return role === 'origin' || role === 'unclear'
}

/** Notes on a field whose writer is not the host named by the field above. */
const mismatchNotes: ReadonlySet<PhraseCode> = new Set(['broken-chain', 'borrowed-name'])

function roleOf(trust: Trust): StationRole {
  if (trust === 'trusted') return 'ours'
  return trust === 'injection' ? 'origin' : trust
}

/**
 * Returns the index of the first station that only untrusted fields name; null when there is none.
 */
function borderOf(stations: readonly Station[], hops: readonly TracedHop[]): number | null {
  const isInvented = ({ line, isUnlinked, role }: Station) => {
    const trust = line === null ? undefined : hops[line]?.trust
    if (trust === 'claimed' || trust === 'forged') return true
    return isUnlinked && (role === 'claimed' || role === 'forged')
  }
  const border = stations.findIndex(isInvented)
  return border < 0 ? null : border
}

function station(role: StationRole, line: number | null): Station {
  const unknown = { name: null, ip: null, isUnlinked: false, isSubmitter: false }
  return { role, line, ...unknown, aliases: [], notes: [] }
}

/** Returns a name for display; null when it only repeats the address in brackets. */
function shownName(name: string | null, ip: string | null): string | null {
  if (name === null || name === '') return null
  return ip !== null && name.replace(/^\[(ipv6:)?|\]$/gi, '') === ip ? null : name
}

function addAlias(to: Station, name: string | null): void {
  const known = [to.name, ...to.aliases].map((one) => one?.toLowerCase())
  if (name !== null && !known.includes(name.toLowerCase())) to.aliases.push(name)
}
