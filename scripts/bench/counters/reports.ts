import { setTimeout as wait } from 'node:timers/promises'
import { inTransaction, type Pool } from '../../../src/db/pool.ts'
import { printTable } from '../corpus.ts'
import {
  backlogBytes,
  clearCounters,
  coresOf,
  perSecond,
  shingleOf,
  type Stage,
  uniform,
  untilRolledUp,
  withCpu,
  zipf,
} from './stage.ts'
import { type Increment, appendDeltas } from '../../../test/support/increments.ts'

const REPORTS_AT_ONCE = 50
const SHINGLES = 40
const HOT_KEYS = 100
/**
 * One increment in this many is of a gated type, as in real messages; these increments are mostly
 * of new keys.
 */
const GATED_EVERY = 7
const NEW_KEYS = 2 ** 31

/**
 * Makes exact increments in batches of reports, each batch in a transaction, with a parallel
 * roll-up. In the last kind of run, the gate may hold back a seventh of the increments.
 */
export async function benchReports(stage: Stage, seconds: number, keys: number): Promise<void> {
  const spreads: Record<string, () => number> = {
    uniform: () => uniform(keys),
    hot: () => (Math.random() < 0.5 ? uniform(HOT_KEYS) : uniform(keys)),
    zipf: () => zipf(keys),
    gated: () => zipf(keys),
  }
  const table: string[][] = []
  for (const [name, spread] of Object.entries(spreads)) {
    await clearCounters(stage.pool)
    const rollUps = stage.startRollUps()
    let deltas = 0
    const whole = await withCpu(stage, rollUps.pid, async () => {
      const driven = await withCpu(stage, 0, async () => {
        const gatedEvery = name === 'gated' ? GATED_EVERY : 0
        deltas = await appendBatches(stage.pool, seconds, spread, gatedEvery)
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

/**
 * Appends batches of exact increments for a time, as fast as they are rolled up; returns how many.
 */
export async function appendBatches(
  pool: Pool,
  seconds: number,
  spread: () => number,
  gatedEvery = 0,
): Promise<number> {
  let deltas = 0
  let looked = 0
  for (const end = performance.now() + seconds * 1_000; performance.now() < end;) {
    const now = new Date()
    const batch = reportBatch(spread, now, gatedEvery)
    await inTransaction(pool, (tx) => appendDeltas(tx, batch, now))
    deltas += batch.length
    if (performance.now() < looked) continue
    looked = performance.now() + 500
    while ((await backlogBytes(pool)) > BACKLOG_REPORTS_MAX) await wait(50)
  }
  return deltas
}

/** Limit in bytes for the increments that wait for the roll-up: those of a few seconds. */
const BACKLOG_REPORTS_MAX = 16_000_000
const PEOPLE = 100_000

function reportBatch(spread: () => number, at: Date, gatedEvery: number): Increment[] {
  return Array.from({ length: REPORTS_AT_ONCE * SHINGLES }, (_, index) => {
    const gated = gatedEvery > 0 && index % gatedEvery === 1
    return {
      prefix: 'reports',
      shingle: shingleOf(gated ? uniform(NEW_KEYS) : spread()),
      unique: index % 4 === 0 && !gated ? shingleOf(-1 - uniform(PEOPLE)) : undefined,
      gated,
      spam: 1,
      complaint: 1,
      at,
    }
  })
}
