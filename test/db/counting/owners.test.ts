import { beforeEach, expect, test } from 'vitest'
import { pino } from 'pino'
import { allShards } from '../../../src/counting/keys.ts'
import { rollUp } from '../../../src/counting/roll-up.ts'
import { runRollUps } from '../../../src/counting/run-roll-ups.ts'
import { insertDeltas, listShardBacklogs } from '../../../src/db/counter-rows.ts'
import { claimShards, listShards } from '../../../src/db/counters.ts'
import { groupedByNode, inShardTransaction } from '../../../src/db/nodes.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { uuidFloor } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { linesOf, modelOf } from '../../support/counter-model.ts'
import { rollUpAll, storedModel } from '../../support/counter-rows.ts'
import { freshDatabase } from '../../support/database.ts'
import { until } from '../../support/process.ts'
import { type Increment, appendDeltas, reversal } from '../../support/increments.ts'

const database = await closeAfterTests(freshDatabase())

beforeEach(() => database.pool.query('truncate counters, counter_members, counter_deltas'))

const now = new Date('2026-11-20T12:34:56Z')
const one = (shingle: bigint, unique?: bigint): Increment => ({
  prefix: 'reports',
  shingle,
  unique,
  spam: 1,
  at: now,
})

test('concurrent appends and roll-ups count everything once', async () => {
  const { pool } = database
  const log = pino({ level: 'silent' })
  const rollers = [1, 2, 3].map(() => runRollUps({ pool, clock: () => now, log }))
  const appended: Increment[] = []
  const append = async (appender: number) => {
    for (let batch = 0; batch < 20; batch++) {
      const increments = Array.from({ length: 50 }, (_, index) =>
        one(BigInt.asUintN(64, BigInt(index % 9) * 0x1234567890abcdefn), BigInt(appender + index)),
      )
      await inTransaction(pool, (tx) => appendDeltas(tx, increments, now))
      appended.push(...increments)
    }
  }
  await Promise.all([1, 2, 3, 4].map(append))
  await until('the end of all deltas', async () =>
    (await listShardBacklogs(pool)).length === 0 ? true : undefined,
  )
  await Promise.all(rollers.map((roller) => roller.close()))
  expect(linesOf(await storedModel(pool))).toEqual(linesOf(modelOf(appended, now)))
})

test('a shard that cannot be rolled up delays no other, and is logged once', async () => {
  const { pool } = database
  const told: unknown[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void told.push(JSON.parse(line)) })
  // A delta whose content is not a valid varint, older than the valid ones.
  const broken = { shard: 0, id: uuidFloor(new Date(0)), content: Buffer.alloc(40, 0xff) }
  await insertDeltas(pool, [broken])
  const roller = runRollUps({ pool, clock: () => now, log })
  for (const key of [2n ** 63n, 2n ** 63n + 1n]) {
    await appendDeltas(pool, [one(key)], now)
    await until('the end of the sound shard', async () =>
      (await listShardBacklogs(pool)).every(({ shard }) => shard === 0) ? true : undefined,
    )
  }
  await roller.close()
  expect(await listShardBacklogs(pool)).toMatchObject([{ shard: 0, rows: 1 }])
  expect(told).toMatchObject([{ msg: 'Could not add new counts to the statistics. Will retry.' }])
})

test('a shard that is being rolled up is refused at once, and only that shard', async () => {
  const { pool } = database
  await appendDeltas(pool, [one(1n), one(2n ** 63n)], now)
  await inShardTransaction(pool, 0, async (tx) => {
    expect(await claimShards(tx, [0])).toHaveLength(1)
    expect(await rollUp(pool, [0], now)).toBeUndefined()
    expect(await rollUp(pool, [8], now)).toMatchObject({ entries: 1, keys: 1 })
  })
  expect(await rollUp(pool, [0], now)).toMatchObject({ entries: 1, keys: 1 })
})

test('free shards are rolled up together, each with its own totals', async () => {
  const { pool } = database
  // As in the program, all are on one server.
  const [first = 0, held = 0, last = 0] = groupedByNode(pool, allShards, (shard) => shard)[0] ?? []
  const keyIn = (shard: number, n: bigint) => (BigInt(shard) << 60n) + n
  const keys = [keyIn(first, 1n), keyIn(first, 2n), keyIn(held, 0n), keyIn(last, 2n ** 60n - 1n)]
  const increments = keys.map((key) => one(key))
  const before = await listShards(pool)
  await appendDeltas(pool, increments, now)
  await inShardTransaction(pool, held, async (tx) => {
    expect(await claimShards(tx, [held])).toMatchObject([{ shard: held }])
    expect(await rollUp(pool, [first, held, last], now)).toMatchObject({ entries: 3, keys: 3 })
    expect(await listShardBacklogs(pool)).toMatchObject([{ shard: held }])
  })
  expect(await rollUp(pool, [first, held, last], now)).toMatchObject({ entries: 1, keys: 1 })
  expect(linesOf(await storedModel(pool))).toEqual(linesOf(modelOf(increments, now)))
  const after = await listShards(pool)
  expect(after.map(({ deltas }, at) => deltas - (before[at]?.deltas ?? 0))).toEqual(
    Array.from({ length: 16 }, (_, shard) => ({ [first]: 2, [held]: 1, [last]: 1 })[shard] ?? 0),
  )
})

test('increments that commit late under an older id are not skipped', async () => {
  const { pool } = database
  const older = new Date(now.getTime() - 60_000)
  await inTransaction(pool, async (tx) => {
    await appendDeltas(tx, [one(5n)], older)
    await appendDeltas(pool, [one(5n)], now)
    await rollUpAll(pool, now)
  })
  await rollUpAll(pool, now)
  expect(linesOf(await storedModel(pool))).toEqual(linesOf(modelOf([one(5n), one(5n)], now)))
})

test('a failed transaction counts nothing', async () => {
  const { pool } = database
  const failing = inTransaction(pool, async (tx) => {
    await appendDeltas(tx, [one(5n)], now)
    throw new Error('the analysis failed')
  })
  await expect(failing).rejects.toThrow('the analysis failed')
  await rollUpAll(pool, now)
  expect(await storedModel(pool)).toEqual(new Map())
})

test('a roll-up that fails midway leaves everything to the next', async () => {
  const { pool } = database
  const increments = Array.from({ length: 9_000 }, (_, index) => one(BigInt(index)))
  await appendDeltas(pool, increments, now)
  await pool.query(
    `alter table counters add constraint counters_trap check (shingle <> 8500) not valid`,
  )
  await expect(rollUp(pool, [0], now)).rejects.toThrow('counters_trap')
  await pool.query('alter table counters drop constraint counters_trap')
  expect(await storedModel(pool)).toEqual(new Map())
  await rollUpAll(pool, now)
  expect(linesOf(await storedModel(pool))).toEqual(linesOf(modelOf(increments, now)))
})

test('a retracted report leaves its redemption, and no unique', async () => {
  const { pool } = database
  const report = [one(5n, 77n), one(6n, 77n)]
  const another = [one(6n, 77n)]
  const later = new Date(now.getTime() + 3 * 86_400_000)
  await appendDeltas(pool, [...report, ...another], now)
  await rollUpAll(pool, now)
  await appendDeltas(pool, reversal(report, later), later)
  await rollUpAll(pool, later)
  const today = Math.floor(now.getTime() / 86_400_000)
  const slot = Math.floor(later.getTime() / 600_000)
  expect(linesOf(await storedModel(pool))).toEqual([
    `5/reports/day/${today + 3}: 0 0 0 1 0`,
    `5/reports/slot/${slot}: 0 0 0 1 0`,
    `6/reports/day/${today}: 0 1 0 0 1`,
    `6/reports/day/${today + 3}: 0 0 0 1 0`,
    `6/reports/slot/${slot}: 0 0 0 1 0`,
  ])
})
