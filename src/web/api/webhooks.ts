import type { z } from 'zod'
import { findWebhook, listDeliveries, listWebhooks, type Webhook } from '../../db/webhooks.ts'
import {
  addWebhook,
  changeWebhook,
  deleteOwnWebhook,
  renewSecret,
  tryWebhook,
  type WebhookRefusal,
  WEBHOOKS_MAX,
} from '../../people/webhooks.ts'
import { inEnglish } from '../../texts/phrases.ts'
import { uuidTime } from '../../world.ts'
import { isUuid } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import type { deliveriesSchema, webhookSchema } from './contract/account-schemas.ts'
import type { Handlers } from './serve-operations.ts'
import { sendJson } from './submission.ts'

type OneCall = { caller: { id: string }; path: { id: string } }

const DELIVERIES_SHOWN = 20

export function webhookHandlers(
  site: Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl'>,
) {
  const findOwn = async (call: OneCall) => {
    const { id, reporterId } = keyOf(call)
    return found(await findWebhook(site.pool, reporterId, id))
  }
  return {
    async 'list-webhooks'({ caller }) {
      return { webhooks: (await listWebhooks(site.pool, caller.id)).map(webhookJson) }
    },
    async 'add-webhook'({ caller, body, res }) {
      const added = await addWebhook(site, caller.id, body)
      if ('refused' in added) throw problemOf(added)
      res.setHeader('location', `${site.publicUrl}/api/v1/webhooks/${added.webhook.id}`)
      sendJson(res, 201, { ...webhookJson(added.webhook), secret: added.secret }, 'owner')
      return undefined
    },
    'read-webhook': async (call) => webhookJson(await findOwn(call)),
    async 'change-webhook'(call) {
      const changed = found(await changeWebhook(site, keyOf(call), call.body))
      if ('refused' in changed) throw problemOf(changed)
      return webhookJson(changed)
    },
    async 'remove-webhook'(call) {
      if (!(await deleteOwnWebhook(site, keyOf(call)))) throw notFound()
      call.res.status(204).end()
      return undefined
    },
    async 'renew-webhook-secret'(call) {
      const { webhook, secret } = found(await renewSecret(site, keyOf(call)))
      sendJson(call.res, 200, { ...webhookJson(webhook), secret }, 'owner')
      return undefined
    },
    async 'try-webhook'(call) {
      const tried = found(await tryWebhook(site, keyOf(call)))
      if (tried === 'off')
        throw new ProblemError('bad-field', 'This webhook is disabled. Enable it first.')
      if (tried === 'too-often') {
        const detail = 'A webhook can be tested a few times an hour. Try again later.'
        throw new ProblemError('too-often', detail, { 'retry-after': '3600' })
      }
      return { id: `msg_${tried.deliveryId}` }
    },
    'list-deliveries': async (call) => describeDeliveries(site, (await findOwn(call)).id),
  } satisfies Partial<Handlers>
}

async function describeDeliveries(
  { pool }: Pick<Site, 'pool'>,
  id: string,
): Promise<z.infer<typeof deliveriesSchema>> {
  const deliveries = await listDeliveries(pool, id, DELIVERIES_SHOWN)
  return {
    deliveries: deliveries.map((one) => ({
      id: `msg_${one.id}`,
      type: one.event,
      report_id: one.reportId,
      state: one.state,
      at: uuidTime(one.id).toISOString(),
      tries: one.tries,
      tried_at: one.triedAt?.toISOString() ?? null,
      status: one.status,
      outcome: one.outcome && inEnglish(one.outcome),
    })),
  }
}

function webhookJson(webhook: Webhook): z.infer<typeof webhookSchema> {
  const { id, url, state, createdAt, failingSince, pausedUntil } = webhook
  return {
    id,
    url,
    events: webhook.events.filter((event) => event !== 'webhook.test'),
    state,
    created_at: createdAt.toISOString(),
    failing_since: failingSince?.toISOString() ?? null,
    paused_until: pausedUntil?.toISOString() ?? null,
  }
}

function keyOf({ caller, path: { id } }: OneCall) {
  if (!isUuid(id)) throw notFound()
  return { id, reporterId: caller.id }
}

function problemOf(refusal: WebhookRefusal): ProblemError {
  if (refusal.refused === 'address') return new ProblemError('bad-field', `url ${refusal.why}`)
  if (refusal.refused === 'taken') {
    return new ProblemError('bad-field', 'url: another of your webhooks has this URL.')
  }
  return new ProblemError('bad-field', `At most ${WEBHOOKS_MAX} webhooks are allowed.`)
}

function found<T>(one: T | undefined): T {
  if (one === undefined) throw notFound()
  return one
}

function notFound(): ProblemError {
  return new ProblemError('not-found', 'Webhook not found.')
}
