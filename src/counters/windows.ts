import { kinds } from './packed/count.ts'
import { emptyHistory, readHistory } from './packed/history.ts'
import { type Prefix, prefixes } from './keys.ts'
import { dayOf, DAYS_LIVE, SLOT_MS, SLOTS_LIVE, SLOTS_PER_DAY } from './period.ts'
import type { Series } from './packed/series.ts'

/**
 * Counts of one window; beyond 2^53 the nearest number. `unique` is exact in one bucket; in a
 * window of several it is their sum, so that who came in two of them counts twice.
 */
export type Counts = Readonly<Sums>

type Sums = Record<(typeof kinds)[number], number>

/** The windows in which counts are summed. */
export const windowNames = ['tenMinutes', 'hour', 'day', 'today', 'twoWeeks'] as const

/**
 * What is known of a key under one prefix. The bucket that a window's edge cuts is counted whole,
 * so a window is at most one bucket too long, and what a fast clock dated ahead counts as now.
 */
export type Windows = Readonly<Record<(typeof windowNames)[number], Counts>>

/** One bucket of a series for drawing: when it begins, and its counts. */
export type Point = { startsAt: Date } & Counts

/** Windows of each prefix that has anything live. */
export type WindowsByPrefix = Readonly<Partial<Record<Prefix, Windows>>>

const TEN_MINUTES = 1
const HOUR = 6
const history = emptyHistory()

/** Sums the windows of a packed history when it is the slot `now`. */
export function windowsOf(content: Buffer, now: number): WindowsByPrefix {
  readHistory(content, history)
  const result: Partial<Record<Prefix, Record<keyof Windows, Sums>>> = {}
  const today = dayOf(now)
  eachBucket(history.slots, (period, prefix, at, counts) => {
    if (period < now - SLOTS_LIVE) return
    const windows = (result[prefix] ??= emptyWindows())
    addCounts(windows.day, counts, at)
    if (period >= now - HOUR) addCounts(windows.hour, counts, at)
    if (period >= now - TEN_MINUTES) addCounts(windows.tenMinutes, counts, at)
  })
  eachBucket(history.days, (period, prefix, at, counts) => {
    if (period < today - DAYS_LIVE) return
    const windows = (result[prefix] ??= emptyWindows())
    addCounts(windows.twoWeeks, counts, at)
    if (period >= today) addCounts(windows.today, counts, at)
  })
  return result
}

/** The live buckets of one prefix for drawing, oldest first; empty ones are left out. */
export function seriesOf(
  content: Buffer,
  prefix: Prefix,
  now: number,
): { tenMinutes: Point[]; days: Point[] } {
  readHistory(content, history)
  const points = (series: Series, oldest: number, periodMs: number) => {
    const found: Point[] = []
    eachBucket(series, (period, its, at, counts) => {
      if (its !== prefix || period < oldest) return
      found.push({ startsAt: new Date(period * periodMs), ...addCounts(noCounts(), counts, at) })
    })
    return found.toReversed()
  }
  return {
    tenMinutes: points(history.slots, now - SLOTS_LIVE, SLOT_MS),
    days: points(history.days, dayOf(now) - DAYS_LIVE, SLOT_MS * SLOTS_PER_DAY),
  }
}

function eachBucket(
  { places, counts }: Series,
  look: (period: number, prefix: Prefix, at: number, counts: Series['counts']) => void,
): void {
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? 0
    const prefix = prefixes[place & 3]
    if (prefix) look(place >> 2, prefix, index * kinds.length, counts)
  }
}

function addCounts(sums: Sums, counts: Series['counts'], at: number): Sums {
  sums.ham += Number(counts[at])
  sums.spam += Number(counts[at + 1])
  sums.complaint += Number(counts[at + 2])
  sums.redeemed += Number(counts[at + 3])
  sums.unique += Number(counts[at + 4])
  return sums
}

function noCounts(): Sums {
  return { ham: 0, spam: 0, complaint: 0, redeemed: 0, unique: 0 }
}

function emptyWindows(): Record<keyof Windows, Sums> {
  return {
    tenMinutes: noCounts(),
    hour: noCounts(),
    day: noCounts(),
    today: noCounts(),
    twoWeeks: noCounts(),
  }
}
