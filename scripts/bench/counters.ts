import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { appendBlocks, appendDeltas } from '../../src/counters/append-deltas.ts'
import { createCheckBuffer } from '../../src/counters/check-buffer.ts'
import { headOf } from '../../src/counters/packed/delta-packing.ts'
import type { Increment } from '../../src/counters/increment.ts'
import { inTransaction } from '../../src/db/pool.ts'
import { systemClock } from '../../src/world.ts'
import { benchCurve } from './counter-curve.ts'
import { benchReading } from './counter-reading.ts'
import { benchReportCost } from './counter-report-cost.ts'
import { benchStorage } from './counter-storage.ts'
import {
  backlogBytes,
  clearCounters,
  coresOf,
  keyOf,
  openStage,
  shingleOf,
  type Stage,
  uniform,
  untilRolledUp,
  withCpu,
  zipf,
} from './counter-stage.ts'
import { printTable } from './corpus.ts'
import { benchRedis } from './redis.ts'

const BACKLOG_BYTES_MAX = 256_000_000
const REPORTS_AT_ONCE = 50
const SHINGLES = 40
const HOT_KEYS = 100
const CHECK_HEAD = headOf(2, 1, 0)

/**
 * The memory of the system, on a PostgreSQL with little memory. `--seconds` is how long each path
 * is driven (600 for the whole), `--keys` how many keys Zipf's law spreads over, `--buckets` where
 * the curve ends, `--only` names parts: check, reports, reading, storage, curve, redis.
 */
export async function benchCounters(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      seconds: { type: 'string', default: '60' },
      keys: { type: 'string', default: '1000000' },
      buckets: { type: 'string', default: '10000000' },
      buffers: { type: 'string', default: '64MB' },
      only: { type: 'string', default: 'redis,check,reports,storage,reading,curve' },
    },
  })
  const [seconds, keys] = [Number(values.seconds), Number(values.keys)]
  const only = values.only.split(',')
  const load = loadavg().map((one) => one.toFixed(1))
  console.log(`${availableParallelism()} cores, load before: ${load.join(' ')}`)
  const redis = only.includes('redis') ? await benchRedis(Math.min(seconds, 20), keys) : undefined
  const stage = await openStage(values.buffers)
  try {
    if (only.includes('check')) await benchChecks(stage, seconds, keys, redis)
    if (only.includes('reports')) await benchReports(stage, seconds, keys)
    if (only.includes('cost')) await benchReportCost(stage, Math.min(seconds, 60))
    if (only.includes('storage')) await benchStorage(stage)
    if (only.includes('reading')) await benchReading(stage, Math.min(seconds, 30))
    if (only.includes('curve')) await benchCurve(stage, Number(values.buckets))
  } finally {
    await stage.close()
  }
  console.log(
    `load after: ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}`,
  )
}

/** As many increments as go in, through the buffer, rolled up beside. */
async function benchChecks(stage: Stage, seconds: number, keys: number, redis?: number) {
  await clearCounters(stage.pool)
  const rollUps = stage.startRollUps()
  const failed = (error: unknown) => console.error(error)
  const append: Parameters<typeof createCheckBuffer>[0]['append'] = (blocks) =>
    appendBlocks(stage.pool, blocks, new Date())
  const buffer = createCheckBuffer({ append, clock: systemClock, failed }, 2 ** 20)
  let backlogMax = 0
  let absorbed = 0
  const drive = async () => {
    const end = performance.now() + seconds * 1_000
    let looked = 0
    while (performance.now() < end) {
      for (let count = 0; count < 10_000; count++) buffer.add(keyOf(zipf(keys)), CHECK_HEAD, 1)
      absorbed += 10_000
      await new Promise(setImmediate)
      if (performance.now() < looked) continue
      looked = performance.now() + 1_000
      const bytes = await backlogBytes(stage.pool)
      backlogMax = Math.max(backlogMax, bytes)
      if (bytes > BACKLOG_BYTES_MAX) await wait(1_000)
    }
    await buffer.close()
  }
  const whole = await withCpu(stage, rollUps.pid, async () => {
    const driven = await withCpu(stage, rollUps.pid, drive)
    await untilRolledUp(stage.pool)
    return driven
  })
  await rollUps.stop()
  const counted = absorbed - buffer.lost()
  const driven = whole.result.seconds
  console.log(`\nCheck path: Zipf over ${keys} keys, ${seconds} s`)
  printTable(
    ['', ''],
    [
      ['increments', counted.toLocaleString('en')],
      ['lost for want of room', buffer.lost().toLocaleString('en')],
      ['absorbed and durable, a second', perSecond(counted, driven)],
      ['… to the last one rolled up, a second', perSecond(counted, whole.seconds)],
      ['ratio to Redis, everysec', redis ? (counted / driven / redis).toFixed(2) : 'not measured'],
      ['greatest backlog', `${(backlogMax / 1e6).toFixed(0)} MB`],
      ['lag at the end', `${(whole.seconds - driven).toFixed(1)} s`],
      ['cores: source and buffer / roll-up / database', coresOf(whole)],
    ],
  )
}

/** Exact increments, in batches of reports, each batch a transaction; rolled up beside. */
async function benchReports(stage: Stage, seconds: number, keys: number) {
  const spreads: Record<string, () => number> = {
    uniform: () => uniform(keys),
    hot: () => (Math.random() < 0.5 ? uniform(HOT_KEYS) : uniform(keys)),
    zipf: () => zipf(keys),
  }
  const table: string[][] = []
  for (const [name, spread] of Object.entries(spreads)) {
    await clearCounters(stage.pool)
    const rollUps = stage.startRollUps()
    let deltas = 0
    const whole = await withCpu(stage, rollUps.pid, async () => {
      const driven = await withCpu(stage, 0, async () => {
        const end = performance.now() + seconds * 1_000
        let looked = 0
        while (performance.now() < end) {
          const now = new Date()
          const batch = reportBatch(spread, now)
          await inTransaction(stage.pool, (tx) => appendDeltas(tx, batch, now))
          deltas += batch.length
          if (performance.now() < looked) continue
          looked = performance.now() + 500
          while ((await backlogBytes(stage.pool)) > BACKLOG_REPORTS_MAX) await wait(50)
        }
      })
      await untilRolledUp(stage.pool)
      return driven.seconds
    })
    await rollUps.stop()
    const lag = `${(whole.seconds - whole.result).toFixed(1)} s`
    const rates = [perSecond(deltas, whole.result), perSecond(deltas, whole.seconds)]
    table.push([name, ...rates, lag, coresOf(whole)])
  }
  console.log(`\n${SHINGLES} deltas a report, a quarter with a unique, ${keys} keys, ${seconds} s`)
  const cpu = 'cores: source / roll-up / db'
  printTable(['report path', 'appended a second', 'rolled up a second', 'lag', cpu], table)
}

/** A few seconds' worth. */
const BACKLOG_REPORTS_MAX = 16_000_000
const PEOPLE = 100_000

function reportBatch(spread: () => number, at: Date): Increment[] {
  return Array.from({ length: REPORTS_AT_ONCE * SHINGLES }, (_, index) => ({
    prefix: 'reports',
    shingle: shingleOf(spread()),
    unique: index % 4 === 0 ? shingleOf(-1 - uniform(PEOPLE)) : undefined,
    spam: 1,
    complaint: 1,
    at,
  }))
}

function perSecond(count: number, seconds: number): string {
  return Math.round(count / seconds).toLocaleString('en')
}
