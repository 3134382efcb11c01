import { type Request, Router } from 'express'
import { listAnswers } from '../../db/feedback-answers.ts'
import { findFeedback } from '../../db/feedback-reports.ts'
import { inboxFilters, listInbox, listThread } from '../../db/inbox.ts'
import { findLetter } from '../../db/letters.ts'
import { unpack } from '../../db/rows.ts'
import { listSuppressions } from '../../db/suppressions.ts'
import { answerForDesk, getInboxMail, handleMail } from '../../feedback/inbox-actions.ts'
import { suppressAddress, unsuppressAddress } from '../../feedback/suppress.ts'
import { exemptionTerms } from '../../lists/list-actions.ts'
import { shownBytes, shownText } from '../../mail/text.ts'
import { answerKinds } from '../../mail/verp.ts'
import { sendMessage } from '../pages/render.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, listPage, textParam, uuidParam } from './list-page.ts'
import { daysOfTerm } from './lists.ts'
import { adminPage } from './page.ts'
import { requireRole } from './require-role.ts'

const ADDRESS_CHARS_MAX = 320

/** The page to list, add and remove suppressed addresses. */
export function suppressionRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/inbox/suppressions',
    title: 'suppressions.title',
    filters: { part: textParam(ADDRESS_CHARS_MAX) },
    cursor: { after: textParam(ADDRESS_CHARS_MAX) },
    read: (page) => listSuppressions(site.pool, page),
    next: ({ address }) => ({ after: address }),
    data: () => ({ terms: exemptionTerms, now: site.clock() }),
    form: {
      actions: { set: suppressAddress, lift: unsuppressAddress },
      fields: (_, form) => ({ days: daysOfTerm(form) }),
    },
  })
}

const THREAD_MAX = 100
const SOURCE_BYTES_SHOWN = 256 * 1024
const TEXT_CHARS_SHOWN = 8_000

/** The pages for inbound mail: by folder, with its thread, and the actions of an operator. */
export function inboxRoutes(site: Site): Router {
  const filters = { filter: choiceOrFirstParam(inboxFilters) }
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/inbox/inbox',
      title: 'mailbox.title',
      filters,
      cursor: { before: uuidParam },
      read: (page) => listInbox(site.pool, page, page.limit),
      next: ({ id }) => ({ before: id }),
      data: () => ({ folders: inboxFilters }),
    }),
    adminPage(site, {
      at: '/:id',
      view: 'admin/inbox/mail',
      title: 'mailbox.one',
      data: async ({ req }) => ({
        ...(await describeMail(String(req.params['id']), site)),
        hasChanged: req.query['done'] === 'taken' || req.query['done'] === 'handled',
      }),
      form: {
        actions: {
          handled: handleMail,
          ...Object.fromEntries(answerKinds.map((kind) => [kind, answerForDesk])),
        },
        fields: (req, form) => ({ id: req.params['id'], answer: form.text('do') }),
      },
    }),
  )
  router.get(
    '/:id/message.eml',
    requireRole(site, 'analyst'),
    async (req: Request<{ id: string }>, res) => {
      const mail = await getInboxMail(site.pool, req.params.id)
      await sendMessage(res, `mail-${mail.id}.eml`, await unpack(mail), 'other')
    },
  )
  return router
}

async function describeMail(id: string, { pool }: Site) {
  const mail = await getInboxMail(pool, id)
  const { reportId, number, letterId } = mail
  const key = reportId !== null && number !== null ? { reportId, number } : undefined
  const [raw, feedback, letter, thread, answers] = await Promise.all([
    unpack(mail),
    key && findFeedback(pool, key),
    letterId === null ? undefined : findLetter(pool, letterId),
    key ? listThread(pool, key, THREAD_MAX) : [],
    key ? listAnswers(pool, [key.reportId]) : [],
  ])
  return {
    mail,
    said: mail.said === null ? undefined : shownText(mail.said, TEXT_CHARS_SHOWN),
    source: shownBytes(raw, SOURCE_BYTES_SHOWN),
    isCut: raw.length > SOURCE_BYTES_SHOWN,
    feedback,
    letter,
    thread,
    answers: answers.filter((answer) => answer.number === number),
    kinds: answerKinds,
  }
}
