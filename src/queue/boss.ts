import { hash } from 'node:crypto'
import { type Db as BossDb, PgBoss, systemClock } from 'pg-boss'
import { tally } from '../activity/tally.ts'
import type { Backend } from '../db/backend.ts'
import { gatherQueueStatistics, notifyWorkers } from '../db/jobs.ts'
import { afterCommit, committedBefore } from '../db/nodes.ts'
import { type Db, IDLE_MS_MAX } from '../db/pool.ts'
import { allQueues, type QueueControl } from '../db/queue-controls.ts'
import { DAY_SECONDS } from '../durations.ts'
import { inTime } from '../world.ts'
import { deadLetterQueue, type Queue } from './define-queue.ts'

/** A worker of a queue; see `QueueWorker`. */
type Worker = {
  wake: (jobs?: number) => void
  hurry: () => void
  close: () => Promise<void>
  abandon: () => Promise<void>
  state: () => WorkerState
}

/** What a worker does now: the batches and jobs in progress, and the most batches at once. */
export type WorkerState = { batches: number; batchesMax: number; jobs: readonly string[] }

/** pg-boss with workers of our own, which it notifies of new jobs. */
export class Boss extends PgBoss {
  readonly workers = new Map<string, Worker>()
  /** What operators set about queues; undefined until it was read. */
  controls: ReadonlyMap<string, QueueControl> | undefined
  /** Whether this process is notified of new jobs. */
  isListening = false
  /** Whether a loop looks for jobs that are due. */
  polling: 'no' | 'starting' | 'running' = 'no'
  /** Jobs whose attempts have ended without them, and that are being returned to their queues. */
  readonly givingBack = new Set<Promise<void>>()
  /** When this process last analyzed the job table, as a time of `performance`. */
  analyzedAt = Number.NEGATIVE_INFINITY

  /** Whether workers of this process may not take jobs of a queue. */
  isPaused(queue: string): boolean {
    const { controls } = this
    return [queue, allQueues].some((name) => controls?.get(name)?.pausedAt instanceof Date)
  }

  /** Returns the connections of pg-boss, which also pass notifications on to the workers. */
  override getDb(): ReturnType<PgBoss['getDb']> {
    const db = super.getDb()
    const { listen } = db
    if (!listen || Object.hasOwn(db, 'listen')) return db
    db.listen = (channel, onQueue, onReconnect) => {
      const onNotification = (payload: string) => {
        const hurried = payload.endsWith(HURRIED) ? payload.slice(0, -HURRIED.length) : undefined
        if (hurried !== undefined) return this.workers.get(hurried)?.hurry()
        onQueue(payload)
        this.workers.get(payload)?.wake(1)
      }
      return listen.call(db, channel, onNotification, () => {
        onReconnect()
        this.isListening = true
        for (const worker of this.workers.values()) worker.wake()
      })
    }
    return db
  }
}

/** What a process does with the queues; all roles can add jobs. */
export type BossRole = 'sends' | 'works' | 'migrates'

/**
 * The system clock, with intervals of at least a minute: every two seconds the library would look
 * for progress of its own workers, to emit an event that nothing here receives.
 */
const unhurried = {
  ...systemClock,
  setInterval: (work: () => void, ms: number) =>
    systemClock.setInterval(work, Math.max(ms, 60_000)),
}
/** For `pg`, which gets all options; its default is ten seconds. */
const keptConnections = { idleTimeoutMillis: IDLE_MS_MAX }
/** Time in seconds without a heartbeat after which a job is given to another worker. */
const HEARTBEAT_SECONDS = 20

/**
 * Connects pg-boss with connections of its own. A process that `works` listens for new jobs,
 * monitors expired ones and runs the schedules. With `listens` false it polls for new jobs every
 * two seconds.
 */
export async function startBoss(
  databaseUrl: string,
  role: BossRole,
  options: {
    name: string
    onError: (error: Error) => void
    listens?: boolean
    backend?: Backend
  },
): Promise<Boss> {
  const works = role === 'works'
  const boss = new Boss({
    connectionString: databaseUrl,
    backend: options.backend ?? 'postgres',
    application_name: `signalpost ${options.name} queue`,
    max: 2,
    ...keptConnections,
    migrate: role === 'migrates',
    createSchema: role === 'migrates',
    supervise: works,
    schedule: works,
    // Both intervals are set, because jobs of a dead worker are detected at the longer one.
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    // Each monitoring reads the whole job table, so ended jobs are deleted soon.
    maintenanceIntervalSeconds: 300,
    // Nothing reads the history, the stored warnings and the state of autovacuum. No job depends
    // on another one.
    persistQueueStats: false,
    persistWarnings: false,
    monitorVacuum: false,
    // A scheduled job may start this much later. The library's 5 s would wake an idle process more
    // often.
    cronWorkerIntervalSeconds: 15,
    flowIntervalSeconds: 3600,
    clock: unhurried,
    useListenNotify: works && options.listens !== false,
  })
  boss.on('error', options.onError)
  await boss.start()
  return boss
}

/**
 * Creates the queues or updates their settings, and analyzes the job table: without statistics the
 * planner makes every fetch a nested loop, which is 20 to 400 times slower. A scheduled queue gets
 * one job at each of its times, regardless of the number of processes.
 */
export async function createQueues(boss: Boss, queues: readonly Queue[], db: Db): Promise<void> {
  const kept = { retentionSeconds: 30 * DAY_SECONDS, deleteAfterSeconds: 3600 }
  await boss.createQueue(deadLetterQueue, { ...kept, retentionSeconds: 400 * DAY_SECONDS })
  for (const { name, cron, attempts } of queues) {
    const settings = {
      ...attempts,
      ...kept,
      retryBackoff: true,
      notify: true,
      deadLetter: deadLetterQueue,
      heartbeatSeconds: HEARTBEAT_SECONDS,
    }
    await boss.createQueue(name, settings)
    await boss.updateQueue(name, settings)
    if (cron !== undefined) await boss.schedule(name, cron, {}, { tz: 'UTC' })
  }
  await gatherQueueStatistics(db)
}

/** Returns an adapter with which pg-boss runs its statements in our transaction. */
export function bossDb(tx: Db): BossDb {
  return { executeSql: (text, params) => tx.query(text, params) }
}

/**
 * Returns an adapter like `bossDb`, for statements that are repeated with other parameters: each
 * connection keeps them prepared. Planning is a third of the cost of adding the jobs of a batch,
 * and three quarters of fetching one.
 */
export function preparedBossDb(tx: Db): BossDb {
  return {
    executeSql: (text, values) =>
      tx.query({ name: hash('sha1', text), text, values: values ?? [] }),
  }
}

/**
 * Stops the workers and closes the connections. Waits at most `timeoutMs` for the jobs in progress,
 * and returns the others to their queues.
 */
export async function stopBoss(boss: Boss, timeoutMs: number): Promise<void> {
  const workers = [...boss.workers.values()]
  const closing = Promise.all(workers.map((worker) => worker.close()))
  const ended = await inTime(closing, timeoutMs, 'late')
  if (ended === 'late') await Promise.all(workers.map((worker) => worker.abandon()))
  await boss.stop({ graceful: true, timeout: timeoutMs, close: true })
}

/**
 * The seconds until an instant, both by the clock of this process. Jobs wait as long by the clock
 * of the database, so a process whose clock is wrong delays none.
 */
export function secondsUntil(at: Date, now: Date): number {
  return Math.max(0, at.getTime() - now.getTime()) / 1_000
}

/**
 * Adds jobs in the caller's transaction, so that they exist if and only if it commits. Workers do
 * not take them before `seconds` have passed by the clock of the database.
 */
export async function send<Payload extends object>(
  boss: Boss,
  queue: Pick<Queue<Payload>, 'name'>,
  payloads: readonly Payload[],
  tx: Db,
  { seconds }: { seconds?: number } = {},
): Promise<void> {
  if (payloads.length === 0) return
  await boss.insert(
    queue.name,
    payloads.map((data) => (seconds ? { data, startAfter: seconds } : { data })),
    { db: preparedBossDb(committedBefore(tx)), returnId: false },
  )
}

/**
 * Adds jobs that the caller does itself, in its transaction. Workers take those that the caller has
 * not dropped within `seconds` by the clock of the database, because its process may have ended.
 */
export async function sendInReserve<Payload extends object>(
  boss: Boss,
  queue: Queue<Payload>,
  jobs: readonly { id: string; data: Payload }[],
  tx: Db,
  seconds: number,
): Promise<void> {
  if (jobs.length === 0) return
  await boss.insert(
    queue.name,
    jobs.map((job) => ({ ...job, startAfter: seconds })),
    { db: preparedBossDb(committedBefore(tx)), returnId: false },
  )
}

/** The end of a notification about jobs that must not wait for others. No queue has such a name. */
const HURRIED = ' now'

/** Has workers take the jobs of a queue that wait for others, because somebody waits for them. */
export async function hurry(db: Db, { name }: Pick<Queue, 'name'>): Promise<void> {
  await notifyWorkers(db, name + HURRIED)
}

/** Drops jobs that their sender has done itself, in the transaction that stores their results. */
export async function dropJobs(
  boss: Boss,
  queue: Pick<Queue, 'name'>,
  ids: readonly string[],
  tx: Db,
): Promise<void> {
  if (ids.length === 0) return
  tally.count(`queues/done/${queue.name}`, ids.length)
  await afterCommit(tx, (db) => boss.deleteJob(queue.name, [...ids], { db: preparedBossDb(db) }))
}
