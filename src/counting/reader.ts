import { LRUCache } from 'lru-cache'
import { batched } from '../db/batched.ts'
import { findCounters } from '../db/counters.ts'
import type { Db } from '../db/pool.ts'
import type { Clock } from '../world.ts'
import {
  dayOf,
  DAYS_LIVE,
  generationsAt,
  packKeys,
  type Prefix,
  prefixes,
  SLOT_MS,
  slotOf,
  SLOTS_LIVE,
  SLOTS_PER_DAY,
  wholeOf,
} from './keys.ts'
import { kinds } from './packed/cursor.ts'
import { emptyHistory, readHistory } from './packed/history.ts'
import type { Series } from './packed/members.ts'

/**
 * Counts of one window; above 2^53, rounded to the nearest number. `unique` is exact for a window
 * of one bucket. For several buckets it is their sum, so a unique seen in two of them counts twice.
 */
export type Counts = Readonly<Sums>

type Sums = Record<(typeof kinds)[number], number>

export const windowNames = ['tenMinutes', 'hour', 'day', 'today', 'twoWeeks'] as const

/**
 * The windows of a key under one prefix. A bucket that overlaps the start of a window is included
 * completely, so a window is at most one bucket too long. Counts dated in the future, from a
 * machine whose clock is ahead, count as current.
 */
type Windows = Readonly<Record<(typeof windowNames)[number], Counts>> & {
  readonly shape: Readonly<Shape>
}

/**
 * How the messages of the window "day", as ham or spam, are spread over its ten minutes: the number
 * of periods of ten minutes with messages, and the number of messages in the busiest one.
 */
type Shape = { periods: number; peak: number }

/** One bucket of a series for a chart: its start and its counts. */
export type Point = { startsAt: Date } & Counts

export type WindowsByPrefix = Readonly<Partial<Record<Prefix, Windows>>>

const TEN_MINUTES = 1
const HOUR = 6
const history = emptyHistory()

/** Sums the windows of a packed history when the current slot is `now`. */
export function windowsOf(content: Buffer, now: number): WindowsByPrefix {
  readHistory(content, history)
  const result: Partial<Record<Prefix, ReturnType<typeof emptyWindows>>> = {}
  const today = dayOf(now)
  eachBucket(history.slots, (period, prefix, at, counts) => {
    if (period < now - SLOTS_LIVE) return
    const windows = (result[prefix] ??= emptyWindows())
    addCounts(windows.day, counts, at)
    addToShape(windows.shape, Number(counts[at]) + Number(counts[at + 1]))
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

/** Returns the live buckets of one prefix for a chart, oldest first, without empty ones. */
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

function addToShape(shape: Shape, messages: number): void {
  if (messages <= 0) return
  shape.periods++
  shape.peak = Math.max(shape.peak, messages)
}

function emptyWindows() {
  return {
    shape: { periods: 0, peak: 0 },
    tenMinutes: noCounts(),
    hour: noCounts(),
    day: noCounts(),
    today: noCounts(),
    twoWeeks: noCounts(),
  }
}

export type CounterReader = {
  /**
   * Returns all windows of all prefixes, in the order of the shingles; `{}` without counts. The
   * objects are shared: do not modify them.
   */
  readWindows: (shingles: readonly bigint[]) => Promise<WindowsByPrefix[]>
  /** Returns the buckets of one shingle, for a chart. */
  readSeries: (shingle: bigint, prefix: Prefix) => Promise<ReturnType<typeof seriesOf>>
}

/** Maximum number of cached keys, and how long a cached value is used, in milliseconds. */
export type ReaderOptions = { keysMax: number; freshMs: number }

/** A packed history, with the windows if they were summed in the slot `summedAt`. */
type Known = { content: Buffer; readAt: number; windows: WindowsByPrefix; summedAt: number }
type KnownByKey = ReadonlyMap<bigint, Known>

/** A history without buckets. */
const NOTHING = Buffer.from([0, 0, 0, 0])
const nothing: Known = { content: NOTHING, readAt: 0, windows: {}, summedAt: 0 }

/**
 * Number of parallel queries. The database works on one while the result of the other is processed
 * here.
 */
const QUERIES_AT_ONCE = 2

/**
 * Creates a reader with a cache. Keys requested while queries are running are combined in the next
 * query.
 */
export function createCounterReader(
  { pool, clock }: { pool: Db; clock: Clock },
  options: ReaderOptions,
): CounterReader {
  const memory = new LRUCache<bigint, Known>({ max: options.keysMax })
  const learn = batched<readonly bigint[], KnownByKey>(
    async (asked) => {
      const known = await findKnown(pool, [...new Set(asked.flat())], clock())
      for (const [key, one] of known) memory.set(key, one)
      return asked.map(() => known)
    },
    { lanes: QUERIES_AT_ONCE },
  )

  const knownOf = async (shingles: readonly bigint[]): Promise<Known[]> => {
    const oldest = clock().getTime() - options.freshMs
    const known = shingles.map((key) => fresh(memory.get(key), oldest))
    const missing = shingles.filter((_, index) => !known[index])
    const learned = missing.length > 0 ? await learn(missing) : undefined
    return shingles.map((key, index) => known[index] ?? learned?.get(key) ?? nothing)
  }

  return {
    async readWindows(shingles) {
      const known = await knownOf(shingles)
      const now = slotOf(clock())
      return known.map((one) => sum(one, now))
    },
    async readSeries(shingle, prefix) {
      const [known] = await knownOf([shingle])
      return seriesOf(known?.content ?? NOTHING, prefix, slotOf(clock()))
    },
  }
}

function fresh(one: Known | undefined, oldest: number): Known | undefined {
  return one && one.readAt >= oldest ? one : undefined
}

function sum(one: Known, now: number): WindowsByPrefix {
  if (one.summedAt !== now) {
    one.windows = one.content === NOTHING ? {} : windowsOf(one.content, now)
    one.summedAt = now
  }
  return one.windows
}

/** Returns the newest row of each key; an entry without buckets for keys without a row. */
async function findKnown(db: Db, keys: readonly bigint[], now: Date): Promise<KnownByKey> {
  const rows = await findCounters(db, packKeys(keys), generationsAt(slotOf(now)))
  rows.sort((a, b) => a.generation - b.generation)
  const readAt = now.getTime()
  const known = new Map(keys.map((key) => [key, { ...nothing, readAt }]))
  for (const { hi, lo, content } of rows) {
    // Copied, because a slice would keep the whole result of the query in memory.
    const one = known.get(wholeOf({ hi, lo }))
    if (one) one.content = Buffer.from(content)
  }
  return known
}
