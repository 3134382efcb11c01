import { Router, type Request, type Response } from 'express'
import { findAnalysis } from '../../db/analyses.ts'
import { listAnswers } from '../../db/feedback-answers.ts'
import type { Feedback, FeedbackKey } from '../../db/feedback-reports.ts'
import { inTransaction } from '../../db/pool.ts'
import { findLeft } from '../../feedback/merged-members.ts'
import { type AnswerTaken, takeAnswer } from '../../feedback/take-answer.ts'
import { type AnswerKind, answerKinds, parseAnswerToken } from '../../mail/answer-links.ts'
import { type Form, readShortForm, type FormReader } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { sameOrigin } from '../pages/same-origin.ts'
import { visitOf } from '../pages/visit.ts'
import { queryOf } from '../paging.ts'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl'> & FormReader

/** What a link leads to: the feedback report, and what its holder wants to say to it. */
type Question = { feedback: Feedback; kind: AnswerKind; token: string }

/**
 * Where who got a feedback report answers it, by the links in it. To look is to do nothing: mail
 * scanners follow links. The link is all the right there is: no session is read and no cookie set,
 * so these stand before both, and another site can send nothing that its visitor could not.
 */
export function answerRoutes(site: Needs): Router {
  const router = Router()
  const refuseForeign = sameOrigin(site.publicUrl)
  router.get('/answer/:token/:kind', async (req, res) => {
    const question = await findQuestion(req, site)
    if (!question) return sendGone(req, res)
    await sendQuestion(req, res, site, question, undefined)
  })
  router.post('/answer/:token/:kind', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const isOneClick = req.params.kind === 'stop' && asksOneClick(form)
    // A mail program may act for its user from anywhere (RFC 8058); pages only from here.
    if (!isOneClick) refuseForeign(req, res, () => undefined)
    const question = await findQuestion(req, site)
    if (!question) return sendGone(req, res)
    const { feedback, kind } = question
    const said = kind === 'resolved' || kind === 'wrong' ? form.text('said') : undefined
    const how = isOneClick ? 'one-click' : 'link'
    const taken = await inTransaction(site.pool, (tx) =>
      takeAnswer(tx, feedback, kind, how, site, site.clock(), { said }),
    )
    await sendQuestion(req, res, site, question, taken)
  })
  return router
}

/** RFC 8058 §3.1: the one field that a mail program sends. */
function asksOneClick(form: Form): boolean {
  return form.text('List-Unsubscribe') === 'One-Click'
}

async function findQuestion(
  req: Request<{ token: string; kind: string }>,
  { pool, config }: Needs,
): Promise<Question | undefined> {
  const kind = answerKinds.find((name) => name === req.params.kind)
  const key = parseAnswerToken(req.params.token, config.secret)
  const feedback = kind && key && (await findLeft(pool, key))
  if (!feedback) return undefined
  return { feedback, kind, token: req.params.token.toLowerCase() }
}

function sendGone(req: Request, res: Response): void {
  const { words } = visitOf(req)
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, {
    view: 'pages/error',
    title: words.error.title,
    status: 404,
    data: { sentence: words.problems['not-found'], detail: words.answers.gone, isOurs: false },
  })
}

/** The page before and after: nothing on it that the feedback report did not say. */
async function sendQuestion(
  req: Request,
  res: Response,
  { pool }: Needs,
  { feedback, kind, token }: Question,
  taken: AnswerTaken | undefined,
): Promise<void> {
  const [analysis, answers] = await Promise.all([
    findAnalysis(pool, feedback.reportId),
    answersTo(pool, feedback),
  ])
  const { words } = visitOf(req)
  const language = req.query['lang'] === undefined ? '' : queryOf({ lang: visitOf(req).language })
  const linkOf = (name: AnswerKind) => `/answer/${token}/${name}${language}`
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, {
    view: 'pages/desk-answer',
    title: words.answers.title,
    data: {
      feedback,
      kind,
      taken,
      answers,
      hasText: kind === 'resolved' || kind === 'wrong',
      action: linkOf(kind),
      others: answerKinds
        .filter((name) => name !== kind)
        .map((name) => ({ href: linkOf(name), name: words.answers.kinds[name].name })),
      originIp: analysis?.originIp,
      network: analysis?.network,
    },
  })
}

async function answersTo(pool: Needs['pool'], { reportId, number }: FeedbackKey) {
  return (await listAnswers(pool, [reportId])).filter((answer) => answer.number === number)
}
