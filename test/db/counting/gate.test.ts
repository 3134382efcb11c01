import { afterAll, beforeEach, expect, test } from 'vitest'
import { createGates } from '../../../src/counting/gate.ts'
import { rollUp } from '../../../src/counting/roll-up.ts'
import { claimShards, listShards } from '../../../src/db/counters.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { storedModel } from '../../support/counter-rows.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'
import { type Increment, appendDeltas, reversal } from '../../support/increments.ts'

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

/** Counts a key of shard 0 and rolls up; returns the spam stored for it today, if any. */
async function see(
  shingle: number,
  gates: ReturnType<typeof createGates>,
  { gated = true, at = now, spam = 1 } = {},
): Promise<bigint | undefined> {
  const one: Increment = { prefix: 'checks', shingle: BigInt(shingle), spam, gated, at }
  await appendDeltas(database.pool, [one], at)
  await rollUp(database.pool, [0], at, gates)
  const day = Math.floor(at.getTime() / DAY_MS)
  return (await storedModel(database.pool)).get(`${shingle}/checks/day/${day}`)?.[1]
}

test('a key passes after enough sightings, with all earlier ones', async () => {
  const gates = createGates(3)
  expect(await see(7, gates)).toBeUndefined()
  expect(await see(7, gates)).toBeUndefined()
  expect(await see(8, gates)).toBeUndefined()
  expect(await see(7, gates)).toBe(3n)
  expect(await see(7, gates)).toBe(4n)
  const [shard] = await listShards(database.pool)
  expect(shard).toMatchObject({ shard: 0, deltas: 5, passed: 1, heldBack: 3, turnovers: 0 })
})

test('the fill level and age of the gate are kept for others until it is used again', async () => {
  const gates = createGates(3)
  const life = async () => (await listShards(database.pool))[0]
  expect((await life())?.gate).toBeNull()
  await see(7, gates)
  const gate = (await life())?.gate
  expect(gate?.beganAt).toEqual(new Date('2026-11-20T12:30:00Z'))
  expect(gate?.fill).toBeCloseTo(1 / 26_214, 6)
  await see(9, gates, { gated: false })
  expect(await life()).toMatchObject({ gate, deltas: 2, turnovers: 0 })
  const later = new Date(now.getTime() + DAY_MS)
  await see(8, gates, { at: later })
  expect((await life())?.gate?.beganAt).toEqual(new Date('2026-11-21T12:30:00Z'))
  expect((await life())?.turnovers).toBe(1)
})

test('a key with many sightings at once passes at once', async () => {
  expect(await see(7, createGates(3), { spam: 5 })).toBe(5n)
})

test('types that must be exact skip the gate', async () => {
  expect(await see(7, createGates(3), { gated: false })).toBe(1n)
})

test('the state of the gate survives a restart, and no sighting counts twice', async () => {
  expect(await see(7, createGates(3))).toBeUndefined()
  expect(await see(7, createGates(3))).toBeUndefined()
  expect(await see(7, createGates(3))).toBe(3n)
  expect(await see(7, createGates(3))).toBe(4n)
})

test('a failed roll-up adds nothing to the gate', async () => {
  const { pool } = database
  const gates = createGates(3)
  expect(await see(7, gates)).toBeUndefined()
  await pool.query(
    'alter table counter_gates add constraint counter_gates_trap check (version < 2)',
  )
  await expect(see(7, gates)).rejects.toThrow('counter_gates_trap')
  await pool.query('alter table counter_gates drop constraint counter_gates_trap')
  await rollUp(pool, [0], now, gates)
  expect(await storedModel(pool)).toEqual(new Map())
  expect(await see(7, gates)).toBe(3n)
})

test('two alternating processes see each other’s sightings', async () => {
  const [first, second] = [createGates(4), createGates(4)]
  for (const gates of [first, second, first]) expect(await see(7, gates)).toBeUndefined()
  expect(await see(7, second)).toBe(4n)
})

test('a version without a roll-up makes the cached gate stale, not wrong', async () => {
  const gates = createGates(3)
  expect(await see(7, gates)).toBeUndefined()
  await inTransaction(database.pool, (tx) => claimShards(tx, [0]))
  expect(await see(7, gates)).toBeUndefined()
  expect(await see(7, gates)).toBe(3n)
})

test('sightings are forgotten after two generations of a day', async () => {
  const gates = createGates(3)
  const after = (days: number) => new Date(now.getTime() + days * DAY_MS)
  expect(await see(7, gates)).toBeUndefined()
  expect(await see(7, gates, { at: after(1) })).toBeUndefined()
  expect(await see(7, gates, { at: after(1.5) })).toBe(3n)
  expect(await see(8, gates)).toBeUndefined()
  expect(await see(9, gates, { at: after(3) })).toBeUndefined()
  expect(await see(10, gates, { at: after(5) })).toBeUndefined()
  expect(await see(8, gates, { at: after(5) })).toBeUndefined()
  expect(await see(8, gates, { at: after(5) })).toBeUndefined()
})

test('the filter is rewritten before its change log grows larger, and contains it', async () => {
  const { pool } = database
  const gates = createGates(2)
  const keys = Array.from({ length: 40_000 }, (_, index) => index * 7_919)
  for (let from = 0; from < keys.length; from += 10_000) {
    const batch = keys.slice(from, from + 10_000).map((shingle): Increment => ({
      prefix: 'checks',
      shingle: BigInt(shingle),
      spam: 1,
      gated: true,
      at: now,
    }))
    await appendDeltas(pool, batch, now)
    await rollUp(pool, [0], now, gates)
  }
  const { rows } = await pool.query<{ states: number }>(
    'select count(*)::int as states from counter_gates',
  )
  expect(rows[0]?.states).toBeLessThan(4)
  const [shard] = await listShards(pool)
  const passedWrongly = keys.length - (shard?.heldBack ?? 0)
  expect(shard?.gate?.falsePositives).toBeLessThan(0.05)
  expect(shard?.turnovers).toBe(1)
  expect(passedWrongly / keys.length).toBeLessThan(0.05)
  expect(await see(keys[12_345] ?? 0, createGates(2))).toBeGreaterThanOrEqual(2n)
})

/**
 * Returns the counts of a key today: ham, spam, complaint, redeemed; undefined without a counter.
 */
async function after(...rollUps: readonly (readonly Increment[])[]): Promise<bigint[] | undefined> {
  const gates = createGates(3)
  for (const increments of rollUps) {
    await appendDeltas(database.pool, increments, now)
    await rollUp(database.pool, [0], now, gates)
  }
  const day = Math.floor(now.getTime() / DAY_MS)
  return (await storedModel(database.pool)).get(`7/reports/day/${day}`)?.slice(0, 4)
}

const seen: Increment = {
  prefix: 'reports',
  shingle: 7n,
  spam: 1,
  complaint: 1,
  gated: true,
  at: now,
}
const takenBack = reversal([seen], now)

test.for([
  ['is not seen once more', [[seen], [seen], takenBack], undefined],
  ['does not let a key pass with the next one', [[seen], takenBack, [seen]], undefined],
  ['is not what is credited', [[seen], [seen], [seen, ...takenBack]], [0n, 2n, 2n, 1n]],
  ['is counted when the key has passed', [[seen, seen, seen], takenBack], [0n, 2n, 2n, 1n]],
] as const)('a retraction %s', async ([, rollUps, expected]) => {
  expect(await after(...rollUps)).toEqual(expected)
})
