import type { App } from '../../app.ts'
import type { ReportState } from '../../db/reports.ts'
import type { Delivery } from '../../db/webhook-deliveries.ts'
import type { Webhook } from '../../db/webhooks.ts'
import { webhookKey, type WebhookMessage } from '../../mail/webhook-message.ts'
import { uuidTime } from '../../world.ts'

/** So long what leaves is signed with the secret before the last one too. */
export const SECRETS_OVERLAP_MS = 86_400_000

/**
 * What is sent for a delivery: what happened, when and to which report, where more can be read, and
 * how the report stands now. Never anything of the message. Else why it is not sent.
 */
export function composeWebhook(
  { id, event, reportId }: Delivery,
  webhook: Webhook,
  app: Pick<App, 'clock' | 'config'> & { stateOf: ReadonlyMap<string, ReportState> },
): WebhookMessage | { dropped: string } {
  if (webhook.state !== 'enabled') return { dropped: 'The webhook was off.' }
  const status = reportId === null ? undefined : app.stateOf.get(reportId)
  if (reportId !== null && !status) return { dropped: 'The report is not kept any more.' }
  const url = `${app.config.publicUrl}/api/v1/reports/${reportId}`
  const data = status ? { report_id: reportId, url, status } : { webhook_id: webhook.id }
  return {
    url: webhook.url,
    id: `msg_${id}`,
    timestamp: Math.floor(app.clock().getTime() / 1_000),
    body: JSON.stringify({ type: event, timestamp: uuidTime(id).toISOString(), data }),
    keys: keysOf(webhook, app),
  }
}

function keysOf(webhook: Webhook, { config, clock }: Pick<App, 'clock' | 'config'>): Buffer[] {
  const { id, generation, renewedAt } = webhook
  const key = webhookKey({ id, generation }, config.secret)
  const overlapEndsAt = (renewedAt?.getTime() ?? -Infinity) + SECRETS_OVERLAP_MS
  if (generation === 1 || clock().getTime() > overlapEndsAt) return [key]
  return [key, webhookKey({ id, generation: generation - 1 }, config.secret)]
}
