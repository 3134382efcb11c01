import { type Request, Router } from 'express'
import { listConsumers } from '../../db/consumers.ts'
import {
  type Feedback,
  feedbackStates,
  findFeedback,
  listOutbox,
} from '../../db/feedback-reports.ts'
import {
  findLetter,
  findLetterMessage,
  type Letter,
  type LetterState,
  listLetters,
} from '../../db/letters.ts'
import { unpack } from '../../db/rows.ts'
import { findCopy } from '../../feedback/compose-feedback.ts'
import { releaseFeedbackReports, releaseLettersToPeople } from '../../feedback/release-held.ts'
import { healthAt } from '../../verdict/contact-health.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, sendMessage, shownBytes } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type LetterNeeds = Pick<Site, 'pool' | 'boss' | 'clock'> & FormReader

const LINES = 50
const COPY_BYTES_SHOWN = 256 * 1024

const states: readonly LetterState[] = [
  ...(['queued', 'held', 'sent', 'bounced', 'refused', 'suppressed'] as const),
]

/** The actions of the forms: release `held` letters, resend `refused` ones. */
const releases = [
  { path: 'release', from: 'held' },
  { path: 'resend', from: 'refused' },
] as const

/** Letters: the list by state, the exact copy of each, and the forms that send them. */
function letterRoutes(site: LetterNeeds): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const state = states.find((name) => name === req.query['state'])
    const before = isUuid(req.query['before']) ? req.query['before'] : undefined
    const rows = await listLetters(site.pool, { state, before }, LINES + 1)
    const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ state, before: id }))
    const released = Number(req.query['released'] ?? Number.NaN)
    sendAdminPage(req, res, {
      view: 'admin/letters',
      title: 'Letters',
      data: {
        ...{ lines, next, state, states, isFirst: before === undefined },
        released: Number.isSafeInteger(released) ? released : undefined,
      },
    })
  })
  router.get('/:id', async (req, res) => {
    const { letter, raw } = await requireLetter(req, site)
    const copyText = shownBytes(raw, COPY_BYTES_SHOWN)
    sendAdminPage(req, res, {
      view: 'admin/letter',
      title: 'Letter',
      data: { letter, copyText },
    })
  })
  router.get('/:id/message.eml', async (req, res) => {
    const { letter, raw } = await requireLetter(req, site)
    sendMessage(res, `letter-${letter.id}.eml`, raw)
  })
  letterReleaseRoutes(router, site)
  return router
}

/** Queues letters again: one or all. */
function letterReleaseRoutes(router: Router, site: LetterNeeds): void {
  for (const { path, from } of releases) {
    router.post(`/${path}`, async (req, res) => {
      const form = await readShortForm(req, res, site)
      const administrator = requireReporter(req, res)
      if (!administrator) return
      const letterId = form.text('id')
      // An invalid id must not select all letters.
      if (letterId !== undefined && !isUuid(letterId)) {
        throw new ProblemError('not-found', 'Letter not found.')
      }
      const which = letterId === undefined ? 'all' : { letterId }
      const released = await releaseLettersToPeople(site, { which, from }, administrator.id)
      res.redirect(303, `/admin/outbox/letters?released=${released}`)
    })
  }
}

async function requireLetter(
  req: Request<{ id: string }>,
  { pool }: LetterNeeds,
): Promise<{ letter: Letter; raw: Buffer }> {
  const { id } = req.params
  const letter = isUuid(id) ? await findLetter(pool, id) : undefined
  const packed = letter && (await findLetterMessage(pool, letter.id))
  if (!letter || !packed) throw new ProblemError('not-found', 'Letter not found.')
  return { letter, raw: await unpack(packed) }
}

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'preview'> & FormReader

type Key = { reportId: string; number: string }

/** The feedback reports: the list by state, and the exact copy of each. */
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
    if (!copy) throw new ProblemError('not-found', 'No copy of this feedback report is stored.')
    sendMessage(res, `feedback-${feedback.reportId}-${feedback.number}.eml`, copy.raw)
  })
  releaseRoutes(router, site)
  return router
}

/** Queues feedback reports again: one, all of a consumer, or all. */
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

/** Returns the exact copy; undefined if it cannot be composed, so that the page shows the rest. */
async function copyOf(feedback: Feedback, { pool, preview }: Needs) {
  return findCopy(pool, feedback, (one) => preview(one).catch(() => undefined))
}

/** Returns how many were released by the action before this page. */
function releasedOf(req: Pick<Request, 'query'>): number | undefined {
  const { released } = req.query
  return typeof released === 'string' && /^\d{1,9}$/.test(released) ? Number(released) : undefined
}

/**
 * Returns the delivery problems of addresses that bounce, by address; other addresses are absent.
 */
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
  if (!feedback) throw new ProblemError('not-found', 'Feedback report not found.')
  return feedback
}

function keyOf(reportId: unknown, number: unknown) {
  if (!isUuid(reportId) || typeof number !== 'string' || !/^\d{1,3}$/.test(number)) return undefined
  return { reportId, number: Number(number) }
}
