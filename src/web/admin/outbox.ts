import { type Request, Router } from 'express'
import { parseHeader } from '../../mail/header.ts'
import { fieldsOf } from '../../mail/message.ts'
import { firstTextPart } from '../../mail/mail-parts.ts'
import { shownBytes, shownText } from '../../mail/text.ts'
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
import { insertAudit } from '../../db/audit-log.ts'
import { pack, unpack } from '../../db/rows.ts'
import { concealKeysIn } from '../../mail/conceal-keys.ts'
import { findCopy } from '../../feedback/compose-feedback.ts'
import { listWaitingMails } from '../../feedback/list-waiting.ts'
import { releaseHeld, resendRefused, retryMail } from '../../feedback/release-held.ts'
import { healthAt } from '../../verdict/contact-health.ts'
import type { Form } from '../pages/form.ts'
import { isUuid, sendMessage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { choiceParam, digitsParam, listPage, uuidParam } from './list-page.ts'
import { adminPage } from './page.ts'
import { postAction } from './post-action.ts'
import { requireRole } from './require-role.ts'

const COPY_BYTES_SHOWN = 256 * 1024

const states: readonly LetterState[] = [
  ...(['queued', 'held', 'sent', 'bounced', 'refused', 'suppressed'] as const),
]

/** The actions of the forms, by the last part of their paths. */
const releases = { release: releaseHeld, resend: resendRefused }

/** Letters: the list by state, the exact copy of each, and the forms that send them. */
function letterRoutes(site: Site, canSend: boolean): Router {
  const filters = { state: choiceParam(states) }
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/letters',
      title: 'outbox.letters',
      filters,
      cursor: { before: uuidParam },
      read: (page) => listLetters(site.pool, page, page.limit),
      next: ({ id }) => ({ before: id }),
      data: () => ({ states, canSend }),
      after: [releaseHeld, resendRefused],
    }),
    adminPage(site, {
      at: '/:id',
      role: 'analyst',
      view: 'admin/letter',
      title: 'outbox.letter',
      async data({ req }) {
        const { letter, raw } = await readLetter(req, site)
        const text = await site.readText(await pack(raw)).catch(() => '')
        return {
          canSend,
          letter,
          subject: fieldsOf(parseHeader(raw).fields).subject,
          text: shownText(text, COPY_BYTES_SHOWN),
          copyText: shownBytes(raw, COPY_BYTES_SHOWN),
        }
      },
    }),
  )
  router.get('/:id/message.eml', requireRole(site, 'analyst'), async (req, res) => {
    const { letter, raw } = await readLetter(req, site)
    await sendMessage(res, `letter-${letter.id}.eml`, raw, 'other')
  })
  for (const [path, actions] of Object.entries(releases)) {
    const fields = (_: Request, form: Form) => ({ letters: true, letter: form.text('id') })
    const back = () => '/admin/outbox/letters'
    router.post(`/${path}`, postAction(site, { actions, fields, back }))
  }
  return router
}

/** Returns a letter without its keys. Reading another person's letter leaves an audit entry. */
async function readLetter(
  req: Request,
  { pool, clock }: Site,
): Promise<{ letter: Letter; raw: Buffer }> {
  const id = req.params['id']
  const letter = isUuid(id) ? await findLetter(pool, id) : undefined
  const packed = letter && (await findLetterMessage(pool, letter.id))
  if (!letter || !packed) throw new ProblemError('not-found', 'Letter not found.')
  const { id: reporterId } = requireReporter(req)
  if (letter.reporterId !== reporterId) {
    const detail = `${letter.id} to ${letter.address}`
    await insertAudit(pool, { at: clock(), reporterId, action: 'read letter', detail })
  }
  return { letter, raw: concealKeysIn(await unpack(packed)) }
}

/** Where mail waits, by desk, and the form that sends it now. */
function waitingRoutes(site: Site): Router {
  return adminPage(site, {
    at: '/waiting',
    view: 'admin/waiting',
    title: 'outbox.waiting.title',
    data: async () => ({ lines: await listWaitingMails(site) }),
    form: { at: '/waiting', actions: retryMail, back: () => '/admin/outbox/waiting' },
  })
}

/** The feedback reports: the list by state, and the exact copy of each. */
export function outboxRoutes(site: Site): Router {
  const filters = { state: choiceParam(feedbackStates) }
  const canSend = site.config.smtpUrl !== undefined
  const router = Router()
  router.use('/letters', letterRoutes(site, canSend))
  router.use(waitingRoutes(site))
  router.use(
    listPage(site, {
      view: 'admin/outbox',
      title: 'outbox.title',
      filters,
      cursor: { report: uuidParam, number: digitsParam },
      read: async ({ state, report, number, limit }) => {
        const rows = await listOutbox(site.pool, { state, before: keyOf(report, number) }, limit)
        const ailing = await deliveryProblemsOf(rows, site)
        return rows.map((row) => ({ ...row, health: ailing[row.address] }))
      },
      next: ({ reportId, number }) => ({ report: reportId, number: String(number) }),
      data: () => ({ states: feedbackStates, canSend }),
      after: [releaseHeld, resendRefused],
    }),
    adminPage(site, {
      at: '/:reportId/:number',
      view: 'admin/feedback',
      title: 'outbox.oneFeedback',
      async data({ req }) {
        const feedback = await requireFeedback(req, site)
        const copy = await copyOf(feedback, site)
        return {
          canSend,
          feedback,
          text: copy && shownBytes(firstTextPart(copy.raw), COPY_BYTES_SHOWN),
          copyText: copy && shownBytes(copy.raw, COPY_BYTES_SHOWN),
          hasLeft: copy?.isFinal,
          ailing: await deliveryProblemsOf([feedback], site),
        }
      },
    }),
  )
  router.get('/:reportId/:number/message.eml', async (req, res) => {
    const feedback = await requireFeedback(req, site)
    const copy = await copyOf(feedback, site)
    if (!copy) throw new ProblemError('not-found', 'No copy of this feedback report is stored.')
    await sendMessage(
      res,
      `feedback-${feedback.reportId}-${feedback.number}.eml`,
      copy.raw,
      'other',
    )
  })
  releaseRoutes(router, site)
  return router
}

/**
 * Adds the routes of the forms that queue feedback reports again: one report, all of a consumer, or
 * all.
 */
function releaseRoutes(router: Router, site: Site): void {
  const back = () => '/admin/outbox'
  for (const [path, actions] of Object.entries(releases)) {
    router.post(`/${path}`, postAction(site, { actions, back }))
    const fields = async (req: Request, form: Form) => {
      const { reportId, number, address } = await requireFeedback(req, site)
      if (form.text('which') === 'consumer') return { to: address }
      return { report: reportId, number: String(number) }
    }
    router.post(`/:reportId/:number/${path}`, postAction(site, { actions, fields, back }))
  }
}

/** Returns the exact copy; undefined if it cannot be composed, so that the page shows the rest. */
async function copyOf(feedback: Feedback, { pool, preview }: Site) {
  return findCopy(pool, feedback, (one) => preview(one).catch(() => undefined))
}

/**
 * Returns the delivery problems of addresses that bounce, by address; other addresses are absent.
 */
async function deliveryProblemsOf(
  feedback: readonly Feedback[],
  { pool, clock }: Site,
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

async function requireFeedback(req: Request, site: Site): Promise<Feedback> {
  const key = keyOf(req.params.reportId, req.params.number)
  const feedback = key && (await findFeedback(site.pool, key))
  if (!feedback) throw new ProblemError('not-found', 'Feedback report not found.')
  return feedback
}

function keyOf(reportId: unknown, number: unknown) {
  if (!isUuid(reportId) || typeof number !== 'string' || !/^\d{1,3}$/.test(number)) return undefined
  return { reportId, number: Number(number) }
}
