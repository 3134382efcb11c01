import type { Halves } from './keys.ts'
import {
  createDeltaWriter,
  type DeltaBlock,
  HAS_UNIQUE,
  scanBlock,
} from './packed/delta-packing.ts'

/** Sums by key, kind, prefix and unique, in one block of memory of fixed size. */
export type Tally = {
  /** Clears the table, for increments of one ten-minute slot. */
  begin: (slot: number) => void
  /** Returns false when there is no room for another sum. */
  add: (key: Halves, head: number, times: number, unique?: Halves) => boolean
  size: () => number
  pack: () => DeltaBlock[]
}

/** Number of 32-bit words of one sum (key, unique, head), and maximum load of the table. */
const LANES = 5
const FILL_MAX = 0.6

/**
 * Creates a table of sums: open addressing over 32-bit words, with 10 to 12 million additions per
 * second, where a `Map` with bigint keys reaches 1.5 million. It has room for `keysMax` sums.
 */
export function createTally(keysMax: number, firstSlot: number): Tally {
  const capacity = 2 ** Math.ceil(Math.log2(keysMax / FILL_MAX))
  const mask = capacity - 1
  const lanes = new Int32Array(capacity * LANES)
  const sums = new Float64Array(capacity)
  let size = 0
  let slot = firstSlot

  /** Returns the position of a sum, or of the free place for it. A free place has the sum 0. */
  const find = (hi: number, lo: number, uniqueHi: number, uniqueLo: number, head: number) => {
    let place = mix(hi, lo, uniqueLo, head) & mask
    for (; sums[place] !== 0; place = (place + 1) & mask) {
      const at = place * LANES
      if (
        lanes[at] === lo &&
        lanes[at + 1] === hi &&
        lanes[at + 2] === uniqueLo &&
        lanes[at + 3] === uniqueHi &&
        lanes[at + 4] === head
      ) {
        break
      }
    }
    return place
  }
  return {
    begin(next) {
      slot = next
      if (size > 0) sums.fill(0)
      size = 0
    },
    add(key, head, times, unique) {
      const hi = key.hi | 0
      const lo = key.lo | 0
      const uniqueHi = unique ? unique.hi | 0 : 0
      const uniqueLo = unique ? unique.lo | 0 : 0
      const whole = unique ? head | HAS_UNIQUE : head
      const place = find(hi, lo, uniqueHi, uniqueLo, whole)
      if (sums[place] === 0) {
        if (size >= keysMax) return false
        size++
        const at = place * LANES
        lanes[at] = lo
        lanes[at + 1] = hi
        lanes[at + 2] = uniqueLo
        lanes[at + 3] = uniqueHi
        lanes[at + 4] = whole
      }
      sums[place] = (sums[place] ?? 0) + times
      return true
    },
    size: () => size,
    pack: () => (size > 0 ? packSums(lanes, sums, slot) : []),
  }
}

function packSums(lanes: Int32Array, sums: Float64Array, slot: number): DeltaBlock[] {
  const writer = createDeltaWriter(slot)
  const amounts = [0, 0, 0, 0]
  const entry = { hi: 0, lo: 0, head: 0, slot, amounts, uniqueHi: 0, uniqueLo: 0 }
  // By index, because an iterator over half a million entries costs several milliseconds.
  for (let place = 0; place < sums.length; place++) {
    const sum = sums[place] ?? 0
    if (sum === 0) continue
    const at = place * LANES
    entry.lo = (lanes[at] ?? 0) >>> 0
    entry.hi = (lanes[at + 1] ?? 0) >>> 0
    entry.uniqueLo = (lanes[at + 2] ?? 0) >>> 0
    entry.uniqueHi = (lanes[at + 3] ?? 0) >>> 0
    entry.head = lanes[at + 4] ?? 0
    amounts.fill(sum)
    writer.put(entry)
  }
  return writer.finish()
}

/** Mixes a hash. Keys are already hashes; the other values only have to separate neighbors. */
function mix(hi: number, lo: number, unique: number, head: number): number {
  const mixed = Math.imul(lo ^ (hi >>> 7) ^ Math.imul(unique, 0x9e3779b1) ^ head, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

/** Increments sorted by key. They stay in their blocks; only their positions are sorted. */
export type SortedDeltas = {
  length: number
  /** All blocks, concatenated. */
  bytes: Buffer
  hi: Uint32Array
  lo: Uint32Array
  slot: Int32Array
  /** Position of the entry in `bytes`. */
  at: Uint32Array
  /** 1 if the gate may hold back the key. */
  gated: Uint8Array
  /** Indexes into the arrays above, in the order of the keys. */
  order: Uint32Array
}

const ENTRY_BYTES_MIN = 10

/**
 * Sorts increments by key. Sorting indexes in three passes over the high half costs less than a
 * hash table of keys, and gives the order in which rows must be written.
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

const BITS = 11
const BUCKETS = 1 << BITS
const MASK = BUCKETS - 1
const starts = new Uint32Array(BUCKETS + 1)

function sortByHalves(hi: Uint32Array, lo: Uint32Array, length: number): Uint32Array {
  const first = new Uint32Array(length)
  for (let index = 0; index < length; index++) first[index] = index
  const second = new Uint32Array(length)
  sortPass(hi, first, second, 0)
  sortPass(hi, second, first, BITS)
  sortPass(hi, first, second, 2 * BITS)
  sortEquals(hi, lo, second)
  return second
}

function sortPass(hi: Uint32Array, from: Uint32Array, to: Uint32Array, shift: number): void {
  starts.fill(0)
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

/** Sorts keys with equal high halves. Most of them are the same key. */
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
