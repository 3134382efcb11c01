import { Router, type Request } from 'express'
import { listConsumers } from '../../db/consumers.ts'
import {
  findFeedback,
  findFeedbackMessage,
  listOutbox,
  type Feedback,
  type FeedbackState,
} from '../../db/feedback-reports.ts'
import { unpack } from '../../db/packed.ts'
import { healthAt } from '../../verdict/contact-health.ts'
import { sendMessage } from '../download.ts'
import { isUuid, pageOf } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import { shownBytes } from '../shown-text.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'>

const LINES = 50
const COPY_BYTES_SHOWN = 256 * 1024

const states: readonly FeedbackState[] = [
  'queued',
  'held',
  'sent',
  'bounced',
  'refused',
  'withdrawn',
]

type Key = { reportId: string; number: string }

/** What was told to whom: the list by state, and the exact copy of each. */
export function outboxRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const state = states.find((name) => name === req.query['state'])
    const before = keyOf(req.query['report'], req.query['number'])
    const rows = await listOutbox(site.pool, { state, before }, LINES + 1)
    const { lines, next } = pageOf(rows, LINES, ({ reportId, number }) => ({
      state,
      report: reportId,
      number: String(number),
    }))
    sendAdminPage(req, res, {
      view: 'admin/outbox',
      title: 'Outbox',
      data: {
        lines,
        next,
        state,
        states,
        isFirst: before === undefined,
        ailing: await ailingOf(lines, site),
      },
    })
  })
  router.get('/:reportId/:number', async (req, res) => {
    const feedback = await requireFeedback(req, site)
    const packed = await findFeedbackMessage(site.pool, feedback)
    const copy = packed && (await unpack(packed))
    sendAdminPage(req, res, {
      view: 'admin/feedback',
      title: 'Feedback report',
      data: {
        feedback,
        copyText: copy && shownBytes(copy, COPY_BYTES_SHOWN),
        ailing: await ailingOf([feedback], site),
      },
    })
  })
  router.get('/:reportId/:number/message.eml', async (req, res) => {
    const feedback = await requireFeedback(req, site)
    const packed = await findFeedbackMessage(site.pool, feedback)
    if (!packed) throw new ProblemError('not-found', 'This feedback report is not composed yet.')
    sendMessage(res, `feedback-${feedback.reportId}-${feedback.number}.eml`, await unpack(packed))
  })
  return router
}

/** What is wrong with addresses whose mail comes back, by address; the others are absent. */
async function ailingOf(
  feedback: readonly Feedback[],
  { pool, clock }: Needs,
): Promise<Record<string, string>> {
  const addresses = [...new Set(feedback.map(({ address }) => address))]
  const consumers = await listConsumers(pool, addresses)
  return Object.fromEntries(
    [...consumers.values()].flatMap((consumer) => {
      const health = healthAt(consumer, clock())
      return health === 'healthy' ? [] : [[consumer.address, health]]
    }),
  )
}

async function requireFeedback(req: Request<Key>, site: Needs): Promise<Feedback> {
  const key = keyOf(req.params.reportId, req.params.number)
  const feedback = key && (await findFeedback(site.pool, key))
  if (!feedback) throw new ProblemError('not-found', 'There is no such feedback report.')
  return feedback
}

function keyOf(reportId: unknown, number: unknown) {
  if (!isUuid(reportId) || typeof number !== 'string' || !/^\d{1,3}$/.test(number)) return undefined
  return { reportId, number: Number(number) }
}
