import { type ChildProcess, fork } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { migrateAll } from '../../src/processes/migrate.ts'
import { listShardBacklogs } from '../../src/db/counter-rows.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { createPool, type Pool } from '../../src/db/pool.ts'
import { linesOf, liveAt, modelOf } from './counter-model.ts'
import { postmasterOf } from './own-database.ts'
import { storedModel } from './counter-rows.ts'
import {
  batchOf,
  committedTable,
  countsOf,
  gatedOf,
  REPORTS_FROM,
} from './counter-torture-batches.ts'
import type { Increment } from './increments.ts'

/**
 * The result of a torture run; `wrong` lists the buckets that differ from those of the simple
 * computation.
 */
export type Tortured = { kills: string[]; batches: number; buckets: number; wrong: string[] }

const APPENDERS = 2
const REPORTERS = 2
const ROLLERS = 3
const SETTLE_MS = 60_000

/**
 * Appends increments and reports, retracts reports and rolls up, in several processes, and kills
 * one of them, or PostgreSQL itself, in each round. Then rolls up everything, and compares every
 * bucket with the result of the committed appends.
 */
export async function tortureCounters(rounds: number, chance: () => number): Promise<Tortured> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-torture-'))
  await chmod(dataDir, 0o755)
  let server = await startEmbedded({ dataDir, password: 'torture', settings: [] })
  const start = () =>
    startEmbedded({ dataDir, password: 'torture', settings: [], port: server.port })
  const pool = createPool(server.url, {
    connectionsMax: 2,
    name: 'torture',
    onLost: () => undefined,
  })
  const children = new Map<string, ChildProcess>()
  const startMs = Date.now()
  const run = (name: string) => {
    const script = path.join(import.meta.dirname, 'counter-torture-process.ts')
    const [role = '', number = ''] = name.split(' ')
    children.set(name, fork(script, [role, number, String(startMs), server.url], { execArgv: [] }))
  }
  try {
    await migrateAll(server.url, new Date())
    await pool.query(committedTable)
    for (let number = 0; number < APPENDERS; number++) run(`append ${number}`)
    for (let number = 0; number < REPORTERS; number++) run(`append ${REPORTS_FROM + number}`)
    for (let number = 0; number < ROLLERS; number++) run(`roll-up ${number}`)
    const kills: string[] = []
    for (let round = 0; round < rounds; round++) {
      await wait(300 + chance() * 1_200)
      const names = [...children.keys(), 'postgres', 'postgres']
      const victim = names[Math.floor(chance() * names.length)] ?? 'postgres'
      kills.push(victim)
      if (victim === 'postgres') server = await killServer(server, start)
      else {
        await killChild(children.get(victim))
        run(victim)
      }
    }
    for (const [name, child] of children) if (name.startsWith('append')) await killChild(child)
    await untilQuiet(pool)
    return { kills, ...(await compare(pool, startMs)) }
  } finally {
    await Promise.all([...children.values()].map(killChild))
    await pool.end()
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
    await rm(server.folder, { recursive: true, force: true })
  }
}

async function killChild(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

async function killServer(
  server: EmbeddedServer,
  start: () => Promise<EmbeddedServer>,
): Promise<EmbeddedServer> {
  process.kill(await postmasterOf(server), 'SIGKILL')
  await server.ended
  return start()
}

async function untilQuiet(pool: Pool): Promise<void> {
  for (const deadline = Date.now() + SETTLE_MS; Date.now() < deadline; await wait(100)) {
    // A statement that a killed process has just sent may still be running.
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where application_name = 'append'`,
    )
    if (rowCount === 0 && (await listShardBacklogs(pool)).length === 0) return
  }
  throw new Error('The deltas were not rolled up in time.')
}

async function compare(pool: Pool, startMs: number): Promise<Omit<Tortured, 'kills'>> {
  const { rows } = await pool.query<{ appender: number; batch: number }>(
    'select appender, batch from torture_batches',
  )
  const now = new Date()
  const batches = rows.map(({ appender, batch }) => [startMs, appender, batch] as const)
  const gated = batches.flatMap((place) => (place[1] >= REPORTS_FROM ? [] : gatedOf(...place)))
  const exact = batches.flatMap((place) => {
    return place[1] >= REPORTS_FROM ? countsOf(...place) : batchOf(...place)
  })
  const model = modelOf([...exact, ...passed(gated)], now)
  const expected = new Set(linesOf(liveAt(model, now)))
  const stored = new Set(linesOf(liveAt(await storedModel(pool), now)))
  const wrong = [...expected.symmetricDifference(stored)].toSorted()
  return { batches: rows.length, buckets: expected.size, wrong }
}

/**
 * Returns the increments of keys that were seen three times. All of them count, because the gate
 * adds the sightings that it held back.
 */
function passed(increments: readonly Increment[]): Increment[] {
  const byKey = Map.groupBy(increments, ({ shingle }) => shingle)
  return increments.filter(({ shingle }) => (byKey.get(shingle)?.length ?? 0) >= 3)
}
