import { hash } from 'node:crypto'
import { type Db as BossDb, PgBoss } from 'pg-boss'
import { gatherQueueStatistics } from '../db/dead-letters.ts'
import type { Db } from '../db/pool.ts'
import { anyWebhooks, findListening, insertDeliveries, type WebhookEvent } from '../db/webhooks.ts'
import { uuidv7 } from '../world.ts'
import { deadLetterQueue, deliverWebhook, type QueueDefinition, queues } from './queues.ts'

/** pg-boss, connected. */
export type Boss = PgBoss

/** What a process does with the queues besides adding jobs. */
export type BossRole = 'sends' | 'works' | 'migrates'

const DAY_SECONDS = 86_400
/** A job whose worker has been silent for so long is given to another. */
const HEARTBEAT_SECONDS = 20

/**
 * Connects pg-boss over our own pool. A process that `works` listens for new jobs, watches over
 * expired ones, runs the schedules, and keeps the queue statistics from which graphs are drawn.
 * With `listens` false it polls for new jobs, every two seconds.
 */
export async function startBoss(
  databaseUrl: string,
  role: BossRole,
  options: { name: string; onError: (error: Error) => void; listens?: boolean },
): Promise<Boss> {
  const works = role === 'works'
  const boss = new PgBoss({
    connectionString: databaseUrl,
    application_name: `signalpost ${options.name} queue`,
    max: works ? 6 : 2,
    migrate: role === 'migrates',
    createSchema: role === 'migrates',
    supervise: works,
    schedule: works,
    persistQueueStats: true,
    persistWarnings: true,
    // Both: what a dead worker held is looked for at the slower of the two paces.
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    useListenNotify: works && options.listens !== false,
  })
  boss.on('error', options.onError)
  await boss.start()
  return boss
}

/**
 * Makes the queues, or brings their settings up to date, and gathers their statistics: a queue
 * unknown to the planner makes every fetch a nested loop, 20 to 400 times slower.
 */
export async function createQueues(boss: Boss, db: Db): Promise<void> {
  const kept = { retentionSeconds: 30 * DAY_SECONDS, deleteAfterSeconds: 3600 }
  await boss.createQueue(deadLetterQueue, { ...kept, retentionSeconds: 400 * DAY_SECONDS })
  for (const { name, options } of queues) {
    const settings = {
      ...options,
      ...kept,
      retryBackoff: true,
      notify: true,
      deadLetter: deadLetterQueue,
      heartbeatSeconds: HEARTBEAT_SECONDS,
    }
    await boss.createQueue(name, settings)
    await boss.updateQueue(name, settings)
  }
  await gatherQueueStatistics(db)
}

/** Lets pg-boss work inside a transaction of ours. */
export function bossDb(tx: Db): BossDb {
  return { executeSql: (text, params) => tx.query(text, params) }
}

/**
 * The same for a statement that comes again and again with other parameters: each connection keeps
 * it planned. Planning is a third of what it costs to add the jobs of a batch.
 */
function preparedBossDb(tx: Db): BossDb {
  return {
    executeSql: (text, values) =>
      tx.query({ name: hash('sha1', text), text, values: values ?? [] }),
  }
}

/** Ends the connection; jobs in hand are finished first, at most `timeoutMs`. */
export async function stopBoss(boss: Boss, timeoutMs: number): Promise<void> {
  await boss.stop({ graceful: true, timeout: timeoutMs, close: true })
}

/**
 * Adds jobs in the transaction that makes them necessary: both are kept, or neither. Nobody takes
 * them before `startAfter`.
 */
export async function send<Payload extends object>(
  boss: Boss,
  queue: QueueDefinition<Payload>,
  payloads: readonly Payload[],
  tx: Db,
  { startAfter }: { startAfter?: Date } = {},
): Promise<void> {
  if (payloads.length === 0) return
  await boss.insert(
    queue.name,
    payloads.map((data) => (startAfter ? { data, startAfter } : { data })),
    { db: preparedBossDb(tx), returnId: false },
  )
}

/**
 * Owes the webhooks of the reports' reporters the news that something happened to them, in the
 * transaction that makes it true. Where nobody has a webhook this is one prepared question, which
 * travels with the statements beside it.
 */
export async function oweWebhooks(
  tx: Db,
  boss: Boss,
  news: Readonly<Partial<Record<WebhookEvent, readonly string[]>>>,
  now: Date,
): Promise<void> {
  const told = Object.entries(news).filter(([, reportIds]) => reportIds.length > 0)
  if (told.length === 0 || !(await anyWebhooks(tx))) return
  for (const [name, reportIds] of told) {
    const event = name as WebhookEvent
    const listening = await findListening(tx, event, [...new Set(reportIds)])
    const owed = listening.map((one) => ({ ...one, id: uuidv7(now), event }))
    await insertDeliveries(tx, owed)
    const jobs = owed.map(({ webhookId, id }) => ({ webhookId, deliveryId: id }))
    await send(boss, deliverWebhook, jobs, tx)
  }
}

/** Owes one webhook a message that only tries it; answers its id. */
export async function oweTest(tx: Db, boss: Boss, webhookId: string, now: Date): Promise<string> {
  const id = uuidv7(now)
  await insertDeliveries(tx, [{ webhookId, id, event: 'webhook.test', reportId: null }])
  await send(boss, deliverWebhook, [{ webhookId, deliveryId: id }], tx)
  return id
}
