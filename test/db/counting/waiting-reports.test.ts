import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { packCounted } from '../../../src/counting/count-messages.ts'
import { allShards, slotOf, wholePairKey } from '../../../src/counting/keys.ts'
import { rollUp, spreadReports } from '../../../src/counting/roll-up.ts'
import { runRollUps } from '../../../src/counting/run-roll-ups.ts'
import {
  insertReportsToCount,
  listShardBacklogs,
  REPORTS,
  replaceCountedReports,
  takeOldestReports,
  takeReportsToCount,
} from '../../../src/db/counter-rows.ts'
import { claimReports, claimShards } from '../../../src/db/counters.ts'
import { ensurePartitions } from '../../../src/db/partitions.ts'
import { inShardTransaction } from '../../../src/db/nodes.ts'
import { inTransaction, type Pool } from '../../../src/db/pool.ts'
import { hexOf } from '../../../src/pieces/shingles/hash.ts'
import { packShingles } from '../../../src/pieces/shingles/packed-shingles.ts'
import { pairTypes, pieceTypes } from '../../../src/pieces/shingles/piece-types.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { breaking, listAdvisoryLocks } from '../../support/breaking-pool.ts'
import { linesOf, modelOf } from '../../support/counter-model.ts'
import { rollUpAll, storedModel } from '../../support/counter-rows.ts'
import { freshDatabase, isDistributed } from '../../support/database.ts'
import type { Increment } from '../../support/increments.ts'
import { until } from '../../support/process.ts'
import { untilBlocked } from '../../support/rows.ts'

const now = new Date('2026-11-20T12:34:56Z')
const database = await closeAfterTests(freshDatabase())
const { pool } = database
await ensurePartitions(pool, now, 0)

beforeEach(() =>
  pool.query(
    'truncate counters, counter_members, counter_deltas, counted_reports, reports_to_count',
  ),
)

const piece = pieceTypes['author-address'].number
const [pair = { number: 0, name: '' }] = pairTypes

/** Has a report counted with a piece, and a pair with it, in each of some shards. */
async function waiting(number: number, shards = 16, at = now): Promise<Increment[]> {
  const pieces = Array.from({ length: shards }, (_, shard) => (BigInt(shard) << 60n) + 5n)
  const unique = BigInt(number)
  const shingles = pieces.flatMap((hash) => [
    { type: piece, name: '', hash: hexOf(hash) },
    { type: pair.number, name: pair.name, hash: hexOf(unique), of: hexOf(hash) },
  ])
  const amounts = { spam: 1, complaint: 1 }
  const content = packCounted({ amounts, shingles: packShingles(shingles) })
  const id = uuidv7(at)
  await inTransaction(pool, async (tx) => {
    await replaceCountedReports(tx, [{ id, campaignId: null, content }])
    await insertReportsToCount(tx, [{ id, slot: slotOf(at) }], at)
  })
  const common = { prefix: 'reports', at, ...amounts } as const
  return pieces.flatMap((shingle): Increment[] => [
    { shingle, ...common },
    { shingle: wholePairKey(pair.number, shingle), unique, ...common },
  ])
}

const stored = async () => linesOf(await storedModel(pool))
const expected = (increments: readonly Increment[]) => linesOf(modelOf(increments, now))

test('waiting reports are counted in all shards, each in its period, once', async () => {
  const yesterday = new Date(now.getTime() - 86_400_000)
  const increments = [...(await waiting(1)), ...(await waiting(2)), ...(await waiting(2))]
  increments.push(...(await waiting(3, 16, yesterday)))
  expect(await listShardBacklogs(pool)).toMatchObject([{ shard: REPORTS, rows: 4 }])
  expect(await rollUp(pool, [REPORTS], now)).toMatchObject({ entries: 4 * 2 * allShards.length })
  expect(await rollUp(pool, [REPORTS], now)).toMatchObject({ entries: 0 })
  expect(await listShardBacklogs(pool)).toEqual([])
  expect(await stored()).toEqual(expected(increments))
})

// Citus lets a transaction about several parts wait for another one.
test.skipIf(isDistributed)(
  'what belongs to a shard that another process rolls up waits for it',
  async () => {
    const increments = await waiting(1)
    const shardOfPair = Number(wholePairKey(pair.number, (8n << 60n) + 5n) >> 60n)
    await inTransaction(pool, async (tx) => {
      await claimShards(tx, [8, shardOfPair])
      await rollUp(pool, [REPORTS], now)
      const left = (await listShardBacklogs(pool)).map(({ shard }) => shard)
      expect(new Set(left)).toEqual(new Set([8, shardOfPair]))
    })
    await rollUp(pool, [8, shardOfPair], now)
    expect(await listShardBacklogs(pool)).toEqual([])
    expect(await stored()).toEqual(expected(increments))
  },
)

test('one process at a time takes waiting reports', async () => {
  const increments = await waiting(1)
  await inShardTransaction(pool, 0, async (tx) => {
    expect(await claimReports(tx)).toBe(true)
    expect(await rollUp(pool, [REPORTS], now)).toMatchObject({ entries: 0 })
    await spreadReports(pool, now)
    expect(await listShardBacklogs(pool)).toMatchObject([{ shard: REPORTS, rows: 1 }])
  })
  await rollUp(pool, [REPORTS], now)
  expect(await stored()).toEqual(expected(increments))
})

test('a shard that cannot be rolled up does not delay the reports in the others', async () => {
  const increments = await waiting(1)
  await pool.query('alter table counters add constraint trap check (shard <> 3) not valid')
  const log = pino({ level: 'silent' })
  const roller = runRollUps({ pool, clock: () => now, log })
  for (const number of [2, 3]) {
    await until('the other shards', async () =>
      (await listShardBacklogs(pool)).every(({ shard }) => shard === 3) ? true : undefined,
    )
    increments.push(...(await waiting(number)))
  }
  await roller.close()
  await pool.query('alter table counters drop constraint trap')
  await rollUpAll(pool, now)
  expect(await stored()).toEqual(expected(increments))
})

test('reports count once, at whatever step their roll-up crashes', async () => {
  const increments = [...(await waiting(1)), ...(await waiting(2))]
  const steps = [
    /pg_try_advisory/,
    /^update counter_shards set version/,
    /^select id from reports_to_count/,
    /^delete from reports_to_count/,
    /from counted_reports/,
    /from counters/,
    /^update counter_shards set deltas/,
    /^commit/,
  ]
  const crash = async (step: RegExp, work: (its: Pool) => Promise<unknown>) => {
    let died = false
    const isFatal = (text: string) => step.test(text.trim()) && (died = true)
    await work(breaking(pool, isFatal)).catch(() => undefined)
    expect([step, died]).toEqual([step, true])
    await expect.poll(() => listAdvisoryLocks(pool)).toEqual([])
  }
  for (const step of steps) await crash(step, (its) => rollUp(its, [REPORTS], now))
  for (const step of [/^delete from reports/, /^insert into counter_deltas/, /^commit/]) {
    await crash(step, (its) => spreadReports(its, now))
  }
  expect(await stored()).toEqual([])
  await rollUpAll(pool, now)
  expect(await stored()).toEqual(expected(increments))
})

test('whoever takes back a report learns whether a running roll-up has counted it', async () => {
  for (const isCounted of [true, false]) {
    await waiting(1)
    let taking: Promise<unknown[]> | undefined
    await inTransaction(pool, async (tx) => {
      const [report] = await takeOldestReports(tx, 10)
      taking = takeReportsToCount(pool, [report?.id ?? ''])
      await untilBlocked(pool)
      if (!isCounted) throw new Error('The roll-up fails.')
    }).catch(() => undefined)
    expect(await taking).toHaveLength(isCounted ? 0 : 1)
  }
})

test('reports that are missing are no obstacle to those that follow', async () => {
  await waiting(1)
  await pool.query('truncate counted_reports')
  const increments = await waiting(2)
  await rollUpAll(pool, now)
  expect(await listShardBacklogs(pool)).toEqual([])
  expect(await stored()).toEqual(expected(increments))
})
