import { Router, type Request, type Response } from 'express'
import { insertAudit } from '../../../db/audit-log.ts'
import { listAnswers } from '../../../db/feedback-answers.ts'
import { findFeedback } from '../../../db/feedback-reports.ts'
import {
  findInboxMail,
  type InboxMail,
  listInbox,
  listThread,
  markLookedAfter,
  type Shelf,
  shelves,
} from '../../../db/inbox.ts'
import { findLetter } from '../../../db/letters.ts'
import { type Packed, unpack } from '../../../db/packed.ts'
import { inTransaction } from '../../../db/pool.ts'
import { type AnswerTaken, takeAnswer } from '../../../feedback/take-answer.ts'
import { type AnswerKind, answerKinds } from '../../../mail/answer-links.ts'
import { sendMessage } from '../../download.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { isUuid, pageOf, queryOf } from '../../paging.ts'
import { ProblemError } from '../../problem.ts'
import { shownBytes, shownText } from '../../shown-text.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config'> & FormReader

const LINES = 50
const THREAD_MAX = 100
const SOURCE_BYTES_SHOWN = 256 * 1024
const TEXT_CHARS_SHOWN = 8_000

const deeds: Record<AnswerTaken | 'handled' | 'nothing', string> = {
  taken: 'The answer was taken as if the desk had given it by its link.',
  repeated: 'The desk had said so before: nothing changed.',
  unknown: 'That feedback report is gone, or had not left: nothing changed.',
  handled: 'It is looked after.',
  nothing: 'Somebody had looked after it before.',
}

/** What came in by mail: by shelf, each with its thread, and what an operator does about it. */
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
  const shelf: Shelf = shelves.find((name) => name === req.query['shelf']) ?? 'unread'
  const before = isUuid(req.query['before']) ? req.query['before'] : undefined
  const rows = await listInbox(pool, { shelf, before }, LINES + 1)
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ shelf, before: id }))
  sendAdminPage(req, res, {
    view: 'admin/inbox/inbox',
    title: 'Inbox',
    data: { lines, next, shelf, shelves, isFirst: before === undefined },
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
      done: typeof done === 'string' && Object.hasOwn(deeds, done) ? done : undefined,
      deeds,
    },
  })
}

/** Gives the answer in the desk's stead, where there is one, and takes the mail off the pile. */
async function lookAfter(
  { id, reportId, number }: InboxMail,
  answer: AnswerKind | undefined,
  by: string,
  site: Needs,
): Promise<keyof typeof deeds> {
  const at = site.clock()
  return inTransaction(site.pool, async (tx) => {
    const isNew = await markLookedAfter(tx, id, { at, by })
    if (answer === undefined) {
      const deed = { at, reporterId: by, action: 'look after mail', detail: id } as const
      if (isNew) await insertAudit(tx, deed)
      return isNew ? 'handled' : 'nothing'
    }
    if (reportId === null || number === null) return 'unknown'
    const key = { reportId, number }
    const taken = await takeAnswer(tx, key, answer, 'operator', site, at, { mailId: id })
    const detail = `${answer}: ${reportId}, number ${number} (${taken})`
    await insertAudit(tx, { at, reporterId: by, action: 'answer for a desk', detail })
    return taken
  })
}

async function requireMail(id: string, { pool }: Needs): Promise<InboxMail & Packed> {
  const mail = isUuid(id) ? await findInboxMail(pool, id) : undefined
  if (!mail) throw new ProblemError('not-found', 'There is no such mail, or it is no longer kept.')
  return mail
}
