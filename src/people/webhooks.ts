import type { App } from '../app.ts'
import { inTransaction } from '../db/pool.ts'
import { holdReporters } from '../db/reporters.ts'
import {
  countDeliveries,
  findWebhook,
  insertWebhook,
  listWebhooks,
  removeWebhook,
  renewWebhookSecret,
  updateWebhook,
  type Webhook,
  type WebhookEvent,
} from '../db/webhooks.ts'
import { HOUR_MS } from '../durations.ts'
import { readWebhookUrl, shownWebhookKey, webhookKey } from '../mail/webhook-message.ts'
import { uuidFloor, uuidv7 } from '../world.ts'
import { queueTestWebhook } from './deliver-webhooks.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>

export const WEBHOOKS_MAX = 5
/**
 * Maximum number of test deliveries per hour and webhook, because each is a request to an external
 * host.
 */
const TESTS_HOURLY_MAX = 20

/** The events that an owner can choose. */
export const webhookEvents = [
  'report.analyzed',
  'report.asked',
  'report.told',
  'report.answered',
  'report.retracted',
  'sender.alerted',
] as const satisfies readonly WebhookEvent[]

/** Why a webhook is refused. `why` completes a sentence about the webhook's address. */
export type WebhookRefusal = { refused: 'full' | 'taken' } | { refused: 'address'; why: string }

/** The settings that the owner can change. */
export type WebhookChange = {
  url?: string | undefined
  events?: readonly WebhookEvent[] | undefined
  state?: 'enabled' | 'disabled' | undefined
}

/** Adds a webhook and returns its secret, which cannot be retrieved later. */
export async function addWebhook(
  app: Needs,
  reporterId: string,
  wanted: { url: string; events: readonly WebhookEvent[] },
): Promise<{ webhook: Webhook; secret: string } | WebhookRefusal> {
  const read = readWebhookUrl(wanted.url, addressRules(app))
  if ('refused' in read) return { refused: 'address', why: read.refused }
  const id = uuidv7(app.clock())
  const added = await inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    if ((await listWebhooks(tx, reporterId)).length >= WEBHOOKS_MAX) return 'full'
    const { events } = wanted
    const row = { id, reporterId, url: read.url.href, events, createdAt: app.clock() }
    return (await insertWebhook(tx, row)) ? 'added' : 'taken'
  })
  if (added !== 'added') return { refused: added }
  const webhook = await findWebhook(app.pool, reporterId, id)
  if (!webhook) throw new Error('The webhook was not found after it was inserted.')
  return { webhook, secret: secretOf(webhook, app) }
}

/**
 * Returns the rules for webhook addresses. If the operator allows internal receivers, any host name
 * is accepted here; the address is checked at delivery.
 */
function addressRules({ config }: Needs): { mayBeInternal: boolean } {
  return { mayBeInternal: config.webhookNetworks.length > 0 }
}

/** Changes a webhook of a reporter; undefined when there is none. */
export async function changeWebhook(
  app: Needs,
  { id, reporterId }: Pick<Webhook, 'id' | 'reporterId'>,
  change: WebhookChange,
): Promise<Webhook | WebhookRefusal | undefined> {
  const read = change.url === undefined ? undefined : readWebhookUrl(change.url, addressRules(app))
  if (read && 'refused' in read) return { refused: 'address', why: read.refused }
  return inTransaction(app.pool, async (tx) => {
    // Without the lock, two concurrent changes could set the same address.
    await holdReporters(tx, [reporterId], 'change')
    if (!(await findWebhook(tx, reporterId, id))) return undefined
    const isChanged = await updateWebhook(tx, id, { ...change, url: read?.url.href })
    return isChanged ? findWebhook(tx, reporterId, id) : { refused: 'taken' }
  })
}

/**
 * Generates a new secret for a webhook and returns it; it cannot be retrieved later. Undefined when
 * there is no such webhook.
 */
export async function renewSecret(
  app: Needs,
  { id, reporterId }: Pick<Webhook, 'id' | 'reporterId'>,
): Promise<{ webhook: Webhook; secret: string } | undefined> {
  if (!(await findWebhook(app.pool, reporterId, id))) return undefined
  await renewWebhookSecret(app.pool, id, app.clock())
  const webhook = await findWebhook(app.pool, reporterId, id)
  return webhook && { webhook, secret: secretOf(webhook, app) }
}

/** Deletes a webhook and its deliveries; false when there is none. */
export async function deleteOwnWebhook(
  { pool }: Pick<Needs, 'pool'>,
  { id, reporterId }: Pick<Webhook, 'id' | 'reporterId'>,
): Promise<boolean> {
  if (!(await findWebhook(pool, reporterId, id))) return false
  await removeWebhook(pool, id)
  return true
}

/**
 * Queues a test delivery and returns its id, or why it was refused; undefined when there is no such
 * webhook.
 */
export async function tryWebhook(
  { pool, boss, clock }: Needs,
  { id, reporterId }: Pick<Webhook, 'id' | 'reporterId'>,
): Promise<{ deliveryId: string } | 'off' | 'too-often' | undefined> {
  const now = clock()
  const from = uuidFloor(new Date(now.getTime() - HOUR_MS))
  return inTransaction(pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    const webhook = await findWebhook(tx, reporterId, id)
    if (!webhook) return undefined
    if (webhook.state !== 'enabled') return 'off'
    const tried = await countDeliveries(tx, id, { event: 'webhook.test', from })
    if (tried >= TESTS_HOURLY_MAX) return 'too-often'
    return { deliveryId: await queueTestWebhook(tx, boss, id, now) }
  })
}

/** The key of the time when it was made signs until it is renewed. */
function secretOf(webhook: Webhook, { config }: Needs): string {
  return shownWebhookKey(
    webhookKey(webhook, config.secret.key('webhook', webhook.renewedAt ?? webhook.createdAt)),
  )
}
