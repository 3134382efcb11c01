import { setTimeout as wait } from 'node:timers/promises'
import { readShingles } from '../../../src/pieces/shingles/packed-shingles.ts'
import { type CountedMessage, packCounted } from '../../../src/counting/count-messages.ts'
import { slotOf } from '../../../src/counting/keys.ts'
import { insertReportsToCount, replaceCountedReports } from '../../../src/db/counter-rows.ts'
import { listShards } from '../../../src/db/counters.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { createReportSource, type ReportSource } from './report-source.ts'
import { clearCounters, type Stage, storedBytes, untilRolledUp, withCpu } from './stage.ts'
import { uuidv7 } from '../../../src/world.ts'
import { printTable } from '../corpus.ts'

const REPORTS_PER_SECOND = 400
/** Number of reports per transaction, as under load in the workers. */
const REPORTS_AT_ONCE = 25
const REPORTS_BEFORE = 30_000

/**
 * Measures the CPU time of counting real reports at 400 per second: what they count as is stored,
 * with a parallel roll-up.
 */
export async function benchReportCost(stage: Stage, seconds: number): Promise<void> {
  const { pool } = stage
  const source = await createReportSource()
  await clearCounters(pool)
  const rollUps = stage.startRollUps()
  await appendReports(stage, batches(source, REPORTS_BEFORE), 0)
  await untilRolledUp(pool)
  await pool.query('vacuum analyze')
  await pool.query('checkpoint')
  const ready = [...batches(source, seconds * REPORTS_PER_SECOND)]
  const increments = ready
    .flat()
    .reduce((sum, { shingles }) => sum + readShingles(shingles).length, 0)
  const reports = ready.length * REPORTS_AT_ONCE
  const before = await numbers(stage)
  const append = await withCpu(stage, rollUps.pid, () =>
    appendReports(stage, ready, REPORTS_PER_SECOND),
  )
  await untilRolledUp(pool)
  const after = await numbers(stage)
  await rollUps.stop()
  const each = (spent: number) => `${((spent / reports) * 1e6).toFixed(0)} µs`
  const share = (number: number) => ((100 * number) / increments).toFixed(0)
  console.log(`\n${reports} real reports, ${(reports / append.seconds).toFixed(0)} a second`)
  printTable(
    ['of each', ''],
    [
      ['increments', (increments / reports).toFixed(0)],
      ['… of these held back at the gate, %', share(after.heldBack - before.heldBack)],
      ['… keys new in the tables, %', share(after.rows - before.rows)],
      ['rows of keys written', ((after.written - before.written) / reports).toFixed(0)],
      ['… of these updated in place', ((after.inPlace - before.inPlace) / reports).toFixed(0)],
      ['chunks of members written', ((after.chunks - before.chunks) / reports).toFixed(1)],
      ['CPU: packing and storing', each(append.ownCpu)],
      ['CPU: roll-up', each(append.otherCpu)],
      ['CPU: database', each(append.serverCpu)],
      ['CPU: all', each(append.ownCpu + append.otherCpu + append.serverCpu)],
      ['write-ahead log', `${((after.wal - before.wal) / reports / 1e3).toFixed(1)} kB`],
      ['tables and indexes', `${((after.bytes - before.bytes) / reports / 1e3).toFixed(1)} kB`],
    ],
  )
}

async function numbers({ pool }: Stage) {
  const { rows } = await pool.query<Record<'wal' | 'written' | 'inPlace' | 'chunks', number>>(
    `select (pg_current_wal_lsn() - '0/0')::float8 as wal,
       sum(n_tup_ins + n_tup_upd) filter (where not is_chunk)::float8 as written,
       sum(n_tup_hot_upd) filter (where not is_chunk)::float8 as "inPlace",
       sum(n_tup_ins + n_tup_upd) filter (where is_chunk)::float8 as chunks
     from (select *, relname like 'counter_members%' as is_chunk from pg_stat_user_tables
       where relname ~ '^counter(s|_members)_') as counted`,
  )
  const [one = { wal: 0, written: 0, inPlace: 0, chunks: 0 }] = rows
  const shards = await listShards(pool)
  const heldBack = shards.reduce((sum, shard) => sum + shard.heldBack, 0)
  return { ...(await storedBytes(pool)), ...one, heldBack }
}

function* batches(source: ReportSource, reports: number): Generator<CountedMessage[]> {
  for (let made = 0; made < reports; made += REPORTS_AT_ONCE) {
    const now = new Date()
    yield Array.from({ length: REPORTS_AT_ONCE }, () => source(now))
  }
}

/**
 * Appends batches, each in a transaction; at the given rate of reports per second, or as fast as
 * possible.
 */
async function appendReports(stage: Stage, all: Iterable<CountedMessage[]>, perSecond: number) {
  const started = performance.now()
  let reports = 0
  for (const batch of all) {
    const due = perSecond > 0 ? started + (reports / perSecond) * 1_000 : 0
    if (due > performance.now()) await wait(due - performance.now())
    const now = new Date()
    const rows = batch.map((one) => {
      return { id: uuidv7(now), campaignId: null, content: packCounted(one) }
    })
    const toCount = rows.map(({ id }) => ({ id, slot: slotOf(now) }))
    await inTransaction(stage.pool, async (tx) => {
      await Promise.all([replaceCountedReports(tx, rows), insertReportsToCount(tx, toCount, now)])
    })
    reports += REPORTS_AT_ONCE
  }
}
