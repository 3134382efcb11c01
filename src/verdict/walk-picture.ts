import type { Note } from '../origin/forgery.ts'
import type { TracedHop, Trust } from '../origin/trace.ts'
import type { Analysis } from '../pieces/analyze.ts'

/**
 * What a machine on the way is to the reader. `ours`: run by the reporter's provider; `origin`: it
 * handed the message over; `unclear`: where we could not go on; `believed`, `claimed` and
 * `forged`: told by a line of that trust.
 */
export type StationRole =
  'mailbox' | 'ours' | 'origin' | 'unclear' | 'believed' | 'claimed' | 'forged'

/** One machine on the way of a message, as far as the lines tell of it. */
export type Station = {
  role: StationRole
  /** As it was looked up, where a friend saw a stranger. Null where no line names it. */
  name: string | null
  ip: string | null
  /** Other names it goes by: in its greeting, or in the line it wrote. */
  aliases: string[]
  /**
   * The Received line (0 = top) by which the station above tells of it. Null for the mailbox, the
   * machine beside it, and where nothing links a station to the one above.
   */
  line: number | null
  /** Whether nothing links it to the station above: somebody wrote its lines all the same. */
  isUnlinked: boolean
  /** Whether it is the client that the sending provider stamped on the message. */
  isSubmitter: boolean
  /** What is odd about the line that tells of it, or about the one it seems to have written. */
  notes: Note[]
}

/** The walk as a picture: from the mailbox outward, each machine below the one that saw it. */
export type WalkPicture = {
  stations: Station[]
  /** Index of the first station that anybody may have invented; null when there is none. */
  border: number | null
}

/** How sure we are of an origin, in a word. */
export type Sureness = 'very' | 'fairly' | 'not'

const VERY_SURE_MIN = 0.9
const FAIRLY_SURE_MIN = 0.7

/** The word for a confidence of 0 to 1. */
export function surenessOf(confidence: number): Sureness {
  if (confidence >= VERY_SURE_MIN) return 'very'
  return confidence >= FAIRLY_SURE_MIN ? 'fairly' : 'not'
}

/** A confidence as people read it; what is not certain is never shown as 100 %. */
export function percentOf(confidence: number): number {
  return Math.min(Math.round(confidence * 100), confidence < 1 ? 99 : 100)
}

/** The reasons for an origin that do not already stand beside a line that was passed over. */
export function ownReasons({ hops, origin }: Pick<Analysis, 'hops' | 'origin'>): string[] {
  const told = new Set(hops.map(({ because }) => because))
  return origin?.why.filter((reason) => !told.has(reason)) ?? []
}

/**
 * Lays out the machines that the Received lines tell of. Each line gives one station, the machine
 * it says it got the message from; the machine that wrote it is the station before. Only where a
 * line does not fit the one above does its writer stand as a station of its own.
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
    const looked = nameOf(from.rdns, from.ip)
    const greeting = nameOf(from.helo, from.ip)
    // What a stranger calls himself is no name to put above his address.
    peer.name = isStranger(peer) ? looked : (looked ?? greeting)
    addAlias(peer, greeting)
    const shown = stations.at(-1)?.notes ?? []
    peer.notes = hop.notes.filter((note) => !shown.includes(note))
    stations.push(peer)
  }
  const named = stations.filter((one) => submitter && one.ip === submitter.ip)
  for (const one of named.slice(0, 1)) one.isSubmitter = true
  return { stations, border: borderOf(stations, hops) }
}

/** Names the last station as the writer of a line, or adds one where that cannot be. */
function placeWriter(stations: Station[], { by, trust, notes: found }: TracedHop): void {
  const last = stations.at(-1)
  const name = nameOf(by.host, by.ip)
  const strange = found.filter((note) => strangeWriters.has(note.name))
  const isBeside = last?.role === 'mailbox'
  if (!last || isBeside || (strange.length > 0 && (last.name ?? last.ip) !== null)) {
    const writer = station(trust === 'injection' ? 'ours' : roleOf(trust), null)
    const notes = isBeside ? [] : strange
    stations.push(Object.assign(writer, { name, ip: by.ip, isUnlinked: !isBeside, notes }))
    return
  }
  if (last.name === null && last.ip === null) last.ip = by.ip
  if (last.name === null && !isStranger(last)) last.name = name
  else addAlias(last, name)
}

/** A machine that a friend saw and of which the reporter may be asked. */
function isStranger({ role }: Station): boolean {
  return role === 'origin' || role === 'unclear'
}

/** Notes on a line whose writer is not the machine that the line above names. */
const strangeWriters: ReadonlySet<string> = new Set(['broken-chain', 'borrowed-name'])

function roleOf(trust: Trust): StationRole {
  if (trust === 'trusted') return 'ours'
  return trust === 'injection' ? 'origin' : trust
}

/** Strangers begin with the first station that only a line of theirs tells of. */
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

/** A name worth showing: an address in brackets says no more than the address. */
function nameOf(name: string | null, ip: string | null): string | null {
  if (name === null || name === '') return null
  return ip !== null && name.replace(/^\[(ipv6:)?|\]$/gi, '') === ip ? null : name
}

function addAlias(to: Station, name: string | null): void {
  const known = [to.name, ...to.aliases].map((one) => one?.toLowerCase())
  if (name !== null && !known.includes(name.toLowerCase())) to.aliases.push(name)
}
