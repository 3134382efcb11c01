import type { Db } from './pool.ts'
import { values } from './values.ts'
import type { WebhookEvent } from './webhooks.ts'

/** `given-up` after a day; `dropped` when the webhook was not to be told any more. */
export type DeliveryState = 'waiting' | 'delivered' | 'given-up' | 'dropped'

/** What is to be told to a webhook, and how that went. Its id holds the time of the event. */
export type Delivery = {
  webhookId: string
  id: string
  event: WebhookEvent
  reportId: string | null
  state: DeliveryState
  tries: number
  triedAt: Date | null
  /** What HTTP said last; null when nobody answered. */
  status: number | null
  /** A sentence of ours. */
  outcome: string | null
}

const columns = `webhook_id as "webhookId", id, event, report_id as "reportId", state, tries,
  tried_at as "triedAt", status, outcome`

/** Adds what is to be told. */
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

/** Those of the deliveries that still wait. */
export async function listWaitingDeliveries(
  db: Db,
  keys: readonly { webhookId: string; deliveryId: string }[],
): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>(
    `select ${columns} from webhook_deliveries
     where webhook_id = any($1::uuid[]) and id = any($2::uuid[]) and state = 'waiting'
     order by id`,
    [keys.map(({ webhookId }) => webhookId), keys.map(({ deliveryId }) => deliveryId)],
  )
  return rows
}

/** The latest of one webhook, newest first. */
export async function listDeliveries(
  db: Db,
  webhookId: string,
  limit: number,
): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>(
    `select ${columns} from webhook_deliveries where webhook_id = $1 order by id desc limit $2`,
    [webhookId, limit],
  )
  return rows
}

/** How many of one webhook were made since an id, of an event. */
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

/** Writes down how an attempt went; false when somebody else had ended it. */
export async function markDelivery(
  tx: Db,
  { webhookId, id }: Pick<Delivery, 'webhookId' | 'id'>,
  went: Pick<Delivery, 'state' | 'status' | 'outcome'> & { triedAt: Date | null },
): Promise<boolean> {
  const { rows } = await tx.query(
    `update webhook_deliveries
     set state = $3, status = coalesce($4, status), outcome = $5,
       tries = tries + case when $6::timestamptz is null then 0 else 1 end,
       tried_at = coalesce($6, tried_at)
     where webhook_id = $1 and id = $2 and state = 'waiting' returning id`,
    [webhookId, id, went.state, went.status, went.outcome, went.triedAt],
  )
  return rows.length === 1
}

/** Forgets those older than an id. */
export async function removeDeliveries(db: Db, before: string): Promise<void> {
  await db.query(`delete from webhook_deliveries where id < $1`, [before])
}
