import type { ChildProcess } from 'node:child_process'
import { parseArgs } from 'node:util'
import type { Pool } from '../../src/db/pool.ts'
import { growReports } from '../seeding/grow.ts'
import { loadOf, printTable } from './corpus.ts'
import { endOf, type Instance, manyConnections, startInstance } from './instance.ts'
import {
  type Measured,
  measure,
  postAccepted,
  readForwardable,
  sendingTo,
  type Sink,
  type Stage,
  startSink,
  untilArrived,
  untilIndexed,
  variantsOf,
} from './pipeline.ts'

const CONNECTIONS = 16
const PER_SECOND = 17
/** Reports posted per worker before the measurement, so that its code is compiled. */
const WARM_UP = 400
const SAMPLE_MS = 100
const ROLL_UP_MS_MAX = 60_000

/** Milliseconds of waiting by lock. */
type Waits = ReadonlyMap<string, number>
type Row = {
  stored: number
  workers: number
  gigabytes: number
  flood: Measured
  /** Milliseconds of waiting for locks per report. */
  waitMs: number
  waits: Waits
  slow: Measured
}

/**
 * Measures what a report costs in a database with the given numbers of stored reports, and with the
 * given numbers of `work` processes: as fast as possible and at 17 a second, as `bench pipeline`
 * does, with the time that the processes of the database spend waiting for locks. Each number of
 * stored reports gets a fresh instance; 0 leaves it empty.
 */
export async function benchGrowth(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      stored: { type: 'string', default: '10000,1000000,10000000' },
      processes: { type: 'string', default: '1,4,16' },
      weeks: { type: 'string', default: '52' },
      reports: { type: 'string', default: '2000' },
      seconds: { type: 'string', default: '20' },
    },
  })
  const messages = await readForwardable()
  const workers = values.processes
    .split(',')
    .map(Number)
    .toSorted((a, b) => a - b)
  console.log(`load before: ${loadOf()}`)
  const rows: Row[] = []
  const load = { reports: Number(values.reports), seconds: Number(values.seconds) }
  try {
    for (const stored of values.stored.split(',').map(Number)) {
      const size = { stored, weeks: Number(values.weeks) }
      await measureSize(messages, size, workers, load, rows)
    }
  } finally {
    console.log(`load after: ${loadOf()}\n`)
    print(rows)
  }
}

/** Adds a row for each number of workers, as soon as it is measured. */
async function measureSize(
  messages: readonly Buffer[],
  { stored, weeks }: { stored: number; weeks: number },
  workers: readonly number[],
  load: { reports: number; seconds: number },
  rows: Row[],
): Promise<void> {
  const instance = await startInstance(manyConnections)
  const sink = await startSink()
  try {
    const fresh = variantsOf(messages)
    if (stored > 0) {
      await storeTemplates(fresh(messages.length), instance, sink)
      const growth = { reports: stored, weeks, now: new Date() }
      await growReports(instance.pool, growth, (sentence) => console.log(sentence))
    }
    const gigabytes = await databaseGigabytes(instance.pool)
    console.log(`${stored} stored reports: ${gigabytes.toFixed(2)} GB`)
    const work: ChildProcess[] = []
    const web = [await instance.run('web')]
    const count = [await instance.run('count')]
    for (const number of workers) {
      while (work.length < number) work.push(await instance.run('work', sendingTo(sink, instance)))
      const stage = { instance, sink, processes: { web, work: [...work], count } }
      const measured = await measureCost(fresh, stage, load)
      rows.push({ stored, workers: number, gigabytes, ...measured })
      console.log(`${stored} stored, work × ${number}: ${shownCost(measured.flood)}`)
    }
  } finally {
    await instance.close()
    await endOf(sink.child)
  }
}

async function measureCost(
  fresh: (reports: number) => Buffer[],
  stage: Stage,
  { reports, seconds }: { reports: number; seconds: number },
): Promise<Pick<Row, 'flood' | 'waitMs' | 'waits' | 'slow'>> {
  const pace = { connections: CONNECTIONS }
  const warmUp = Math.min(reports, WARM_UP) * (stage.processes['work']?.length ?? 1)
  await measure('warm-up', fresh(warmUp), pace, stage)
  const sampling = sampleWaits(stage.instance.pool)
  const flood = await measure('as fast as possible', fresh(reports), pace, stage).finally(
    sampling.end,
  )
  const waits = await sampling.end()
  await untilIndexed(stage.instance)
  const some = fresh(PER_SECOND * seconds)
  const slow = await measure(`${PER_SECOND} a second`, some, { rate: PER_SECOND }, stage)
  const waitMs = [...waits.values()].reduce((sum, ms) => sum + ms, 0) / reports
  return { flood, waitMs, waits, slow }
}

/** Has the program process one report of each message, whose rows are then copied. */
async function storeTemplates(
  messages: readonly Buffer[],
  instance: Instance,
  sink: Sink,
): Promise<void> {
  const processes = [
    await instance.run('web'),
    await instance.run('count'),
    await instance.run('work', sendingTo(sink, instance)),
  ]
  const posted = await postAccepted(messages, instance, { connections: CONNECTIONS })
  await untilArrived(posted, sink)
  await untilCounted(instance.pool)
  await Promise.all(processes.map(endOf))
}

/** Waits until all counts and evidence are in the counters and reputations. */
async function untilCounted(pool: Pool): Promise<void> {
  const patience = performance.now() + ROLL_UP_MS_MAX
  for (;;) {
    const { rows } = await pool.query<{ isLeft: boolean }>(
      `select exists (select from reports_to_count) or exists (select from counter_deltas)
         or exists (select from reputation_evidence)
         as "isLeft"`,
    )
    if (rows[0]?.isLeft === false) return
    if (performance.now() > patience) throw new Error('The counts were not rolled up.')
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
  }
}

/**
 * Samples every 100 ms which processes of the database wait for a lock, until ended. Returns the
 * sum of their waiting times by kind of lock: `Lock` for rows and tables, `LWLock` for structures
 * in shared memory.
 */
function sampleWaits(pool: Pool): { end: () => Promise<Waits> } {
  const waits = new Map<string, number>()
  let isEnding = false
  const sampling = (async () => {
    for (let last = performance.now(); !isEnding;) {
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
      const { rows } = await pool.query<{ lock: string; waiting: number }>(
        `select wait_event_type || ' ' || wait_event as lock, count(*)::int as waiting
         from pg_stat_activity
         where datname = current_database() and wait_event_type in ('Lock', 'LWLock')
         group by 1`,
      )
      const now = performance.now()
      for (const { lock, waiting } of rows) {
        waits.set(lock, (waits.get(lock) ?? 0) + waiting * (now - last))
      }
      last = now
    }
  })()
  return {
    async end() {
      isEnding = true
      await sampling
      return waits
    },
  }
}

async function databaseGigabytes(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'select pg_database_size(current_database()) as bytes',
  )
  return (rows[0]?.bytes ?? 0) / 1e9
}

function totalOf({ cpu }: Measured): number {
  return Object.values(cpu).reduce((sum, one) => sum + one, 0)
}

function shownCost(flood: Measured): string {
  return `${flood.perSecond.toFixed(1)} reports/s, ${totalOf(flood).toFixed(0)} µs`
}

function print(rows: readonly Row[]): void {
  const parts = Object.keys(rows[0]?.flood.cpu ?? {})
  printTable(
    [
      'bench growth: stored reports, work',
      ...['GB', 'reports/s', 'lock waits, ms per report', 'CPU per report, µs', ...parts],
      ...['at 17/s: CPU per report, µs', ...parts, 'POST to ARF p50', 'p99'],
    ],
    rows.map(({ stored, workers, gigabytes, flood, waitMs, slow }) => {
      const costs = (measured: Measured) =>
        [totalOf(measured), ...parts.map((part) => measured.cpu[part] ?? 0)].map((value) =>
          value.toFixed(0),
        )
      return [
        `${stored}, ${workers}`,
        ...[gigabytes.toFixed(2), flood.perSecond.toFixed(1), waitMs.toFixed(2)],
        ...[...costs(flood), ...costs(slow)],
        ...[slow.postToArf.p50, slow.postToArf.p99].map((ms) => `${ms.toFixed(0)} ms`),
      ]
    }),
  )
  for (const { stored, workers, waits } of rows) {
    const longest = [...waits].toSorted(([, one], [, other]) => other - one).slice(0, 5)
    const shown = longest.map(([lock, ms]) => `${lock} ${(ms / 1000).toFixed(1)} s`)
    console.log(`Longest waits, ${stored} stored, work × ${workers}: ${shown.join(', ') || 'none'}`)
  }
}
