import { type Request, type Response, Router } from 'express'
import { insertAudit } from '../../db/audit-log.ts'
import { listAnswers } from '../../db/feedback-answers.ts'
import { findFeedback } from '../../db/feedback-reports.ts'
import {
  findInboxMail,
  type InboxMail,
  listInbox,
  listThread,
  markHandled,
  type InboxFilter,
  inboxFilters,
} from '../../db/inbox.ts'
import { findLetter } from '../../db/letters.ts'
import { inTransaction } from '../../db/pool.ts'
import { type Packed, unpack } from '../../db/rows.ts'
import { listSuppressions } from '../../db/suppressions.ts'
import { suppressAddress, unsuppressAddress } from '../../feedback/suppress.ts'
import { type AnswerTaken, recordAnswer } from '../../feedback/take-answer.ts'
import { storableText } from '../../mail/text.ts'
import { type AnswerKind, answerKinds } from '../../mail/verp.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, queryOf, sendMessage, shownBytes, shownText } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { daysOfTerm, exemptionChoices } from './lists.ts'
import { doneMessage, postAction, type Refused } from './post-action.ts'
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
  refused: Refused = { problems: [], given: {} },
): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const text = (name: string) => storableText(given.get(name) ?? '', ADDRESS_CHARS_MAX) || undefined
  const [after, part] = [text('after'), text('part')]
  const rows = await listSuppressions(site.pool, { after, part, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ address }) => ({ part, after: address }))
  const now = site.clock()
  sendAdminPage(req, res, {
    view: 'admin/inbox/suppressions',
    title: 'Suppressions',
    status: refused.problems.length > 0 ? 422 : 200,
    data: {
      lines: lines.map((line) => ({ ...line, isOver: line.until !== null && line.until <= now })),
      terms: exemptionChoices,
      done: doneMessage(req, suppressAddress, unsuppressAddress),
      faults: refused.problems,
      form: refused.given,
      part: part ?? '',
      next,
      isFirst: after === undefined,
    },
  })
}

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config'> & FormReader

const THREAD_MAX = 100
const SOURCE_BYTES_SHOWN = 256 * 1024
const TEXT_CHARS_SHOWN = 8_000

const inboxActions: Record<AnswerTaken | 'handled' | 'nothing', string> = {
  taken: 'Answer recorded, as if the desk had given it through its link.',
  repeated: 'Nothing changed. The desk had already given this answer.',
  unknown: 'Nothing changed. The feedback report has been deleted or was never sent.',
  handled: 'Marked as handled.',
  nothing: 'This mail was already marked as handled.',
}

/** The pages for inbound mail: by folder, with its thread, and the actions of an operator. */
export function inboxRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendShelf(req, res, site))
  router.get('/:id', async (req, res) => {
    await sendMail(req, res, site, await requireMail(req.params.id, site))
  })
  router.get('/:id/message.eml', async (req, res) => {
    const mail = await requireMail(req.params.id, site)
    sendMessage(res, `mail-${mail.id}.eml`, await unpack(mail))
  })
  router.post('/:id', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const mail = await requireMail(req.params.id, site)
    const answer = answerKinds.find((kind) => kind === form.text('do'))
    const done = await lookAfter(mail, answer, administrator.id, site)
    res.redirect(303, `/admin/inbox/${mail.id}${queryOf({ done })}`)
  })
  return router
}

async function sendShelf(req: Request, res: Response, { pool }: Needs): Promise<void> {
  const filter: InboxFilter = inboxFilters.find((name) => name === req.query['filter']) ?? 'unread'
  const before = isUuid(req.query['before']) ? req.query['before'] : undefined
  const rows = await listInbox(pool, { filter, before }, LINES + 1)
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ filter, before: id }))
  sendAdminPage(req, res, {
    view: 'admin/inbox/inbox',
    title: 'Inbox',
    data: { lines, next, filter, filters: inboxFilters, isFirst: before === undefined },
  })
}

async function sendMail(
  req: Request,
  res: Response,
  { pool }: Needs,
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
  const done = req.query['done']
  sendAdminPage(req, res, {
    view: 'admin/inbox/mail',
    title: 'Mail',
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
      done: typeof done === 'string' && Object.hasOwn(inboxActions, done) ? done : undefined,
      deeds: inboxActions,
    },
  })
}

/** Records the given answer on behalf of the abuse desk, if any, and marks the mail as resolved. */
async function lookAfter(
  { id, reportId, number }: InboxMail,
  answer: AnswerKind | undefined,
  by: string,
  site: Needs,
): Promise<keyof typeof inboxActions> {
  const at = site.clock()
  return inTransaction(site.pool, async (tx) => {
    const isNew = await markHandled(tx, id, { at, by })
    if (answer === undefined) {
      const deed = { at, reporterId: by, action: 'look after mail', detail: id } as const
      if (isNew) await insertAudit(tx, deed)
      return isNew ? 'handled' : 'nothing'
    }
    if (reportId === null || number === null) return 'unknown'
    const key = { reportId, number }
    const taken = await recordAnswer(tx, key, answer, 'operator', site, at, { mailId: id })
    const detail = `${answer}: ${reportId}, number ${number} (${taken})`
    await insertAudit(tx, { at, reporterId: by, action: 'answer for a desk', detail })
    return taken
  })
}

async function requireMail(id: string, { pool }: Needs): Promise<InboxMail & Packed> {
  const mail = isUuid(id) ? await findInboxMail(pool, id) : undefined
  if (!mail) throw new ProblemError('not-found', 'Mail not found. It may have been deleted.')
  return mail
}
