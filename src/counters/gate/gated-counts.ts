import { type Count, REDEEMED, UNIQUE } from '../packed/count.ts'
import type { Cursor } from '../packed/cursor.ts'
import { prefixOf, readEntry } from '../packed/delta-packing.ts'
import type { History } from '../packed/history.ts'
import { countedSlot, dayOf, oldestDayKept, oldestSlotKept } from '../period.ts'
import { addCount, payDebts } from '../packed/series.ts'
import type { SortedDeltas } from '../sorted-deltas.ts'

/**
 * Keys that may be held back at the gate are counted by credit: what came while one was held back
 * counts when it passes, in the period of what it passes with. So the sum over all periods is what
 * it would have been without a gate, for as long as the gate remembers; a single period is not. No
 * count of such a key is ever below zero: what is taken back from a period that has it no more is
 * taken from the next one that has, and what was forgotten at the gate cannot be taken back.
 */
export type Sightings = {
  /** How often the key was seen, less what was taken back. */
  times: number
  /** Something was taken back that came earlier: then the key passes, or it would be forgotten. */
  takesBack: boolean
}

const amounts: Count[] = [0, 0, 0, 0]
const sums = [0, 0, 0, 0]
const cursor: Cursor = { bytes: Buffer.alloc(0), at: 0 }

/** What the deltas of a key come to, if all of them may be held back; else undefined. */
export function sightingsOf(
  deltas: SortedDeltas,
  [from, to]: readonly [number, number],
): Sightings | undefined {
  cursor.bytes = deltas.bytes
  sums.fill(0)
  for (let place = from; place < to; place++) {
    const index = deltas.order[place] ?? 0
    if (deltas.gated[index] === 0) return undefined
    cursor.at = deltas.at[index] ?? 0
    readEntry(cursor, amounts)
    for (let kind = 0; kind < sums.length; kind++) {
      sums[kind] = (sums[kind] ?? 0) + Number(amounts[kind] ?? 0)
    }
  }
  const [ham = 0, spam = 0, complaint = 0, redeemed = 0] = sums
  return {
    times: Math.max(0, ham, spam, complaint),
    takesBack: redeemed > 0 || Math.min(ham, spam, complaint) < 0,
  }
}

/**
 * Counts what was seen of a key while it was held back, of the kinds of its last delta and in the
 * period of that one.
 */
export function creditLast(
  history: History,
  deltas: SortedDeltas,
  [from, to]: readonly [number, number],
  { credit, now }: { credit: number; now: number },
): void {
  cursor.bytes = deltas.bytes
  for (let place = to - 1; place >= from; place--) {
    const index = deltas.order[place] ?? 0
    const slot = countedSlot(deltas.slot[index] ?? 0, now)
    cursor.at = deltas.at[index] ?? 0
    const prefix = prefixOf(readEntry(cursor, amounts))
    let isCredited = false
    for (let kind = 0; kind < REDEEMED; kind++) {
      if (amounts[kind] === 0) continue
      isCredited = true
      const day = dayOf(slot)
      if (day >= oldestDayKept(now)) addCount(history.days, { period: day, prefix }, kind, credit)
      if (slot < oldestSlotKept(now)) continue
      addCount(history.slots, { period: slot, prefix }, kind, credit)
    }
    if (isCredited) return
  }
}

/** Lets no count be below zero. */
export function settle({ days, slots }: History): void {
  for (let kind = 0; kind < UNIQUE; kind++) {
    payDebts(days, kind)
    payDebts(slots, kind)
  }
}
