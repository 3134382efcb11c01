import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Backend } from '../../src/db/backend.ts'
import { makeScratchFolder } from '../../test/support/scratch-folder.ts'
import { type CitusCluster, startCitusCluster } from '../../test/support/citus-cluster.ts'
import { rm } from 'node:fs/promises'
import { loadOf, printTable } from './corpus.ts'
import { endOf, serverCpuSeconds, startInstanceOn } from './instance.ts'
import { measure, readForwardable, startSink, startStage, variantsOf } from './pipeline.ts'

const CONNECTIONS = 16

/** How the database is made: the backend, and the workers of the cluster that it uses. */
type Layout = { name: string; backend: Backend; workers: number }

const layouts: readonly Layout[] = [
  { name: 'one server', backend: 'postgres', workers: 0 },
  { name: 'Citus, 1 worker', backend: 'citus', workers: 1 },
  { name: 'Citus, 2 workers', backend: 'citus', workers: 2 },
]

type Row = { name: string; perSecond: number; cpu: number[]; others: number }

/**
 * Measures the throughput of the line, and what a report costs each database server, on one server
 * and on Citus: all on PostgreSQL 15 on this machine, so the throughput shows the cost of
 * distribution, not its gain.
 */
export async function benchCitus(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { reports: { type: 'string', default: '2000' } },
  })
  const fresh = variantsOf(await readForwardable())
  const cluster = await startCitusCluster({ isDurable: true })
  console.log(`load before: ${loadOf()}`)
  const rows: Row[] = []
  try {
    for (const layout of layouts) {
      rows.push(await measureLayout(layout, cluster, fresh, Number(values.reports)))
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
  reports: number,
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
    const before = await cpuOf(cluster)
    const { perSecond, cpu } = await measure(name, fresh(reports), pace, stage)
    const after = await cpuOf(cluster)
    const others = Object.entries(cpu)
      .filter(([part]) => part !== 'database')
      .reduce((sum, [, micros]) => sum + micros / 1_000, 0)
    const perReport = after.map((seconds, node) => {
      return ((seconds - (before[node] ?? 0)) / reports) * 1_000
    })
    return { name, perSecond, cpu: perReport, others }
  } finally {
    await instance.close()
    await endOf(sink.child)
  }
}

/** Creates an empty database on each node, with the given number of workers. */
async function createDatabase(
  { urls }: CitusCluster,
  name: string,
  workers: number,
): Promise<void> {
  const [coordinator, ...others] = urls
  for (const url of urls.slice(0, workers + 1)) {
    await run(`${url}/postgres`, `create database ${name}`)
    if (workers > 0) await run(`${url}/${name}`, 'create extension citus')
  }
  if (workers === 0) return
  const { port: own } = new URL(coordinator)
  await run(`${coordinator}/${name}`, `select citus_set_coordinator_host('127.0.0.1', ${own})`)
  for (const url of others.slice(0, workers)) {
    const { port } = new URL(url)
    await run(`${coordinator}/${name}`, `select citus_add_node('127.0.0.1', ${port})`)
  }
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** Seconds of CPU of each node so far. */
function cpuOf({ folders }: CitusCluster): Promise<number[]> {
  return Promise.all(folders.map((folder) => serverCpuSeconds({ folder })))
}

function print(rows: readonly Row[]): void {
  const plain = rows[0]?.cpu.reduce((sum, one) => sum + one, 0) ?? 0
  const ms = (value: number) => value.toFixed(2)
  printTable(
    [
      ...['bench citus, ms of CPU per report', 'reports/s', 'coordinator', 'worker 1', 'worker 2'],
      ...['all servers', '× one server', 'other processes'],
    ],
    rows.map(({ name, perSecond, cpu, others }) => {
      const all = cpu.reduce((sum, one) => sum + one, 0)
      return [
        ...[name, perSecond.toFixed(0), ...cpu.map(ms)],
        ...[ms(all), (all / plain).toFixed(2), ms(others)],
      ]
    }),
  )
}
