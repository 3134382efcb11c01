import type { Phrase } from '../phrase.ts'
import type { Db } from './pool.ts'
import { first, values } from './rows.ts'

/** The events that a webhook can receive; `webhook.test` only tests it. */
export type WebhookEvent =
  | 'report.analyzed'
  | 'report.asked'
  | 'report.told'
  | 'report.answered'
  | 'report.retracted'
  | 'webhook.test'

/** `disabled` by its owner; `failed` after days without a successful delivery. */
type WebhookState = 'enabled' | 'disabled' | 'failed'

/** A URL where a reporter's software receives events about reports. */
export type Webhook = {
  id: string
  reporterId: string
  url: string
  events: readonly WebhookEvent[]
  state: WebhookState
  /** The generation of its secret. */
  generation: number
  /** When the secret was last renewed. */
  renewedAt: Date | null
  createdAt: Date
  /** The number of consecutive failures. */
  failures: number
  failingSince: Date | null
  pausedUntil: Date | null
}

const columns = `id, reporter_id as "reporterId", url, events, state, generation,
  renewed_at as "renewedAt", created_at as "createdAt", failures,
  failing_since as "failingSince", paused_until as "pausedUntil"`

/** Adds a webhook; false when the reporter already has one with this URL. */
export async function insertWebhook(
  tx: Db,
  webhook: Pick<Webhook, 'id' | 'reporterId' | 'url' | 'events' | 'createdAt'>,
): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into webhooks (id, reporter_id, url, events, state, generation, created_at, failures)
     values ($1, $2, $3, $4, 'enabled', 1, $5, 0)
     on conflict (reporter_id, url) do nothing returning id`,
    [webhook.id, webhook.reporterId, webhook.url, webhook.events, webhook.createdAt],
  )
  return rows.length === 1
}

/** Returns the webhooks of a reporter, oldest first. */
export async function listWebhooks(db: Db, reporterId: string): Promise<Webhook[]> {
  const { rows } = await db.query<Webhook>(
    `select ${columns} from webhooks where reporter_id = $1 order by id`,
    [reporterId],
  )
  return rows
}

/** Returns one webhook of a reporter. */
export async function findWebhook(
  db: Db,
  reporterId: string,
  id: string,
): Promise<Webhook | undefined> {
  const answer = await db.query<Webhook>(
    `select ${columns} from webhooks where id = $1 and reporter_id = $2`,
    [id, reporterId],
  )
  return first(answer)
}

/**
 * Returns webhooks by id, unordered. Those of accounts that are not active have the state
 * `disabled`.
 */
export async function listWebhooksByIds(db: Db, ids: readonly string[]): Promise<Webhook[]> {
  const { rows } = await db.query<Webhook>(
    `select ${columns} from (
       select webhooks.id, reporter_id, url, events, generation, renewed_at,
         webhooks.created_at, failures, failing_since, paused_until,
         case when reporters.state = 'active' then webhooks.state else 'disabled' end as state
       from webhooks join reporters on reporters.id = webhooks.reporter_id
       where webhooks.id = any($1::uuid[])
     ) as webhooks`,
    [ids],
  )
  return rows
}

/**
 * Changes the settings of a webhook; undefined fields stay unchanged. Enabling it or changing its
 * URL resets its failures. False when the reporter has another webhook with that URL.
 */
export async function updateWebhook(
  tx: Db,
  id: string,
  change: { url?: string | undefined; events?: readonly WebhookEvent[] | undefined } & {
    state?: 'enabled' | 'disabled' | undefined
  },
): Promise<boolean> {
  const { rows } = await tx.query(
    `update webhooks
     set url = coalesce($2, url), events = coalesce($3, events), state = coalesce($4, state),
       failures = case when $4 = 'enabled' or $2 is not null then 0 else failures end,
       failing_since =
         case when $4 = 'enabled' or $2 is not null then null else failing_since end,
       paused_until = case when $4 = 'enabled' or $2 is not null then null else paused_until end
     where id = $1 and not exists (
       select from webhooks other
       where other.reporter_id = webhooks.reporter_id and other.url = $2 and other.id <> $1)
     returning id`,
    [id, change.url ?? null, change.events ?? null, change.state ?? null],
  )
  return rows.length === 1
}

/** Makes the next generation of the secret the valid one. */
export async function renewWebhookSecret(tx: Db, id: string, now: Date): Promise<void> {
  await tx.query(`update webhooks set generation = generation + 1, renewed_at = $2 where id = $1`, [
    id,
    now,
  ])
}

/** Deletes a webhook and its deliveries. */
export async function removeWebhook(tx: Db, id: string): Promise<void> {
  await tx.query(`delete from webhooks where id = $1`, [id])
}

/** Deletes the webhooks of a reporter and their deliveries. */
export async function removeWebhooksOf(tx: Db, reporterId: string): Promise<void> {
  await tx.query(`delete from webhooks where reporter_id = $1`, [reporterId])
}

/** Whether any webhook is enabled. */
export async function anyWebhooks(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ any: boolean }>({
    name: 'any-webhooks',
    text: `select exists (select from webhooks where state = 'enabled') as any`,
  })
  return rows[0]?.any ?? false
}

/**
 * Returns the enabled webhooks of active accounts that receive this event, for each of the reports.
 */
export async function findListening(
  tx: Db,
  event: WebhookEvent,
  reportIds: readonly string[],
): Promise<{ webhookId: string; reportId: string }[]> {
  const { rows } = await tx.query<{ webhookId: string; reportId: string }>(
    `select webhooks.id as "webhookId", reports.id as "reportId"
     from reports join webhooks on webhooks.reporter_id = reports.reporter_id
       join reporters on reporters.id = webhooks.reporter_id and reporters.state = 'active'
     where reports.id = any($1::uuid[]) and webhooks.state = 'enabled'
       and webhooks.events @> array[$2]
     order by webhooks.id, reports.id`,
    [reportIds, event],
  )
  return rows
}

/** Stores that a webhook accepted a delivery, which ends its failures and its pause. */
export async function markWebhookTaking(tx: Db, id: string): Promise<void> {
  await tx.query(
    `update webhooks set failures = 0, failing_since = null, paused_until = null
     where id = $1 and (failures > 0 or paused_until is not null)`,
    [id],
  )
}

/** Stores a failure of a webhook, and until when it is paused. Concurrent failures count as one. */
export async function markWebhookFailing(
  tx: Db,
  id: string,
  { now, pausedUntil }: { now: Date; pausedUntil: Date },
): Promise<void> {
  await tx.query(
    `update webhooks
     set failures = failures + 1, failing_since = coalesce(failing_since, $2), paused_until = $3
     where id = $1 and state = 'enabled' and coalesce(paused_until, $2) <= $2`,
    [id, now, pausedUntil],
  )
}

/** Stops deliveries to a webhook until its owner enables it again. */
export async function markWebhookFailed(tx: Db, id: string): Promise<void> {
  await tx.query(`update webhooks set state = 'failed' where id = $1 and state = 'enabled'`, [id])
}

/** `given-up` after a day; `dropped` when the webhook no longer receives events. */
type DeliveryState = 'waiting' | 'delivered' | 'given-up' | 'dropped'

/** An event to deliver to a webhook, and the result. Its id contains the time of the event. */
export type Delivery = {
  webhookId: string
  id: string
  event: WebhookEvent
  reportId: string | null
  state: DeliveryState
  tries: number
  triedAt: Date | null
  /** The last HTTP status; null when there was no response. */
  status: number | null
  /** Old deliveries have English text instead of a phrase. */
  outcome: Phrase | string | null
}

const DELIVERY_COLUMNS = `webhook_id as "webhookId", id, event, report_id as "reportId", state,
  tries, tried_at as "triedAt", status, coalesce(phrase, to_jsonb(outcome)) as outcome`

/** Inserts deliveries that are still to be sent. */
export async function insertDeliveries(
  tx: Db,
  deliveries: readonly Pick<Delivery, 'webhookId' | 'id' | 'event' | 'reportId'>[],
): Promise<void> {
  if (deliveries.length === 0) return
  const { text, params } = values(
    deliveries.map(({ webhookId, id, event, reportId }) => {
      return [webhookId, id, event, reportId, 'waiting', 0]
    }),
  )
  await tx.query(
    `insert into webhook_deliveries (webhook_id, id, event, report_id, state, tries)
     values ${text}`,
    params,
  )
}

/** Returns those of the deliveries that are still waiting. */
export async function listWaitingDeliveries(
  db: Db,
  keys: readonly { webhookId: string; deliveryId: string }[],
): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>(
    `select ${DELIVERY_COLUMNS} from webhook_deliveries
     where webhook_id = any($1::uuid[]) and id = any($2::uuid[]) and state = 'waiting'
     order by id`,
    [keys.map(({ webhookId }) => webhookId), keys.map(({ deliveryId }) => deliveryId)],
  )
  return rows
}

/** Returns the latest deliveries to one webhook, newest first. */
export async function listDeliveries(
  db: Db,
  webhookId: string,
  limit: number,
): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>(
    `select ${DELIVERY_COLUMNS} from webhook_deliveries
     where webhook_id = $1 order by id desc limit $2`,
    [webhookId, limit],
  )
  return rows
}

/** Counts the deliveries of an event to one webhook since an id. */
export async function countDeliveries(
  db: Db,
  webhookId: string,
  { event, from }: { event: WebhookEvent; from: string },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from webhook_deliveries
     where webhook_id = $1 and id >= $2 and event = $3`,
    [webhookId, from, event],
  )
  return rows[0]?.count ?? 0
}

/** Stores the result of an attempt; false when the delivery ended before. */
export async function markDelivery(
  tx: Db,
  { webhookId, id }: Pick<Delivery, 'webhookId' | 'id'>,
  went: Pick<Delivery, 'state' | 'status'> & { outcome: Phrase; triedAt: Date | null },
): Promise<boolean> {
  const { rows } = await tx.query(
    `update webhook_deliveries
     set state = $3, status = coalesce($4, status), phrase = $5,
       tries = tries + case when $6::timestamptz is null then 0 else 1 end,
       tried_at = coalesce($6, tried_at)
     where webhook_id = $1 and id = $2 and state = 'waiting' returning id`,
    [webhookId, id, went.state, went.status, JSON.stringify(went.outcome), went.triedAt],
  )
  return rows.length === 1
}

/** Deletes deliveries older than an id. */
export async function removeDeliveries(db: Db, before: string): Promise<void> {
  await db.query(`delete from webhook_deliveries where id < $1`, [before])
}
