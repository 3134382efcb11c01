import { findCounters } from '../db/counters.ts'
import type { Db } from '../db/pool.ts'
import type { Clock } from '../world.ts'
import { packKeys, type Prefix, wholeOf } from './keys.ts'
import { generationsAt, slotOf } from './period.ts'
import { seriesOf, windowsOf, type WindowsByPrefix } from './windows.ts'

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
