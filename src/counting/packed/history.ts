import { dayOf, oldestDayKept, oldestSlotKept, SLOTS_PER_DAY } from '../keys.ts'
import {
  add,
  type Count,
  type Cursor,
  ensureRoom,
  readSmall,
  REDEEMED,
  writeVarint,
} from './cursor.ts'
import { readHalf } from './delta-packing.ts'
import {
  type Member,
  prune,
  readMembers,
  readSeries,
  type Series,
  writeMembers,
  writeSeries,
} from './members.ts'

/**
 * All counts of one key. The packed form:
 *
 * - four times the newest day, as a varint;
 * - the days, as a series;
 * - the ten-minute slots, as a series relative to the end of the newest day;
 * - the number of member sets, then each set: days before the newest, a byte (bits 0-1: prefix, 2:
 *   spilled), the length of the rest, and the members. A spilled set has the numbers of its chunks
 *   and members instead.
 *
 * Most keys are seen in only one slot. The days equal the slots then; they are omitted, and 1 is
 * added to the first varint. If also a single member caused all counts, its eight bytes replace the
 * sets, and 2 is added.
 */
export type History = { days: Series; slots: Series; sets: MemberSet[] }

/** The members of one day and prefix: packed until they are needed, unpacked, or spilled. */
export type MemberSet = {
  day: number
  prefix: number
  packed: Buffer | undefined
  members: Member[]
  /** Number of rows of `counter_members` that hold the members; 0 if they are in this row. */
  chunks: number
  /** Number of members of a spilled set. */
  membersTotal: number
}

const SPILLED = 4
const IN_ONE_SLOT = 1
const OF_ONE_MEMBER = 2
const DAY_SHIFT = 2
const MEMBER_BYTES_MAX = 16

export function emptyHistory(): History {
  return { days: { places: [], counts: [] }, slots: { places: [], counts: [] }, sets: [] }
}

/**
 * Reads a packed history into an existing object, which is cleared first. Keeps expired buckets.
 */
export function readHistory(content: Buffer, history: History): void {
  const cursor = { bytes: content, at: 0 }
  const head = readSmall(cursor)
  const newest = head >>> DAY_SHIFT
  if (!(head & IN_ONE_SLOT)) readSeries(cursor, history.days, newest)
  readSeries(cursor, history.slots, lastSlotOf(newest))
  if (head & IN_ONE_SLOT) copyToDay(history)
  history.sets.length = 0
  if (head & OF_ONE_MEMBER) {
    history.sets.push(readOnlyMember(cursor, history))
    return
  }
  for (let left = readSmall(cursor); left > 0; left--) history.sets.push(readSet(cursor, newest))
}

export function clearHistory({ days, slots, sets }: History): void {
  for (const list of [days.places, days.counts, slots.places, slots.counts, sets]) list.length = 0
}

/** Reads the only member, which caused all counts of the only slot, and returns it as a set. */
function readOnlyMember(cursor: Cursor, { slots }: History): MemberSet {
  const place = slots.places[0] ?? 0
  const day = dayOf(place >> 2)
  const hi = readHalf(cursor)
  const member: Member = {
    hi,
    lo: readHalf(cursor),
    slots: [(place >> 2) - day * SLOTS_PER_DAY],
    sums: [owedIn(slots)],
  }
  const own: Cursor = { bytes: Buffer.allocUnsafe(MEMBER_BYTES_MAX), at: 0 }
  writeMembers(own, [member])
  const packed = own.bytes.subarray(0, own.at)
  return { day, prefix: place & 3, packed, members: [], chunks: 0, membersTotal: 0 }
}

/**
 * Returns the sum of the counts of the first bucket that are due to members: all kinds but
 * redemptions.
 */
function owedIn({ counts }: Series): Count {
  return counts.slice(0, REDEEMED).reduce<Count>(add, 0)
}

/** Returns the only member of a history if that member caused all counts. */
function onlyMember({ slots, sets }: History): Member | undefined {
  const [set, other] = sets
  if (!set || other || set.chunks > 0) return undefined
  const [member, second] = set.packed ? readMembers(set.packed, 0) : set.members
  const place = slots.places[0] ?? 0
  const isAll =
    member?.slots.length === 1 &&
    set.prefix === (place & 3) &&
    set.day * SLOTS_PER_DAY + (member.slots[0] ?? 0) === place >> 2 &&
    member.sums[0] === owedIn(slots)
  return isAll && !second ? member : undefined
}

function readSet(cursor: Cursor, newest: number): MemberSet {
  const day = newest - readSmall(cursor)
  const head = cursor.bytes[cursor.at++] ?? 0
  const length = readSmall(cursor)
  const start = cursor.at
  const set: MemberSet = {
    day,
    prefix: head & 3,
    packed: undefined,
    members: [],
    chunks: 0,
    membersTotal: 0,
  }
  if (head & SPILLED) {
    set.chunks = readSmall(cursor)
    set.membersTotal = readSmall(cursor)
  } else set.packed = cursor.bytes.subarray(start, start + length)
  cursor.at = start + length
  return set
}

const scratch: Cursor = { bytes: Buffer.allocUnsafe(4_096), at: 0 }
const inner: Cursor = { bytes: Buffer.allocUnsafe(4_096), at: 0 }

/** Packs a history without the buckets that have expired at the slot `now`. */
export function packHistory(history: History, now: number): Buffer {
  const { days, slots } = history
  prune(days, oldestDayKept(now))
  prune(slots, oldestSlotKept(now))
  const sets = history.sets.filter((set) => set.day >= oldestDayKept(now) && !isEmpty(set))
  const newest = sets.reduce(
    (day, set) => Math.max(day, set.day),
    Math.max((days.places[0] ?? 0) >> 2, dayOf((slots.places[0] ?? 0) >> 2)),
  )
  scratch.at = 0
  const inOneSlot = isInOneSlot(history)
  const member = inOneSlot ? onlyMember({ days, slots, sets }) : undefined
  const bits = (inOneSlot ? IN_ONE_SLOT : 0) | (member ? OF_ONE_MEMBER : 0)
  writeVarint(scratch, newest * 2 ** DAY_SHIFT + bits)
  if (!inOneSlot) writeSeries(scratch, days, newest)
  writeSeries(scratch, slots, lastSlotOf(newest))
  if (member) writeHash(scratch, member)
  else {
    writeVarint(scratch, sets.length)
    for (const set of sets) writeSet(scratch, set, newest)
  }
  const packed = Buffer.allocUnsafe(scratch.at)
  scratch.bytes.copy(packed, 0, 0, scratch.at)
  return packed
}

function writeHash(cursor: Cursor, { hi, lo }: Member): void {
  ensureRoom(cursor, 8)
  cursor.at = cursor.bytes.writeUInt32BE(hi, cursor.at)
  cursor.at = cursor.bytes.writeUInt32BE(lo, cursor.at)
}

function isInOneSlot({ days, slots }: History): boolean {
  const [day = 0] = days.places
  const [slot = 0] = slots.places
  return (
    days.places.length === 1 &&
    slots.places.length === 1 &&
    placeOfDay(slot) === day &&
    days.counts.every((count, kind) => count === slots.counts[kind])
  )
}

function copyToDay({ days, slots }: History): void {
  days.places.length = 0
  days.counts.length = 0
  for (const place of slots.places) days.places.push(placeOfDay(place))
  for (const count of slots.counts) days.counts.push(count)
}

/** Returns the place of the bucket of a day, given the place of one of its slots. */
function placeOfDay(place: number): number {
  return dayOf(place >> 2) * 4 + (place & 3)
}

function writeSet(cursor: Cursor, set: MemberSet, newest: number): void {
  writeVarint(cursor, newest - set.day)
  inner.at = 0
  if (set.chunks > 0) {
    writeVarint(inner, set.chunks)
    writeVarint(inner, set.membersTotal)
  } else if (!set.packed) writeMembers(inner, set.members)
  const content = set.packed ?? inner.bytes.subarray(0, inner.at)
  // Written as a varint, because values below 128 have the same form as a byte.
  writeVarint(cursor, set.prefix | (set.chunks > 0 ? SPILLED : 0))
  writeVarint(cursor, content.length)
  ensureRoom(cursor, content.length)
  cursor.at += content.copy(cursor.bytes, cursor.at)
}

function isEmpty({ packed, members, chunks }: MemberSet): boolean {
  return chunks === 0 && (packed ? packed.length === 0 : members.length === 0)
}

function lastSlotOf(day: number): number {
  return (day + 1) * SLOTS_PER_DAY - 1
}
