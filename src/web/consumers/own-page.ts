import type { Request, Router } from 'express'
import { listScopes } from '../../db/consumer-scopes.ts'
import { type Consumer, findConsumer } from '../../db/consumers.ts'
import { DAY_MS } from '../../durations.ts'
import { changeOwnConsumer, type OwnChange } from '../../feedback/change-consumer.ts'
import { parseConsumerToken } from '../../feedback/enroll.ts'
import { hasContract, scopeText } from '../../verdict/consumers.ts'
import { stateAt } from '../../verdict/contact-health.ts'
import type { Form, FormReader } from '../pages/form.ts'
import { formPage } from '../pages/form-page.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { shownSettings, feedbackSettingsOf } from './enroll.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config'> & FormReader

/** Lengths of a pause in days; 0 means until it is ended manually. */
const pauses = [1, 7, 30, 0]
const results = ['enrolled', 'waiting', 'kept', 'paused', 'resumed', 'stopped', 'refused']

/** The settings page of a consumer, reached by the link in its mail. */
export function ownConsumerRoutes(site: Needs): Router {
  const consumerFor = (req: Request) => consumerOf(req.params['token'], site)
  return formPage(site, {
    at: '/consumers/:token',
    view: 'pages/consumers/own',
    title: 'consumers.own.title',
    async data({ req, res }) {
      const consumer = await consumerFor(req)
      const { searchParams, pathname } = new URL(req.originalUrl, 'http://site')
      const scopes = (await listScopes(site.pool, [consumer.id])).get(consumer.id) ?? []
      res.setHeader('x-robots-tag', 'noindex, nofollow')
      return {
        address: consumer.address,
        state: stateAt(consumer, site.clock()),
        pausedUntil: consumer.pausedUntil,
        scopes: scopes.map(scopeText),
        telling: shownSettings(consumer),
        contract: hasContract(consumer, site.clock()) && { until: consumer.originalsUntil },
        pauses,
        action: pathname,
        done: results.find((one) => one === searchParams.get('done')),
      }
    },
    async take({ req, texts, form }) {
      const consumer = await consumerFor(req)
      const change = changeIn(form, site.clock())
      if (!change) return { status: 422, fault: texts('consumers.enroll.faults.telling') }
      const done = await changeOwnConsumer(site, consumer.id, change)
      return `/consumers/${encodeURIComponent(String(req.params['token']))}?done=${done}`
    },
  })
}

/**
 * Returns the consumer of a link.
 *
 * @throws ProblemError if the link is invalid
 */
export async function consumerOf(
  token: unknown,
  { pool, config }: Pick<Needs, 'pool' | 'config'>,
): Promise<Consumer> {
  const id = parseConsumerToken(String(token), config.secret)
  const consumer = id === undefined ? undefined : await findConsumer(pool, id)
  if (!consumer) throw new ProblemError('not-found', 'Page not found.')
  return consumer
}

/** Parses the change in a form; undefined if it is invalid. */
function changeIn(form: Form, now: Date): OwnChange | undefined {
  const action = form.text('do')
  if (action === 'stop' || action === 'resume') return { do: action }
  const days = pauses.find((some) => String(some) === form.text('days'))
  if (action === 'pause' && days !== undefined) {
    return { do: action, until: days === 0 ? null : new Date(now.getTime() + days * DAY_MS) }
  }
  const settings = feedbackSettingsOf(form)
  return action === 'keep' && settings ? { do: action, settings } : undefined
}
