import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createCheckBuffer, FLUSH_MS } from '../../../src/counting/check-buffer.ts'
import {
  type DeltaBlock,
  GATED,
  headOf,
  readEntry,
  readHalf,
} from '../../../src/counting/packed/delta-packing.ts'
import { createTally, sortDeltas } from '../../../src/counting/sorted-deltas.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const clock = () => new Date('2026-11-20T12:34:56Z')
const key = (number: number) => ({ hi: number * 0x10000001, lo: number })
const spam = headOf(2, 1, 0)

/** Sums the content of blocks by key, head and unique. */
function sumsOf(blocks: readonly DeltaBlock[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { content } of blocks) {
    const { hi, lo, at, bytes, gated, order } = sortDeltas([content])
    for (const index of order) {
      const cursor = { bytes, at: at[index] ?? 0 }
      const amounts: (number | bigint)[] = []
      const head = readEntry(cursor, amounts)
      const unique = head & 64 ? `${readHalf(cursor)}:${readHalf(cursor)}` : '-'
      const name = `${hi[index]}:${lo[index]} ${(head & 63) | (gated[index] ? GATED : 0)} ${unique}`
      sums.set(name, (sums.get(name) ?? 0) + Number(amounts.find((one) => one !== 0)))
    }
  }
  return sums
}

test('the sums equal those of a plain map, whatever is added', () => {
  const half = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constant(0xffffffff))
  const hash = fc.record({ hi: half, lo: half })
  const addition = fc.tuple(
    hash,
    fc.constantFrom(headOf(1, 0, 0), headOf(2, 1, 0), headOf(10, 2, 0), headOf(2, 1, 0) | GATED),
    fc.integer({ min: 1, max: 1_000 }),
    fc.option(hash, { nil: undefined }),
  )
  fc.assert(
    fc.property(fc.array(addition, { maxLength: 300 }), (additions) => {
      const tally = createTally(1_000, 5)
      const plain = new Map<string, number>()
      for (const [one, head, times, unique] of additions) {
        expect(tally.add(one, head, times, unique)).toBe(true)
        const name = `${one.hi}:${one.lo} ${head} ${unique ? `${unique.hi}:${unique.lo}` : '-'}`
        plain.set(name, (plain.get(name) ?? 0) + times)
      }
      expect(tally.size()).toBe(plain.size)
      expect(sumsOf(tally.pack())).toEqual(plain)
      tally.begin(6)
      expect(tally.pack()).toEqual([])
    }),
  )
})

test('a full tally reports that it is full, and still adds to its existing keys', () => {
  const tally = createTally(2, 0)
  expect([1, 2, 3, 1].map((number) => tally.add(key(number), spam, 1))).toEqual([
    true,
    true,
    false,
    true,
  ])
})

test('increments are collected and summed for at most five seconds', async () => {
  const appended: DeltaBlock[][] = []
  const append = (blocks: readonly DeltaBlock[]) => {
    appended.push([...blocks])
    return Promise.resolve()
  }
  const buffer = createCheckBuffer({ append, clock, failed: fail }, 100)
  for (let count = 0; count < 5; count++) buffer.add(key(1), spam, 1)
  await vi.advanceTimersByTimeAsync(FLUSH_MS - 1)
  expect(appended).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(sumsOf(appended.flat())).toEqual(new Map([[`${key(1).hi}:1 18 -`, 5]]))
  await vi.advanceTimersByTimeAsync(5 * FLUSH_MS)
  expect(appended).toHaveLength(1)
  buffer.add(key(2), spam, 1)
  await buffer.close()
  expect(appended).toHaveLength(2)
})

test('a buffer that is half full is written at once', async () => {
  const appended: DeltaBlock[] = []
  const append = (blocks: readonly DeltaBlock[]) => {
    appended.push(...blocks)
    return Promise.resolve()
  }
  const buffer = createCheckBuffer({ append, clock, failed: fail }, 4)
  buffer.add(key(1), spam, 1)
  buffer.add(key(1), spam, 1)
  expect(appended).toEqual([])
  buffer.add(key(2), spam, 1)
  expect(sumsOf(appended).size).toBe(2)
  await buffer.close()
})

test('counts are kept while the database is unavailable, then appended once', async () => {
  let isAway = true
  const appended: DeltaBlock[] = []
  const failures: unknown[] = []
  const append = (blocks: readonly DeltaBlock[]) => {
    if (isAway) return Promise.reject(new Error('away'))
    appended.push(...blocks)
    return Promise.resolve()
  }
  const failed = (error: unknown) => failures.push(error)
  const buffer = createCheckBuffer({ append, clock, failed }, 2)
  buffer.add(key(1), spam, 3)
  await vi.advanceTimersByTimeAsync(2 * FLUSH_MS)
  for (const number of [1, 2, 3, 4]) buffer.add(key(number), spam, 1)
  await vi.advanceTimersByTimeAsync(2 * FLUSH_MS)
  expect(failures.length).toBeGreaterThan(1)
  expect(buffer.lost()).toBe(2)
  isAway = false
  await buffer.close()
  expect([...sumsOf(appended).values()].toSorted()).toEqual([1, 4])
})

function fail(error: unknown): never {
  throw error
}
