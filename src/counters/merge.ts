import { type Count, add, REDEEMED, UNIQUE } from './packed/count.ts'
import type { Cursor } from './packed/cursor.ts'
import { HAS_UNIQUE, prefixOf, readEntry, readHalf } from './packed/delta-packing.ts'
import type { History, MemberSet } from './packed/history.ts'
import { EXPIRED, isGone, type Member, readMembers, weigh } from './packed/members.ts'
import { countedSlot, dayOf, oldestDayKept, oldestSlotKept, SLOTS_PER_DAY } from './period.ts'
import { addAt, addCount, placeOf } from './packed/series.ts'
import type { SortedDeltas } from './sorted-deltas.ts'

/** Members a set may have in the row of its key; with more it is spilled. */
export const MEMBERS_INLINE_MAX = 64

/** What is to be added to a member of a spilled set: `slot` of its day, or `EXPIRED`. */
export type Weight = { hi: number; lo: number; slot: number; weight: Count }

/** Weights that wait for the chunks of their set. */
export type Spill = { set: MemberSet; weights: Weight[] }

const amounts: Count[] = [0, 0, 0, 0]
const cursor: Cursor = { bytes: Buffer.alloc(0), at: 0 }

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
  let spills: Map<MemberSet, Spill> | undefined
  cursor.bytes = deltas.bytes
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
    const dayPlace = placeOf(history.days, day, prefix)
    const slotPlace = isSlotKept ? placeOf(history.slots, slot, prefix) : 0
    for (let kind = 0; kind < amounts.length; kind++) {
      const amount = amounts[kind] ?? 0
      if (amount === 0) continue
      addAt(history.days, dayPlace, kind, amount)
      if (isSlotKept) addAt(history.slots, slotPlace, kind, amount)
      if (kind !== REDEEMED) weight = add(weight, amount)
    }
    if (!(head & HAS_UNIQUE) || weight === 0) continue
    const set = setOf(history, day, prefix)
    const slotOfDay = isSlotKept ? slot - day * SLOTS_PER_DAY : EXPIRED
    const one = { hi: readHalf(cursor), lo: readHalf(cursor), slot: slotOfDay, weight }
    if (set.chunks > 0 || set.members.length > MEMBERS_INLINE_MAX) {
      spills ??= new Map()
      const spill = spills.get(set) ?? { set, weights: [] }
      spills.set(set, spill)
      spill.weights.push(one)
    } else addWeight(history, set, open(set, now).members, one)
  }
  for (const set of history.sets) {
    if (set.members.length <= MEMBERS_INLINE_MAX || spills?.has(set)) continue
    spills ??= new Map()
    spills.set(set, { set, weights: [] })
  }
  return spills ? [...spills.values()] : none
}

const none: Spill[] = []

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

/** Adds a weight to whom it belongs among members of a set: who comes, and who is gone. */
export function addWeight(history: History, set: MemberSet, members: Member[], one: Weight): void {
  let index = 0
  for (; index < members.length; index++) {
    const known = members[index]
    if (known?.lo === one.lo && known.hi === one.hi) break
  }
  const member = members[index] ?? { hi: one.hi, lo: one.lo, slots: [], sums: [] }
  members[index] = member
  weighMember(history, set, member, one)
  if (isGone(member)) members.splice(index, 1)
}

/** Adds a weight to a member, and what follows from it to the uniques of slot and day. */
function weighMember(
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
