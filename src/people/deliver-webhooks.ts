import type { z } from 'zod'
import type { App } from '../app.ts'
import { listActions } from '../db/analyses.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { mayAppear } from '../db/prepared.ts'
import { listReportsByIds, type ReportState } from '../db/reports.ts'
import { listSenderAlertsByIds, type SenderAlert } from '../db/sender-alerts.ts'
import {
  anyWebhooks,
  type Delivery,
  findListening,
  insertDeliveries,
  listListeningOfStaff,
  listDeliveriesByKeys,
  listWebhooksByIds,
  markDelivery,
  markWebhookFailed,
  markWebhookFailing,
  markWebhookTaking,
  type Webhook,
  type WebhookEvent,
} from '../db/webhooks.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import {
  type PostWebhook,
  webhookKey,
  type WebhookMessage,
  type WebhookOutcome,
} from '../mail/webhook-message.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { type Boss, send } from '../queue/boss.ts'
import { failureOf, type JobOutcome } from '../queue/work.ts'
import { inTime, uuidTime, uuidv7 } from '../world.ts'
import { deliverWebhook } from './queues.ts'

/**
 * Queues webhook deliveries for events of reports, in the transaction that causes the events. If no
 * webhook exists, this costs one prepared query, which is sent together with the statements around
 * it.
 */
export async function queueWebhooks(
  tx: Db,
  boss: Boss,
  news: Readonly<Partial<Record<WebhookEvent, readonly string[]>>>,
  now: Date,
): Promise<void> {
  const relevant = Object.entries(news).filter(([, reportIds]) => reportIds.length > 0)
  if (relevant.length === 0 || !(await anyWebhooks(tx))) return
  for (const [name, reportIds] of relevant) {
    const event = name as WebhookEvent
    const listening = await findListening(tx, event, [...new Set(reportIds)])
    const owed = listening.map((one) => ({ ...one, id: uuidv7(now), event }))
    await insertDeliveries(tx, owed)
    const jobs = owed.map(({ webhookId, id }) => ({ webhookId, deliveryId: id }))
    await send(boss, deliverWebhook, jobs, tx)
  }
}

/** Queues deliveries about an alert to the webhooks of administrators, in its transaction. */
export async function queueAlertWebhooks(
  tx: Db,
  boss: Boss,
  alertId: string,
  now: Date,
): Promise<void> {
  const event = 'sender.alerted'
  const listening = await listListeningOfStaff(tx, event)
  const owed = listening.map(
    (webhookId) => ({ webhookId, id: uuidv7(now), event, alertId }) as const,
  )
  await insertDeliveries(tx, owed)
  const jobs = owed.map(({ webhookId, id }) => ({ webhookId, deliveryId: id }))
  if (jobs.length > 0) await send(boss, deliverWebhook, jobs, tx)
}

/** Queues a test delivery to one webhook; returns its id. */
export async function queueTestWebhook(
  tx: Db,
  boss: Boss,
  webhookId: string,
  now: Date,
): Promise<string> {
  const id = uuidv7(now)
  await insertDeliveries(tx, [{ webhookId, id, event: 'webhook.test' }])
  await send(boss, deliverWebhook, [{ webhookId, deliveryId: id }], tx)
  return id
}

/** Time in milliseconds for which deliveries are also signed with the previous secret. */
const SECRETS_OVERLAP_MS = DAY_MS

/** What the events of a batch are about, by id. */
type Subjects = {
  stateOf: ReadonlyMap<string, ReportState>
  /** Of reports that are analyzed. */
  outcomeOf: Awaited<ReturnType<typeof listActions>>
  alertOf: ReadonlyMap<string, SenderAlert>
}

/**
 * Returns the message of a delivery: the event, its time, and the report with its URL, state and
 * outcome, or the alert with its evidence, but no part of a message. If the delivery must not be
 * sent, returns the reason instead.
 */
function composeWebhook(
  { id, event, reportId, alertId }: Delivery,
  webhook: Webhook,
  app: Pick<App, 'clock' | 'config'> & Subjects,
): WebhookMessage | { dropped: Phrase } {
  if (webhook.state !== 'enabled') return { dropped: phrase('webhook-off') }
  const status = reportId === null ? undefined : app.stateOf.get(reportId)
  if (reportId !== null && !status) return { dropped: phrase('webhook-report-deleted') }
  const outcome = app.outcomeOf.get(reportId ?? '')
  const alert = alertId === null ? undefined : app.alertOf.get(alertId)
  if (alertId !== null && !alert) return { dropped: phrase('webhook-alert-deleted') }
  const { publicUrl } = app.config
  const url = `${publicUrl}/api/v1/reports/${reportId}`
  const data = alert
    ? alertData(alert, publicUrl)
    : status
      ? { report_id: reportId, url, status, outcome: outcome ?? null }
      : { webhook_id: webhook.id }
  return {
    url: webhook.url,
    id: `msg_${id}`,
    timestamp: Math.floor(app.clock().getTime() / 1_000),
    body: JSON.stringify({ type: event, timestamp: uuidTime(id).toISOString(), data }),
    keys: keysOf(webhook, app),
  }
}

function alertData(
  { id, system, user, cause, counts, messages }: SenderAlert,
  publicUrl: string,
): Record<string, unknown> {
  const { sentLastHour, unwantedLastHour, ...today } = counts
  const lastHour = { sent: sentLastHour, unwanted: unwantedLastHour }
  const shown = messages.map(({ queueId, ...message }) => ({ ...message, queue_id: queueId }))
  const url = `${publicUrl}/admin/senders`
  return { alert_id: id, url, system, user, cause, today, last_hour: lastHour, messages: shown }
}

function keysOf(webhook: Webhook, { config, clock }: Pick<App, 'clock' | 'config'>): Buffer[] {
  const { id, generation, renewedAt, createdAt } = webhook
  const { secret } = config
  const key = webhookKey(webhook, secret.key('webhook', renewedAt ?? createdAt))
  const overlapEndsAt = (renewedAt?.getTime() ?? -Infinity) + SECRETS_OVERLAP_MS
  if (generation === 1 || clock().getTime() > overlapEndsAt) return [key]
  const before = { id, generation: generation - 1 }
  return [key, ...secret.accepted('webhook').map((one) => webhookKey(before, one))]
}

type AttemptNeeds = Pick<App, 'pool' | 'clock'>

/** A failed delivery: until when its receiver is paused, and whether there are no more attempts. */
type FailedDelivery = { pausedUntil: Date; isEnded: boolean }

/** Time in milliseconds after which an undelivered event is given up. */
const GIVE_UP_MS = DAY_MS
/** Time in milliseconds after which a webhook that fails without interruption is switched off. */
const FAILED_MS = 5 * DAY_MS
const PAUSE_MS = 30_000
const PAUSE_MS_MAX = 4 * HOUR_MS

/** Stores the result of one attempt, and the resulting state of its webhook. */
async function keepAttempt(
  delivery: Delivery,
  webhook: Webhook,
  { state, status, outcome }: WebhookOutcome,
  { pool, clock }: AttemptNeeds,
): Promise<'done' | FailedDelivery> {
  const now = clock()
  const attempt = { status: status ?? null, outcome, triedAt: now }
  if (state === 'taken') {
    await inTransaction(pool, async (tx) => {
      await markDelivery(tx, delivery, { state: 'delivered', ...attempt })
      await markWebhookTaking(tx, webhook.id)
    })
    return 'done'
  }
  const isFailed =
    state === 'gone' || now.getTime() - (webhook.failingSince ?? now).getTime() >= FAILED_MS
  const isEnded = isFailed || now.getTime() - uuidTime(delivery.id).getTime() >= GIVE_UP_MS
  const pausedUntil = new Date(now.getTime() + pauseMs(webhook.failures))
  await inTransaction(pool, async (tx) => {
    await markDelivery(tx, delivery, { state: isEnded ? 'given-up' : 'waiting', ...attempt })
    if (isFailed) await markWebhookFailed(tx, webhook.id)
    else await markWebhookFailing(tx, webhook.id, { now, pausedUntil })
  })
  return { pausedUntil, isEnded }
}

/** Stores that a delivery was not sent, and why. */
async function keepDropped(
  delivery: Delivery,
  outcome: Phrase,
  { pool }: Pick<AttemptNeeds, 'pool'>,
): Promise<'done'> {
  await markDelivery(pool, delivery, { state: 'dropped', status: null, outcome, triedAt: null })
  return 'done'
}

/**
 * Returns the pause in milliseconds: half a minute, doubled with each failure, at most four hours.
 */
function pauseMs(failures: number): number {
  return Math.min(PAUSE_MS * 2 ** Math.min(failures, 20), PAUSE_MS_MAX)
}

type DeliveryNeeds = Pick<App, 'pool' | 'clock' | 'config'> & { postWebhook: PostWebhook }
type Payload = z.infer<typeof deliverWebhook.payload>

/** The deliveries in progress of one process, and its time limits. */
export type DeliveriesInProgress = {
  /** The ids of the deliveries in progress, by webhook id. */
  idsByWebhook: Map<string, Set<string>>
  /** Maximum time in milliseconds that a batch waits for slow receivers. */
  waitMsMax: number
  /** Time in milliseconds after which a delivery in progress has certainly ended. */
  leaseMs: number
  /** Time in milliseconds after which a delivery that was not started is tried again. */
  retryMs: number
}

/**
 * Maximum number of concurrent deliveries to one webhook. A webhook that failed last time gets one
 * delivery at a time.
 */
const AT_ONCE_MAX = 4

export function openDeliveries(): DeliveriesInProgress {
  return { idsByWebhook: new Map(), waitMsMax: 1_500, leaseMs: 15_000, retryMs: 1_000 }
}

type WebhookQueue = { webhook: Webhook; deliveries: Delivery[]; isPaused: Date | undefined }
type Batch = {
  app: DeliveryNeeds
  inProgress: DeliveriesInProgress
  subjects: Subjects
  outcomes: Map<string, JobOutcome>
  isOver: boolean
}

/**
 * Delivers events to webhooks, independently for each webhook: a slow or silent receiver gets at
 * most four connections, and a batch waits for it at most 1.5 s. After that the delivery continues
 * without its job, which is postponed until the delivery has certainly ended. A webhook that fails
 * is paused for a time that doubles, during which its deliveries wait without attempts.
 */
export async function runDeliverWebhook(
  payloads: readonly Payload[],
  app: DeliveryNeeds,
  inProgress: DeliveriesInProgress = openDeliveries(),
): Promise<JobOutcome[]> {
  const stored = await listDeliveriesByKeys(app.pool, payloads)
  const waiting = stored.filter(({ state }) => state === 'waiting')
  const outcomes = new Map<string, JobOutcome>()
  const subjects = {
    stateOf: await findStates(waiting, app),
    outcomeOf: await listActions(app.pool, reportIdsOf(waiting)),
    alertOf: await findAlerts(waiting, app),
  }
  const batch: Batch = { app, inProgress, subjects, outcomes, isOver: false }
  const byWebhook = Map.groupBy(waiting, ({ webhookId }) => webhookId)
  const webhooks = await listWebhooksByIds(app.pool, [...byWebhook.keys()])
  const runs = webhooks.map((webhook) => {
    const deliveries = [...(byWebhook.get(webhook.id) ?? [])]
    return deliverTo({ webhook, deliveries, isPaused: pauseOf(webhook, app.clock()) }, batch)
  })
  await inTime(Promise.all(runs), inProgress.waitMsMax, undefined)
  batch.isOver = true
  const now = app.clock()
  return payloads.map((payload) => {
    const { deliveryId } = payload
    if (!stored.some(({ id }) => id === deliveryId) && mayAppear(uuidTime(deliveryId), now)) {
      return { postponedTo: new Date(now.getTime() + inProgress.retryMs), payload }
    }
    if (!waiting.some(({ id }) => id === deliveryId)) return 'done'
    const outcome = outcomes.get(payload.deliveryId) ?? postpone(payload, batch)
    return outcome === 'done' || !('postponedTo' in outcome) ? outcome : { ...outcome, payload }
  })
}

function reportIdsOf(waiting: readonly Delivery[]): string[] {
  return [...new Set(waiting.flatMap(({ reportId }) => reportId ?? []))]
}

async function findStates(
  waiting: readonly Delivery[],
  { pool }: DeliveryNeeds,
): Promise<Map<string, ReportState>> {
  const ids = reportIdsOf(waiting)
  if (ids.length === 0) return new Map()
  return new Map((await listReportsByIds(pool, ids)).map(({ id, state }) => [id, state]))
}

async function findAlerts(
  waiting: readonly Delivery[],
  { pool }: DeliveryNeeds,
): Promise<Map<string, SenderAlert>> {
  const ids = [...new Set(waiting.flatMap(({ alertId }) => alertId ?? []))]
  if (ids.length === 0) return new Map()
  return new Map((await listSenderAlertsByIds(pool, ids)).map((alert) => [alert.id, alert]))
}

function pauseOf({ pausedUntil }: Webhook, now: Date): Date | undefined {
  return pausedUntil && pausedUntil > now ? pausedUntil : undefined
}

/** Delivers the events of one webhook, a few in parallel; a failure pauses the webhook. */
async function deliverTo(queue: WebhookQueue, batch: Batch): Promise<void> {
  const { id, failures } = queue.webhook
  const deliveryIds = batch.inProgress.idsByWebhook.getOrInsert(id, new Set<string>())
  const free = (failures > 0 ? 1 : AT_ONCE_MAX) - deliveryIds.size
  const take = async () => {
    for (let one = queue.deliveries.shift(); one; one = queue.deliveries.shift()) {
      if (batch.isOver || deliveryIds.has(one.id)) continue
      batch.outcomes.set(one.id, await deliverOne(one, queue, batch, deliveryIds))
    }
  }
  await Promise.all(Array.from({ length: Math.max(0, free) }, take))
  if (deliveryIds.size === 0) batch.inProgress.idsByWebhook.delete(id)
}

async function deliverOne(
  delivery: Delivery,
  queue: WebhookQueue,
  { app, subjects }: Batch,
  deliveryIds: Set<string>,
): Promise<JobOutcome> {
  const { webhook } = queue
  try {
    const message = composeWebhook(delivery, webhook, { ...app, ...subjects })
    if ('dropped' in message) return await keepDropped(delivery, message.dropped, app)
    if (queue.isPaused) return { postponedTo: queue.isPaused, payload: {} }
    deliveryIds.add(delivery.id)
    const outcome = await app.postWebhook(message)
    const kept = await keepAttempt(delivery, webhook, outcome, app)
    if (kept !== 'done') queue.isPaused = kept.pausedUntil
    if (kept === 'done' || kept.isEnded) return 'done'
    return { postponedTo: kept.pausedUntil, payload: {} }
  } catch (error) {
    return failureOf(error)
  } finally {
    deliveryIds.delete(delivery.id)
  }
}

/** Postpones a job whose delivery is still in progress or was not started. */
function postpone({ webhookId, deliveryId }: Payload, { app, inProgress }: Batch): JobOutcome {
  const isInProgress = inProgress.idsByWebhook.get(webhookId)?.has(deliveryId) ?? false
  const ms = isInProgress ? inProgress.leaseMs : inProgress.retryMs
  return { postponedTo: new Date(app.clock().getTime() + ms), payload: {} }
}
