import { type Request, type Response, Router } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import { listDeliveries, listWebhooks } from '../../db/webhooks.ts'
import {
  addWebhook,
  changeWebhook,
  deleteOwnWebhook,
  renewSecret,
  tryWebhook,
  webhookEvents,
  type WebhookRefusal,
} from '../../people/webhooks.ts'
import type { Code } from '../../texts/messages.ts'
import { uuidTime } from '../../world.ts'
import { admit } from '../limits.ts'
import type { Site } from '../site.ts'
import { type Form, type FormReader, readShortForm } from './form.ts'
import { isUuid, sendPage } from './render.ts'
import { requireReporter } from './signed-in.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'limits'> & FormReader
const doneWords = ['removed', 'changed', 'tested'] as const
type Done = (typeof doneWords)[number]
type Refused = Code extends infer C
  ? C extends `webhooks.refusals.${infer Name}`
    ? Name
    : never
  : never

/** The result of a form: done, refused, or a secret that is shown once. */
type Word = { done: Done } | { refused: Refused } | { id: string; secret: string }

const DELIVERIES_SHOWN = 20

/** The page where reporters manage their webhooks. */
export function webhookRoutes(site: Needs): Router {
  const router = Router()
  router.get('/settings/webhooks', async (req, res) => {
    const reporter = requireReporter(req)
    const { done } = req.query
    await sendWebhooks(req, res, site, { reporter, word: isDone(done) ? { done } : undefined })
  })
  router.post('/settings/webhooks', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req)
    await admit(req, res, site, 'webhook', { reporterId: reporter.id })
    const word = await applyForm(form, reporter, site)
    if ('done' in word) return res.redirect(303, `/settings/webhooks?done=${word.done}`)
    await sendWebhooks(req, res, site, { reporter, word, form })
  })
  return router
}

async function applyForm(form: Form, { id: reporterId }: Reporter, site: Needs): Promise<Word> {
  const action = form.text('do')
  if (action === 'add') return add(form, reporterId, site)
  const id = form.text('id')
  if (!isUuid(id)) return { refused: 'gone' }
  const key = { id, reporterId }
  if (action === 'remove') {
    return (await deleteOwnWebhook(site, key)) ? { done: 'removed' } : { refused: 'gone' }
  }
  if (action === 'renew') {
    const renewed = await renewSecret(site, key)
    return renewed ? { id, secret: renewed.secret } : { refused: 'gone' }
  }
  if (action === 'test') {
    const tried = (await tryWebhook(site, key)) ?? 'gone'
    return typeof tried === 'string' ? { refused: tried } : { done: 'tested' }
  }
  const state = action === 'enable' ? 'enabled' : 'disabled'
  const changed = await changeWebhook(site, key, { state })
  if (!changed) return { refused: 'gone' }
  return 'refused' in changed ? refusalOf(changed) : { done: 'changed' }
}

async function add(form: Form, reporterId: string, site: Needs): Promise<Word> {
  const events = webhookEvents.filter((event) => form.texts('events').includes(event))
  if (events.length === 0) return { refused: 'events' }
  const added = await addWebhook(site, reporterId, { url: form.text('url') ?? '', events })
  if ('refused' in added) return refusalOf(added)
  return { id: added.webhook.id, secret: added.secret }
}

/** The events that a person can receive: alerts are only for people with a role. */
function eventsFor({ role }: Reporter) {
  return webhookEvents.filter((event) => role !== null || event !== 'sender.alerted')
}

function refusalOf({ refused }: WebhookRefusal): Word {
  return { refused }
}

async function sendWebhooks(
  req: Request,
  res: Response,
  { pool }: Needs,
  { reporter, word, form }: { reporter: Reporter; word: Word | undefined; form?: Form },
): Promise<void> {
  const { texts } = visitOf(req)
  const webhooks = await listWebhooks(pool, reporter.id)
  const shown = await Promise.all(
    webhooks.map(async (webhook) => ({
      ...webhook,
      secret: word && 'secret' in word && word.id === webhook.id ? word.secret : undefined,
      deliveries: (await listDeliveries(pool, webhook.id, DELIVERIES_SHOWN)).map((one) => ({
        ...one,
        at: uuidTime(one.id),
      })),
    })),
  )
  const refused = word && 'refused' in word ? word.refused : undefined
  const isAdding = refused !== undefined && form?.text('do') === 'add'
  const chosen = isAdding ? form.texts('events') : eventsFor(reporter)
  sendPage(req, res, {
    view: 'pages/webhooks',
    title: texts('webhooks.title'),
    status: refused === undefined ? 200 : 422,
    data: {
      webhooks: shown,
      done: word && 'done' in word ? word.done : undefined,
      refused,
      isAdding,
      url: isAdding ? (form.text('url') ?? '') : '',
      choices: eventsFor(reporter).map((event) => ({ event, isChosen: chosen.includes(event) })),
    },
  })
}

function isDone(value: unknown): value is Done {
  return doneWords.some((done) => done === value)
}
