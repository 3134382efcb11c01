import { type Request, type Response, Router } from 'express'
import { listScopes } from '../../db/consumer-scopes.ts'
import { type ConsumerDetails, type ConsumerState, listConsumerPage } from '../../db/consumers.ts'
import { listFeedbackTo } from '../../db/feedback-reports.ts'
import { listSuppressed } from '../../db/suppressions.ts'
import {
  addConsumer,
  enrollConsumer,
  getConsumer,
  pauseConsumer,
  resumeConsumer,
  setConsumer,
  stopConsumer,
} from '../../feedback/consumer-actions.ts'
import { scopeText } from '../../verdict/consumers.ts'
import { healthAt, mayNotify, stateAt } from '../../verdict/contact-health.ts'
import { shownSettings } from '../consumers/enroll.ts'
import type { Site } from '../site.ts'
import { choiceParam, sendList, textParam } from './list-page.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

type ConsumerNeeds = Pick<Site, 'pool' | 'clock' | 'config' | 'publicUrl'>

const FEEDBACK_LINES = 20

const consumerActions = {
  set: setConsumer,
  pause: pauseConsumer,
  resume: resumeConsumer,
  stop: stopConsumer,
  enroll: enrollConsumer,
}

async function sendConsumer(
  req: Request,
  res: Response,
  site: ConsumerNeeds,
  { consumer, fault }: { consumer: ConsumerDetails; fault: string | undefined },
): Promise<void> {
  const now = site.clock()
  const [scopes, feedback, suppressed] = await Promise.all([
    listScopes(site.pool, [consumer.id]),
    listFeedbackTo(site.pool, consumer.id, FEEDBACK_LINES),
    listSuppressed(site.pool, [consumer.address], now),
  ])
  const suppression = suppressed.get(consumer.address.toLowerCase())
  sendAdminPage(req, res, {
    view: 'admin/consumers/one',
    title: consumer.address,
    status: fault === undefined ? 200 : 422,
    data: {
      consumer,
      fault,
      done: doneMessage(req, addConsumer, ...Object.values(consumerActions)),
      state: stateAt(consumer, now),
      health: healthAt(consumer, now),
      standing: mayNotify(consumer, suppression, now),
      suppression,
      scopes: (scopes.get(consumer.id) ?? []).map(scopeText),
      telling: shownSettings(consumer),
      feedback,
    },
  })
}

const ADDRESS_CHARS_MAX = 254
const states: readonly ConsumerState[] = ['found', 'enrolled', 'paused', 'stopped']

/** The pages to list and change consumers. */
export function consumerRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendConsumers(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: addConsumer,
      back: (_, outcome) => `/admin/consumers/${'id' in outcome ? outcome.id : ''}`,
      show: (req, res, refused) => sendConsumers(req, res, site, refused),
    }),
  )
  const find = async (req: Request) => getConsumer(site.pool, String(req.params['id']))
  router.get('/:id', async (req, res) => {
    await sendConsumer(req, res, site, { consumer: await find(req), fault: undefined })
  })
  router.post(
    '/:id',
    postAction(site, {
      actions: consumerActions,
      // An empty field clears the value; it does not keep the previous one.
      fields: (req, form) => ({
        consumer: req.params['id'],
        takes: form.texts('takes'),
        hourlyMax: form.text('hourlyMax') ?? '',
        connectionsMax: form.text('connectionsMax') ?? '',
        scopes: form.text('scopes') ?? '',
        note: form.text('note') ?? '',
      }),
      back: (req) => `/admin/consumers/${String(req.params['id'])}`,
      show: async (req, res, { problems }) => {
        await sendConsumer(req, res, site, { consumer: await find(req), fault: problems.join(' ') })
      },
    }),
  )
  return router
}

async function sendConsumers(
  req: Request,
  res: Response,
  site: Site,
  refused?: RefusedForm,
): Promise<void> {
  const now = site.clock()
  await sendList(req, res, {
    view: 'admin/consumers/list',
    title: 'desks.title',
    filters: {
      state: choiceParam(states),
      q: (text) => textParam(ADDRESS_CHARS_MAX)(text)?.toLowerCase(),
    },
    cursor: { after: textParam(ADDRESS_CHARS_MAX) },
    read: async ({ q: search, ...page }) => {
      const rows = await listConsumerPage(site.pool, { search, ...page })
      return rows.map((row) => ({ ...row, state: stateAt(row, now), health: healthAt(row, now) }))
    },
    next: ({ address }) => ({ after: address }),
    refused,
    data: { states },
  })
}
