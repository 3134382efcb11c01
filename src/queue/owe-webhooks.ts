import type { Db } from '../db/pool.ts'
import { insertDeliveries } from '../db/webhook-deliveries.ts'
import { anyWebhooks, findListening, type WebhookEvent } from '../db/webhooks.ts'
import { uuidv7 } from '../world.ts'
import type { Boss } from './boss.ts'
import { deliverWebhook } from './queues.ts'
import { send } from './send.ts'

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
