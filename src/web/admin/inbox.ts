import { type Request, type Response, Router } from 'express'
import { listAnswers } from '../../db/feedback-answers.ts'
import { findFeedback } from '../../db/feedback-reports.ts'
import {
  type InboxFilter,
  inboxFilters,
  type InboxMail,
  listInbox,
  listThread,
} from '../../db/inbox.ts'
import { findLetter } from '../../db/letters.ts'
import { type Packed, unpack } from '../../db/rows.ts'
import { listSuppressions } from '../../db/suppressions.ts'
import { answerForDesk, getInboxMail, handleMail } from '../../feedback/inbox-actions.ts'
import { suppressAddress, unsuppressAddress } from '../../feedback/suppress.ts'
import { exemptionTerms } from '../../lists/list-actions.ts'
import { shownBytes, shownText, storableText } from '../../mail/text.ts'
import { answerKinds } from '../../mail/verp.ts'
import { isUuid, pageOf, sendMessage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { daysOfTerm } from './lists.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { requireRole } from './require-role.ts'
import { sendAdminPage } from './send-admin-page.ts'

const LINES = 50
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
  refused: RefusedForm = { problems: [], given: {} },
): Promise<void> {
  const given = searchParamsOf(req)
  const text = (name: string) => storableText(given.get(name) ?? '', ADDRESS_CHARS_MAX) || undefined
  const [after, part] = [text('after'), text('part')]
  const rows = await listSuppressions(site.pool, { after, part, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ address }) => ({ part, after: address }))
  const now = site.clock()
  sendAdminPage(req, res, {
    view: 'admin/inbox/suppressions',
    title: visitOf(req).texts('suppressions.title'),
    status: refused.problems.length > 0 ? 422 : 200,
    data: {
      lines: lines.map((line) => ({ ...line, isOver: line.until !== null && line.until <= now })),
      terms: exemptionTerms,
      done: doneMessage(req, suppressAddress, unsuppressAddress),
      faults: refused.problems,
      form: refused.given,
      part: part ?? '',
      next,
      isFirst: after === undefined,
    },
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
  const filter: InboxFilter = inboxFilters.find((name) => name === req.query['filter']) ?? 'unread'
  const before = isUuid(req.query['before']) ? req.query['before'] : undefined
  const rows = await listInbox(pool, { filter, before }, LINES + 1)
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ filter, before: id }))
  sendAdminPage(req, res, {
    view: 'admin/inbox/inbox',
    title: visitOf(req).texts('mailbox.title'),
    data: { lines, next, filter, filters: inboxFilters, isFirst: before === undefined },
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
