import { parseArgs } from 'node:util'
import { listShardBacklogs } from '../../src/db/counter-rows.ts'
import type { Pool } from '../../src/db/pool.ts'
import { percentiles, printTable } from './corpus.ts'
import { usagesOf } from './idle.ts'
import { postmasterOf } from '../../test/support/own-database.ts'
import { endOf, type Instance, startInstance } from './instance.ts'
import {
  postAccepted,
  readForwardable,
  type Sink,
  startSink,
  startStage,
  untilArrived,
  variantsOf,
} from './pipeline.ts'

const STEPS = 12
const BARS = [...'▁▂▃▄▅▆▇█']

/**
 * Posts reports at a steady rate for a long time, and shows twelve times what the processes and the
 * database use. After the first steps, memory and waiting work must not grow, and the database only
 * by the reports.
 */
export async function benchSoak(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      minutes: { type: 'string', default: '60' },
      rate: { type: 'string', default: '17' },
    },
  })
  const rate = Number(values.rate)
  const reports = Math.ceil((Number(values.minutes) * 60 * rate) / STEPS)
  const fresh = variantsOf(await readForwardable())
  const instance = await startInstance()
  const sink = await startSink()
  const series = new Map<string, number[]>()
  try {
    const { processes } = await startStage(instance, sink)
    const pids = Object.values(processes).flatMap((its) => its.map(({ pid = 0 }) => pid))
    pids.push(await postmasterOf(instance.server))
    for (let step = 1; step <= STEPS; step++) {
      const p99 = await reportAtRate(fresh(reports), rate, instance, sink)
      const figures = {
        reports: step * reports,
        'mails sent twice': sink.mails() - sink.arrivals.size,
        'POST to ARF, p99, ms': p99,
        ...(await memoryOf(pids)),
        ...(await databaseFigures(instance.pool)),
      }
      for (const [name, value] of Object.entries(figures)) {
        series.getOrInsert(name, []).push(value)
      }
      console.log(`${step} of ${STEPS}: ${JSON.stringify(figures)}`)
    }
  } finally {
    print(series)
    await instance.close()
    await endOf(sink.child)
  }
}

/** Posts reports, waits for their mails, and returns the time until almost all arrived, in ms. */
async function reportAtRate(
  messages: readonly Buffer[],
  rate: number,
  instance: Instance,
  sink: Sink,
): Promise<number> {
  const posted = await postAccepted(messages, instance, { rate })
  await untilArrived(posted, sink)
  const msOf = (id: string, startedAt: number) => (sink.arrivals.get(id) ?? NaN) - startedAt
  return percentiles(posted.map(({ id, startedAt }) => msOf(id, startedAt))).p99
}

/** Megabytes of memory by part. */
async function memoryOf(pids: readonly number[]): Promise<Record<string, number>> {
  const usages = await usagesOf(pids)
  return Object.fromEntries(
    [...usages.values()].map(({ name, megabytes }) => [`${name}: memory, MB`, megabytes]),
  )
}

async function databaseFigures(pool: Pool): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ data: number; log: number; jobs: number }>(
    `select pg_database_size(current_database())::float8 as data,
       (select sum(size) from pg_ls_waldir())::float8 as log,
       (select count(*) from pgboss.job
        where state in ('created', 'retry', 'active') and start_after <= now())::float8 as jobs`,
  )
  const { data, log, jobs } = rows[0] ?? { data: NaN, log: NaN, jobs: NaN }
  const waiting = (await listShardBacklogs(pool)).reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    'size of the database, MB': data / 1e6,
    'its log, MB': log / 1e6,
    'waiting for the roll-up, MB': waiting / 1e6,
    'waiting jobs': jobs,
  }
}

/** Prints each series as a line of bars, from zero to its largest value. */
function print(series: ReadonlyMap<string, readonly number[]>): void {
  printTable(
    ['bench soak', 'course', 'after a quarter', 'at the end'],
    [...series].map(([name, values]) => {
      const most = Math.max(...values, 1e-9)
      const bars = values.map((value) => BARS[Math.round((value / most) * (BARS.length - 1))])
      const shown = [values[Math.ceil(values.length / 4) - 1], values.at(-1)]
      return [name, bars.join(''), ...shown.map((value = NaN) => value.toFixed(value < 10 ? 1 : 0))]
    }),
  )
}
