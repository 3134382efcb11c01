import { Router, type Request } from 'express'
import { listConsumers } from '../../../db/consumers.ts'
import {
  findFeedback,
  listOutbox,
  type Feedback,
  feedbackStates,
} from '../../../db/feedback-reports.ts'
import { findCopy } from '../../../feedback/preview-feedback.ts'
import { releaseFeedbackReports } from '../../../feedback/release-held.ts'
import { healthAt } from '../../../verdict/contact-health.ts'
import { sendMessage } from '../../download.ts'
import { isUuid, pageOf } from '../../paging.ts'
import { type FormReader, readShortForm } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { ProblemError } from '../../problem.ts'
import { shownBytes } from '../../shown-text.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'
import { letterRoutes } from './letters.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'preview'> & FormReader

const LINES = 50
const COPY_BYTES_SHOWN = 256 * 1024

type Key = { reportId: string; number: string }

/** What was told to whom: the list by state, and the exact copy of each. */
export function outboxRoutes(site: Needs): Router {
  const router = Router()
  router.use('/letters', letterRoutes(site))
  router.get('/', async (req, res) => {
    const state = feedbackStates.find((name) => name === req.query['state'])
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
        states: feedbackStates,
        isFirst: before === undefined,
        released: releasedOf(req),
        ailing: await ailingOf(lines, site),
      },
    })
  })
  router.get('/:reportId/:number', async (req, res) => {
    const feedback = await requireFeedback(req, site)
    const copy = await copyOf(feedback, site)
    sendAdminPage(req, res, {
      view: 'admin/feedback',
      title: 'Feedback report',
      data: {
        feedback,
        copyText: copy && shownBytes(copy.raw, COPY_BYTES_SHOWN),
        hasLeft: copy?.hasLeft,
        ailing: await ailingOf([feedback], site),
      },
    })
  })
  router.get('/:reportId/:number/message.eml', async (req, res) => {
    const feedback = await requireFeedback(req, site)
    const copy = await copyOf(feedback, site)
    if (!copy) throw new ProblemError('not-found', 'There is no copy of this feedback report.')
    sendMessage(res, `feedback-${feedback.reportId}-${feedback.number}.eml`, copy.raw)
  })
  releaseRoutes(router, site)
  return router
}

/** What the forms do: `held` mail leaves, `refused` mail is sent again. */
const releases = [
  { path: 'release', from: 'held' },
  { path: 'resend', from: 'refused' },
] as const

/** Puts feedback reports in line again: one, those of its consumer, or all. */
function releaseRoutes(router: Router, site: Needs): void {
  for (const { path, from } of releases) {
    router.post(`/${path}`, async (req, res) => {
      await readShortForm(req, res, site)
      const administrator = requireReporter(req, res)
      if (!administrator) return
      const which = 'all'
      const released = await releaseFeedbackReports(site, { which, from }, administrator.id)
      res.redirect(303, `/admin/outbox?released=${released}`)
    })
    router.post(`/:reportId/:number/${path}`, async (req: Request<Key>, res) => {
      const form = await readShortForm(req, res, site)
      const administrator = requireReporter(req, res)
      if (!administrator) return
      const { reportId, number, consumerId } = await requireFeedback(req, site)
      const which = form.text('which') === 'consumer' ? { consumerId } : { reportId, number }
      const released = await releaseFeedbackReports(site, { which, from }, administrator.id)
      res.redirect(303, `/admin/outbox?released=${released}`)
    })
  }
}

/** A copy that cannot be composed is none: the page says what it knows. */
async function copyOf(feedback: Feedback, { pool, preview }: Needs) {
  return findCopy(pool, feedback, (one) => preview(one).catch(() => undefined))
}

/** What a release before this page came to. */
export function releasedOf(req: Pick<Request, 'query'>): number | undefined {
  const { released } = req.query
  return typeof released === 'string' && /^\d{1,9}$/.test(released) ? Number(released) : undefined
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
