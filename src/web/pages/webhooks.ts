import type { Router } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import { findWebhook, listDeliveries, listWebhooks } from '../../db/webhooks.ts'
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
import type { Form, FormReader } from './form.ts'
import { ownFormPage } from './form-page.ts'
import { isUuid } from './render.ts'
import { isConfirmedBy } from './sure.ts'

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
  return ownFormPage(site, {
    at: '/settings/webhooks',
    view: 'pages/webhooks',
    title: 'webhooks.title',
    async data({ req, reporter }, shown) {
      const { done } = req.query
      const webhooks = await describeWebhooks(site, reporter)
      const isSet = shown !== undefined && 'secret' in shown && 'id' in shown
      return {
        webhooks: webhooks.map((one) => ({
          ...one,
          secret: isSet && shown.id === one.id ? shown.secret : undefined,
        })),
        done: shown ? undefined : doneWords.find((word) => word === done),
        isAdding: false,
        url: '',
        choices: choicesOf(reporter, eventsFor(reporter)),
      }
    },
    async take(call) {
      const { req, res, form, reporter } = call
      const asked = await webhookToLose(form, reporter, site)
      if (asked && !isConfirmedBy(call, asked)) return undefined
      await admit(req, res, site, 'webhook', { reporterId: reporter.id })
      const word = await applyForm(form, reporter, site)
      if ('done' in word) return `/settings/webhooks?done=${word.done}`
      if (!('refused' in word)) return word
      if (form.text('do') !== 'add') return { status: 422, ...word }
      const given = {
        url: form.text('url') ?? '',
        choices: choicesOf(reporter, form.texts('events')),
      }
      return { status: 422, ...word, isAdding: true, ...given }
    },
  })
}

/** What is asked before a webhook or its secret is lost; undefined for other forms. */
async function webhookToLose(form: Form, reporter: Reporter, { pool }: Needs) {
  const [action, id] = [form.text('do'), form.text('id')]
  if ((action !== 'remove' && action !== 'renew') || !isUuid(id)) return undefined
  const webhook = await findWebhook(pool, reporter.id, id)
  const code = action === 'remove' ? 'webhook' : 'webhook-secret'
  return webhook && ({ code, name: webhook.url } as const)
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

function choicesOf(reporter: Reporter, chosen: readonly string[]) {
  return eventsFor(reporter).map((event) => ({ event, isChosen: chosen.includes(event) }))
}

function refusalOf({ refused }: WebhookRefusal): Word {
  return { refused }
}

async function describeWebhooks({ pool }: Needs, { id }: Reporter) {
  const webhooks = await listWebhooks(pool, id)
  return Promise.all(
    webhooks.map(async (webhook) => ({
      ...webhook,
      deliveries: (await listDeliveries(pool, webhook.id, DELIVERIES_SHOWN)).map((one) => ({
        ...one,
        at: uuidTime(one.id),
      })),
    })),
  )
}
