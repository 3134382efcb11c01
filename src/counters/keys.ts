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

/** The two halves of a 64-bit hash, without making a bigint on the way. */
export function halvesOf(hash: bigint): { hi: number; lo: number } {
  whole[0] = hash
  return { hi: halves[1] ?? 0, lo: halves[0] ?? 0 }
}

const whole = new BigUint64Array(1)
const halves = new Uint32Array(whole.buffer)
