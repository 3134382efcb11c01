import { DAY_MS } from '../../durations.ts'
import type { StoredReputation } from './subject.ts'

/** Half-life of recent evidence, in days. */
export const FAST_DAYS = 1
/** Half-life of all evidence, in days. */
export const SLOW_DAYS = 30

/** Returns what remains of an amount after a number of days. */
export function decayed(amount: number, days: number, halfLifeDays: number): number {
  return amount * 2 ** (-Math.max(0, days) / halfLifeDays)
}

/**
 * Returns the factor for evidence of a day (days since 1 January 1970, with fractions) in sums that
 * are stored as of the day `epoch`. Instead of decaying sums, later evidence gets a larger factor.
 * So sums are updated by additions alone, and a retraction with the same day subtracts exactly what
 * was added.
 */
export function growth(day: number, epoch: number, halfLifeDays: number): number {
  return 2 ** ((day - epoch) / halfLifeDays)
}

/**
 * Returns the day as of which sums are stored. Between two such days both half-lives scale by
 * powers of two.
 */
export function epochOf(day: number): number {
  return Math.floor(day / SLOW_DAYS) * SLOW_DAYS
}

/**
 * Sums of statements, each weighted by the karma of its reporter: with slow decay (`good`, `bad`)
 * and with fast decay (`recentGood`, `recentBad`). Stored as of the epoch of the detail; see
 * `growth`.
 */
export type EvidenceSums = { good: number; bad: number; recentGood: number; recentBad: number }

/** What makes unwanted mail dangerous, with the stored numbers. */
export const dangers = { phishing: 1, malware: 2 } as const

export type Danger = keyof typeof dangers

/** A proven reporter, identified by a 32-bit hash; see `sourceId`. */
export type Source = EvidenceSums & {
  id: number
  /** The parts of `bad` from messages that are phishing or malware; absent if there are none. */
  dangers?: Record<Danger, number>
}

/** Statements of one day: weighted by karma for proven reporters, and only counted for others. */
type DaySums = { day: number; good: number; bad: number; newcomers: number }

/** The detailed part of a reputation: its sources and its history. */
export type Detail = {
  /** Day (since 1 January 1970) as of which the sums are stored. */
  epoch: number
  /** The sources with the most evidence; at most 32. */
  sources: Source[]
  /** Sums of proven sources beyond the stored 32, and of all reporters who are not proven. */
  rest: EvidenceSums
  newcomers: EvidenceSums
  /** The last 30 days with any evidence, oldest first. */
  days: DaySums[]
  /** Time of the latest statement of a proven source, in milliseconds since 1970; 0: none. */
  provenAt: number
  /** Time of the latest such statement that ended a long silence; 0: none. */
  wokenAt: number
}

/** The highest bit of a source's id is set if the account comes from sign-up. */
const SIGNED_UP = 2 ** 31

export function sourceId(hash: number, isVouched: boolean): number {
  return (hash % SIGNED_UP) + (isVouched ? 0 : SIGNED_UP)
}

/** Whether a source is an account from sign-up, for which no operator vouches. */
export function isSignedUp({ id }: Pick<Source, 'id'>): boolean {
  return id >= SIGNED_UP
}

/** Maximum number of sources stored separately. */
export const SOURCES_MAX = 32
/** Maximum number of days stored separately. */
export const DAYS_MAX = 30

const FORMAT = 1
const SIDES = ['good', 'bad'] as const
const recentOf = { good: 'recentGood', bad: 'recentBad' } as const
/** Sizes in bytes. The head contains the format, the epoch, two times and two counts. */
const HEAD_BYTES = 1 + 2 + 4 + 4 + 1 + 1
const SUMS_BYTES_MAX = 1 + 16
const SOURCE_BYTES_MAX = 4 + SUMS_BYTES_MAX
const DAY_BYTES_MAX = 2 + 1 + 12
const DANGERS_BYTES = 1 + 8
/** Shared by all calls: allocating a buffer for each would cost more than the packing. */
const scratch = Buffer.alloc(
  HEAD_BYTES +
    2 * SUMS_BYTES_MAX +
    SOURCES_MAX * (SOURCE_BYTES_MAX + DANGERS_BYTES) +
    (DAYS_MAX + 1) * DAY_BYTES_MAX,
)

/** Returns sums that are all 0. */
export function noSums(): EvidenceSums {
  return { good: 0, bad: 0, recentGood: 0, recentBad: 0 }
}

/** Packs the detailed part: about 35 bytes for a subject seen once, at most 1,500. */
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
  // At the end, where versions before 0.2.0 do not read.
  for (const [index, source] of sources.entries()) {
    if (!source.dangers) continue
    at = bytes.writeUInt8(index, at)
    at = bytes.writeFloatBE(source.dangers.phishing, at)
    at = bytes.writeFloatBE(source.dangers.malware, at)
  }
  return Buffer.from(bytes.subarray(0, at))
}

/**
 * Unpacks the output of `packDetail`.
 *
 * @throws RangeError for other input
 */
export function unpackDetail(bytes: Buffer): Detail {
  if (bytes[0] !== FORMAT)
    throw new RangeError(`The format ${bytes[0]} of a reputation is unknown.`)
  const cursor = { bytes, at: HEAD_BYTES }
  const rest = readSums(cursor)
  const newcomers = readSums(cursor)
  const sources = Array.from({ length: bytes.readUInt8(11) }, (): Source => {
    const id = bytes.readUInt32BE(cursor.at)
    cursor.at += 4
    return { id, ...readSums(cursor) }
  })
  const days = Array.from({ length: bytes.readUInt8(12) }, () => readDay(cursor))
  while (cursor.at < bytes.length) {
    const source = sources[bytes.readUInt8(cursor.at++)]
    const own = { phishing: readFloat(cursor), malware: readFloat(cursor) }
    if (source) source.dangers = own
  }
  const provenAt = bytes.readUInt32BE(3) * 1000
  const wokenAt = bytes.readUInt32BE(7) * 1000
  return { epoch: bytes.readUInt16BE(1), provenAt, wokenAt, rest, newcomers, sources, days }
}

type Cursor = { bytes: Buffer; at: number }

/** Writes a bit mask of the sides that are present, then the slow and the fast sum of each. */
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

/** Minimum karma of a proven reporter, who is stored as a separate source. */
export const PROVEN_KARMA_MIN = 0.5
/** Initial karma of reporters who are not vouched for. */
export const NEWCOMER_KARMA = 0.2

/** Maximum effect of one source, regardless of the number of its statements. */
const SOURCE_EFFECT_MAX = 1.5

/**
 * Returns the effect of a source after a number of statements: 1 for one statement, at most 1.5.
 * Repeated statements of one source add little.
 */
export function saturated(statementCount: number): number {
  if (statementCount <= 0) return 0
  return statementCount <= 1
    ? statementCount
    : SOURCE_EFFECT_MAX - (SOURCE_EFFECT_MAX - 1) / statementCount
}

/**
 * Returns the combined effect of all reporters who are not proven, from the sum of their karma over
 * all statements: together they count as one source with the karma of a newcomer.
 */
export function crowdEffect(believed: number): number {
  return NEWCOMER_KARMA * saturated(believed / NEWCOMER_KARMA)
}

/**
 * Maximum effect of all proven accounts from sign-up together. They may be a ring that earned its
 * karma with patience. So they can give a campaign a bad reputation, but cannot have an address or
 * a domain listed, or welcome a spammer.
 */
export const SIGNED_UP_EFFECT_MAX = 2.5

/** Tolerance for rounding: sums are stored with seven digits. */
const ROUNDING = 1e-5

/**
 * Returns the minimum number of different proven sources behind an amount of evidence, a whole
 * number. One source counts at most 1.5, so evidence of more than 7.5 comes from at least six
 * sources. The exact number is unknown beyond the sources stored separately.
 */
export function sourcesAtLeast(evidence: number): number {
  const crowd = NEWCOMER_KARMA * SOURCE_EFFECT_MAX
  const sources = Math.max(0, evidence - crowd) / SOURCE_EFFECT_MAX
  return Math.min(SOURCES_MAX, Math.ceil(Math.max(0, sources - ROUNDING)))
}

/** Maximum effect of all newcomers together. */
const CROWD_MAX = crowdEffect(Number.POSITIVE_INFINITY)
/**
 * The difference between the minimum effect of one proven reporter and the maximum effect of all
 * newcomers.
 */
const SURE = PROVEN_KARMA_MIN - CROWD_MAX

/**
 * Estimates when a proven reporter last complained, from the base part of a reputation. The base
 * part contains only the time of the last report by anyone. But recent evidence halves every day,
 * so the amount left at that time shows how many days earlier the last certain complaint was. After
 * a large burst, the estimate may be too late by the time that the burst takes to decay, at most a
 * week.
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
