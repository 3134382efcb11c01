import { SLOT_MS } from '../../../src/counting/keys.ts'
import { emptyHistory, readHistory } from '../../../src/counting/packed/history.ts'
import type { Pool } from '../../../src/db/pool.ts'
import {
  clearCounters,
  shingleOf,
  type Stage,
  storedBytes,
  uniform,
  untilRolledUp,
  zipf,
} from './stage.ts'
import { printTable } from '../corpus.ts'
import { type Increment, appendDeltas } from '../../../test/support/increments.ts'

const DAY_MS = 86_400_000
const AT_ONCE = 20_000

/** Measures the disk space of a bucket: keys with 24 buckets, keys seen once, and a mix. */
export async function benchStorage(stage: Stage): Promise<void> {
  const { pool } = stage
  const now = new Date()
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const plain = (number: number, at: Date): Increment => ({
    prefix: 'reports',
    shingle: shingleOf(number),
    spam: 1,
    at,
  })
  const kinds: Record<string, () => Generator<Increment>> = {
    '24 buckets a key, 200,000 keys': function* () {
      for (let key = 0; key < 200_000; key++) {
        for (let slot = 0; slot < 11; slot++) yield plain(key, ago(slot * 7 * SLOT_MS))
        for (let day = 1; day < 13; day++) yield plain(key, ago(day * DAY_MS))
      }
    },
    'seen once (two buckets), 500,000 keys': function* () {
      for (let key = 0; key < 500_000; key++) yield plain(key, now)
    },
    'seen once, with a unique, 500,000 keys': function* () {
      for (let key = 0; key < 500_000; key++) {
        yield { ...plain(key, now), unique: shingleOf(-1 - key) }
      }
    },
    'mix: 5,000,000 by Zipf over 1,000,000 keys and two weeks': function* () {
      for (let count = 0; count < 5_000_000; count++) {
        yield plain(zipf(1_000_000), ago(uniform(14) * DAY_MS + uniform(DAY_MS)))
      }
    },
  }
  const table: string[][] = []
  for (const [name, increments] of Object.entries(kinds)) {
    await clearCounters(pool)
    const rollUps = stage.startRollUps()
    await appendAll(pool, increments(), now)
    await untilRolledUp(pool)
    await rollUps.stop()
    await pool.query('vacuum analyze counters')
    const { bytes, rows } = await storedBytes(pool)
    const buckets = await countBuckets(pool)
    table.push([
      name,
      (bytes / buckets).toFixed(1),
      (bytes / rows).toFixed(0),
      (buckets / rows).toFixed(1),
    ])
  }
  console.log('\nOn disk, indexes included')
  printTable(['keys', 'bytes a bucket', 'bytes a key', 'buckets a key'], table)
}

/** Appends increments in order, many per transaction. */
export async function appendAll(
  pool: Pool,
  increments: Iterable<Increment>,
  now: Date,
): Promise<void> {
  let batch: Increment[] = []
  for (const one of increments) {
    batch.push(one)
    if (batch.length < AT_ONCE) continue
    await appendDeltas(pool, batch, now)
    batch = []
  }
  await appendDeltas(pool, batch, now)
}

/** The number of buckets in all rows, estimated from a thousand rows. */
async function countBuckets(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ content: Buffer }>(
    'select content from counters tablesample system (5)',
  )
  const total = await storedBytes(pool)
  const history = emptyHistory()
  let buckets = 0
  for (const { content } of rows) {
    readHistory(content, history)
    buckets += history.days.places.length + history.slots.places.length
  }
  return (buckets / rows.length) * total.rows
}
