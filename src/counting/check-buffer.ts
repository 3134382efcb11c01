import { type PackedShingles, readShingles } from '../pieces/shingles/packed-shingles.ts'
import { gatedTypes } from '../pieces/shingles/piece-types.ts'
import type { Clock } from '../world.ts'
import { type Halves, pairKey, prefixes, slotOf } from './keys.ts'
import { kinds } from './packed/cursor.ts'
import { type DeltaBlock, GATED, headOf } from './packed/delta-packing.ts'
import { createTally } from './sorted-deltas.ts'

/** What a checked message counts as: unwanted, or let through. */
export type CheckedAs = 'ham' | 'spam'

const CHECKS = prefixes.indexOf('checks')

/**
 * Counts a message that a mail server asked about, once for each of its shingles, as
 * `countMessages` does for reports: pieces of gated types may be held back, pairs raise uniques.
 * Ham is what was let through, so that ham and spam together are all that was seen.
 */
export function countChecked(
  buffer: Pick<CheckBuffer, 'add'>,
  shingles: PackedShingles,
  as: CheckedAs,
): void {
  const bit = 1 << kinds.indexOf(as)
  const headOfPiece = headOf(bit, CHECKS, 0)
  const headOfPair = headOf(bit, CHECKS, 1)
  for (const shingle of readShingles(shingles)) {
    const { type, of } = shingle
    if (of) buffer.add(pairKey(type, of), headOfPair, 1, shingle)
    else buffer.add(shingle, gatedTypes.has(type) ? headOfPiece | GATED : headOfPiece, 1)
  }
}

/** Counts of the check path that are not yet in the database. */
export type CheckBuffer = {
  /** Adds `times` to the counters in `head` (see `headOf`) of a key, and who it was seen with. */
  add: (key: Halves, head: number, times: number, unique?: Halves) => void
  /** Increments that found no room and are lost: a metric. */
  lost: () => number
  /** Appends what is there, and stops. */
  close: () => Promise<void>
}

/** Longest that a count waits, and is lost if the process is killed. */
export const FLUSH_MS = 500

/**
 * A buffer that adds up in memory (five increments of one are one increment of five) and appends at
 * most every half second. What cannot be appended, while the database is away, is kept as long as
 * there is room for `keysMax` sums; then further counts are lost, and counted as that.
 */
export function createCheckBuffer(
  {
    append,
    clock,
    failed,
  }: {
    append: (blocks: readonly DeltaBlock[]) => Promise<void>
    clock: Clock
    failed: (error: unknown) => void
  },
  keysMax: number,
): CheckBuffer {
  const tally = createTally(keysMax, slotOf(clock()))
  let waiting: DeltaBlock[] = []
  let lost = 0
  let appending: Promise<void> = Promise.resolve()
  let isAppending = false

  const flush = (): Promise<void> => {
    if (isAppending) return appending
    if (waiting.length === 0) {
      waiting = tally.pack()
      tally.begin(slotOf(clock()))
    }
    if (waiting.length === 0) return Promise.resolve()
    isAppending = true
    appending = append(waiting)
      .then(() => {
        waiting = []
      })
      .catch(failed)
      .finally(() => {
        isAppending = false
      })
    return appending
  }
  const timer = setInterval(() => void flush(), FLUSH_MS)
  return {
    add(key, head, times, unique) {
      if (!tally.add(key, head, times, unique)) lost += times
    },
    lost: () => lost,
    async close() {
      clearInterval(timer)
      await flush()
      await flush()
    },
  }
}
