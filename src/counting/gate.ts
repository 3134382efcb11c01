import { insertGateState, listGateStates } from '../db/counter-rows.ts'
import type { GateNumbers } from '../db/counters.ts'
import type { Db } from '../db/pool.ts'
import { countedSlot, dayOf, oldestSlotKept, SLOT_MS, SLOTS_PER_DAY } from './keys.ts'
import {
  type Count,
  type Cursor,
  ensureRoom,
  readSmall,
  REDEEMED,
  writeVarint,
} from './packed/cursor.ts'
import { entryPrefix, readEntry, readHalf } from './packed/delta-packing.ts'
import type { History } from './packed/history.ts'
import { addCount } from './packed/members.ts'
import type { SortedDeltas } from './sorted-deltas.ts'

/**
 * A counting Bloom filter of one shard with two generations: how often keys without counter were
 * seen. A cell is one byte. A key has four cells in each generation, and was seen at most as often
 * as the smallest of them says.
 */
type GateFilter = {
  current: Uint8Array
  previous: Uint8Array
  /** Number of keys in the current generation, and the slot in which it began. */
  keys: number
  beganAt: number
  /** Number of cells in use, of the current and of the previous generation. */
  used: [current: number, previous: number]
}

/** Number of cells of a generation. With 16 shards they take 8 MB in total. */
const CELLS = 2 ** 18
const HASHES = 4
const CELL_MAX = 255
/**
 * Maximum number of keys of a generation. At this number, a third of its cells are in use, and 1.2
 * % of new keys look as if seen before.
 */
const KEYS_MAX = Math.floor((CELLS / HASHES) * 0.4)

/** Memory of one filter in bytes. */
export const FILTER_BYTES = 2 * CELLS

/** Returns the used share of the current generation's capacity, 0 to 1. */
function fillOf({ keys }: GateFilter): number {
  return Math.min(1, keys / KEYS_MAX)
}

function emptyFilter(now: number): GateFilter {
  const cells = () => new Uint8Array(CELLS)
  return { current: cells(), previous: cells(), keys: 0, beganAt: now, used: [0, 0] }
}

/** Whether the current generation is full or a day old. */
function isSpent({ keys, beganAt }: GateFilter, now: number): boolean {
  return keys >= KEYS_MAX || now - beganAt >= SLOTS_PER_DAY
}

/** Starts a new generation and discards the one before the previous. */
function turnOver(filter: GateFilter, now: number): void {
  const oldest = filter.previous
  filter.previous = filter.current
  filter.current = oldest.fill(0)
  filter.keys = 0
  filter.beganAt = now
  filter.used = [0, filter.used[0]]
}

/** Adds `times` sightings of a key, and returns the number of earlier ones. */
function see(filter: GateFilter, hi: number, lo: number, times: number): number {
  const { current, previous } = filter
  const cells = cellsOf(hi, lo)
  const inCurrent = leastOf(current, cells)
  // Raises only cells below the new value; others may be shared with more frequent keys.
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

/** Returns the share of new keys that look as if seen before. */
function falsePositiveRate({ used: [current, previous] }: GateFilter): number {
  const missed = (cells: number) => 1 - (cells / CELLS) ** HASHES
  return 1 - missed(current) * missed(previous)
}

const places = new Uint32Array(HASHES)

/** Derives the cells from both halves of the key, which is already a hash (double hashing). */
function cellsOf(hi: number, lo: number): Uint32Array {
  const step = Math.imul(hi ^ (hi >>> 15), 0x9e3779b1) | 1
  for (let index = 0, at = lo; index < HASHES; index++, at += step) {
    places[index] = (at ^ (at >>> 16)) & (CELLS - 1)
  }
  return places
}

function packFilter({ current, previous, keys, beganAt }: GateFilter): Buffer {
  const cursor: Cursor = { bytes: Buffer.allocUnsafe(32), at: 0 }
  writeVarint(cursor, keys)
  writeVarint(cursor, beganAt)
  return Buffer.concat([cursor.bytes.subarray(0, cursor.at), current, previous])
}

/** Unpacks the output of `packFilter`. */
function readFilter(content: Buffer): GateFilter {
  const cursor = { bytes: content, at: 0 }
  const [keys, beganAt] = [readSmall(cursor), readSmall(cursor)]
  const cells = (at: number) => Uint8Array.from(content.subarray(at, at + CELLS))
  const [current, previous] = [cells(cursor.at), cells(cursor.at + CELLS)]
  return { current, previous, keys, beganAt, used: [usedOf(current), usedOf(previous)] }
}

function usedOf(cells: Uint8Array): number {
  return cells.reduce((used, cell) => used + (cell > 0 ? 1 : 0), 0)
}

const amounts: Count[] = [0, 0, 0, 0]

/**
 * Returns how often a key was seen in these deltas; undefined if any of them must never be held
 * back. Retractions do not count as sightings.
 */
export function timesAtGate(
  deltas: SortedDeltas,
  [from, to]: readonly [number, number],
): number | undefined {
  let times = 0
  for (let place = from; place < to; place++) {
    if (deltas.gated[deltas.order[place] ?? 0] === 0) return undefined
    times += sightingsAt(deltas, place)
  }
  return times
}

/**
 * Adds the earlier sightings of a key, which were held back, to the counters at the time of its
 * latest sighting.
 */
export function creditLast(
  history: History,
  deltas: SortedDeltas,
  [from, to]: readonly [number, number],
  { credit, now }: { credit: number; now: number },
): void {
  let place = to - 1
  while (place > from && sightingsAt(deltas, place) === 0) place--
  const index = deltas.order[place] ?? 0
  const slot = countedSlot(deltas.slot[index] ?? 0, now)
  const head = readEntry({ bytes: deltas.bytes, at: deltas.at[index] ?? 0 }, amounts)
  const prefix = entryPrefix(head)
  for (const [kind, amount] of amounts.entries()) {
    if (amount <= 0 || kind === REDEEMED) continue
    addCount(history.days, { period: dayOf(slot), prefix }, kind, credit)
    if (slot >= oldestSlotKept(now)) addCount(history.slots, { period: slot, prefix }, kind, credit)
  }
}

/** Returns the number of messages seen according to a delta. */
function sightingsAt({ bytes, at, order }: SortedDeltas, place: number): number {
  readEntry({ bytes, at: at[order[place] ?? 0] ?? 0 }, amounts)
  const [ham = 0, spam = 0, complaint = 0] = amounts
  return Math.max(0, Number(ham), Number(spam), Number(complaint))
}

/** The gate of one shard during one roll-up. */
export type Gate = {
  /**
   * Returns the number of earlier sightings of a key without counter if it may pass now; otherwise
   * undefined.
   */
  admit: (hi: number, lo: number, times: number) => number | undefined
  /** Stores the new sightings, in the transaction of the roll-up. */
  save: () => Promise<void>
  /** Statistics for metrics. */
  numbers: () => GateNumbers
}

/** The gates of the shards that this process rolls up. */
export type Gates = {
  open: (tx: Db, place: GatePlace, now: number) => Promise<Gate>
  /** Call it after the commit: the filter in memory is then valid for the next version. */
  keep: (place: GatePlace) => void
  /** Call it after a rollback, or if another process may have rolled up the shard. */
  forget: (shard: number) => void
}

/** A shard, with the version that a roll-up has claimed. */
type GatePlace = { shard: number; version: number }

/** The version is NaN while a roll-up is running. */
type Remembered = { version: number; filter: GateFilter; noteBytes: number }

const NOTE_BYTES = 18
/**
 * Maximum total size in bytes of the notes (lists of sightings) since the last complete filter,
 * half the size of a filter. Above it, a complete filter is written.
 */
const NOTES_BYTES_MAX = 262_144
/**
 * Replaces the size of the notes when no complete filter of the current generation is stored, so
 * that one must be written.
 */
const UNSAVED = Number.POSITIVE_INFINITY

/**
 * Creates gates that admit a key once it was seen `timesMin` times. A filter stays in memory while
 * only this process rolls up its shard. Otherwise it is read from the database, where each roll-up
 * stores its sightings as a note, or the complete filter.
 */
export function createGates(timesMin: number): Gates {
  const memory = new Map<number, Remembered>()
  return {
    async open(tx, { shard, version }, now) {
      const known = memory.get(shard)
      const valid = known?.version === version - 1 ? known : await restore(tx, shard, now)
      const state = { ...valid, version: Number.NaN }
      memory.set(shard, state)
      return openGate(tx, { shard, version }, { now, timesMin, state })
    },
    keep({ shard, version }) {
      const known = memory.get(shard)
      const isOurs = known && (Number.isNaN(known.version) || known.version === version - 1)
      if (isOurs) known.version = version
    },
    forget: (shard) => void memory.delete(shard),
  }
}

function openGate(
  tx: Db,
  { shard, version }: GatePlace,
  { now, timesMin, state }: { now: number; timesMin: number; state: Remembered },
): Gate {
  const { filter } = state
  const note: Cursor = { bytes: Buffer.allocUnsafe(1_024), at: 0 }
  const hasTurned = isSpent(filter, now)
  if (hasTurned) {
    turnOver(filter, now)
    state.noteBytes = UNSAVED
  }
  let passed = 0
  let heldBack = 0
  return {
    admit(hi, lo, times) {
      const before = see(filter, hi, lo, times)
      writeNote(note, { hi, lo, times })
      if (before + times < timesMin) {
        heldBack++
        return undefined
      }
      passed++
      return before
    },
    async save() {
      if (note.at === 0) return
      state.noteBytes += note.at
      const isWhole = state.noteBytes > NOTES_BYTES_MAX
      if (isWhole) state.noteBytes = 0
      const content = isWhole ? packFilter(filter) : Buffer.from(note.bytes.subarray(0, note.at))
      await insertGateState(tx, shard, { version, isWhole, content })
    },
    numbers: () => ({
      passed,
      heldBack,
      hasTurned,
      falsePositives: falsePositiveRate(filter),
      fill: fillOf(filter),
      beganAt: new Date(filter.beganAt * SLOT_MS),
    }),
  }
}

function writeNote(note: Cursor, { hi, lo, times }: { hi: number; lo: number; times: number }) {
  ensureRoom(note, NOTE_BYTES)
  note.at = note.bytes.writeUInt32BE(hi, note.at)
  note.at = note.bytes.writeUInt32BE(lo, note.at)
  writeVarint(note, times)
}

/** Returns the last complete filter with the later notes applied in order. */
async function restore(tx: Db, shard: number, now: number): Promise<Remembered> {
  const restored = { version: Number.NaN, filter: emptyFilter(now), noteBytes: UNSAVED }
  for (const { isWhole, content } of await listGateStates(tx, shard)) {
    if (isWhole) {
      restored.filter = readFilter(content)
      restored.noteBytes = 0
      continue
    }
    restored.noteBytes += content.length
    const cursor = { bytes: content, at: 0 }
    while (cursor.at < content.length) {
      see(restored.filter, readHalf(cursor), readHalf(cursor), readSmall(cursor))
    }
  }
  return restored
}
