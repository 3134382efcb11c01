import type { StoredReputation } from './reputation.ts'

/** Half-life in days of what tells what happens now. */
export const FAST_DAYS = 1
/** Half-life in days of what is known. */
export const SLOW_DAYS = 30

/** What is left of an amount after so many days. */
export function decayed(amount: number, days: number, halfLifeDays: number): number {
  return amount * 2 ** (-Math.max(0, days) / halfLifeDays)
}

/**
 * What evidence of a day (days since 1 January 1970, with fractions) counts where sums are kept as
 * of the day `epoch`: it is not decayed, what is older or younger is worth less or more instead. So
 * sums are made by adding alone, and the opposite of the same day takes away just what was added.
 */
export function growth(day: number, epoch: number, halfLifeDays: number): number {
  return 2 ** ((day - epoch) / halfLifeDays)
}

/** Sums are kept as of such days: from one to the next both half-lives shift by powers of two. */
export function epochOf(day: number): number {
  return Math.floor(day / SLOW_DAYS) * SLOW_DAYS
}

/**
 * Sums of what was said, each saying weighed by the karma of who said it; slow and fast, as of the
 * epoch of their detail: see `growth`.
 */
export type EvidenceSums = { good: number; bad: number; recentGood: number; recentBad: number }

/** A proven reporter, by a hash of 32 bits. */
export type Source = EvidenceSums & { id: number }

/** What was said on a day: by the proven, weighed by their karma; by others, counted only. */
type DaySums = { day: number; good: number; bad: number; newcomers: number }

/** The detailed part of a reputation: who says so, and how it behaved. */
export type Detail = {
  /** Day (since 1 January 1970) as of which the sums are kept. */
  epoch: number
  /** Those who said most; at most 32. */
  sources: Source[]
  /** Of proven sources that there was no room for, and of all who are not proven. */
  rest: EvidenceSums
  newcomers: EvidenceSums
  /** The last 30 days with anything in them, oldest first. */
  days: DaySums[]
  /** Milliseconds since 1970 when a proven source last spoke, and when he woke it; 0 is never. */
  provenAt: number
  wokenAt: number
}

/** How many sources are told apart. */
export const SOURCES_MAX = 32
/** How many days are told apart. */
export const DAYS_MAX = 30

const FORMAT = 1
const SIDES = ['good', 'bad'] as const
const recentOf = { good: 'recentGood', bad: 'recentBad' } as const
/** Format, epoch, two instants, two counts. */
const HEAD_BYTES = 1 + 2 + 4 + 4 + 1 + 1
const SUMS_BYTES_MAX = 1 + 16
const SOURCE_BYTES_MAX = 4 + SUMS_BYTES_MAX
const DAY_BYTES_MAX = 2 + 1 + 12
/** One for all: a buffer of its own for each would cost more than the rest. */
const scratch = Buffer.alloc(
  HEAD_BYTES + 2 * SUMS_BYTES_MAX + SOURCES_MAX * SOURCE_BYTES_MAX + (DAYS_MAX + 1) * DAY_BYTES_MAX,
)

/** Sums of nothing. */
export function noSums(): EvidenceSums {
  return { good: 0, bad: 0, recentGood: 0, recentBad: 0 }
}

/** The detailed part in bytes: some 35 of a subject that was seen once, at most 1,200. */
export function packDetail(detail: Detail): Buffer {
  const { sources, days } = detail
  const bytes = scratch
  let at = bytes.writeUInt8(FORMAT, 0)
  at = bytes.writeUInt16BE(detail.epoch, at)
  at = bytes.writeUInt32BE(Math.floor(detail.provenAt / 1000), at)
  at = bytes.writeUInt32BE(Math.floor(detail.wokenAt / 1000), at)
  at = bytes.writeUInt8(sources.length, at)
  at = bytes.writeUInt8(days.length, at)
  at = writeSums(bytes, at, detail.rest)
  at = writeSums(bytes, at, detail.newcomers)
  for (const source of sources) {
    at = bytes.writeUInt32BE(source.id, at)
    at = writeSums(bytes, at, source)
  }
  for (const day of days) at = writeDay(bytes, at, day)
  return Buffer.from(bytes.subarray(0, at))
}

/**
 * Reads what `packDetail` wrote.
 *
 * @throws RangeError for what it did not write
 */
export function unpackDetail(bytes: Buffer): Detail {
  if (bytes[0] !== FORMAT) throw new RangeError(`A detail of the format ${bytes[0]} is unknown.`)
  const cursor = { bytes, at: HEAD_BYTES }
  const rest = readSums(cursor)
  const newcomers = readSums(cursor)
  const sources = Array.from({ length: bytes.readUInt8(11) }, () => {
    const id = bytes.readUInt32BE(cursor.at)
    cursor.at += 4
    return { id, ...readSums(cursor) }
  })
  const days = Array.from({ length: bytes.readUInt8(12) }, () => readDay(cursor))
  const provenAt = bytes.readUInt32BE(3) * 1000
  const wokenAt = bytes.readUInt32BE(7) * 1000
  return { epoch: bytes.readUInt16BE(1), provenAt, wokenAt, rest, newcomers, sources, days }
}

type Cursor = { bytes: Buffer; at: number }

/** Which sides there are, and of each the slow and the fast sum. */
function writeSums(bytes: Buffer, start: number, sums: EvidenceSums): number {
  let mask = 0
  let at = start + 1
  for (const [bit, side] of SIDES.entries()) {
    const [slow, fast] = [sums[side], sums[recentOf[side]]]
    if (slow === 0 && fast === 0) continue
    mask |= 1 << bit
    at = bytes.writeFloatBE(fast, bytes.writeFloatBE(slow, at))
  }
  bytes.writeUInt8(mask, start)
  return at
}

function readSums(cursor: Cursor): EvidenceSums {
  const mask = cursor.bytes.readUInt8(cursor.at++)
  const sums = noSums()
  for (const [bit, side] of SIDES.entries()) {
    if ((mask & (1 << bit)) === 0) continue
    sums[side] = readFloat(cursor)
    sums[recentOf[side]] = readFloat(cursor)
  }
  return sums
}

const dayFields = ['good', 'bad', 'newcomers'] as const

function writeDay(bytes: Buffer, start: number, day: DaySums): number {
  let mask = 0
  let at = bytes.writeUInt16BE(day.day, start) + 1
  for (const [bit, field] of dayFields.entries()) {
    if (day[field] === 0) continue
    mask |= 1 << bit
    at = bytes.writeFloatBE(day[field], at)
  }
  bytes.writeUInt8(mask, start + 2)
  return at
}

function readDay(cursor: Cursor): DaySums {
  const day = cursor.bytes.readUInt16BE(cursor.at)
  const mask = cursor.bytes.readUInt8(cursor.at + 2)
  cursor.at += 3
  const sums: DaySums = { day, good: 0, bad: 0, newcomers: 0 }
  for (const [bit, field] of dayFields.entries()) {
    if ((mask & (1 << bit)) !== 0) sums[field] = readFloat(cursor)
  }
  return sums
}

function readFloat(cursor: Cursor): number {
  const value = cursor.bytes.readFloatBE(cursor.at)
  cursor.at += 4
  return value
}

/** From this karma on reporters are proven, and each is a source of his own. */
export const PROVEN_KARMA_MIN = 0.5
/** With this much reporters begin that nobody vouches for. */
const NEWCOMER_KARMA = 0.2

/** What one source can say at most, however often he says it. */
const SAYINGS_MAX = 1.5

/**
 * How much a source counts who said something so many times: once is one, and all that he says ever
 * is one and a half. Sources who agree only with themselves weigh no more.
 */
export function saturated(sayings: number): number {
  if (sayings <= 0) return 0
  return sayings <= 1 ? sayings : SAYINGS_MAX - (SAYINGS_MAX - 1) / sayings
}

/**
 * How much all those together count who are not proven, from the sum of their karma for each thing
 * they said: together they are one source that is believed as little as a newcomer.
 */
export function saturatedCrowd(believed: number): number {
  return NEWCOMER_KARMA * saturated(believed / NEWCOMER_KARMA)
}

/** Sums are stored with seven digits: what is beyond a whole number by less is rounding. */
const ROUNDING = 1e-5

/**
 * How many different proven sources there are at least behind so much evidence, a whole number: a
 * source that repeats itself counts for one and a half at most, so evidence above five such sources
 * is that of six. How many there are beyond those that are told apart is not known.
 */
export function sourcesAtLeast(evidence: number): number {
  const crowd = NEWCOMER_KARMA * SAYINGS_MAX
  const sources = Math.max(0, evidence - crowd) / SAYINGS_MAX
  return Math.min(SOURCES_MAX, Math.ceil(Math.max(0, sources - ROUNDING)))
}

const DAY_MS = 86_400_000
/** What all newcomers together can add, however much they say. */
const CROWD_MAX = saturatedCrowd(Number.POSITIVE_INFINITY)
/** What a single proven reporter adds at least, beyond what newcomers could. */
const SURE = PROVEN_KARMA_MIN - CROWD_MAX

/**
 * When a proven reporter complained last, as far as the base part tells. It tells only when the
 * subject was last seen, by anybody who says anything; but recent evidence halves every day, so
 * where little is left of it the last sure complaint is so many days older. After a burst of many
 * the answer may be too young by as many days as that takes to fade, a week at most.
 */
export function lastComplaintAt({
  recentBad,
  firstSeenAt,
  lastSeenAt,
  foldedAt,
}: Pick<StoredReputation, 'recentBad' | 'firstSeenAt' | 'lastSeenAt' | 'foldedAt'>): Date {
  const days = Math.max(0, (foldedAt.getTime() - lastSeenAt.getTime()) / DAY_MS)
  const then = recentBad / decayed(1, days, FAST_DAYS) - CROWD_MAX
  if (then >= SURE) return lastSeenAt
  const daysBefore = then > 0 ? FAST_DAYS * Math.log2(SURE / then) : Number.POSITIVE_INFINITY
  const at = lastSeenAt.getTime() - daysBefore * DAY_MS
  return at > firstSeenAt.getTime() ? new Date(at) : firstSeenAt
}
