import { parseArgs } from 'node:util'
import type { Backend } from '../../src/db/backend.ts'
import type { Pool } from '../../src/db/pool.ts'
import { runOn } from '../../test/support/own-database.ts'
import { makeScratchFolder } from '../../test/support/scratch-folder.ts'
import { type CitusCluster, startCitusCluster } from '../../test/support/citus-cluster.ts'
import { rm } from 'node:fs/promises'
import { loadOf, printTable } from './corpus.ts'
import { appendBatches } from './counters/reports.ts'
import { untilRolledUp, zipf } from './counters/stage.ts'
import { endOf, serverCpuSeconds, startInstanceOn } from './instance.ts'
import { measure, readForwardable, startSink, startStage, variantsOf } from './pipeline.ts'

const CONNECTIONS = 16
/** The keys of the counters, with a Zipf distribution. */
const KEYS = 1_000_000

/** How the database is made: the backend, and the workers of the cluster that it uses. */
type Layout = { name: string; backend: Backend; workers: number }

const layouts: readonly Layout[] = [
  { name: 'one server', backend: 'postgres', workers: 0 },
  { name: 'Citus, 1 worker', backend: 'citus', workers: 1 },
  { name: 'Citus, 2 workers', backend: 'citus', workers: 2 },
]

/** `cpu`: milliseconds per report, by node. */
type Line = { perSecond: number; cpu: number[]; others: number }
/** `cpu`: microseconds per increment, by node. */
type Counters = { perSecond: number; cpu: number[] }
type Row = { name: string; line: Line; counters: Counters }

/**
 * Measures the throughput of the line and of the counters, and what a report and an increment cost
 * each database server, on one server and on Citus: all on PostgreSQL 15 on this machine, so the
 * throughput shows the cost of distribution, not its gain.
 */
export async function benchCitus(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      reports: { type: 'string', default: '2000' },
      seconds: { type: 'string', default: '20' },
    },
  })
  const load = { reports: Number(values.reports), seconds: Number(values.seconds) }
  const fresh = variantsOf(await readForwardable())
  const cluster = await startCitusCluster({ isDurable: true })
  console.log(`load before: ${loadOf()}`)
  const rows: Row[] = []
  try {
    for (const layout of layouts) {
      rows.push(await measureLayout(layout, cluster, fresh, load))
    }
  } finally {
    console.log(`load after: ${loadOf()}\n`)
    print(rows)
    await cluster.stop()
  }
}

async function measureLayout(
  { name, backend, workers }: Layout,
  cluster: CitusCluster,
  fresh: (reports: number) => Buffer[],
  { reports, seconds }: { reports: number; seconds: number },
): Promise<Row> {
  const database = `bench_${workers}`
  await createDatabase(cluster, database, workers)
  const dataDir = await makeScratchFolder('bench-citus')
  const server = {
    url: `${cluster.urls[0]}/${database}`,
    folder: cluster.folders[0] ?? '',
    dataDir,
    close: () => rm(dataDir, { recursive: true, force: true }),
  }
  const instance = await startInstanceOn(server, backend)
  const sink = await startSink()
  try {
    const stage = await startStage(instance, sink)
    const pace = { connections: CONNECTIONS }
    await measure('warm-up', fresh(500), pace, stage)
    const line = await withNodes(cluster, () => measure(name, fresh(reports), pace, stage))
    const { perSecond, cpu } = line.result
    const others = Object.entries(cpu)
      .filter(([part]) => part !== 'database')
      .reduce((sum, [, micros]) => sum + micros / 1_000, 0)
    const counted = await withNodes(cluster, () => count(instance.pool, seconds))
    const increments = counted.result
    return {
      name,
      line: { perSecond, cpu: line.cpu.map((one) => (one / reports) * 1_000), others },
      counters: {
        perSecond: increments / counted.seconds,
        cpu: counted.cpu.map((one) => (one / increments) * 1_000_000),
      },
    }
  } finally {
    await instance.close()
    await endOf(sink.child)
  }
}

/** Appends increments for a time, and waits until the last one is rolled up. */
async function count(pool: Pool, seconds: number): Promise<number> {
  const increments = await appendBatches(pool, seconds, () => zipf(KEYS))
  await untilRolledUp(pool)
  return increments
}

/** Measures how long a function takes, and the seconds of CPU of each node meanwhile. */
async function withNodes<T>(cluster: CitusCluster, work: () => Promise<T>) {
  const before = await cpuOf(cluster)
  const start = performance.now()
  const result = await work()
  const seconds = (performance.now() - start) / 1_000
  const cpu = (await cpuOf(cluster)).map((one, node) => one - (before[node] ?? 0))
  return { result, seconds, cpu }
}

/** Creates an empty database on each node, with the given number of workers. */
async function createDatabase(
  { urls }: CitusCluster,
  name: string,
  workers: number,
): Promise<void> {
  const [coordinator, ...others] = urls
  for (const url of urls.slice(0, workers + 1)) {
    await runOn(`${url}/postgres`, `create database ${name}`)
    if (workers > 0) await runOn(`${url}/${name}`, 'create extension citus')
  }
  if (workers === 0) return
  const { port: own } = new URL(coordinator)
  await runOn(`${coordinator}/${name}`, `select citus_set_coordinator_host('127.0.0.1', ${own})`)
  for (const url of others.slice(0, workers)) {
    const { port } = new URL(url)
    await runOn(`${coordinator}/${name}`, `select citus_add_node('127.0.0.1', ${port})`)
  }
}

/** Seconds of CPU of each node so far. */
function cpuOf({ folders }: CitusCluster): Promise<number[]> {
  return Promise.all(folders.map((folder) => serverCpuSeconds({ folder })))
}

function print(rows: readonly Row[]): void {
  const sum = (cpu: readonly number[]) => cpu.reduce((all, one) => all + one, 0)
  const [plain] = rows
  const nodes = ['coordinator', 'worker 1', 'worker 2', 'all servers', '× one server']
  const cells = (cpu: readonly number[], plainCpu: readonly number[]) => [
    ...cpu.map((one) => one.toFixed(2)),
    ...[sum(cpu).toFixed(2), (sum(cpu) / sum(plainCpu)).toFixed(2)],
  ]
  printTable(
    ['bench citus, ms of CPU per report', 'reports/s', ...nodes, 'other processes'],
    rows.map(({ name, line: { perSecond, cpu, others } }) => [
      ...[name, perSecond.toFixed(0), ...cells(cpu, plain?.line.cpu ?? [])],
      others.toFixed(2),
    ]),
  )
  printTable(
    ['bench citus, µs of CPU per increment', 'increments/s', ...nodes],
    rows.map(({ name, counters: { perSecond, cpu } }) => [
      ...[name, perSecond.toFixed(0), ...cells(cpu, plain?.counters.cpu ?? [])],
    ]),
  )
}
