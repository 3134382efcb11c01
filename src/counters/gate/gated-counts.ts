import { type Count, REDEEMED } from '../packed/count.ts'
import { prefixOf, readEntry } from '../packed/delta-packing.ts'
import type { History } from '../packed/history.ts'
import { countedSlot, dayOf, oldestSlotKept } from '../period.ts'
import { addCount } from '../packed/series.ts'
import type { SortedDeltas } from '../sorted-deltas.ts'

const amounts: Count[] = [0, 0, 0, 0]

/**
 * How often a key was seen in these deltas, if all of them may be held back; else nothing. What is
 * taken back was not seen once more.
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

/** Counts what was seen of a key while it was held back as if it came with its last sighting. */
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
  const prefix = prefixOf(head)
  for (const [kind, amount] of amounts.entries()) {
    if (amount <= 0 || kind === REDEEMED) continue
    addCount(history.days, { period: dayOf(slot), prefix }, kind, credit)
    if (slot >= oldestSlotKept(now)) addCount(history.slots, { period: slot, prefix }, kind, credit)
  }
}

/** How many messages a delta says were seen. */
function sightingsAt({ bytes, at, order }: SortedDeltas, place: number): number {
  readEntry({ bytes, at: at[order[place] ?? 0] ?? 0 }, amounts)
  const [ham = 0, spam = 0, complaint = 0] = amounts
  return Math.max(0, Number(ham), Number(spam), Number(complaint))
}
