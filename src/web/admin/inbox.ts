import { type Request, type Response, Router } from 'express'
import { listAnswers } from '../../db/feedback-answers.ts'
import { findFeedback } from '../../db/feedback-reports.ts'
import { inboxFilters, type InboxMail, listInbox, listThread } from '../../db/inbox.ts'
import { findLetter } from '../../db/letters.ts'
import { type Packed, unpack } from '../../db/rows.ts'
import { listSuppressions } from '../../db/suppressions.ts'
import { answerForDesk, getInboxMail, handleMail } from '../../feedback/inbox-actions.ts'
import { suppressAddress, unsuppressAddress } from '../../feedback/suppress.ts'
import { exemptionTerms } from '../../lists/list-actions.ts'
import { shownBytes, shownText } from '../../mail/text.ts'
import { answerKinds } from '../../mail/verp.ts'
import { sendMessage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, sendList, textParam, uuidParam } from './list-page.ts'
import { daysOfTerm } from './lists.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { requireRole } from './require-role.ts'
import { sendAdminPage } from './send-admin-page.ts'

const ADDRESS_CHARS_MAX = 320

/** The page to list, add and remove suppressed addresses. */
export function suppressionRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendSuppressions(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: { set: suppressAddress, lift: unsuppressAddress },
      fields: (_, form) => ({ days: daysOfTerm(form) }),
      back: () => '/admin/suppressions',
      show: (req, res, refused) => sendSuppressions(req, res, site, refused),
    }),
  )
  return router
}

async function sendSuppressions(
  req: Request,
  res: Response,
  site: Site,
  refused?: RefusedForm,
): Promise<void> {
  await sendList(req, res, {
    view: 'admin/inbox/suppressions',
    title: 'suppressions.title',
    filters: { part: textParam(ADDRESS_CHARS_MAX) },
    cursor: { after: textParam(ADDRESS_CHARS_MAX) },
    read: (page) => listSuppressions(site.pool, page),
    next: ({ address }) => ({ after: address }),
    actions: [suppressAddress, unsuppressAddress],
    refused,
    data: { terms: exemptionTerms, now: site.clock() },
  })
}

const THREAD_MAX = 100
const SOURCE_BYTES_SHOWN = 256 * 1024
const TEXT_CHARS_SHOWN = 8_000

const inboxActions = {
  handled: handleMail,
  ...Object.fromEntries(answerKinds.map((kind) => [kind, answerForDesk])),
}

/** The pages for inbound mail: by folder, with its thread, and the actions of an operator. */
export function inboxRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendFolder(req, res, site))
  router.get('/:id', async (req, res) => {
    await sendMail(req, res, site, await getInboxMail(site.pool, req.params.id))
  })
  router.get(
    '/:id/message.eml',
    requireRole(site, 'analyst'),
    async (req: Request<{ id: string }>, res) => {
      const mail = await getInboxMail(site.pool, req.params.id)
      await sendMessage(res, `mail-${mail.id}.eml`, await unpack(mail), 'other')
    },
  )
  router.post(
    '/:id',
    postAction(site, {
      actions: inboxActions,
      fields: (req, form) => ({ id: req.params['id'], answer: form.text('do') }),
      back: (req) => `/admin/inbox/${String(req.params['id'])}`,
    }),
  )
  return router
}

async function sendFolder(req: Request, res: Response, { pool }: Site): Promise<void> {
  const filters = { filter: choiceOrFirstParam(inboxFilters) }
  await sendList(req, res, {
    view: 'admin/inbox/inbox',
    title: 'mailbox.title',
    filters,
    cursor: { before: uuidParam },
    read: (page) => listInbox(pool, page, page.limit),
    next: ({ id }) => ({ before: id }),
    data: { folders: inboxFilters },
  })
}

async function sendMail(
  req: Request,
  res: Response,
  { pool }: Site,
  mail: InboxMail & Packed,
): Promise<void> {
  const { reportId, number, letterId } = mail
  const key = reportId !== null && number !== null ? { reportId, number } : undefined
  const [raw, feedback, letter, thread, answers] = await Promise.all([
    unpack(mail),
    key && findFeedback(pool, key),
    letterId === null ? undefined : findLetter(pool, letterId),
    key ? listThread(pool, key, THREAD_MAX) : [],
    key ? listAnswers(pool, [key.reportId]) : [],
  ])
  sendAdminPage(req, res, {
    view: 'admin/inbox/mail',
    title: visitOf(req).texts('mailbox.one'),
    data: {
      mail,
      said: mail.said === null ? undefined : shownText(mail.said, TEXT_CHARS_SHOWN),
      source: shownBytes(raw, SOURCE_BYTES_SHOWN),
      isCut: raw.length > SOURCE_BYTES_SHOWN,
      feedback,
      letter,
      thread,
      answers: answers.filter((answer) => answer.number === number),
      kinds: answerKinds,
      done: doneMessage(req, handleMail, answerForDesk),
      hasChanged: req.query['done'] === 'taken' || req.query['done'] === 'handled',
    },
  })
}
