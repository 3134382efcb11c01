import { type Request, type Response, Router } from 'express'
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
import { authenticateRequest } from '../authenticate.ts'
import { readJson } from '../bodies/body-tasks.ts'
import { admit } from '../limits.ts'
import { isUuid } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import {
  type deliveriesSchema,
  newWebhookSchema,
  webhookChangeSchema,
  type webhookSchema,
} from './contract/account-schemas.ts'
import { otherMethods } from './cors.ts'
import { sendJson } from './submission.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'credentials' | 'limits' | 'readBody'
>
type OneRequest = Request<{ id: string }>
type Key = { id: string; reporterId: string }

const BODY_BYTES_MAX = 8_000
const DELIVERIES_SHOWN = 20

/** The caller's webhooks: `/api/v1/webhooks`. */
export function webhooksApi(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const id = await requireOwner(req, res, site)
    sendJson(res, 200, { webhooks: (await listWebhooks(site.pool, id)).map(webhookJson) })
  })
  router.post('/', async (req, res) => {
    const id = await requireOwner(req, res, site)
    const wanted = readJson(await site.readBody(req, res, BODY_BYTES_MAX), newWebhookSchema)
    const added = await addWebhook(site, id, wanted)
    if ('refused' in added) throw problemOfRefusal(added)
    res.setHeader('location', `${site.publicUrl}/api/v1/webhooks/${added.webhook.id}`)
    sendJson(res, 201, { ...webhookJson(added.webhook), secret: added.secret }, 'owner')
  })
  router.all('/', otherMethods('GET', 'POST'))
  oneWebhook(router, site)
  return router
}

function oneWebhook(router: Router, site: Needs): void {
  router.get('/:id', async (req, res) => {
    sendJson(res, 200, webhookJson(await requireWebhook(req, res, site)))
  })
  router.patch('/:id', async (req, res) => {
    const key = await keyOf(req, res, site)
    const change = readJson(await site.readBody(req, res, BODY_BYTES_MAX), webhookChangeSchema)
    const changed = await changeWebhook(site, key, change)
    if (!changed) throw notFound()
    if ('refused' in changed) throw problemOfRefusal(changed)
    sendJson(res, 200, webhookJson(changed))
  })
  router.delete('/:id', async (req, res) => {
    if (!(await deleteOwnWebhook(site, await keyOf(req, res, site)))) throw notFound()
    res.statusCode = 204
    res.end()
  })
  router.all('/:id', otherMethods('GET', 'PATCH', 'DELETE'))
  router.post('/:id/secret', async (req, res) => {
    const renewed = await renewSecret(site, await keyOf(req, res, site))
    if (!renewed) throw notFound()
    sendJson(res, 200, { ...webhookJson(renewed.webhook), secret: renewed.secret }, 'owner')
  })
  router.all('/:id/secret', otherMethods('POST'))
  router.post('/:id/test', (req, res) => sendTest(req, res, site))
  router.all('/:id/test', otherMethods('POST'))
  router.get('/:id/deliveries', async (req, res) => {
    const { id } = await requireWebhook(req, res, site)
    sendJson(res, 200, await describeDeliveries(site, id))
  })
  router.all('/:id/deliveries', otherMethods('GET'))
}

async function sendTest(req: OneRequest, res: Response, site: Needs): Promise<void> {
  const tried = await tryWebhook(site, await keyOf(req, res, site))
  if (!tried) throw notFound()
  if (tried === 'off')
    throw new ProblemError('bad-field', 'This webhook is disabled. Enable it first.')
  if (tried === 'too-often') {
    const detail = 'A webhook can be tested a few times an hour. Try again later.'
    throw new ProblemError('too-often', detail, { 'retry-after': '3600' })
  }
  sendJson(res, 202, { id: `msg_${tried.deliveryId}` })
}

async function describeDeliveries(
  { pool }: Needs,
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

/** Returns the id of the caller, who must have the scope `account`. */
async function requireOwner(req: Request, res: Response, site: Needs): Promise<string> {
  const caller = await authenticateRequest(req, site.credentials, ['bearer', 'basic'], 'account')
  const { id: reporterId, tokenHash } = caller
  await admit(req, res, site, 'webhook', { reporterId, tokenHash })
  return reporterId
}

async function keyOf(req: OneRequest, res: Response, site: Needs): Promise<Key> {
  const reporterId = await requireOwner(req as Request, res, site)
  if (!isUuid(req.params.id)) throw notFound()
  return { id: req.params.id, reporterId }
}

async function requireWebhook(req: OneRequest, res: Response, site: Needs): Promise<Webhook> {
  const { id, reporterId } = await keyOf(req, res, site)
  const webhook = await findWebhook(site.pool, reporterId, id)
  if (!webhook) throw notFound()
  return webhook
}

function problemOfRefusal(refusal: WebhookRefusal): ProblemError {
  if (refusal.refused === 'address') return new ProblemError('bad-field', `url ${refusal.why}`)
  if (refusal.refused === 'taken') {
    return new ProblemError('bad-field', 'url: another of your webhooks has this URL.')
  }
  return new ProblemError('bad-field', `At most ${WEBHOOKS_MAX} webhooks are allowed.`)
}

function notFound(): ProblemError {
  return new ProblemError('not-found', 'Webhook not found.')
}
