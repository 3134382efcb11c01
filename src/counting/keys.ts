import { generationOf } from '../db/partitions.ts'

/** Where a count comes from: each has counters of its own under the same shingle. */
export const prefixes = ['reports', 'checks', 'outgoing'] as const

/** Name of a prefix; its place in `prefixes` is its stored number. */
export type Prefix = (typeof prefixes)[number]

/** Shards of keys, by their highest bits; a constant of the database, see `counter_shards`. */
export const SHARDS = 16

/** The shard of a key, from its higher half. */
export function shardOf(hi: number): number {
  return hi >>> 28
}

/** A 64-bit hash as two unsigned halves. */
export type Halves = { hi: number; lo: number }

/** The hash again, of its halves. */
export function wholeOf({ hi, lo }: Halves): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo)
}

/** Keys as the database is asked for them: 8 bytes each, big end first, one after the other. */
export function packKeys(keys: readonly bigint[]): Buffer {
  const packed = Buffer.allocUnsafe(keys.length * 8)
  for (const [index, key] of keys.entries()) {
    const { hi, lo } = halvesOf(key)
    packed.writeUInt32BE(lo, packed.writeUInt32BE(hi, index * 8))
  }
  return packed
}

/** The two halves of a 64-bit hash, without making a bigint on the way. */
export function halvesOf(hash: bigint): Halves {
  whole[0] = hash
  return { hi: halves[1] ?? 0, lo: halves[0] ?? 0 }
}

const whole = new BigUint64Array(1)
const halves = new Uint32Array(whole.buffer)

/** Odd numbers without a pattern. */
const SPREAD_HI = 0x9e3779b1
const SPREAD_LO = 0x85ebca6b

/**
 * The key under which the pairs of one type are counted of a piece: the piece's hash, turned by its
 * own mask for each type, so that each kind of pair has uniques of its own.
 */
export function pairKey(type: number, { hi, lo }: Halves): Halves {
  return { hi: (hi ^ maskHi(type)) >>> 0, lo: (lo ^ maskLo(type)) >>> 0 }
}

/** The same of a whole hash. */
export function wholePairKey(type: number, piece: bigint): bigint {
  return wholeOf(pairKey(type, halvesOf(piece)))
}

function maskHi(type: number): number {
  return mix(Math.imul(type, SPREAD_HI))
}

function maskLo(type: number): number {
  return mix(Math.imul(type, SPREAD_LO) ^ SPREAD_HI)
}

function mix(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 15), SPREAD_LO)
  return Math.imul(once ^ (once >>> 13), SPREAD_HI) ^ (once >>> 16)
}

/** The short period. */
export const SLOT_MS = 600_000
/** Ten-minute slots of one day. */
export const SLOTS_PER_DAY = 144

/** Slots before the present one that are counted in "the last day": with it, a little more. */
export const SLOTS_LIVE = 144
/** Days before today that are counted in "two weeks": with it, fourteen. */
export const DAYS_LIVE = 13

/** Kept a little longer than they are read, so that clocks may differ between machines. */
const SLOTS_GRACE = 6
const DAYS_GRACE = 1

/** The ten-minute slot of an instant, counted from 1 January 1970, UTC. */
export function slotOf(at: Date): number {
  return Math.floor(at.getTime() / SLOT_MS)
}

/** The day of a slot, counted from 1 January 1970, UTC. */
export function dayOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_DAY)
}

/** The oldest slot whose bucket is kept when it is `slot` now. */
export function oldestSlotKept(slot: number): number {
  return slot - SLOTS_LIVE - SLOTS_GRACE
}

/** The oldest day whose bucket is kept when it is `slot` now. */
export function oldestDayKept(slot: number): number {
  return dayOf(slot) - DAYS_LIVE - DAYS_GRACE
}

/**
 * The generations that may hold a key when it is `slot` now: the present one and the one before,
 * and near its end the next, where whoever has a clock ahead writes already.
 */
export function generationsAt(slot: number): readonly [oldest: number, newest: number] {
  return [generationOf(dayOf(slot)) - 1, generationOf(dayOf(slot) + CLOCK_DAYS)]
}

/** Clocks may be apart by so much. */
const CLOCK_DAYS = 1

/**
 * The slot under which something is counted. A clock that is ahead by up to a day is believed; one
 * that is further ahead means now, or its counts would outlive all others.
 */
export function countedSlot(slot: number, now: number): number {
  return slot > now + SLOTS_PER_DAY ? now : slot
}
