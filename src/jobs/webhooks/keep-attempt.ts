import type { App } from '../../app.ts'
import { inTransaction } from '../../db/pool.ts'
import { type Delivery, markDelivery } from '../../db/webhook-deliveries.ts'
import {
  markWebhookFailed,
  markWebhookFailing,
  markWebhookTaking,
  type Webhook,
} from '../../db/webhooks.ts'
import type { WebhookOutcome } from '../../mail/webhook-message.ts'
import { uuidTime } from '../../world.ts'

type Needs = Pick<App, 'pool' | 'clock'>

/** One that was not taken: until when its receiver is left alone, and whether that was the last. */
export type NotTaken = { pausedUntil: Date; isEnded: boolean }

/** What nobody took for so long is given up. */
const GIVE_UP_MS = 86_400_000
/** Who took nothing for so long is told no more. */
const FAILED_MS = 5 * 86_400_000
const PAUSE_MS = 30_000
const PAUSE_MS_MAX = 4 * 3_600_000

/** Keeps what became of one attempt, and what it says of its receiver. */
export async function keepAttempt(
  delivery: Delivery,
  webhook: Webhook,
  { state, status, outcome }: WebhookOutcome,
  { pool, clock }: Needs,
): Promise<'done' | NotTaken> {
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

/** Keeps that one was not sent, and why. */
export async function keepDropped(
  delivery: Delivery,
  outcome: string,
  { pool }: Pick<Needs, 'pool'>,
): Promise<'done'> {
  await markDelivery(pool, delivery, { state: 'dropped', status: null, outcome, triedAt: null })
  return 'done'
}

/** Half a minute, then twice as long each time, up to four hours. */
function pauseMs(failures: number): number {
  return Math.min(PAUSE_MS * 2 ** Math.min(failures, 20), PAUSE_MS_MAX)
}
