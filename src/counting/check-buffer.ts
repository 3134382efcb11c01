import { type PackedShingles, readShingles } from '../pieces/shingles/packed-shingles.ts'
import { gatedTypes } from '../pieces/shingles/piece-types.ts'
import type { Clock } from '../world.ts'
import { type Halves, pairKey, prefixes, slotOf } from './keys.ts'
import { kinds } from './packed/cursor.ts'
import { type DeltaBlock, GATED, headOf } from './packed/delta-packing.ts'
import { createTally } from './sorted-deltas.ts'

/** How a checked message is counted: `spam` if it is unwanted, `ham` if it is accepted. */
export type CheckedAs = 'ham' | 'spam'

/**
 * Counts a message that a mail server checked, once for each of its shingles, like `countMessages`:
 * pieces of gated types may be held back, and pairs raise unique counters. The total traffic is the
 * sum of ham and spam. Mail of the mail server's own users counts under `outgoing`.
 */
export function countChecked(
  buffer: Pick<CheckBuffer, 'add'>,
  shingles: PackedShingles,
  as: CheckedAs,
  prefix: 'checks' | 'outgoing',
): void {
  const bit = 1 << kinds.indexOf(as)
  const headOfPiece = headOf(bit, prefixes.indexOf(prefix), 0)
  const headOfPair = headOf(bit, prefixes.indexOf(prefix), 1)
  for (const shingle of readShingles(shingles)) {
    const { type, of } = shingle
    if (of) buffer.add(pairKey(type, of), headOfPair, 1, shingle)
    else buffer.add(shingle, gatedTypes.has(type) ? headOfPiece | GATED : headOfPiece, 1)
  }
}

/** Counts of checked messages that are not in the database yet. */
export type CheckBuffer = {
  /**
   * Adds `times` to the counters of a key that `head` selects (see `headOf`). `unique` is the hash
   * of the pair, if the key is that of a pair type.
   */
  add: (key: Halves, head: number, times: number, unique?: Halves) => void
  /** Returns the number of increments dropped for lack of memory: a metric. */
  lost: () => number
  /** Writes the remaining counts, and stops. */
  close: () => Promise<void>
}

/**
 * Maximum time in milliseconds that a count stays in memory. It is lost if the process is killed.
 * Most keys of a minute return within seconds, so that larger batches have fewer sums.
 */
export const FLUSH_MS = 5_000

/**
 * Creates a buffer that sums in memory (five increments of a counter become one increment by five)
 * and writes every five seconds, and earlier when it has half of `keysMax` sums. While the database
 * is unreachable it keeps up to `keysMax`; further counts are dropped and included in `lost`.
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
  let hasFailed = false

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
        hasFailed = false
      })
      .catch((error: unknown) => {
        hasFailed = true
        failed(error)
      })
      .finally(() => {
        isAppending = false
      })
    return appending
  }
  const timer = setInterval(() => void flush(), FLUSH_MS)
  return {
    add(key, head, times, unique) {
      if (!tally.add(key, head, times, unique)) lost += times
      const isHalfFull = tally.size() * 2 >= keysMax
      if (isHalfFull && !isAppending && !hasFailed) void flush()
    },
    lost: () => lost,
    async close() {
      clearInterval(timer)
      await flush()
      await flush()
    },
  }
}
