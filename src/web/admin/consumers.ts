import { Router } from 'express'
import { listScopes } from '../../db/consumer-scopes.ts'
import { type ConsumerState, listConsumerPage } from '../../db/consumers.ts'
import { listFeedbackTo } from '../../db/feedback-reports.ts'
import type { Endings } from '../../db/reported-origins.ts'
import { listSuppressed } from '../../db/suppressions.ts'
import {
  addConsumer,
  enrollConsumer,
  getConsumer,
  pauseConsumer,
  resumeConsumer,
  setConsumer,
  stopConsumer,
  endContract,
  setContract,
} from '../../feedback/consumer-actions.ts'
import { listFollowed, readEndings } from '../../feedback/did-it-stop.ts'
import { hasContract, scopeText } from '../../verdict/consumers.ts'
import { healthAt, mayNotify, stateAt } from '../../verdict/contact-health.ts'
import { shownSettings } from '../consumers/enroll.ts'
import type { Site } from '../site.ts'
import { choiceParam, listPage, textParam } from './list-page.ts'
import { adminPage } from './page.ts'

const FEEDBACK_LINES = 20
const ORIGIN_LINES = 20
const ADDRESS_CHARS_MAX = 254
const states: readonly ConsumerState[] = ['found', 'enrolled', 'paused', 'stopped']

export function consumerRoutes(site: Site): Router {
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/consumers/list',
      title: 'desks.title',
      filters: {
        state: choiceParam(states),
        q: (text) => textParam(ADDRESS_CHARS_MAX)(text)?.toLowerCase(),
      },
      cursor: { after: textParam(ADDRESS_CHARS_MAX) },
      read: async ({ q: search, ...page }) => {
        const now = site.clock()
        const rows = await listConsumerPage(site.pool, { search, ...page })
        const endings = await readEndings(
          site,
          rows.map(({ id }) => id),
        )
        return rows.map((row) => ({
          ...row,
          ...{ state: stateAt(row, now), health: healthAt(row, now) },
          endings: shownEndings(endings.get(row.id)),
        }))
      },
      next: ({ address }) => ({ after: address }),
      data: () => ({ states }),
      form: {
        actions: addConsumer,
        back: (_, outcome) => `/admin/consumers/${'id' in outcome ? outcome.id : ''}`,
      },
    }),
    adminPage(site, {
      at: '/:id',
      view: 'admin/consumers/one',
      data: ({ req }) => describeConsumer(String(req.params['id']), site),
      form: {
        actions: {
          set: setConsumer,
          pause: pauseConsumer,
          resume: resumeConsumer,
          stop: stopConsumer,
          enroll: enrollConsumer,
          contract: setContract,
          'end-contract': endContract,
        },
        // An empty field clears the value; it does not keep the previous one.
        fields: (req, form) => ({
          consumer: req.params['id'],
          takes: form.texts('takes'),
          hourlyMax: form.text('hourlyMax') ?? '',
          connectionsMax: form.text('connectionsMax') ?? '',
          scopes: form.text('scopes') ?? '',
          note: form.text('note') ?? '',
        }),
      },
      after: [addConsumer],
    }),
    stopRoute(site),
  )
  return router
}

/** The page that names the desk before it is stopped. */
function stopRoute(site: Site): Router {
  return adminPage(site, {
    at: '/:id/stop',
    view: 'admin/step',
    title: 'steps.stop.title',
    role: 'operator',
    async data({ req, texts }) {
      const { id, address } = await getConsumer(site.pool, String(req.params['id']))
      return {
        lead: texts('steps.stop.lead', { address }),
        follows: texts('steps.stop.follows'),
        ...{ back: `/admin/consumers/${id}`, submit: texts('steps.stop.do') },
        fields: Object.entries({ do: 'stop' }),
      }
    },
  })
}

async function describeConsumer(id: string, site: Pick<Site, 'pool' | 'clock'>) {
  const { pool } = site
  const now = site.clock()
  const consumer = await getConsumer(pool, id)
  const [endings, origins, scopes, feedback, suppressed] = await Promise.all([
    readEndings(site, [consumer.id]),
    listFollowed(pool, consumer.id, ORIGIN_LINES),
    listScopes(pool, [consumer.id]),
    listFeedbackTo(pool, consumer.id, FEEDBACK_LINES),
    listSuppressed(pool, [consumer.address], now),
  ])
  const suppression = suppressed.get(consumer.address.toLowerCase())
  return {
    title: consumer.address,
    consumer,
    state: stateAt(consumer, now),
    health: healthAt(consumer, now),
    standing: mayNotify(consumer, suppression, now),
    suppression,
    hasContract: hasContract(consumer, now),
    scopes: (scopes.get(consumer.id) ?? []).map(scopeText),
    telling: shownSettings(consumer),
    feedback,
    ...{ origins, endings: shownEndings(endings.get(consumer.id)) },
  }
}

/** Endings for people, in whole hours. */
function shownEndings(endings: Endings | undefined) {
  if (!endings) return undefined
  const { medianHours } = endings
  return { ...endings, hours: medianHours === null ? null : Math.max(1, Math.ceil(medianHours)) }
}
