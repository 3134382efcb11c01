import type { ChildProcess } from 'node:child_process'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { runAction } from '../actions.ts'
import type { Config } from '../config.ts'
import { cacheSetting, type EmbeddedServer, startEmbedded } from '../db/embedded.ts'
import { removeHeartbeats } from '../db/health.ts'
import { hasNetworks } from '../db/networks.ts'
import { createPool, type Pool } from '../db/pool.ts'
import { findReporterByEmail, hasAdmin } from '../db/reporters.ts'
import { reasonOf, UsageError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { disableAccount } from '../people/account-actions.ts'
import { systemClock } from '../world.ts'
import { type AccountRequest, addAccount } from './add-account.ts'
import { readZones } from './blacklist-zones.ts'
import {
  accountsFile,
  claimDataDir,
  demoReporter,
  type FirstAccounts,
  hasKeptAccounts,
  keptAccounts,
  keptDatabasePassword,
  keptSecrets,
  notedPartHeartbeats,
  noteDatabaseUrl,
  notePartHeartbeats,
} from './data-dir.ts'
import { importNetworks } from './import-networks.ts'
import { keyRingOf, requireSecret } from './keep-secret.ts'
import { migrateAll } from './migrate.ts'
import { refuseOnFront } from './open-app.ts'
import { checkPart, type PartMessage, type ProcessPart, parts, startPart } from './parts.ts'
import { readTlsFiles } from './receive/receive.ts'

/** Processes that are restarted when they end. */
type Supervisor = {
  /** Resolves when every part has reported that it is ready. */
  ready: Promise<void>
  /** Asks every part to stop; kills those that take longer than `STOP_MS` plus the drain time. */
  stop: () => Promise<void>
}

const STOP_MS = 20_000
const PAUSE_MS_MIN = 200
const PAUSE_MS_MAX = 30_000
/** Time in milliseconds after which a part that ends is restarted without a pause. */
const STEADY_MS = 60_000

type Running = {
  child: ChildProcess | undefined
  timer: NodeJS.Timeout | undefined
  /** The row of its last heartbeats, which is deleted when the part has a new one or is stopped. */
  heartbeat: string | undefined
}

/** What a supervisor needs besides the parts. */
type SupervisorTools = {
  log: Logger
  drainMs?: number | undefined
  /** Stores the heartbeats of the present parts, and deletes those of a part that ended. */
  keepHeartbeats: (present: readonly string[], ended: readonly string[]) => Promise<void>
}

/**
 * Starts parts with `startPart` and restarts those that end, with increasing pauses. If the
 * supervisor itself ends, the parts see their channel close and stop.
 */
function supervise(
  parts: readonly ProcessPart[],
  startPart: (part: ProcessPart) => ChildProcess,
  { log, drainMs = 0, keepHeartbeats }: SupervisorTools,
): Supervisor {
  let isStopping = false
  const running = new Map<string, Running>()
  let keeping: Promise<void> = Promise.resolve()
  const keep = (ended: readonly string[]) => {
    const present = [...running.values()].flatMap(({ heartbeat }) => heartbeat ?? [])
    keeping = keeping.then(() => keepHeartbeats(present, ended))
  }
  const readiness = parts.map((part) => {
    const { promise, resolve } = Promise.withResolvers<'ready'>()
    const state: Running = { child: undefined, timer: undefined, heartbeat: undefined }
    running.set(part.name, state)
    let pauseMs = PAUSE_MS_MIN
    const start = () => {
      const startedAt = performance.now()
      const child = startPart(part)
      state.child = child
      child.on('message', (message: PartMessage) => {
        if (message === 'ready') return resolve('ready')
        const former = state.heartbeat
        state.heartbeat = message.heartbeat
        keep(former === undefined ? [] : [former])
      })
      child.on('exit', (code, signal) => {
        state.child = undefined
        if (isStopping) return
        if (performance.now() - startedAt > STEADY_MS) pauseMs = PAUSE_MS_MIN
        log.warn(
          { part: part.name, code, signal, pauseMs },
          'A process ended unexpectedly. Restarting it.',
        )
        state.timer = setTimeout(start, pauseMs)
        pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)
      })
    }
    start()
    return promise
  })
  return {
    ready: Promise.all(readiness).then(() => undefined),
    stop: async () => {
      isStopping = true
      const states = [...running.values()]
      await Promise.all(states.map((one) => stopPart(one, STOP_MS + drainMs)))
      const ended = states.flatMap(({ heartbeat }) => heartbeat ?? [])
      for (const state of states) state.heartbeat = undefined
      keep(ended)
      await keeping
    },
  }
}

async function stopPart({ child, timer }: Running, msMax: number): Promise<void> {
  clearTimeout(timer)
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), msMax)
  await ended
  clearTimeout(killer)
}

export type StartContext = {
  config: Config
  log: Logger
  /** Path of `main.ts`, from which the parts are started. */
  main: string
  env: NodeJS.ProcessEnv
  say: (text: string) => void
  /** Resolves when the program is to stop, possibly during startup. */
  stopping: Promise<void>
}

export type Instance = { close: () => Promise<void> }

const sampleNetworks = path.join(import.meta.dirname, '..', 'db', 'sample-networks.csv')

/**
 * Runs everything on this machine: the embedded PostgreSQL unless DATABASE_URL is set, the
 * migrations, then `web`, `work`, `count`, `receive` and, with CHECK_PORT, `check`, each
 * restarted when it ends.
 *
 * @throws UsageError on a front, if another `start` uses the data folder, BLACKLISTS is invalid, or
 * the certificate of `receive` cannot be used
 */
export async function start(context: StartContext): Promise<Instance> {
  const { config, log, main, env, say, stopping } = context
  refuseOnFront(config)
  await readZones(config.blacklists)
  await readTlsFiles(config)
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    for (const closer of closers.toReversed()) await closer()
  }
  const progress = tellIfSlow(say)
  try {
    closers.push(await claim(config))
    const kept = config.secret === undefined ? await keptSecrets(config.dataDir) : undefined
    const previous = [...(kept?.previous ?? []), ...config.previousSecrets]
    progress.begin(`Starting PostgreSQL, with its log in ${config.dataDir}`)
    const database = await openDatabase(config, log)
    closers.push(database.stop)
    progress.begin('Preparing the database')
    const accounts = await prepare(config.databaseDirectUrl ?? database.url, config, log)
    const keepHeartbeats = heartbeatKeeper(config.databaseDirectUrl ?? database.url, config, log)
    await keepHeartbeats([], await notedPartHeartbeats(config.dataDir))
    const settings = {
      ...{ DATABASE_URL: database.url, DATA_DIR: config.dataDir },
      ...{ SECRET: kept?.secret ?? config.secret, SECRET_PREVIOUS: JSON.stringify(previous) },
      // No drain time by default: no load balancer distributes requests among these parts.
      DRAIN_SECONDS: String((config.drainMs ?? 0) / 1_000),
    }
    // People try it with old messages, and look at the pages rather than at the log.
    const quiet = process.stdout.isTTY && { LOG_LEVEL: 'warn' }
    const forTrial = isTrialSite(config) && { MESSAGE_AGE_MAX: '0', ...quiet }
    const partEnv = { ...forTrial, ...env, ...settings }
    const wanted = config.checkPort === undefined ? parts : [...parts, checkPart]
    const supervisor = supervise(wanted, (part) => startPart(main, part, partEnv, config), {
      log,
      drainMs: config.drainMs,
      keepHeartbeats,
    })
    closers.push(supervisor.stop)
    progress.begin('Starting the processes')
    const isReady = supervisor.ready.then(() => true)
    if (await Promise.race([isReady, stopping])) say(banner(config, accounts))
    return { close }
  } catch (error) {
    await close()
    throw error
  } finally {
    progress.end()
  }
}

/** Says what a start is doing if it takes more than three seconds: each step once a minute. */
function tellIfSlow(say: StartContext['say']) {
  let step = 'Starting'
  let told = { step: '', at: 0 }
  const startedAt = performance.now()
  const tell = () => {
    const at = performance.now() - startedAt
    if (told.step === step && at - told.at < AGAIN_MS) return
    told = { step, at }
    say(`${step} (${Math.round(at / 1_000)} s) …`)
  }
  const timer = setInterval(tell, SLOW_MS)
  return { begin: (next: string) => void (step = next), end: () => clearInterval(timer) }
}

const SLOW_MS = 3_000
const AGAIN_MS = 60_000

/**
 * Returns a function that notes the heartbeats of the present parts in the data folder and deletes
 * those of parts that ended. If the database is away, successors take their places.
 */
function heartbeatKeeper(
  databaseUrl: string,
  { dataDir }: Config,
  log: Logger,
): SupervisorTools['keepHeartbeats'] {
  return async (present, ended) => {
    try {
      await notePartHeartbeats(dataDir, present)
      if (ended.length === 0) return
      const pool = createPool(databaseUrl, poolOptions)
      await removeHeartbeats(pool, ended).finally(() => pool.end())
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'Could not delete the heartbeats of a part that ended.')
    }
  }
}

const poolOptions = { connectionsMax: 1, name: 'start', onLost: () => undefined }

async function claim({ dataDir }: Config): Promise<() => Promise<void>> {
  const release = await claimDataDir(dataDir)
  if (!release) throw new UsageError([`Signalpost is already running on ${dataDir}.`])
  return release
}

async function openDatabase(
  config: Config,
  log: Logger,
): Promise<{ url: string; stop: () => Promise<void> }> {
  if (config.databaseUrl !== undefined) {
    return { url: config.databaseUrl, stop: () => Promise.resolve() }
  }
  const password = await keptDatabasePassword(config.dataDir)
  const reserved = [config.httpPort, config.receivePort, config.checkPort]
  const options = { dataDir: config.dataDir, password, settings: [cacheSetting()], reserved }
  const first = await startEmbedded(options)
  if (!first.folder.startsWith(config.dataDir)) {
    const says = 'PostgreSQL cannot enter the data folder, so its files are in another folder.'
    log.warn({ folder: first.folder }, says)
  }
  await noteDatabaseUrl(config.dataDir, first.url)
  const stop = keepRunning(first, () => startEmbedded({ ...options, port: first.port }), log)
  return {
    url: first.url,
    stop: async () => {
      await stop()
      await noteDatabaseUrl(config.dataDir, undefined)
    },
  }
}

/** Restarts the embedded PostgreSQL whenever it ends, until the returned function is called. */
function keepRunning(
  first: EmbeddedServer,
  startAgain: () => Promise<EmbeddedServer>,
  log: Logger,
): () => Promise<void> {
  const stopping = new AbortController()
  const running = (async () => {
    for (let server: EmbeddedServer | undefined = first; !stopping.signal.aborted;) {
      if (server) await Promise.race([server.ended, aborted(stopping.signal)])
      if (stopping.signal.aborted) return server?.stop()
      log.error('PostgreSQL ended unexpectedly. Restarting it.')
      server = await startAgain().catch((error: unknown) => {
        log.error({ err: error }, 'Could not start PostgreSQL. Will retry.')
        return undefined
      })
      if (!server) await Promise.race([wait(RESTART_PAUSE_MS), aborted(stopping.signal)])
      else if (stopping.signal.aborted) return server.stop()
    }
  })()
  return async () => {
    stopping.abort()
    await running
  }
}

const RESTART_PAUSE_MS = 2_000

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Whether others can neither reach the site nor get mail from it. */
function isTrialSite({ smtpUrl, publicUrl }: Config): boolean {
  return smtpUrl === undefined && !publicUrl.startsWith('https:')
}

/**
 * Migrates, and adds the first accounts and the sample networks if there are none. Disables the
 * demo account if others can reach the instance or receive mail from it. Returns the accounts whose
 * first passwords are in the data folder: none if another folder created them, as after a restore.
 */
async function prepare(
  databaseUrl: string,
  config: Config,
  log: Logger,
): Promise<Partial<FirstAccounts>> {
  await migrateAll(databaseUrl, systemClock(), { backend: config.databaseBackend })
  const isDemo = isTrialSite(config)
  const pool = createPool(databaseUrl, poolOptions)
  const app = { pool, clock: systemClock, config }
  try {
    await requireSecret(pool, await keyRingOf(config), systemClock)
    const hasOwn = await hasAdmin(pool)
    const isKnown = !hasOwn || hasKeptAccounts(config.dataDir)
    const kept = isKnown ? await keptAccounts(config.dataDir, isDemo) : undefined
    if (kept && !hasOwn) await ensureAccount(kept.admin, { role: 'administrator' }, app)
    const reporter = isDemo ? kept?.reporter : undefined
    if (!isDemo) await disableDemoReporter(app, log)
    else if (reporter) await ensureAccount(reporter, { role: null }, app)
    if (!(await hasNetworks(pool))) await importNetworks(sampleNetworks, app)
    const isFirst = kept && (await findReporterByEmail(pool, kept.admin.email)) !== undefined
    return { ...(isFirst && { admin: kept.admin }), ...(reporter && { reporter }) }
  } finally {
    await pool.end()
  }
}

async function disableDemoReporter(
  app: { pool: Pool; clock: typeof systemClock; config: Config },
  log: Logger,
): Promise<void> {
  const outcome = await runAction(disableAccount, { account: demoReporter }, app, null)
  if ('done' in outcome) log.warn('Disabled the demo reporter because this instance is public.')
}

async function ensureAccount(
  { email, password }: FirstAccounts['admin'],
  { role }: Pick<AccountRequest, 'role'>,
  app: { pool: Pool; clock: typeof systemClock },
): Promise<void> {
  if (await findReporterByEmail(app.pool, email)) return
  await addAccount({ email, password, role, wantsToken: false }, app)
}

/** What to do next, in three lines: the address, the accounts, and how to end. */
function banner(config: Config, { admin, reporter }: Partial<FirstAccounts>): string {
  const sending = config.smtpUrl
    ? 'Mail is sent through the mail server of SMTP_URL.'
    : 'No mail is sent: set SMTP_URL to send it.'
  const names = [admin, reporter].flatMap((one) => one?.email ?? []).join(' or ')
  const accounts = names
    ? `Sign in as ${names}; passwords are in ${accountsFile(config.dataDir)}`
    : `Sign in at ${config.publicUrl}/sign-in`
  return `
Signalpost is running. Open ${config.publicUrl}
${accounts}
${sending} Press Ctrl-C to stop.
`
}
