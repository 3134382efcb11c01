/**
 * Sums of what was said, each saying weighed by the karma of who said it; slow and fast, as of the
 * epoch of their detail: see `growth`.
 */
export type Sums = { good: number; bad: number; recentGood: number; recentBad: number }

/** A proven reporter, by a hash of 32 bits. */
export type Source = Sums & { id: number }

/** What was said on a day: by the proven, weighed by their karma; by others, counted only. */
export type DaySums = { day: number; good: number; bad: number; newcomers: number }

/** The detailed part of a reputation: who says so, and how it behaved. */
export type Detail = {
  /** Day (since 1 January 1970) as of which the sums are kept. */
  epoch: number
  /** Those who said most; at most 32. */
  sources: Source[]
  /** Of proven sources that there was no room for, and of all who are not proven. */
  rest: Sums
  newcomers: Sums
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
export function noSums(): Sums {
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
function writeSums(bytes: Buffer, start: number, sums: Sums): number {
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

function readSums(cursor: Cursor): Sums {
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
