import { afterAll, beforeEach, expect, inject, test } from 'vitest'
import { migrateAll } from '../../../src/processes/migrate.ts'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { dropCounterPartitions, ensureCounterPartitions } from '../../../src/db/partitions.ts'
import { nextGeneration, rollUpAll, storedModel } from '../../support/counter-rows.ts'
import { linesOf, liveAt, modelOf } from '../../support/counter-model.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'
import { type Increment, appendDeltas } from '../../support/increments.ts'

const closers: (() => Promise<void>)[] = []
let database: TestDatabase
beforeEach(async () => {
  database = await freshDatabase()
  closers.push(database.close)
})
afterAll(async () => {
  for (const close of closers) await close()
})

const DAY_MS = 86_400_000
const turn = nextGeneration(new Date())
const after = (days: number) => new Date(turn.getTime() + days * DAY_MS)

async function count(shingle: bigint, now: Date): Promise<Increment> {
  const one: Increment = { prefix: 'reports', shingle, spam: 1, at: now }
  await appendDeltas(database.pool, [one], now)
  await rollUpAll(database.pool, now)
  return one
}

async function spamOf(shingle: bigint, now: Date): Promise<number | undefined> {
  const options = { keysMax: 10, freshMs: 0 }
  const reader = createCounterReader({ pool: database.pool, clock: () => now }, options)
  const [windows] = await reader.readWindows([shingle])
  return windows?.reports?.twoWeeks.spam
}

async function partitions(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits
     where inhparent in ('counters'::regclass, 'counter_members'::regclass) order by 1`,
  )
  return rows.map(({ name }) => name)
}

test('a counted key continues in the next generation, with all its counts', async () => {
  const seen = [await count(1n, after(-3)), await count(1n, after(2))]
  const { rows } = await database.pool.query<{ generation: number }>(
    'select generation from counters order by 1',
  )
  expect(rows).toHaveLength(2)
  expect(await spamOf(1n, after(2))).toBe(2)
  expect(linesOf(liveAt(await storedModel(database.pool), after(2)))).toEqual(
    linesOf(modelOf(seen, after(2))),
  )
})

test('an untouched key is kept for two weeks, then dropped with its generation', async () => {
  await count(1n, after(-1))
  expect(await spamOf(1n, after(12))).toBe(1)
  expect(await spamOf(1n, after(13))).toBeUndefined()
  expect(await dropCounterPartitions(database.pool, after(13))).not.toContain(
    `counters_${generationBefore()}`,
  )
  const dropped = await dropCounterPartitions(database.pool, after(14))
  expect(dropped).toContain(`counters_${generationBefore()}`)
  expect(dropped).toContain(`counter_members_${generationBefore()}`)
  expect(await storedModel(database.pool)).toEqual(new Map())
})

function generationBefore(): number {
  return turn.getTime() / (14 * DAY_MS) - 1
}

test('a process with a slow clock does not undo the writes of one ahead', async () => {
  await count(1n, after(-1))
  await count(1n, after(0.5))
  await count(1n, after(-0.5))
  await count(1n, after(0.5))
  expect(await spamOf(1n, after(-0.5))).toBe(4)
  expect(await spamOf(1n, after(0.5))).toBe(4)
})

test('dropping neither waits for readers nor makes anyone wait', async () => {
  const { pool } = database
  await ensureCounterPartitions(pool, after(15), 1)
  await count(1n, after(-1))
  const reading = await pool.connect()
  try {
    await reading.query('begin')
    await reading.query('select shingle from counters')
    expect(await dropCounterPartitions(pool, after(15))).not.toContain(
      `counters_${generationBefore()}`,
    )
    await count(2n, after(15))
  } finally {
    await reading.query('rollback')
    reading.release()
  }
  expect(await dropCounterPartitions(pool, after(15))).toContain(`counters_${generationBefore()}`)
})

test('missing partitions are created in advance, by any number of processes at once', async () => {
  const { pool } = database
  await migrateAll(database.url, new Date(), { backend: inject('backend') })
  const before = await partitions()
  expect(before).toHaveLength(2 * 4)
  await Promise.all([1, 2, 3].map(() => ensureCounterPartitions(pool, after(20), 6)))
  const grown = await partitions()
  expect(grown.length).toBeGreaterThan(before.length)
  await ensureCounterPartitions(pool, after(20), 6)
  expect(await partitions()).toEqual(grown)
})

test('increments from long ago or far in the future do no harm', async () => {
  const now = after(3)
  const strays: Increment[] = [-400, -20, -5, 0.5, 300].map((days) => ({
    prefix: 'reports',
    shingle: 9n,
    unique: 3n,
    spam: 1,
    at: new Date(now.getTime() + days * DAY_MS),
  }))
  await appendDeltas(database.pool, strays, now)
  await rollUpAll(database.pool, now)
  expect(linesOf(await storedModel(database.pool))).toEqual(linesOf(modelOf(strays, now)))
  expect(await spamOf(9n, now)).toBe(3)
})
