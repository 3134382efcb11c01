import { generationOf } from '../db/counter-partitions.ts'

/** The short period. */
export const SLOT_MS = 600_000
/** Ten-minute slots of one day. */
export const SLOTS_PER_DAY = 144

/** Slots before the present one that are counted in "the last day": with it, a little more. */
export const SLOTS_LIVE = 144
/** Days before today that are counted in "two weeks": with it, fourteen. */
export const DAYS_LIVE = 13

/** Kept a little longer than they are read, so that clocks may differ between machines. */
const SLOTS_GRACE = 6
const DAYS_GRACE = 1

/** The ten-minute slot of an instant, counted from 1 January 1970, UTC. */
export function slotOf(at: Date): number {
  return Math.floor(at.getTime() / SLOT_MS)
}

/** The day of a slot, counted from 1 January 1970, UTC. */
export function dayOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_DAY)
}

/** The oldest slot whose bucket is kept when it is `slot` now. */
export function oldestSlotKept(slot: number): number {
  return slot - SLOTS_LIVE - SLOTS_GRACE
}

/** The oldest day whose bucket is kept when it is `slot` now. */
export function oldestDayKept(slot: number): number {
  return dayOf(slot) - DAYS_LIVE - DAYS_GRACE
}

/**
 * The generations that may hold a key when it is `slot` now: the present one and the one before,
 * and near its end the next, where whoever has a clock ahead writes already.
 */
export function generationsAt(slot: number): readonly [oldest: number, newest: number] {
  return [generationOf(dayOf(slot)) - 1, generationOf(dayOf(slot) + CLOCK_DAYS)]
}

/** Clocks may be apart by so much. */
const CLOCK_DAYS = 1

/**
 * The slot under which something is counted. A clock that is ahead by up to a day is believed; one
 * that is further ahead means now, or its counts would outlive all others.
 */
export function countedSlot(slot: number, now: number): number {
  return slot > now + SLOTS_PER_DAY ? now : slot
}
