import { generationOf } from '../db/partitions.ts'
import { SHARDS } from '../world.ts'

/** Sources of counts. Each has its own counters for the same shingle. */
export const prefixes = ['reports', 'checks', 'outgoing'] as const

/** Name of a prefix; its index in `prefixes` is the stored number. */
export type Prefix = (typeof prefixes)[number]

/** The shards of keys, by their highest bits. Fixed in the database, see `counter_shards`. */
export const allShards: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)

/** Returns the shard of a key, from its high half. */
export function shardOf(hi: number): number {
  return hi >>> 28
}

/** A 64-bit hash as two unsigned halves. */
export type Halves = { hi: number; lo: number }

export function wholeOf({ hi, lo }: Halves): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo)
}

/** Packs keys for a query: 8 bytes each, big-endian, concatenated. */
export function packKeys(keys: readonly bigint[]): Buffer {
  const packed = Buffer.allocUnsafe(keys.length * 8)
  for (const [index, key] of keys.entries()) {
    const { hi, lo } = halvesOf(key)
    packed.writeUInt32BE(lo, packed.writeUInt32BE(hi, index * 8))
  }
  return packed
}

/** Splits a 64-bit hash into its halves, without intermediate bigints. */
export function halvesOf(hash: bigint): Halves {
  whole[0] = hash
  return { hi: halves[1] ?? 0, lo: halves[0] ?? 0 }
}

const whole = new BigUint64Array(1)
const halves = new Uint32Array(whole.buffer)

/** Odd constants with well-mixed bits. */
const SPREAD_HI = 0x9e3779b1
const SPREAD_LO = 0x85ebca6b

/**
 * Returns the key for counting the pairs of one type of a piece: the piece's hash combined with a
 * mask for the type, so that each type of pair has its own unique counters.
 */
export function pairKey(type: number, { hi, lo }: Halves): Halves {
  return { hi: (hi ^ maskHi(type)) >>> 0, lo: (lo ^ maskLo(type)) >>> 0 }
}

/** Like `pairKey`, for a bigint hash. */
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

/** Length of a slot in milliseconds. */
export const SLOT_MS = 600_000
/** Number of ten-minute slots in a day. */
export const SLOTS_PER_DAY = 144

/**
 * Number of slots before the current one in the window "day", which is therefore slightly longer
 * than a day.
 */
export const SLOTS_LIVE = 144
/** Number of days before today in the window "two weeks", which covers 14 days including today. */
export const DAYS_LIVE = 13

/** Buckets are kept slightly longer than they are read, because clocks of machines may differ. */
const SLOTS_GRACE = 6
const DAYS_GRACE = 1

/** Returns the ten-minute slot of a time, counted from 1 January 1970 UTC. */
export function slotOf(at: Date): number {
  return Math.floor(at.getTime() / SLOT_MS)
}

/** Returns the day of a slot, counted from 1 January 1970 UTC. */
export function dayOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_DAY)
}

/** Returns the oldest slot whose bucket is kept when the current slot is `slot`. */
export function oldestSlotKept(slot: number): number {
  return slot - SLOTS_LIVE - SLOTS_GRACE
}

/** Returns the oldest day whose bucket is kept when the current slot is `slot`. */
export function oldestDayKept(slot: number): number {
  return dayOf(slot) - DAYS_LIVE - DAYS_GRACE
}

/**
 * Returns the generations that may contain a key when the current slot is `slot`: the current and
 * the previous one, and near its end the next one, into which machines with fast clocks already
 * write.
 */
export function generationsAt(slot: number): readonly [oldest: number, newest: number] {
  return [generationOf(dayOf(slot)) - 1, generationOf(dayOf(slot) + CLOCK_DAYS)]
}

/** Maximum difference between clocks, in days. */
const CLOCK_DAYS = 1

/**
 * Returns the slot under which to count. A clock up to a day ahead is accepted; a later slot is
 * replaced by the current one, because its counts would outlive all others.
 */
export function countedSlot(slot: number, now: number): number {
  return slot > now + SLOTS_PER_DAY ? now : slot
}
