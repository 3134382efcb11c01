import { type Count, add, REDEEMED, UNIQUE } from './packed/count.ts'
import type { Cursor } from './packed/cursor.ts'
import { HAS_UNIQUE, prefixOf, readEntry, readHalf } from './packed/delta-packing.ts'
import type { History, MemberSet } from './packed/history.ts'
import { EXPIRED, isGone, type Member, readMembers, weigh } from './packed/members.ts'
import { countedSlot, dayOf, oldestDayKept, oldestSlotKept, SLOTS_PER_DAY } from './period.ts'
import { addCount } from './packed/series.ts'
import type { SortedDeltas } from './sorted-deltas.ts'

/** Members a set may have in the row of its key; with more it is spilled. */
export const MEMBERS_INLINE_MAX = 64

/** What is to be added to a member of a spilled set: `slot` of its day, or `EXPIRED`. */
export type Weight = { hi: number; lo: number; slot: number; weight: Count }

/** Weights that wait for the chunks of their set. */
export type Spill = { set: MemberSet; weights: Weight[] }

const amounts: Count[] = [0, 0, 0, 0]

/**
 * Adds the deltas from one place in the order to another, which are all of one key, to its
 * history. Those that belong to spilled sets are given back. The order of deltas does not matter.
 */
export function mergeDeltas(
  history: History,
  deltas: SortedDeltas,
  [from, to]: readonly [number, number],
  now: number,
): Spill[] {
  const spills = new Map<MemberSet, Spill>()
  const cursor: Cursor = { bytes: deltas.bytes, at: 0 }
  for (let place = from; place < to; place++) {
    const index = deltas.order[place] ?? 0
    const slot = countedSlot(deltas.slot[index] ?? 0, now)
    const day = dayOf(slot)
    if (day < oldestDayKept(now)) continue
    cursor.at = deltas.at[index] ?? 0
    const head = readEntry(cursor, amounts)
    const prefix = prefixOf(head)
    const isSlotKept = slot >= oldestSlotKept(now)
    let weight: Count = 0
    for (const [kind, amount] of amounts.entries()) {
      if (amount === 0) continue
      addCount(history.days, { period: day, prefix }, kind, amount)
      if (isSlotKept) addCount(history.slots, { period: slot, prefix }, kind, amount)
      if (kind !== REDEEMED) weight = add(weight, amount)
    }
    if (!(head & HAS_UNIQUE) || weight === 0) continue
    const set = setOf(history, day, prefix)
    const slotOfDay = isSlotKept ? slot - day * SLOTS_PER_DAY : EXPIRED
    const one = { hi: readHalf(cursor), lo: readHalf(cursor), slot: slotOfDay, weight }
    if (set.chunks > 0 || set.members.length > MEMBERS_INLINE_MAX) {
      const spill = spills.get(set) ?? { set, weights: [] }
      spills.set(set, spill)
      spill.weights.push(one)
    } else weighInline(history, open(set, now), one)
  }
  for (const set of history.sets) {
    if (set.members.length > MEMBERS_INLINE_MAX && !spills.has(set)) {
      spills.set(set, { set, weights: [] })
    }
  }
  return spills.size === 0 ? none : [...spills.values()]
}

const none: Spill[] = []

/**
 * How often a key was seen in these deltas, if all of them may be held back; else nothing. What is
 * taken back with them was not seen, and to be redeemed is not to be seen again.
 */
export function timesAtGate(
  deltas: SortedDeltas,
  [from, to]: readonly [number, number],
): number | undefined {
  let times = 0
  const cursor: Cursor = { bytes: deltas.bytes, at: 0 }
  for (let place = from; place < to; place++) {
    const index = deltas.order[place] ?? 0
    if (deltas.gated[index] === 0) return undefined
    cursor.at = deltas.at[index] ?? 0
    readEntry(cursor, amounts)
    const [ham, spam, complaint] = [Number(amounts[0]), Number(amounts[1]), Number(amounts[2])]
    const most = Math.max(ham, spam, complaint)
    times += most > 0 ? most : Math.min(ham, spam, complaint)
  }
  return Math.max(0, times)
}

/** Counts what was seen of a key while it was held back as if it had come with its last delta. */
export function creditLast(
  history: History,
  deltas: SortedDeltas,
  last: number,
  { credit, now }: { credit: number; now: number },
): void {
  const index = deltas.order[last] ?? 0
  const slot = countedSlot(deltas.slot[index] ?? 0, now)
  const head = readEntry({ bytes: deltas.bytes, at: deltas.at[index] ?? 0 }, amounts)
  const prefix = prefixOf(head)
  for (const [kind, amount] of amounts.entries()) {
    if (amount <= 0 || kind === REDEEMED) continue
    addCount(history.days, { period: dayOf(slot), prefix }, kind, credit)
    if (slot >= oldestSlotKept(now)) addCount(history.slots, { period: slot, prefix }, kind, credit)
  }
}

function setOf({ sets }: History, day: number, prefix: number): MemberSet {
  const found = sets.find((set) => set.day === day && set.prefix === prefix)
  if (found) return found
  const set = { day, prefix, packed: undefined, members: [], chunks: 0, membersTotal: 0 }
  sets.push(set)
  return set
}

function open(set: MemberSet, now: number): MemberSet {
  if (!set.packed) return set
  set.members = readMembers(set.packed, oldestSlotOf(set, now))
  set.packed = undefined
  return set
}

/** The first slot of the set's day whose bucket is kept: below zero when all are. */
export function oldestSlotOf({ day }: MemberSet, now: number): number {
  return oldestSlotKept(now) - day * SLOTS_PER_DAY
}

function weighInline(history: History, set: MemberSet, one: Weight): void {
  const { members } = set
  const index = members.findIndex(({ hi, lo }) => lo === one.lo && hi === one.hi)
  const member: Member = members[index] ?? { hi: one.hi, lo: one.lo, slots: [], sums: [] }
  if (index < 0) members.push(member)
  weighMember(history, set, member, one)
  if (isGone(member)) members.splice(members.indexOf(member), 1)
}

/** Adds a weight to a member, and what follows from it to the uniques of slot and day. */
export function weighMember(
  history: History,
  { day, prefix }: MemberSet,
  member: Member,
  { slot, weight }: Weight,
): void {
  const turn = weigh(member, slot, weight)
  if (turn.day !== 0) addCount(history.days, { period: day, prefix }, UNIQUE, turn.day)
  if (turn.slot === 0 || slot === EXPIRED) return
  const period = day * SLOTS_PER_DAY + slot
  addCount(history.slots, { period, prefix }, UNIQUE, turn.slot)
}
