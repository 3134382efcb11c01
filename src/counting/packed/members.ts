import { SLOTS_PER_DAY } from '../keys.ts'
import {
  add,
  type Count,
  type Cursor,
  ensureRoom,
  kinds,
  readSmall,
  readVarint,
  unzigzag,
  writeVarint,
  zigzag,
} from './cursor.ts'
import { readHalf } from './delta-packing.ts'

/**
 * A unique seen with a key on a day, with a sum for each ten-minute slot of the day. It counts as a
 * unique of a period while its sum over the period is positive. So a retraction removes it, unless
 * another report contains the same unique.
 */
export type Member = { hi: number; lo: number; slots: number[]; sums: Count[] }

/** Replaces the slots of a day whose buckets have expired. Their sums count for the day only. */
export const EXPIRED = SLOTS_PER_DAY

const MEMBER_BYTES_MAX = 16

/** Change of the unique counters of a slot and of its day that a member causes: 1, 0 or -1. */
export type Turn = { slot: number; day: number }

/** Adds a weight to a slot of a member; returns the change of the unique counters. */
export function weigh(member: Member, slot: number, weight: Count): Turn {
  const dayBefore = stands(daySum(member))
  const index = member.slots.indexOf(slot)
  const before = index < 0 ? 0 : (member.sums[index] ?? 0)
  const after = add(before, weight)
  if (index >= 0) member.sums[index] = after
  else {
    member.slots.push(slot)
    member.sums.push(after)
  }
  return { slot: stands(after) - stands(before), day: stands(daySum(member)) - dayBefore }
}

/** Whether all sums of a member are 0. Negative ones are kept, to be compensated later. */
export function isGone({ sums }: Member): boolean {
  return sums.every((sum) => sum === 0)
}

function daySum({ sums }: Member): Count {
  if (sums.length === 1) return sums[0] ?? 0
  return sums.reduce<Count>(add, 0)
}

function stands(sum: Count): number {
  return sum > 0 ? 1 : 0
}

/**
 * Writes members one after the other: 8 bytes, the number of slots, then each slot with its sum.
 */
export function writeMembers(cursor: Cursor, members: Iterable<Member>): void {
  for (const { hi, lo, slots, sums } of members) {
    ensureRoom(cursor, MEMBER_BYTES_MAX)
    cursor.at = cursor.bytes.writeUInt32BE(hi, cursor.at)
    cursor.at = cursor.bytes.writeUInt32BE(lo, cursor.at)
    writeVarint(cursor, slots.length)
    for (const [index, slot] of slots.entries()) {
      writeVarint(cursor, slot)
      writeVarint(cursor, zigzag(sums[index] ?? 0))
    }
  }
}

/** Reads members to the end of the bytes. Slots before `oldest` are merged into one `EXPIRED`. */
export function readMembers(bytes: Buffer, oldest: number): Member[] {
  const cursor = { bytes, at: 0 }
  const members: Member[] = []
  while (cursor.at < bytes.length) {
    const member: Member = { hi: readHalf(cursor), lo: readHalf(cursor), slots: [], sums: [] }
    for (let left = readSmall(cursor); left > 0; left--) {
      const slot = readSmall(cursor)
      const sum = unzigzag(readVarint(cursor))
      if (slot !== EXPIRED && slot >= oldest) {
        member.slots.push(slot)
        member.sums.push(sum)
      } else weigh(member, EXPIRED, sum)
    }
    members.push(member)
  }
  return members
}

/**
 * The buckets of one granularity, newest first. A bucket's place is `period * 4 + prefix`; its
 * counts are the next five of `counts`, in the order of `kinds`.
 */
export type Series = { places: number[]; counts: Count[] }

const WIDTH = kinds.length
const PREFIX_BITS = 3
const KIND_SHIFT = 2
const SIGNED = 128
const BUCKET_BYTES_MAX = 64

/** Adds to a count; creates the bucket if needed. */
export function addCount(
  series: Series,
  { period, prefix }: { period: number; prefix: number },
  kind: number,
  amount: Count,
): void {
  addAt(series, placeOf(series, period, prefix), kind, amount)
}

/** Returns the index of a bucket's counts; creates the bucket if needed. */
export function placeOf({ places, counts }: Series, period: number, prefix: number): number {
  const place = period * 4 + prefix
  let index = 0
  while (index < places.length && (places[index] ?? 0) > place) index++
  if (places[index] !== place) {
    places.splice(index, 0, place)
    counts.splice(index * WIDTH, 0, 0, 0, 0, 0, 0)
  }
  return index * WIDTH
}

/** Adds to a count of the bucket whose counts start at `place`. */
export function addAt({ counts }: Series, place: number, kind: number, amount: Count): void {
  counts[place + kind] = add(counts[place + kind] ?? 0, amount)
}

/** Removes buckets before `oldest`, and buckets with only zero counts. */
export function prune(series: Series, oldest: number): void {
  const { places, counts } = series
  let kept = 0
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? 0
    if (place >> 2 < oldest || isBlank(counts, index)) continue
    places[kept] = place
    if (kept !== index) counts.copyWithin(kept * WIDTH, index * WIDTH, (index + 1) * WIDTH)
    kept++
  }
  places.length = kept
  counts.length = kept * WIDTH
}

function isBlank(counts: readonly Count[], index: number): boolean {
  for (let at = index * WIDTH; at < (index + 1) * WIDTH; at++) if (counts[at] !== 0) return false
  return true
}

/**
 * Writes a series: the number of buckets, then each bucket. A bucket consists of the number of
 * periods by which it is older than the previous bucket (the first one: than `newest`), a byte
 * (bits 0-1: prefix, 2-6: which counts follow, 7: zigzag-encoded, because one is negative) and
 * those counts.
 */
export function writeSeries(cursor: Cursor, { places, counts }: Series, newest: number): void {
  writeVarint(cursor, places.length)
  let before = newest
  for (const [index, place] of places.entries()) {
    const period = place >> 2
    writeVarint(cursor, before - period)
    before = period
    ensureRoom(cursor, BUCKET_BYTES_MAX)
    writeBucket(cursor, place & PREFIX_BITS, counts, index * WIDTH)
  }
}

function writeBucket(cursor: Cursor, prefix: number, counts: readonly Count[], from: number): void {
  let head = prefix
  for (let kind = 0; kind < WIDTH; kind++) {
    const count = counts[from + kind] ?? 0
    if (count !== 0) head |= 1 << (kind + KIND_SHIFT)
    if (count < 0) head |= SIGNED
  }
  cursor.bytes[cursor.at++] = head
  for (let kind = 0; kind < WIDTH; kind++) {
    const count = counts[from + kind] ?? 0
    if (count !== 0) writeVarint(cursor, head & SIGNED ? zigzag(count) : count)
  }
}

/** Reads the output of `writeSeries` into an existing series, which is cleared first. */
export function readSeries(cursor: Cursor, { places, counts }: Series, newest: number): void {
  places.length = 0
  counts.length = 0
  let period = newest
  for (let left = readSmall(cursor); left > 0; left--) {
    period -= readSmall(cursor)
    const head = cursor.bytes[cursor.at++] ?? 0
    places.push(period * 4 + (head & PREFIX_BITS))
    for (let kind = 0; kind < WIDTH; kind++) {
      if (!(head & (1 << (kind + KIND_SHIFT)))) counts.push(0)
      else counts.push(head & SIGNED ? unzigzag(readVarint(cursor)) : readVarint(cursor))
    }
  }
}
