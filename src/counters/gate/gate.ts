import { insertGateState, listGateStates } from '../../db/counter-gates.ts'
import type { GateNumbers } from '../../db/counter-shards.ts'
import type { Db } from '../../db/pool.ts'
import { type Cursor, ensureRoom, readSmall, writeVarint } from '../packed/cursor.ts'
import { readHalf } from '../packed/delta-packing.ts'
import {
  emptyFilter,
  falsePositiveRate,
  fillOf,
  type GateFilter,
  isSpent,
  packFilter,
  readFilter,
  see,
  turnOver,
} from './gate-filter.ts'
import { SLOT_MS } from '../period.ts'

/** The gate of one shard during one roll-up. */
export type Gate = {
  /** How often a key without counter was seen before, if it may pass now; else undefined. */
  admit: (hi: number, lo: number, times: number) => number | undefined
  /** Writes in the same transaction what came to the gate. */
  save: () => Promise<void>
  /** For the metrics. */
  numbers: () => GateNumbers
}

/** The gates of the shards that this process rolls up. */
export type Gates = {
  open: (tx: Db, place: GatePlace, now: number) => Promise<Gate>
  /** The roll-up was committed: what it left in memory is valid for the next version. */
  keep: (place: GatePlace) => void
  /** It was not, or another process may have the shard now. */
  forget: (shard: number) => void
}

/** A shard, at the version that a roll-up has claimed. */
export type GatePlace = { shard: number; version: number }

/** The version is not a number while a roll-up is under way. */
type Remembered = { version: number; filter: GateFilter; noteBytes: number }

const NOTE_BYTES = 18
/** Notes since the last whole filter: at twice the bytes, it is time for another. */
const NOTES_BYTES_MAX = 262_144
/** In place of their bytes: notes would not do, because the filter itself has changed. */
const UNSAVED = Number.POSITIVE_INFINITY

/**
 * Gates that let a key have a counter when it was seen `timesMin` times. A filter stays in memory
 * while this process rolls its shard up and nobody else does; it comes back from the database,
 * where it is written with each roll-up: the keys held back then, or all of it.
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

/** The filter as it was written whole, and what came to it since, in its order. */
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
