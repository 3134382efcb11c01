import { type Request, type Response, Router } from 'express'
import { listScopes } from '../../db/consumer-scopes.ts'
import { type Consumer, findConsumer, updateFeedbackSettings } from '../../db/consumers.ts'
import { inTransaction } from '../../db/pool.ts'
import { pauseConsumer, resumeConsumer, stopConsumer } from '../../feedback/change-consumer.ts'
import { parseConsumerToken } from '../../feedback/enroll.ts'
import { scopeText } from '../../verdict/consumers.ts'
import { stateAt } from '../../verdict/contact-health.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { shownSettings, tellingOf } from './enroll.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config'> & FormReader

/** Length of a pause in days; 0 lasts until it is ended manually. */
const pauses = [1, 7, 30, 0]
const DAY_MS = 86_400_000
const deeds = ['enrolled', 'waiting', 'kept', 'paused', 'resumed', 'stopped', 'refused'] as const

type Done = (typeof deeds)[number]

/** The settings page of a consumer, reached by the link in its mail. */
export function ownConsumerRoutes(site: Needs): Router {
  const router = Router()
  router.get('/consumers/:token', async (req, res) => {
    const consumer = await consumerOf(req.params.token, site)
    await sendOwn(req, res, { consumer, fault: undefined }, site)
  })
  router.post('/consumers/:token', async (req, res) => {
    const consumer = await consumerOf(req.params.token, site)
    const form = await readShortForm(req, res, site)
    const done = await act(consumer, form, site)
    if (done === undefined) {
      const fault = visitOf(req).texts('consumers.enroll.faults.telling')
      return sendOwn(req, res, { consumer, fault }, site)
    }
    res.redirect(303, `/consumers/${encodeURIComponent(req.params.token)}?done=${done}`)
  })
  return router
}

/**
 * Returns the consumer of a link.
 *
 * @throws ProblemError if the link is invalid
 */
async function consumerOf(token: string, { pool, config }: Needs): Promise<Consumer> {
  const id = parseConsumerToken(token, config.secret)
  const consumer = id === undefined ? undefined : await findConsumer(pool, id)
  if (!consumer) throw new ProblemError('not-found', 'Page not found.')
  return consumer
}

/** Performs the action in a form; undefined if it is invalid. */
async function act(
  { id }: Consumer,
  form: Form,
  { pool, clock }: Needs,
): Promise<Done | undefined> {
  const now = clock()
  const telling = tellingOf(form)
  const days = pauses.find((some) => String(some) === form.text('days'))
  const asked = form.text('do')
  return inTransaction(pool, async (tx): Promise<Done | undefined> => {
    if (asked === 'stop') {
      const why = 'It was asked for on the page of the consumer.'
      return (await stopConsumer(tx, id, { why }, now)) ? 'stopped' : 'refused'
    }
    if (asked === 'resume') {
      return (await resumeConsumer(tx, id, { by: 'consumer' }, now)) ? 'resumed' : 'refused'
    }
    if (asked === 'pause' && days !== undefined) {
      const until = days === 0 ? null : new Date(now.getTime() + days * DAY_MS)
      return (await pauseConsumer(tx, id, until, now)) ? 'paused' : 'refused'
    }
    if (asked !== 'keep' || !telling) return undefined
    await updateFeedbackSettings(tx, id, telling)
    return 'kept'
  })
}

async function sendOwn(
  req: Request,
  res: Response,
  { consumer, fault }: { consumer: Consumer; fault: string | undefined },
  site: Needs,
): Promise<void> {
  const { searchParams, pathname } = new URL(req.originalUrl, 'http://site')
  const scopes = (await listScopes(site.pool, [consumer.id])).get(consumer.id) ?? []
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, {
    view: 'pages/consumers/own',
    title: visitOf(req).texts('consumers.own.title'),
    status: fault === undefined ? 200 : 422,
    data: {
      address: consumer.address,
      state: stateAt(consumer, site.clock()),
      pausedUntil: consumer.pausedUntil,
      scopes: scopes.map(scopeText),
      telling: shownSettings(consumer),
      pauses,
      action: pathname,
      fault,
      done: deeds.find((one) => one === searchParams.get('done')),
    },
  })
}
