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
