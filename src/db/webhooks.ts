import sql, { bulk } from 'sql-template-tag'
import type { Phrase } from '../phrase.ts'
import type { Db } from './pool.ts'
import { isOneOfIds } from './prepared.ts'
import { changesAny, named, numberOf, rowOf, rowsOf, valuesOf } from './rows.ts'

/** The events that a webhook can receive; `webhook.test` only tests it. */
export type WebhookEvent =
  | 'report.analyzed'
  | 'report.asked'
  | 'report.told'
  | 'report.answered'
  | 'report.retracted'
  | 'sender.alerted'
  | 'webhook.test'

/** `disabled` by the owner; `failed` after days without a successful delivery. */
type WebhookState = 'enabled' | 'disabled' | 'failed'

/** A URL at which a reporter's software receives events about reports. */
export type Webhook = {
  id: string
  reporterId: string
  url: string
  events: readonly WebhookEvent[]
  state: WebhookState
  generation: number
  /** When the secret was last renewed. */
  renewedAt: Date | null
  createdAt: Date
  /** The number of consecutive failures. */
  failures: number
  failingSince: Date | null
  pausedUntil: Date | null
}

const columns = sql`id, reporter_id as "reporterId", url, events, state, generation,
  renewed_at as "renewedAt", created_at as "createdAt", failures,
  failing_since as "failingSince", paused_until as "pausedUntil"`

/** Adds a webhook; false when the reporter already has one with this URL. */
export function insertWebhook(
  tx: Db,
  webhook: Pick<Webhook, 'id' | 'reporterId' | 'url' | 'events' | 'createdAt'>,
): Promise<boolean> {
  return changesAny(tx)`
    insert into webhooks (id, reporter_id, url, events, state, generation, created_at, failures)
    values (${webhook.id}, ${webhook.reporterId}, ${webhook.url}, ${webhook.events}, 'enabled', 1,
      ${webhook.createdAt}, 0)
    on conflict (reporter_id, url) do nothing returning id`
}

/** Returns the webhooks of a reporter, oldest first. */
export function listWebhooks(db: Db, reporterId: string): Promise<Webhook[]> {
  return rowsOf(db)`
    select ${columns} from webhooks where reporter_id = ${reporterId} order by id`
}

export function findWebhook(db: Db, reporterId: string, id: string): Promise<Webhook | undefined> {
  return rowOf(db)`
    select ${columns} from webhooks where id = ${id} and reporter_id = ${reporterId}`
}

/**
 * Returns webhooks by id, unordered. Those of accounts that are not active have the state
 * `disabled`.
 */
export function listWebhooksByIds(db: Db, ids: readonly string[]): Promise<Webhook[]> {
  return rowsOf(db)`select ${columns} from (
      select webhooks.id, reporter_id, url, events, generation, renewed_at,
        webhooks.created_at, failures, failing_since, paused_until,
        case when reporters.state = 'active' then webhooks.state else 'disabled' end as state
      from webhooks join reporters on reporters.id = webhooks.reporter_id
      where webhooks.id = any(${ids}::uuid[])
    ) as webhooks`
}

/**
 * Changes the settings of a webhook; undefined fields stay unchanged. Enabling it or changing its
 * URL resets its failures. False when the reporter has another webhook with that URL.
 */
export function updateWebhook(
  tx: Db,
  id: string,
  change: { url?: string | undefined; events?: readonly WebhookEvent[] | undefined } & {
    state?: 'enabled' | 'disabled' | undefined
  },
): Promise<boolean> {
  const { url, events, state } = change
  const isReset = state === 'enabled' || url !== undefined
  return changesAny(tx)`
    update webhooks
    set url = coalesce(${url}, url), events = coalesce(${events}, events),
      state = coalesce(${state}, state),
      failures = case when ${isReset}::boolean then 0 else failures end,
      failing_since = case when ${isReset}::boolean then null else failing_since end,
      paused_until = case when ${isReset}::boolean then null else paused_until end
    where id = ${id} and not exists (
      select from webhooks other
      where other.reporter_id = webhooks.reporter_id and other.url = ${url} and other.id <> ${id})
    returning id`
}

/** Makes the next generation of the secret the valid one. */
export async function renewWebhookSecret(tx: Db, id: string, now: Date): Promise<void> {
  await tx.query(sql`
    update webhooks set generation = generation + 1, renewed_at = ${now} where id = ${id}`)
}

/** Deletes a webhook and its deliveries. */
export async function removeWebhook(tx: Db, id: string): Promise<void> {
  await tx.query(sql`delete from webhooks where id = ${id}`)
}

/** Deletes the webhooks of a reporter and their deliveries. */
export async function removeWebhooksOf(tx: Db, reporterId: string): Promise<void> {
  await tx.query(sql`delete from webhooks where reporter_id = ${reporterId}`)
}

export async function anyWebhooks(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ any: boolean }>(named('any-webhooks')`
    select exists (select from webhooks where state = 'enabled') as any`)
  return rows[0]?.any ?? false
}

/**
 * Returns the enabled webhooks of active accounts that receive this event, for each of the reports.
 */
export function findListening(
  tx: Db,
  event: WebhookEvent,
  reportIds: readonly string[],
): Promise<{ webhookId: string; reportId: string }[]> {
  return rowsOf(tx)`
    select webhooks.id as "webhookId", reports.id as "reportId"
    from reports join webhooks on webhooks.reporter_id = reports.reporter_id
      join reporters on reporters.id = webhooks.reporter_id and reporters.state = 'active'
    where ${isOneOfIds('reports.id', reportIds)} and webhooks.state = 'enabled'
      and webhooks.events @> array[${event}]
    order by webhooks.id, reports.id`
}

/** Returns the ids of the enabled webhooks that receive this event, of people with a role. */
export function listListeningOfStaff(tx: Db, event: WebhookEvent): Promise<string[]> {
  return valuesOf(tx)`
    select webhooks.id from webhooks
      join reporters on reporters.id = webhooks.reporter_id and reporters.state = 'active'
    where reporters.role is not null and webhooks.state = 'enabled'
      and webhooks.events @> array[${event}::text]
    order by webhooks.id`
}

/** Stores that a webhook accepted a delivery, which ends its failures and its pause. */
export async function markWebhookTaking(tx: Db, id: string): Promise<void> {
  await tx.query(sql`update webhooks set failures = 0, failing_since = null, paused_until = null
    where id = ${id} and (failures > 0 or paused_until is not null)`)
}

/** Stores a failure of a webhook, and until when it is paused. Concurrent failures count as one. */
export async function markWebhookFailing(
  tx: Db,
  id: string,
  { now, pausedUntil }: { now: Date; pausedUntil: Date },
): Promise<void> {
  await tx.query(sql`update webhooks
    set failures = failures + 1, failing_since = coalesce(failing_since, ${now}),
      paused_until = ${pausedUntil}
    where id = ${id} and state = 'enabled' and coalesce(paused_until, ${now}) <= ${now}`)
}

/** Stops deliveries to a webhook until its owner enables it again. */
export async function markWebhookFailed(tx: Db, id: string): Promise<void> {
  await tx.query(sql`update webhooks set state = 'failed' where id = ${id} and state = 'enabled'`)
}

/** `given-up` after a day; `dropped` when the webhook no longer receives events. */
type DeliveryState = 'waiting' | 'delivered' | 'given-up' | 'dropped'

/** An event to deliver to a webhook, and the result. Its id contains the time of the event. */
export type Delivery = {
  webhookId: string
  id: string
  event: WebhookEvent
  /** What the event is about; both null for a test. */
  reportId: string | null
  alertId: string | null
  state: DeliveryState
  tries: number
  triedAt: Date | null
  /** The last HTTP status; null when there was no response. */
  status: number | null
  outcome: Phrase | null
}

const DELIVERY_COLUMNS = sql`webhook_id as "webhookId", id, event, report_id as "reportId",
  alert_id as "alertId", state, tries, tried_at as "triedAt", status, phrase as outcome`

export async function insertDeliveries(
  tx: Db,
  deliveries: readonly (Pick<Delivery, 'webhookId' | 'id' | 'event'> &
    Partial<Pick<Delivery, 'reportId' | 'alertId'>>)[],
): Promise<void> {
  if (deliveries.length === 0) return
  const values = bulk(
    deliveries.map(({ webhookId, id, event, reportId = null, alertId = null }) => {
      return [webhookId, id, event, reportId, alertId, 'waiting', 0]
    }),
  )
  await tx.query(sql`
    insert into webhook_deliveries (webhook_id, id, event, report_id, alert_id, state, tries)
    values ${values}`)
}

/** Returns the given deliveries that exist. */
export function listDeliveriesByKeys(
  db: Db,
  keys: readonly { webhookId: string; deliveryId: string }[],
): Promise<Delivery[]> {
  return rowsOf(db)`select ${DELIVERY_COLUMNS} from webhook_deliveries
    where webhook_id = any(${keys.map(({ webhookId }) => webhookId)}::uuid[])
      and id = any(${keys.map(({ deliveryId }) => deliveryId)}::uuid[])
    order by id`
}

/** Returns the latest deliveries to one webhook, newest first. */
export function listDeliveries(db: Db, webhookId: string, limit: number): Promise<Delivery[]> {
  return rowsOf(db)`select ${DELIVERY_COLUMNS} from webhook_deliveries
    where webhook_id = ${webhookId} order by id desc limit ${limit}`
}

export function countDeliveries(
  db: Db,
  webhookId: string,
  { event, from }: { event: WebhookEvent; from: string },
): Promise<number> {
  return numberOf(db)`
    select count(*) as count from webhook_deliveries
    where webhook_id = ${webhookId} and id >= ${from} and event = ${event}`
}

/** Stores the result of an attempt; false when the delivery ended before. */
export function markDelivery(
  tx: Db,
  { webhookId, id }: Pick<Delivery, 'webhookId' | 'id'>,
  went: Pick<Delivery, 'state' | 'status'> & { outcome: Phrase; triedAt: Date | null },
): Promise<boolean> {
  return changesAny(tx)`update webhook_deliveries
    set state = ${went.state}, status = coalesce(${went.status}, status),
      phrase = ${JSON.stringify(went.outcome)},
      tries = tries + case when ${went.triedAt}::timestamptz is null then 0 else 1 end,
      tried_at = coalesce(${went.triedAt}::timestamptz, tried_at)
    where webhook_id = ${webhookId} and id = ${id} and state = 'waiting' returning id`
}
