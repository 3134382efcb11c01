import { scanBlock } from './packed/delta-packing.ts'

/** Increments in the order of their keys, left where they stand in their blocks. */
export type SortedDeltas = {
  length: number
  /** All blocks, one after the other. */
  bytes: Buffer
  hi: Uint32Array
  lo: Uint32Array
  slot: Int32Array
  /** Where the entry stands in `bytes`. */
  at: Uint32Array
  /** 1 where the key may be held back at the gate. */
  gated: Uint8Array
  /** The places of the above, in the order of the keys. */
  order: Uint32Array
}

const ENTRY_BYTES_MIN = 10

/**
 * Sorts increments of one shard, so that those of a key stand together. Sorting places by two
 * passes over the bits that a shard leaves open costs less than a hash table of keys, and gives the
 * order in which rows must be written anyway.
 */
export function sortDeltas(blocks: readonly Buffer[]): SortedDeltas {
  const bytes = Buffer.concat(blocks)
  const room = Math.ceil(bytes.length / ENTRY_BYTES_MIN)
  const hi = new Uint32Array(room)
  const lo = new Uint32Array(room)
  const slots = new Int32Array(room)
  const places = new Uint32Array(room)
  const gates = new Uint8Array(room)
  let length = 0
  let start = 0
  const found = (high: number, low: number, slot: number, at: number, gated: number) => {
    hi[length] = high
    lo[length] = low
    slots[length] = slot
    gates[length] = gated
    places[length++] = start + at
  }
  for (const block of blocks) {
    scanBlock(block, found)
    start += block.length
  }
  const order = sortByHalves(hi, lo, length)
  return { length, bytes, hi, lo, slot: slots, at: places, gated: gates, order }
}

const BITS = 14
const BUCKETS = 1 << BITS
const MASK = BUCKETS - 1

function sortByHalves(hi: Uint32Array, lo: Uint32Array, length: number): Uint32Array {
  const first = new Uint32Array(length)
  for (let index = 0; index < length; index++) first[index] = index
  const second = new Uint32Array(length)
  sortPass(hi, first, second, 0)
  // The highest four bits are the shard: all alike.
  sortPass(hi, second, first, BITS)
  sortEquals(hi, lo, first)
  return first
}

function sortPass(hi: Uint32Array, from: Uint32Array, to: Uint32Array, shift: number): void {
  const starts = new Uint32Array(BUCKETS + 1)
  for (const half of hi.subarray(0, from.length)) {
    const bucket = ((half >>> shift) & MASK) + 1
    starts[bucket] = (starts[bucket] ?? 0) + 1
  }
  for (let bucket = 1; bucket <= BUCKETS; bucket++) {
    starts[bucket] = (starts[bucket] ?? 0) + (starts[bucket - 1] ?? 0)
  }
  for (const index of from) {
    const bucket = ((hi[index] ?? 0) >>> shift) & MASK
    const place = starts[bucket] ?? 0
    starts[bucket] = place + 1
    to[place] = index
  }
}

/** Keys that are alike in their higher halves are mostly the same key. */
function sortEquals(hi: Uint32Array, lo: Uint32Array, order: Uint32Array): void {
  for (let from = 0; from < order.length;) {
    const half = hi[order[from] ?? 0]
    const low = lo[order[from] ?? 0]
    let isMixed = false
    let to = from + 1
    for (; to < order.length && hi[order[to] ?? 0] === half; to++) {
      if (lo[order[to] ?? 0] !== low) isMixed = true
    }
    if (isMixed) order.subarray(from, to).sort((a, b) => (lo[a] ?? 0) - (lo[b] ?? 0))
    from = to
  }
}
