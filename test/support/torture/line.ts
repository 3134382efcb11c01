import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { migrateAll } from '../../../src/processes/migrate.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { freePort } from '../free-port.ts'
import { createPool, type Pool } from '../../../src/db/pool.ts'
import { systemClock } from '../../../src/world.ts'
import { turnLimitsOff } from '../limits.ts'
import { sampleNetworks } from '../messages.ts'
import { type Program, startProgram, until } from '../process.ts'
import { keepPostgres, type LineDatabase } from './line-databases.ts'

/**
 * The origin of a message received by a known provider reaches this confidence. For any other
 * message, the reporter is asked.
 */
export const originConfidenceMin = 0.95

/** All processes that handle a report, on this machine; the test can kill each of them. */
export type Line = {
  url: string
  databaseUrl: string
  /** Lets all processes start again with another database. */
  useDatabase: (database: Pick<LineDatabase, 'url' | 'backend'>) => Promise<void>
  pool: Pool
  /** The names that `kill` accepts. */
  victims: readonly string[]
  /** Kills one process immediately; it is restarted without a pause, but a node after a while. */
  kill: (victim: string) => Promise<void>
  /** Suspends one process until the returned function is called. */
  freeze: (part: string) => () => void
  /** The processes that can be suspended. */
  parts: readonly string[]
  /** Stops PostgreSQL as an administrator does, and starts it again. */
  restartPostgres: () => Promise<void>
  /** Ends all connections to the database. */
  cutConnections: () => Promise<void>
  /** Leaves no room on the disk for a time; only with a disk of its own. */
  fillDisk: (ms: number) => Promise<void>
  /** Returns the resident memory of each running process, in bytes. */
  memory: () => Promise<Map<string, number>>
  /** Resolves when every process has reported that it is ready. */
  untilReady: () => Promise<void>
  /** Unexpected ends of processes, with their last output. */
  surprises: string[]
  close: () => Promise<void>
}

const queues = 'analyze-report,redeem-report,forward-report'
const commands: Readonly<Record<string, readonly string[]>> = {
  web: ['web'],
  'work 1': ['work', '--queues', queues],
  'work 2': ['work', '--queues', queues],
  'count 1': ['count'],
  'count 2': ['count'],
}
const AGAIN_MS = 300

/** How a line is made that meets every fault. */
export type LineOptions = {
  /** The size of a disk of its own, which can be filled; needs root. */
  diskBytes?: number
  /** Returns by how many milliseconds the clock of a process is wrong that is about to start. */
  skewMs?: () => number
  /** Starts the database, with its data in a folder; default: one server that is kept running. */
  openDatabase?: (dataDir: string) => Promise<LineDatabase>
}

/** Starts a database, `web`, two of `work` and two of `count`; mail goes to `smtpUrl`. */
export async function startLine(smtpUrl: string, options: LineOptions = {}): Promise<Line> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-torture-'))
  const disk = openDisk(dataDir, options.diskBytes)
  await chmod(dataDir, 0o711)
  const database = await (options.openDatabase ?? keepPostgres)(dataDir)
  const port = await freePort()
  const pool = createPool(database.url, {
    connectionsMax: 3,
    name: 'torture',
    onLost: () => undefined,
  })
  const parts = keepParts(
    {
      DATABASE_URL: database.url,
      DB_BACKEND: database.backend,
      DATA_DIR: dataDir,
      SECRET: 'torture '.repeat(8),
      HTTP_PORT: String(port),
      LOG_LEVEL: 'warn',
      WORKERS: '1',
      RDAP_BOOTSTRAP_URL: 'none',
      MESSAGE_AGE_MAX: '0',
      ORIGIN_CONFIDENCE_MIN: String(originConfidenceMin),
      SMTP_URL: smtpUrl,
      FEEDBACK_HOURLY_MAX: '1000000',
    },
    options.skewMs,
  )
  const close = async () => {
    await parts.close()
    await pool.end()
    await database.close()
    disk.close()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await migrateAll(database.url, new Date(), { backend: database.backend })
    await turnLimitsOff(pool)
    await importNetworks(sampleNetworks, { pool, clock: systemClock })
    parts.startAll()
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: `http://127.0.0.1:${port}`,
    databaseUrl: database.url,
    useDatabase: ({ url, backend }) =>
      parts.restartWith({ DATABASE_URL: url, DB_BACKEND: backend }),
    pool,
    parts: Object.keys(commands),
    victims: [...Object.keys(commands), ...Object.keys(database.kills)],
    freeze: parts.freeze,
    async kill(victim) {
      await (database.kills[victim]?.() ?? parts.kill(victim))
    },
    restartPostgres: database.restart,
    async cutConnections() {
      await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and application_name <> 'torture'`)
    },
    fillDisk: disk.fill,
    memory: parts.memory,
    untilReady: parts.untilReady,
    surprises: parts.surprises,
    close,
  }
}

/** A file system of limited size, mounted on a folder. */
function openDisk(folder: string, bytes: number | undefined) {
  const filler = path.join(folder, 'filler')
  if (bytes !== undefined) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'torture', folder])
  }
  return {
    async fill(ms: number) {
      if (bytes === undefined) throw new Error('The line has no disk of its own.')
      const { bavail, bsize } = await statfs(folder)
      const length = Math.max(bsize, bavail * bsize - 64_000_000)
      spawnSync('fallocate', ['--length', String(length), filler])
      // Ends when no room is left.
      spawnSync('sh', ['-c', 'cat /dev/zero >>"$1"', 'sh', filler])
      await wait(ms)
      await rm(filler)
    },
    close() {
      if (bytes !== undefined) execFileSync('umount', ['--lazy', folder])
    },
  }
}

const skewedClock = path.join(import.meta.dirname, 'skewed-clock.ts')

/** Keeps the processes running, like the supervisor of `start`, but without growing pauses. */
function keepParts(settings: Record<string, string>, skewMs = () => 0) {
  let env = settings
  const running = new Map<string, Program>()
  const surprises: string[] = []
  const ordered = new Set<Program>()
  let isClosed = false
  const run = (name: string) => {
    const skew = skewMs()
    const clock =
      skew === 0 ? {} : { NODE_OPTIONS: `--import ${skewedClock}`, TORTURE_SKEW_MS: String(skew) }
    const program = startProgram(commands[name] ?? [], { ...env, ...clock })
    running.set(name, program)
    void program.ended.then(async ({ code, signal }) => {
      if (!ordered.has(program)) {
        const words = program.said().split('\n').slice(-40).join('\n')
        surprises.push(`${name} ended with ${signal ?? code}: ${words}`)
        await wait(AGAIN_MS)
      }
      if (!isClosed) run(name)
    })
  }
  return {
    surprises,
    startAll: () => Object.keys(commands).forEach(run),
    async kill(name: string) {
      const program = running.get(name)
      if (!program) return
      ordered.add(program)
      program.kill('SIGKILL')
      await program.ended
    },
    async restartWith(more: Record<string, string>) {
      env = { ...env, ...more }
      for (const name of Object.keys(commands)) {
        const program = running.get(name)
        if (!program) continue
        ordered.add(program)
        await program.stop()
      }
    },
    freeze(name: string) {
      const program = running.get(name)
      program?.kill('SIGSTOP')
      return () => program?.kill('SIGCONT')
    },
    async memory() {
      const found = new Map<string, number>()
      for (const [name, { pid }] of running) {
        const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
        found.set(name, Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1_024)
      }
      return found
    },
    async untilReady() {
      for (const name of Object.keys(commands)) {
        // A process that ended before it was ready has been restarted since.
        const ready = async () => (await isReady(running.get(name))) || undefined
        await until(`${name} to be ready`, ready).catch((cause: unknown) => {
          throw new Error(`${name} is not ready: ${running.get(name)?.said()}`, { cause })
        })
      }
    },
    async close() {
      isClosed = true
      for (const program of running.values()) ordered.add(program)
      await Promise.all([...running.values()].map((program) => program.stop()))
    },
  }
}

function isReady(program: Program | undefined): Promise<boolean> {
  const yes = program?.ready.then(() => true)
  return yes?.catch(() => false) ?? Promise.resolve(false)
}
