import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { listLayers } from '../../src/db/networks.ts'
import type { Db } from '../../src/db/pool.ts'
import { findNetworks } from '../../src/judging/find-campaigns.ts'
import { parseIp } from '../../src/mail/ip.ts'
import { parseBlock } from '../../src/mail/ip-blocks.ts'
import { percentiles, printTable } from './corpus.ts'
import { cpuSeconds, serverCpuSeconds, startInstance, type Instance } from './instance.ts'
import { addresses, writeTables } from './network-tables.ts'

const RANGES = 1_000_000
const BATCH = 50
const LOOKUPS = 400
const main = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts')

type Index = 'SP-GiST' | 'GiST' | 'equality with 33/129 blocks'

/**
 * Measures a table of a million ranges: the import by the real command, look-ups of one address and
 * of fifty with our index and with alternatives, and look-ups while the table is replaced.
 */
export async function benchNetworks(): Promise<void> {
  const instance = await startInstance()
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-tables-'))
  const files = { as: path.join(folder, 'ip2asn.tsv'), registry: path.join(folder, 'rir.txt') }
  try {
    await writeTables(files, RANGES)
    const imports: string[][] = []
    const importFile = async (what: string, file: string) => {
      const before = await serverCpuSeconds(instance.server)
      const { seconds, cpu, megabytes } = await finish(startImport(file, instance))
      const served = (await serverCpuSeconds(instance.server)) - before
      imports.push([what, ...[seconds, cpu, served].map((s) => s.toFixed(1)), megabytes.toFixed(0)])
      console.log(imports.at(-1)?.join('  '))
    }
    await importFile('a million ranges', files.as)
    await importFile('a registry, in addition', files.registry)
    await importFile('the million ranges again', files.as)
    const lookups = await measureIndexes(instance)
    const calm = await watch(instance, wait(5_000))
    const reload = startImport(files.as, instance)
    const busy = await watch(instance, finish(reload))
    const head = ['bench networks: import', 'seconds', 'CPU', 'database CPU', 'peak MB']
    printTable(head, imports)
    printTable(['lookup, µs an address', 'server', 'with the round trip', 'p99'], lookups)
    printTable(
      ['lookups, ms', 'count', 'p50', 'p99', 'max'],
      [
        ['one, idle', ...calm.one],
        ['fifty, idle', ...calm.fifty],
        ['one, during an import', ...busy.one],
        ['fifty, during an import', ...busy.fifty],
      ],
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
    await instance.close()
  }
}

function startImport(file: string, { databaseUrl }: Instance): ChildProcess {
  const env = { ...process.env, DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn' }
  return fork(main, ['import', 'networks', file], { env, stdio: 'ignore', execArgv: [] })
}

async function finish(child: ChildProcess) {
  const started = performance.now()
  const { pid = 0 } = child
  const last = { cpu: 0, megabytes: 0 }
  const look = setInterval(() => {
    const peak = readFile(`/proc/${pid}/status`, 'utf8').then((status) => {
      const kilobytes = /^VmHWM:\s+(\d+)/m.exec(status)?.[1]
      // The value is absent while the process is ending.
      if (kilobytes) last.megabytes = Number(kilobytes) / 1024
    })
    const used = cpuSeconds(pid).then((seconds) => (last.cpu = seconds))
    // The process may just have ended.
    void Promise.allSettled([peak, used])
  }, 50)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(look)
  if (code !== 0) throw new Error(`The import ended with ${code}.`)
  return { seconds: (performance.now() - started) / 1_000, ...last }
}

async function measureIndexes({ pool }: Instance): Promise<string[][]> {
  const rows: string[][] = []
  const client = await pool.connect()
  for (const index of ['SP-GiST', 'GiST', 'equality with 33/129 blocks'] as const) {
    await client.query('begin')
    if (index !== 'SP-GiST') await client.query('drop index networks_cidr_idx')
    if (index === 'GiST') {
      await client.query('create index tried_idx on networks using gist (cidr inet_ops)')
    }
    for (const family of [4, 6] as const) {
      for (const batch of [1, BATCH]) {
        const measured = await measure(client, index, family, batch)
        rows.push([`${index}, IPv${family}, ${batch === 1 ? 'one' : 'fifty'}`, ...measured])
        console.log(rows.at(-1)?.join('  '))
      }
    }
    await client.query('rollback')
  }
  client.release()
  return rows
}

async function measure(db: Db, index: Index, family: 4 | 6, batch: number): Promise<string[]> {
  const now = new Date()
  const all = addresses(family, LOOKUPS * batch, family + batch)
  const journeys: number[] = []
  const served: number[] = []
  for (let at = 0; at < all.length; at += batch) {
    const ips = all.slice(at, at + batch)
    const started = performance.now()
    if (index.startsWith('equality')) await byEquality(db, ips)
    else await findNetworks(db, ips, now)
    journeys.push((performance.now() - started) / batch)
    served.push((await executionMs(db, index, ips, now)) / batch)
  }
  const micro = (ms: number) => (ms * 1_000).toFixed(0)
  const { p50, p99 } = percentiles(journeys)
  return [micro(percentiles(served).p50), micro(p50), micro(p99)]
}

/** Returns the duration of the statement according to the server, without planning. */
async function executionMs(db: Db, index: Index, ips: readonly string[], now: Date) {
  let asked: [string, unknown[]] | undefined
  const listener = {
    query: (text: string, parameters: unknown[]) => {
      asked = [text, parameters]
      return Promise.resolve({ rows: [] })
    },
  } as unknown as Db
  if (index.startsWith('equality')) await byEquality(listener, ips)
  else await listLayers(listener, ips, now)
  const [text, parameters] = asked ?? ['', []]
  const { rows } = await db.query<{ 'QUERY PLAN': [{ 'Execution Time': number }] }>(
    `explain (analyze, timing off, format json) ${text}`,
    parameters,
  )
  return rows[0]?.['QUERY PLAN'][0]['Execution Time'] ?? Number.NaN
}

/**
 * The previous method: lists all blocks around an address, and looks them up by the primary key.
 */
async function byEquality(db: Db, ips: readonly string[]): Promise<void> {
  const blocks = ips.flatMap((ip) => {
    const bits = parseIp(ip)?.family === 6 ? 128 : 32
    return Array.from({ length: bits + 1 }, (_, length) => parseBlock(`${ip}/${length}`))
  })
  await db.query(
    `select cidr::text, source, asn, name, country, contacts, is_muted, imported_at, expires_at
     from networks where cidr = any($1::cidr[])`,
    [[...new Set(blocks)]],
  )
}

/** Looks up addresses, alternately one and fifty, until a function has ended. */
async function watch({ pool }: Instance, until: Promise<unknown>) {
  let isDone = false
  const done = until.finally(() => (isDone = true))
  const times = { one: [] as number[], fifty: [] as number[] }
  for (let round = 0; !isDone; round++) {
    for (const [name, count] of [['one', 1] as const, ['fifty', BATCH] as const]) {
      const ips = addresses(round % 2 === 0 ? 4 : 6, count, round)
      const started = performance.now()
      await findNetworks(pool, ips, new Date())
      times[name].push(performance.now() - started)
    }
    await wait(2)
  }
  await done
  const cells = (values: number[]) => {
    const { p50, p99, max } = percentiles(values)
    return [String(values.length), ...[p50, p99, max].map((ms) => ms.toFixed(2))]
  }
  return { one: cells(times.one), fifty: cells(times.fifty) }
}
