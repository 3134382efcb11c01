import { type Cursor, readSmall, writeVarint } from '../packed/cursor.ts'
import { SLOTS_PER_DAY } from '../period.ts'

/**
 * A counting Bloom filter in two generations, of one shard: how often keys were seen that have no
 * counter. A cell is a byte; a key has four in each generation, and was seen at most as often as
 * the least of them says.
 */
export type GateFilter = {
  current: Uint8Array
  previous: Uint8Array
  /** Keys that came to the current generation, and the slot in which it began. */
  keys: number
  beganAt: number
  /** Cells in use, of the current and of the previous generation. */
  used: [current: number, previous: number]
}

/** Cells of a generation: with 16 shards 8 MB for all. */
const CELLS = 2 ** 18
const HASHES = 4
const CELL_MAX = 255
/** A generation is full when a third of its cells are in use: then 1.2 % of new keys look seen. */
const KEYS_MAX = Math.floor((CELLS / HASHES) * 0.4)

/** Memory of one filter. */
export const FILTER_BYTES = 2 * CELLS

/** How much of the room of its present generation is used, 0 to 1. */
export function fillOf({ keys }: GateFilter): number {
  return Math.min(1, keys / KEYS_MAX)
}

/** A filter that has seen nothing. */
export function emptyFilter(now: number): GateFilter {
  const cells = () => new Uint8Array(CELLS)
  return { current: cells(), previous: cells(), keys: 0, beganAt: now, used: [0, 0] }
}

/** Whether the current generation is full or a day old. */
export function isSpent({ keys, beganAt }: GateFilter, now: number): boolean {
  return keys >= KEYS_MAX || now - beganAt >= SLOTS_PER_DAY
}

/** Begins a generation: what was seen in the one before the last is forgotten. */
export function turnOver(filter: GateFilter, now: number): void {
  const oldest = filter.previous
  filter.previous = filter.current
  filter.current = oldest.fill(0)
  filter.keys = 0
  filter.beganAt = now
  filter.used = [0, filter.used[0]]
}

/** How often a key was seen before; then it was seen `times` more. */
export function see(filter: GateFilter, hi: number, lo: number, times: number): number {
  const { current, previous } = filter
  const cells = cellsOf(hi, lo)
  const inCurrent = leastOf(current, cells)
  // Only cells that say too little are raised: those that others share stay as they are.
  const raised = Math.min(CELL_MAX, inCurrent + times)
  for (const cell of cells) {
    if (current[cell] === 0 && raised > 0) filter.used[0]++
    current[cell] = Math.max(current[cell] ?? 0, raised)
  }
  if (inCurrent === 0) filter.keys++
  return inCurrent + leastOf(previous, cells)
}

function leastOf(generation: Uint8Array, cells: Uint32Array): number {
  let least = CELL_MAX
  for (const cell of cells) least = Math.min(least, generation[cell] ?? 0)
  return least
}

/** The share of keys never seen that the filter takes for seen. */
export function falsePositiveRate({ used: [current, previous] }: GateFilter): number {
  const missed = (cells: number) => 1 - (cells / CELLS) ** HASHES
  return 1 - missed(current) * missed(previous)
}

const places = new Uint32Array(HASHES)

/** Keys are hashes: their halves are two, from which the others follow. */
function cellsOf(hi: number, lo: number): Uint32Array {
  const step = Math.imul(hi ^ (hi >>> 15), 0x9e3779b1) | 1
  for (let index = 0, at = lo; index < HASHES; index++, at += step) {
    places[index] = (at ^ (at >>> 16)) & (CELLS - 1)
  }
  return places
}

/** The whole filter as bytes. */
export function packFilter({ current, previous, keys, beganAt }: GateFilter): Buffer {
  const cursor: Cursor = { bytes: Buffer.allocUnsafe(32), at: 0 }
  writeVarint(cursor, keys)
  writeVarint(cursor, beganAt)
  return Buffer.concat([cursor.bytes.subarray(0, cursor.at), current, previous])
}

/** Reads what `packFilter` wrote. */
export function readFilter(content: Buffer): GateFilter {
  const cursor = { bytes: content, at: 0 }
  const [keys, beganAt] = [readSmall(cursor), readSmall(cursor)]
  const cells = (at: number) => Uint8Array.from(content.subarray(at, at + CELLS))
  const [current, previous] = [cells(cursor.at), cells(cursor.at + CELLS)]
  return { current, previous, keys, beganAt, used: [usedOf(current), usedOf(previous)] }
}

function usedOf(cells: Uint8Array): number {
  return cells.reduce((used, cell) => used + (cell > 0 ? 1 : 0), 0)
}
