/** Where a count comes from: each has counters of its own under the same shingle. */
export const prefixes = ['reports', 'checks', 'outgoing'] as const

/** Name of a prefix; its place in `prefixes` is its stored number. */
export type Prefix = (typeof prefixes)[number]

/** What is to be added to one counter. Negative amounts take back. */
export type Increment = {
  prefix: Prefix
  /** The 64-bit hash of a piece of a message, with its type. */
  shingle: bigint
  /** The 64-bit hash of whom it was seen with, where it counts uniques. */
  unique?: bigint | undefined
  ham?: number
  spam?: number
  complaint?: number
  redeemed?: number
  /** Whether the key may be held back until it was seen often enough: never what must be exact. */
  gated?: boolean | undefined
  /** The period it counts for: of a report, when it was received. */
  at: Date
}

/** Shards of keys, by their highest bits; a constant of the database, see `counter_shards`. */
export const SHARDS = 16

/** The shard of a key, from its higher half. */
export function shardOf(hi: number): number {
  return hi >>> 28
}

/** The two halves of a 64-bit hash, without making a bigint on the way. */
export function halvesOf(hash: bigint): { hi: number; lo: number } {
  whole[0] = hash
  return { hi: halves[1] ?? 0, lo: halves[0] ?? 0 }
}

const whole = new BigUint64Array(1)
const halves = new Uint32Array(whole.buffer)
