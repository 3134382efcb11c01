import { fork } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { wholeOf } from '../../../src/counting/keys.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { migrateAll } from '../../../src/processes/migrate.ts'
import { listShardBacklogs } from '../../../src/db/counter-rows.ts'
import { startEmbedded } from '../../../src/db/embedded.ts'
import { createPool, type Pool } from '../../../src/db/pool.ts'
import { endAlways } from '../endings.ts'
import { cpuSeconds, serverCpuSeconds } from '../instance.ts'

/** A database for counters, and a process that rolls up. */
export type Stage = {
  pool: Pool
  /** Starts the process that rolls up; call the returned function to end it. */
  startRollUps: () => { pid: number; stop: () => Promise<void> }
  serverCpu: () => Promise<number>
  close: () => Promise<void>
}

/** Starts PostgreSQL as the program does, durable, but with little memory. */
export async function openStage(sharedBuffers: string): Promise<Stage> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-bench-'))
  await chmod(dataDir, 0o755)
  const settings = [`shared_buffers=${sharedBuffers}`]
  const starting = startEmbedded({ dataDir, password: 'bench', settings })
  const close = endAlways(async () => {
    const { stop, folder } = await starting
    await stop()
    await rm(dataDir, { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
  })
  const server = await starting
  await migrateAll(server.url, new Date())
  const onLost = () => undefined
  const pool = createPool(server.url, { connectionsMax: 4, name: 'bench', onLost })
  return {
    pool,
    startRollUps() {
      const script = path.join(import.meta.dirname, 'roll-up-process.ts')
      const child = fork(script, [server.url])
      const ended = new Promise((resolve) => child.once('exit', resolve))
      return {
        pid: child.pid ?? 0,
        stop: async () => {
          child.disconnect()
          await ended
        },
      }
    },
    serverCpu: () => serverCpuSeconds(server),
    async close() {
      await pool.end()
      await close()
    },
  }
}

/** Waits until nothing is left to roll up. */
export async function untilRolledUp(pool: Pool): Promise<void> {
  while ((await listShardBacklogs(pool)).length > 0) await wait(100)
}

/** Returns the number of bytes that wait for the roll-up. */
export async function backlogBytes(pool: Pool): Promise<number> {
  const backlogs = await listShardBacklogs(pool)
  return backlogs.reduce((sum, { bytes }) => sum + bytes, 0)
}

/**
 * Returns the disk space of the counters and their members, with indexes, and their number of rows.
 */
export async function storedBytes(pool: Pool): Promise<{ bytes: number; rows: number }> {
  const { rows } = await pool.query<{ bytes: number; rows: number }>(
    `select (select sum(pg_total_relation_size(inhrelid)) from pg_inherits
        where inhparent in ('counters'::regclass, 'counter_members'::regclass))::float8 as bytes,
       (select count(*) from counters)::float8 as rows`,
  )
  return rows[0] ?? { bytes: 0, rows: 0 }
}

/** Empties all tables of the counters. */
export async function clearCounters(pool: Pool): Promise<void> {
  const counted = 'counters, counter_members, counter_gates'
  await pool.query(`truncate ${counted}, counter_deltas, counted_reports, reports_to_count`)
}

/** Measures the CPU time of the server, of this process and of another one during a function. */
export async function withCpu<T>(stage: Stage, pid: number, work: () => Promise<T>) {
  const read = async () => ({
    server: await stage.serverCpu(),
    own: await cpuSeconds(process.pid),
    other: pid ? await cpuSeconds(pid) : 0,
  })
  const before = await read()
  const started = performance.now()
  const result = await work()
  const seconds = (performance.now() - started) / 1_000
  const after = await read()
  return {
    result,
    seconds,
    serverCpu: after.server - before.server,
    ownCpu: after.own - before.own,
    otherCpu: after.other - before.other,
  }
}

/**
 * Formats the number of cores that were busy: with this process, with the other one, and with the
 * server.
 */
export function coresOf(spent: Omit<Awaited<ReturnType<typeof withCpu>>, 'result'>): string {
  const { ownCpu, otherCpu, serverCpu, seconds } = spent
  return [ownCpu, otherCpu, serverCpu].map((cpu) => (cpu / seconds).toFixed(2)).join(' / ')
}

/** Returns the key for a number: both halves look like a hash. */
export function keyOf(number: number): { hi: number; lo: number } {
  return { hi: scramble(number), lo: scramble(number ^ 0x5bd1e995) }
}

/** Returns the key of `keyOf` as one 64-bit hash. */
export function shingleOf(number: number): bigint {
  return wholeOf(keyOf(number))
}

function scramble(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Returns a number below `count`, by Zipf's law with exponent 1. */
export function zipf(count: number): number {
  return Math.floor(Math.exp(Math.random() * Math.log(count + 1))) - 1
}

/** Returns a number below `count`, uniformly distributed. */
export function uniform(count: number): number {
  return Math.floor(Math.random() * count)
}

/** Formats a rate per second. */
export function perSecond(count: number, seconds: number): string {
  return Math.round(count / seconds).toLocaleString('en')
}
