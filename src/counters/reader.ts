import { generationOf } from '../db/counter-partitions.ts'
import { findCounters } from '../db/counters.ts'
import type { Db } from '../db/pool.ts'
import type { Clock } from '../world.ts'
import { halvesOf, type Prefix } from './increment.ts'
import { dayOf, slotOf } from './period.ts'
import { seriesOf, windowsOf, type WindowsByPrefix } from './windows.ts'

/** Answers what is known of shingles. */
export type CounterReader = {
  /** All windows of all prefixes, in the order of the shingles; `{}` where nothing is known. */
  readWindows: (shingles: readonly bigint[]) => Promise<WindowsByPrefix[]>
  /** The buckets of one shingle, for drawing. */
  readSeries: (shingle: bigint, prefix: Prefix) => Promise<ReturnType<typeof seriesOf>>
}

/** How much is remembered, and for how long it may be told again. */
export type ReaderOptions = { keysMax: number; freshMs: number }

type Remembered = { content: Buffer; readAt: number }

/** Packed histories by key. */
type Contents = ReadonlyMap<bigint, Buffer>

/** A history without a bucket. */
const NOTHING = Buffer.from([0, 0, 0, 0])

/**
 * A reader with a memory. While one query is under way, the keys of all who ask meanwhile gather
 * for the next.
 */
export function createCounterReader(
  { pool, clock }: { pool: Db; clock: Clock },
  options: ReaderOptions,
): CounterReader {
  const memory = createMemory(options.keysMax)
  let gathering: { keys: Set<bigint>; done: Promise<Contents> } | undefined
  let last: Promise<unknown> = Promise.resolve()

  const learn = (missing: readonly bigint[]): Promise<Contents> => {
    if (!gathering) {
      const keys = new Set<bigint>()
      const done = last.then(() => {
        gathering = undefined
        return readKeys(keys)
      })
      last = done.catch(() => undefined)
      gathering = { keys, done }
    }
    for (const key of missing) gathering.keys.add(key)
    return gathering.done
  }

  const readKeys = async (keys: ReadonlySet<bigint>): Promise<Contents> => {
    const now = clock()
    const contents = await findContents(pool, [...keys], slotOf(now))
    for (const [key, content] of contents) memory.set(key, { content, readAt: now.getTime() })
    return contents
  }

  const contentsOf = async (shingles: readonly bigint[]): Promise<Buffer[]> => {
    const oldest = clock().getTime() - options.freshMs
    const known = shingles.map((key) => fresh(memory.get(key), oldest))
    const missing = shingles.filter((_, index) => !known[index])
    const learned = missing.length > 0 ? await learn(missing) : undefined
    return shingles.map((key, index) => known[index] ?? learned?.get(key) ?? NOTHING)
  }

  return {
    async readWindows(shingles) {
      const contents = await contentsOf(shingles)
      const now = slotOf(clock())
      return contents.map((content) => (content === NOTHING ? {} : windowsOf(content, now)))
    },
    async readSeries(shingle, prefix) {
      const [content] = await contentsOf([shingle])
      return seriesOf(content ?? NOTHING, prefix, slotOf(clock()))
    },
  }
}

function fresh(one: Remembered | undefined, oldest: number): Buffer | undefined {
  return one && one.readAt >= oldest ? one.content : undefined
}

/** The newest row of each key, or nothing for those that have none. */
async function findContents(db: Db, keys: readonly bigint[], now: number): Promise<Contents> {
  const generation = generationOf(dayOf(now))
  const rows = await findCounters(db, packKeys(keys), [generation - 1, generation + 1])
  rows.sort((a, b) => a.generation - b.generation)
  const contents = new Map(keys.map((key) => [key, NOTHING]))
  for (const { hi, lo, content } of rows) {
    // A copy: the answer of the database is one piece, and would stay for its last key.
    contents.set((BigInt(hi) << 32n) | BigInt(lo), Buffer.from(content))
  }
  return contents
}

function packKeys(keys: readonly bigint[]): Buffer {
  const packed = Buffer.allocUnsafe(keys.length * 8)
  for (const [index, key] of keys.entries()) {
    const { hi, lo } = halvesOf(key)
    packed.writeUInt32BE(lo, packed.writeUInt32BE(hi, index * 8))
  }
  return packed
}

/**
 * Remembers at most so many keys: two halves, of which the older is forgotten whole when the newer
 * is full. A key that is asked for moves to the newer; so those asked for often stay.
 */
function createMemory(keysMax: number) {
  let newer = new Map<bigint, Remembered>()
  let older = new Map<bigint, Remembered>()
  const set = (key: bigint, value: Remembered) => {
    newer.set(key, value)
    if (newer.size < keysMax / 2) return
    older = newer
    newer = new Map()
  }
  return {
    set,
    get(key: bigint): Remembered | undefined {
      const found = newer.get(key)
      if (found) return found
      const before = older.get(key)
      if (before) set(key, before)
      return before
    },
  }
}
