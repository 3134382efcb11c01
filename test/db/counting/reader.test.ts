import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCounterReader } from '../../../src/counting/reader.ts'
import type { Db } from '../../../src/db/pool.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/process.ts'
import { appendDeltas } from '../../support/increments.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase(now)
})
afterAll(() => database.close())

let now = new Date('2026-11-20T12:34:56Z')
const clock = () => now

async function count(shingle: bigint, spam: number): Promise<void> {
  await appendDeltas(database.pool, [{ prefix: 'reports', shingle, spam, at: now }], now)
  await rollUpAll(database.pool, now)
}

/** Returns the database, and a function that counts the queries sent to it. */
function counted(): { pool: Db; asked: () => number } {
  let asked = 0
  const query = (...args: Parameters<Db['query']>) => {
    asked++
    return database.pool.query(...args)
  }
  return { pool: { query } as unknown as Db, asked: () => asked }
}

test('all windows of all shingles are returned in order, by one query', async () => {
  for (const shingle of [1n, 2n ** 64n - 1n, 3n]) await count(shingle, Number(shingle % 10n))
  const { pool, asked } = counted()
  const reader = createCounterReader({ pool, clock }, { keysMax: 100, freshMs: 1_000 })
  const known = await reader.readWindows([3n, 4n, 2n ** 64n - 1n, 1n])
  expect(known.map(({ reports }) => reports?.tenMinutes.spam)).toEqual([3, undefined, 5, 1])
  expect(asked()).toBe(1)
  expect((await reader.readSeries(3n, 'reports')).days).toHaveLength(1)
  expect(asked()).toBe(1)
})

test('fresh values come from the cache, and stale ones are queried again', async () => {
  await count(11n, 1)
  const { pool, asked } = counted()
  const reader = createCounterReader({ pool, clock }, { keysMax: 100, freshMs: 1_000 })
  const spam = async () => (await reader.readWindows([11n]))[0]?.reports?.today.spam
  expect(await spam()).toBe(1)
  await count(11n, 1)
  expect(await spam()).toBe(1)
  expect(asked()).toBe(1)
  now = new Date(now.getTime() + 1_001)
  expect(await spam()).toBe(2)
  expect(asked()).toBe(2)
})

test('cached counts are summed again as time passes', async () => {
  await count(12n, 1)
  const reader = createCounterReader({ pool: database.pool, clock }, { keysMax: 9, freshMs: 1e9 })
  const spam = async () => (await reader.readWindows([12n]))[0]?.reports
  expect((await spam())?.tenMinutes.spam).toBe(1)
  now = new Date(now.getTime() + 1_800_000)
  expect((await spam())?.tenMinutes.spam).toBe(0)
  expect((await spam())?.hour.spam).toBe(1)
})

test('a caller during two running queries shares the next one', async () => {
  const held: (() => void)[] = []
  const query = (...args: Parameters<Db['query']>) =>
    new Promise((resolve) => held.push(() => resolve(database.pool.query(...args))))
  const pool = { query } as unknown as Db
  const reader = createCounterReader({ pool, clock }, { keysMax: 1_000, freshMs: 1_000 })
  const asking = [100n, 101n].map(async (shingle, index) => {
    if (index > 0) await until('a query', () => (held.length === index ? true : undefined))
    return reader.readWindows([shingle])
  })
  await until('both queries', () => (held.length === 2 ? true : undefined))
  const others = Array.from({ length: 20 }, (_, index) => reader.readWindows([BigInt(200 + index)]))
  for (const release of held.splice(0)) release()
  await until('one more query', () => (held.length === 1 ? true : undefined))
  for (const release of held) release()
  expect(await Promise.all([...asking, ...others])).toHaveLength(22)
  expect(held).toHaveLength(1)
})

test('with room for few keys all are answered, and the others are queried again', async () => {
  const shingles = Array.from({ length: 50 }, (_, index) => BigInt(1_000 + index))
  for (const shingle of shingles.slice(0, 3)) await count(shingle, 2)
  const { pool, asked } = counted()
  const reader = createCounterReader({ pool, clock }, { keysMax: 10, freshMs: 60_000 })
  for (const round of [1, 2]) {
    const known = await reader.readWindows(shingles)
    expect(known.filter(({ reports }) => reports?.today.spam === 2)).toHaveLength(3)
    expect(asked()).toBe(round)
  }
  await reader.readWindows(shingles.slice(0, 3))
  await reader.readWindows(shingles.slice(0, 3))
  expect(asked()).toBe(3)
})

test('a failed query fails its callers only', async () => {
  let isAway = true
  const query = (...args: Parameters<Db['query']>) =>
    isAway ? Promise.reject(new Error('away')) : database.pool.query(...args)
  const pool = { query } as unknown as Db
  const reader = createCounterReader({ pool, clock }, { keysMax: 10, freshMs: 60_000 })
  await expect(reader.readWindows([1n])).rejects.toThrow('away')
  isAway = false
  expect((await reader.readWindows([3n]))[0]?.reports?.twoWeeks.spam).toBe(3)
})
