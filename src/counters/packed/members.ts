import { type Count, add } from './count.ts'
import { type Cursor, ensureRoom, readSmall, readVarint, unzigzag } from './cursor.ts'
import { writeVarint, zigzag } from './cursor.ts'
import { readHalf } from './delta-packing.ts'
import { SLOTS_PER_DAY } from '../period.ts'

/**
 * One who was seen with a key on a day, and what each ten-minute slot of the day had from it. It
 * counts as a unique of a period while the sum of the period is above nothing; so whoever takes a
 * report back is no unique any more, unless there is another report.
 */
export type Member = { hi: number; lo: number; slots: number[]; sums: Count[] }

/** In place of slots whose buckets have expired: only the day counts them still. */
export const EXPIRED = SLOTS_PER_DAY

const MEMBER_BYTES_MAX = 16

/** How a member's standing in the slot and in the day changed: 1, 0 or -1. */
export type Turn = { slot: number; day: number }

/** Adds a weight to a slot of a member. */
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

/** Whether nothing is left of a member, not even something to be made up for. */
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

/** Writes members one after the other: 8 bytes, how many slots, then each slot with its sum. */
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

/** Reads members to the end of the bytes. Slots before `oldest` become one `EXPIRED`. */
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
