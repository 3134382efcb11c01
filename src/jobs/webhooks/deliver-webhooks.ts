import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../../app.ts'
import { listReportsByIds, type ReportState } from '../../db/reports.ts'
import { type Delivery, listWaitingDeliveries } from '../../db/webhook-deliveries.ts'
import { listWebhooksByIds, type Webhook } from '../../db/webhooks.ts'
import { reasonOf } from '../../errors.ts'
import type { PostWebhook } from '../../mail/webhook-message.ts'
import type { JobOutcome } from '../../queue/work.ts'
import { composeWebhook } from './compose-webhook.ts'
import { keepAttempt, keepDropped } from './keep-attempt.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config'> & { postWebhook: PostWebhook }
type Payload = { webhookId: string; deliveryId: string }

/** What one process is telling just now, and how patient it is. */
export type WebhookLines = {
  /** Webhooks by their ids, with what is on its way to each. */
  underWay: Map<string, Set<string>>
  /** So long a batch waits for those that take their time. */
  patienceMs: number
  /** After so long what was on its way has surely ended. */
  leaseMs: number
  /** What found no place comes again after so long. */
  againMs: number
}

/** To one webhook at once; to one that failed last time, a single one. */
const AT_ONCE_MAX = 4

/** Opens the lines of a process. */
export function openWebhookLines(): WebhookLines {
  return { underWay: new Map(), patienceMs: 1_500, leaseMs: 15_000, againMs: 1_000 }
}

type Line = { webhook: Webhook; deliveries: Delivery[]; isPaused: Date | undefined }
type Batch = {
  app: Needs
  lines: WebhookLines
  stateOf: ReadonlyMap<string, ReportState>
  outcomes: Map<string, JobOutcome>
  isOver: boolean
}

/**
 * Tells webhooks what happened, each in a line of its own: a receiver that is slow or silent takes
 * four connections at most, and a batch waits for it a second and a half. After that it goes on
 * without its job, which comes again when it has surely ended. One that fails is left alone for a
 * while that doubles, and all that is for it waits without being tried.
 */
export async function deliverWebhooks(
  payloads: readonly Payload[],
  app: Needs,
  lines: WebhookLines = openWebhookLines(),
): Promise<JobOutcome[]> {
  const waiting = await listWaitingDeliveries(app.pool, payloads)
  const outcomes = new Map<string, JobOutcome>()
  const stateOf = await findStates(waiting, app)
  const batch: Batch = { app, lines, stateOf, outcomes, isOver: false }
  const byWebhook = Map.groupBy(waiting, ({ webhookId }) => webhookId)
  const webhooks = await listWebhooksByIds(app.pool, [...byWebhook.keys()])
  const runs = webhooks.map((webhook) => {
    const deliveries = [...(byWebhook.get(webhook.id) ?? [])]
    return runLine({ webhook, deliveries, isPaused: pauseOf(webhook, app.clock()) }, batch)
  })
  const over = new AbortController()
  const patience = wait(lines.patienceMs, undefined, { signal: over.signal })
  await Promise.race([Promise.all(runs), patience.catch(() => undefined)])
  over.abort()
  batch.isOver = true
  return payloads.map((payload) => {
    if (!waiting.some(({ id }) => id === payload.deliveryId)) return 'done'
    const outcome = outcomes.get(payload.deliveryId) ?? letGo(payload, batch)
    return outcome === 'done' || !('putOff' in outcome) ? outcome : { ...outcome, payload }
  })
}

async function findStates(
  waiting: readonly Delivery[],
  { pool }: Needs,
): Promise<Map<string, ReportState>> {
  const ids = [...new Set(waiting.flatMap(({ reportId }) => reportId ?? []))]
  if (ids.length === 0) return new Map()
  return new Map((await listReportsByIds(pool, ids)).map(({ id, state }) => [id, state]))
}

function pauseOf({ pausedUntil }: Webhook, now: Date): Date | undefined {
  return pausedUntil && pausedUntil > now ? pausedUntil : undefined
}

/** Some of them side by side; who fails has the others wait. */
async function runLine(line: Line, batch: Batch): Promise<void> {
  const { id, failures } = line.webhook
  const underWay = batch.lines.underWay.get(id) ?? new Set<string>()
  batch.lines.underWay.set(id, underWay)
  const free = (failures > 0 ? 1 : AT_ONCE_MAX) - underWay.size
  const take = async () => {
    for (let one = line.deliveries.shift(); one; one = line.deliveries.shift()) {
      if (batch.isOver || underWay.has(one.id)) continue
      batch.outcomes.set(one.id, await tellOne(one, line, batch, underWay))
    }
  }
  await Promise.all(Array.from({ length: Math.max(0, free) }, take))
  if (underWay.size === 0) batch.lines.underWay.delete(id)
}

async function tellOne(
  delivery: Delivery,
  line: Line,
  { app, stateOf }: Batch,
  underWay: Set<string>,
): Promise<JobOutcome> {
  const { webhook } = line
  try {
    const message = composeWebhook(delivery, webhook, { ...app, stateOf })
    if ('dropped' in message) return await keepDropped(delivery, message.dropped, app)
    if (line.isPaused) return { putOff: line.isPaused, payload: {} }
    underWay.add(delivery.id)
    const outcome = await app.postWebhook(message)
    const kept = await keepAttempt(delivery, webhook, outcome, app)
    if (kept !== 'done') line.isPaused = kept.pausedUntil
    if (kept === 'done' || kept.isEnded) return 'done'
    return { putOff: kept.pausedUntil, payload: {} }
  } catch (error) {
    return { retry: reasonOf(error) }
  } finally {
    underWay.delete(delivery.id)
  }
}

/** What is on its way goes on without its job; what was not begun comes again soon. */
function letGo({ webhookId, deliveryId }: Payload, { app, lines }: Batch): JobOutcome {
  const isUnderWay = lines.underWay.get(webhookId)?.has(deliveryId) ?? false
  const ms = isUnderWay ? lines.leaseMs : lines.againMs
  return { putOff: new Date(app.clock().getTime() + ms), payload: {} }
}
