import fc from 'fast-check'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { generationsAt, prefixes, slotOf } from '../../../src/counting/keys.ts'
import { insertCounters, updateCounters } from '../../../src/db/counters.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { linesOf, modelOf } from '../../support/counter-model.ts'
import { rollUpAll, storedModel } from '../../support/counter-rows.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'
import { type Increment, appendDeltas } from '../../support/increments.ts'

const closers: (() => Promise<void>)[] = []
let database: TestDatabase
beforeEach(async () => {
  database = await freshDatabase(now)
  closers.push(database.close)
})
afterAll(async () => {
  for (const close of closers) await close()
})

const now = new Date('2026-11-20T12:34:56Z')
const DAY_MS = 86_400_000

const increment: fc.Arbitrary<Increment> = fc.record({
  prefix: fc.constantFrom(...prefixes),
  shingle: fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 2n ** 64n - 1n)),
  unique: fc.option(fc.bigInt(0n, 5n), { nil: undefined }),
  ham: fc.integer({ min: -2, max: 2 }),
  spam: fc.integer({ min: -1, max: 3 }),
  complaint: fc.integer({ min: 0, max: 1 }),
  redeemed: fc.oneof(fc.constant(0), fc.constant(Number.MAX_SAFE_INTEGER)),
  at: fc
    .oneof(
      fc.integer({ min: -3_600_000, max: 0 }),
      fc.integer({ min: -20 * DAY_MS, max: 3 * DAY_MS }),
    )
    .map((ms) => new Date(now.getTime() + ms)),
})

test('whatever is appended, in any batches, the state equals that of a plain model', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(increment, { maxLength: 40 }), { maxLength: 6 }),
      async (batches) => {
        const { pool } = database
        // Faster than `truncate`, which makes new files for every partition.
        for (const table of ['counters', 'counter_members', 'counter_deltas'])
          await pool.query(`delete from ${table}`)
        for (const batch of batches) {
          await appendDeltas(pool, batch, now)
          if (batch.length % 2 === 0) await rollUpAll(pool, now)
        }
        await rollUpAll(pool, now)
        expect(linesOf(await storedModel(pool))).toEqual(linesOf(modelOf(batches.flat(), now)))
      },
    ),
    { numRuns: 60 },
  )
})

test('uniques stay exact when their set outgrows its row, and can be retracted', async () => {
  const { pool } = database
  const at = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
  const seen: Increment[] = []
  const append = async (increments: Increment[]) => {
    seen.push(...increments)
    await appendDeltas(pool, increments, now)
    await rollUpAll(pool, now)
    expect(linesOf(await storedModel(pool))).toEqual(linesOf(modelOf(seen, now)))
  }
  const people = (from: number, to: number, minutes: number, spam = 1): Increment[] =>
    Array.from({ length: to - from }, (_, index) => ({
      prefix: 'reports',
      shingle: 7n,
      unique: BigInt.asUintN(64, BigInt(from + index) * 0x9e3779b97f4a7c15n),
      spam,
      at: at(minutes),
    }))
  await append(people(0, 50, 5))
  await append(people(40, 90, 5))
  await append(people(0, 3_000, 15))
  await append(people(2_990, 3_010, 5))
  await append(people(100, 200, 15, -1))
  await append(people(100, 150, 5))
  await append(people(0, 3_010, 15, -1))
  await append(people(5_000, 12_000, 5))
  const { rows } = await pool.query<{ chunks: number }>(
    'select count(*)::int as chunks from counter_members',
  )
  expect(rows[0]?.chunks).toBeGreaterThan(100)
})

test('many increments of few members do not take space for many', async () => {
  const { pool } = database
  const people = (count: number, times: number): Increment[] =>
    Array.from({ length: count * times }, (_, index) => ({
      prefix: 'reports',
      shingle: 9n,
      unique: BigInt.asUintN(64, BigInt(index % count) * 0x9e3779b97f4a7c15n),
      spam: 1,
      at: now,
    }))
  for (const increments of [people(100, 1), people(2, 10_000)]) {
    await appendDeltas(pool, increments, now)
    await rollUpAll(pool, now)
  }
  const { rows } = await pool.query<{ chunks: number }>(
    'select count(*)::int as chunks from counter_members where shingle = 9',
  )
  expect(rows[0]?.chunks).toBeLessThan(4)
})

test('an update without its row fails, so that no increment is lost', async () => {
  const { pool } = database
  const [, generation] = generationsAt(slotOf(now))
  const rows = [1, 2].map((last) => {
    return { key: Buffer.from([0, 0, 0, 0, 0, 0, 0, last]), generation, content: Buffer.from('a') }
  })
  const changed = rows.map((row) => ({ ...row, content: Buffer.from('b') }))
  await inTransaction(pool, (tx) => insertCounters(tx, rows.slice(1)))
  const updating = inTransaction(pool, (tx) => updateCounters(tx, changed))
  await expect(updating).rejects.toThrow('Only 1 of 2 rows')
})
