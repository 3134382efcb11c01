import { statfs } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import { checkBackend } from '../db/backend.ts'
import { startEmbedded } from '../db/embedded.ts'
import { checkVersion, databaseState, findShingleSeed } from '../db/installation.ts'
import { createPool, findPooling, type Pool } from '../db/pool.ts'
import { openNodes } from '../db/nodes.ts'
import { keepPlansOfRecentWeeks, nameShards } from '../db/prepared.ts'
import { DatabaseUnsuitable, reasonOf, UsageError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { seedShingles } from '../pieces/shingles/hash.ts'
import type { KeyRing } from '../key-ring.ts'
import { type BossRole, startBoss, stopBoss } from '../queue/boss.ts'
import { systemClock } from '../world.ts'
import { claimDataDir, keptDatabasePassword, notedDatabaseUrl } from './data-dir.ts'
import { keepSecret, keyRingOf } from './keep-secret.ts'

/** An application that its opener must close. */
export type OpenApp = App & { close: () => Promise<void> }

const CLOSE_MS = 15_000
const MOMENT_TRIES = 5

/** No database is available at the moment. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** How long to wait for a database that is unreachable or not migrated. */
export type WaitPolicy = 'for ever' | 'a moment'

/**
 * Connects the process to its database and queues, and waits if the database is still starting.
 * Sets the process's seed for shingle hashes to that of the database, and how statements are
 * planned.
 *
 * @throws DatabaseUnavailable if the database is not available in time
 * @throws DatabaseUnsuitable behind an unsupported connection pooler, or if the database was
 *   created with another backend, or upgraded beyond this version, or uses another secret
 */
export async function openApp(
  config: Config & { databaseUrl: string },
  role: BossRole,
  log: Logger,
  name: string,
  patience: WaitPolicy = 'for ever',
): Promise<OpenApp> {
  const onError = (error: Error) => log.warn({ err: error }, 'A database connection failed.')
  await untilMigrated(config.databaseUrl, log, patience)
  const listenUrl = await findListenUrl(config)
  if (role === 'works' && listenUrl === undefined) {
    log.warn('Jobs start late behind a pooler in transaction mode. Set DATABASE_DIRECT_URL.')
  }
  const connections = {
    connectionsMax: config.databaseConnections,
    name: `signalpost ${name}`,
    onLost: onError,
    endsIdle: listenUrl === config.databaseUrl,
  }
  const pool = createPool(config.databaseUrl, connections)
  let secret: KeyRing
  let kept: Awaited<ReturnType<typeof keepSecret>> | undefined
  let nodes: Awaited<ReturnType<typeof openNodes>> | undefined
  try {
    await checkBackend(pool, config.databaseBackend)
    await checkVersion(pool)
    await seedFrom(pool)
    if (config.databaseBackend === 'citus') {
      nodes = await openNodes(pool, config.databaseUrl, { ...connections, onAway: warnOf(log) })
    }
    secret = await keyRingOf(config)
    const needs = { pool, config: { secret }, clock: systemClock, log }
    kept = await keepSecret(needs, { mustHave: patience === 'for ever' })
  } catch (error) {
    await pool.end()
    throw error
  }
  keepPlansOfRecentWeeks(systemClock)
  nameShards(config.databaseBackend === 'citus')
  const boss = await startBoss(
    role === 'works' ? (listenUrl ?? config.databaseUrl) : config.databaseUrl,
    role,
    { name, onError, listens: listenUrl !== undefined, backend: config.databaseBackend },
  )
  const app: App = { config: { ...config, secret }, pool, boss, clock: systemClock, log }
  async function close(): Promise<void> {
    await stopBoss(boss, CLOSE_MS).catch(onError)
    await kept?.close()
    await nodes?.close()
    await pool.end()
  }
  return { ...app, close }
}

/**
 * Runs a task with a database: that of DATABASE_URL, otherwise that of a `start` running on this
 * data folder, otherwise the embedded one, started for the duration of the task.
 */
export async function withDatabase<T>(
  config: Config,
  log: Logger,
  chore: (app: App) => Promise<T>,
): Promise<T> {
  return withUrl(config, (databaseUrl, isNew) => {
    if (isNew) log.warn({ dataDir: config.dataDir }, NEW_DATABASE)
    return withApp({ ...config, databaseUrl }, log, chore)
  })
}

/** Says what a command does that was started without the settings of its installation. */
const NEW_DATABASE =
  'There was no database in DATA_DIR, so a new, empty one was made. If this is not what you ' +
  'want, see with "signalpost config" which settings are in effect.'

/** Migrates the database that `withDatabase` would use. */
export async function migrateDatabase(config: Config): Promise<string[]> {
  // Imported only here, because this module imports all job handlers, which no other command needs.
  const { migrateAll } = await import('./migrate.ts')
  return withDirectUrl(config, (url) =>
    migrateAll(url, systemClock(), { backend: config.databaseBackend }),
  )
}

/** Like `withDatabase`, for a task that needs only the URL, of the database without its pooler. */
export function withDirectUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  return withUrl(config, (url) => work(config.databaseDirectUrl ?? url))
}

async function withUrl<T>(
  config: Config,
  work: (url: string, isNew: boolean) => Promise<T>,
): Promise<T> {
  refuseOnFront(config)
  const noted = config.databaseUrl ?? (await notedDatabaseUrl(config.dataDir))
  if (noted !== undefined && (config.databaseUrl !== undefined || (await isReachable(noted)))) {
    return work(noted, false)
  }
  // Only a process that has claimed the data folder may start a server on it, because this first
  // stops a server that is still running.
  const release = await claimDataDir(config.dataDir)
  if (!release) throw await unavailableNow(config, noted !== undefined)
  try {
    const password = await keptDatabasePassword(config.dataDir)
    const server = await startEmbedded({ dataDir: config.dataDir, password, settings: [] })
    try {
      const { migrateAll } = await import('./migrate.ts')
      await migrateAll(server.url, systemClock())
      return await work(server.url, server.isNew)
    } finally {
      await server.stop()
    }
  } finally {
    await release()
  }
}

/** Why the embedded PostgreSQL of a running `start` cannot be used. */
async function unavailableNow(
  { dataDir }: Config,
  hasStarted: boolean,
): Promise<DatabaseUnavailable> {
  if (!hasStarted) {
    return new DatabaseUnavailable('Signalpost is starting or stopping. Try again in a moment.')
  }
  const disk = await statfs(dataDir).catch(() => undefined)
  const isFull = disk !== undefined && disk.bavail * disk.bsize < FULL_BYTES
  return new DatabaseUnavailable(
    isFull
      ? `The disk with ${dataDir} is full, so PostgreSQL cannot run. Free some space: ` +
          'Signalpost then starts it by itself.'
      : 'The embedded PostgreSQL does not answer. If that lasts, look at the end of ' +
          `${path.join(dataDir, 'postgres.log')}.`,
  )
}

/** Free bytes below which PostgreSQL may not start: it needs a file of 16 MB for its log. */
const FULL_BYTES = 2 ** 24

/** @throws UsageError on a front, which must not start a database of its own */
export function refuseOnFront({ mainUrl }: Pick<Config, 'mainUrl'>): void {
  if (mainUrl === undefined) return
  throw new UsageError([
    'This is a front, because MAIN_URL is set: it only runs "web". ' +
      `Run this command at ${mainUrl}.`,
  ])
}

async function withApp<T>(
  config: Config & { databaseUrl: string },
  log: Logger,
  chore: (app: App) => Promise<T>,
): Promise<T> {
  const app = await openApp(config, 'sends', log, 'chore', 'a moment')
  try {
    return await chore(app)
  } finally {
    await app.close()
  }
}

/** Returns a function that logs that a server of a distributed database is not reached. */
function warnOf(log: Logger): (node: string, error: unknown) => void {
  return (node, error) => {
    const facts = { node, reason: reasonOf(error) }
    log.warn(facts, 'Cannot reach a server of the database. The coordinator takes its place.')
  }
}

/** The database URL that supports LISTEN; undefined if none does. */
async function findListenUrl({
  databaseUrl,
  databaseDirectUrl,
}: Config & { databaseUrl: string }): Promise<string | undefined> {
  const pooling = await findPooling(databaseUrl)
  if (databaseDirectUrl === undefined) return pooling === 'session' ? databaseUrl : undefined
  if ((await findPooling(databaseDirectUrl)) === 'session') return databaseDirectUrl
  throw new DatabaseUnsuitable(
    'DATABASE_DIRECT_URL must not point to a pooler in transaction mode.',
  )
}

async function seedFrom(pool: Pool): Promise<void> {
  const seed = await findShingleSeed(pool)
  if (seed === undefined) {
    throw new DatabaseUnavailable('The database has no seed. Run "signalpost migrate" first.')
  }
  seedShingles(seed)
}

async function untilMigrated(
  databaseUrl: string,
  log: Logger,
  patience: WaitPolicy,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    const state = await databaseState(databaseUrl)
    if (state === 'ready') return
    const advice =
      state === 'empty' ? 'Run "signalpost migrate" first.' : 'Check that it is running.'
    if (patience === 'a moment' && tries >= MOMENT_TRIES) {
      throw new DatabaseUnavailable(`The database is not ready. ${advice}`)
    }
    if (tries % 30 === 0) log.warn({ state }, `Waiting for the database. ${advice}`)
    await wait(1_000)
  }
}

async function isReachable(databaseUrl: string): Promise<boolean> {
  return (await databaseState(databaseUrl)) !== 'away'
}
