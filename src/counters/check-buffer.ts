import type { Clock } from '../world.ts'
import type { Halves } from './keys.ts'
import type { DeltaBlock } from './packed/delta-packing.ts'
import { createTally } from './tally.ts'
import { slotOf } from './period.ts'

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
