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
type Windows = Readonly<Record<(typeof windowNames)[number], Counts>>

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

/** Answers what is known of shingles. */
export type CounterReader = {
  /**
   * All windows of all prefixes, in the order of the shingles; `{}` where nothing is known. They
   * are shared with whoever asks next: to be read only.
   */
  readWindows: (shingles: readonly bigint[]) => Promise<WindowsByPrefix[]>
  /** The buckets of one shingle, for drawing. */
  readSeries: (shingle: bigint, prefix: Prefix) => Promise<ReturnType<typeof seriesOf>>
}

/** How much is remembered, and for how long it may be told again. */
export type ReaderOptions = { keysMax: number; freshMs: number }

/** A packed history; once somebody asked, the windows that were summed in one slot. */
type Known = { content: Buffer; readAt: number; windows: WindowsByPrefix; summedAt: number }
type KnownByKey = ReadonlyMap<bigint, Known>

/** A history without a bucket. */
const NOTHING = Buffer.from([0, 0, 0, 0])
const nothing: Known = { content: NOTHING, readAt: 0, windows: {}, summedAt: 0 }

/** One is worked on by the database while the answer of the other is read here. */
const QUERIES_AT_ONCE = 2

/**
 * A reader with a memory. While queries are under way, the keys of all who ask meanwhile gather for
 * the next.
 */
export function createCounterReader(
  { pool, clock }: { pool: Db; clock: Clock },
  options: ReaderOptions,
): CounterReader {
  const memory = createMemory(options.keysMax)
  let gathering: { keys: Set<bigint>; done: Promise<KnownByKey> } | undefined
  const lanes: Promise<unknown>[] = Array.from({ length: QUERIES_AT_ONCE }, () => Promise.resolve())

  const learn = (missing: readonly bigint[]): Promise<KnownByKey> => {
    if (!gathering) {
      const keys = new Set<bigint>()
      const free = Promise.race(lanes.map((lane, index) => lane.then(() => index)))
      const done = free.then((lane) => {
        gathering = undefined
        const reading = readKeys(keys)
        lanes[lane] = reading.catch(() => undefined)
        return reading
      })
      gathering = { keys, done }
    }
    for (const key of missing) gathering.keys.add(key)
    return gathering.done
  }

  const readKeys = async (keys: ReadonlySet<bigint>): Promise<KnownByKey> => {
    const known = await findKnown(pool, [...keys], clock())
    for (const [key, one] of known) memory.set(key, one)
    return known
  }

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

/** The newest row of each key, or nothing for those that have none. */
async function findKnown(db: Db, keys: readonly bigint[], now: Date): Promise<KnownByKey> {
  const rows = await findCounters(db, packKeys(keys), generationsAt(slotOf(now)))
  rows.sort((a, b) => a.generation - b.generation)
  const readAt = now.getTime()
  const known = new Map(keys.map((key) => [key, { ...nothing, readAt }]))
  for (const { hi, lo, content } of rows) {
    // A copy: the answer of the database is one piece, and would stay for its last key.
    const one = known.get(wholeOf({ hi, lo }))
    if (one) one.content = Buffer.from(content)
  }
  return known
}

/**
 * Remembers at most so many keys: two halves, of which the older is forgotten whole when the newer
 * is full. A key that is asked for moves to the newer; so those asked for often stay.
 */
function createMemory(keysMax: number) {
  let newer = new Map<bigint, Known>()
  let older = new Map<bigint, Known>()
  const set = (key: bigint, value: Known) => {
    newer.set(key, value)
    if (newer.size < keysMax / 2) return
    older = newer
    newer = new Map()
  }
  return {
    set,
    get(key: bigint): Known | undefined {
      const found = newer.get(key)
      if (found) return found
      const before = older.get(key)
      if (before) set(key, before)
      return before
    },
  }
}
