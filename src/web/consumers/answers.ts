import { type Request, type Response, Router } from 'express'
import { findAnalysis } from '../../db/analyses.ts'
import { listAnswers } from '../../db/feedback-answers.ts'
import type { Feedback, FeedbackKey } from '../../db/feedback-reports.ts'
import { findDeskCopy } from '../../feedback/desk-reports.ts'
import { findRequestState } from '../../feedback/original-requests.ts'
import { isOriginalAskable } from '../../verdict/consumers.ts'
import { type AnswerResult, findSent, takeAnswer } from '../../feedback/take-answer.ts'
import { type AnswerKind, answerKinds, parseAnswerToken } from '../../mail/verp.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { queryOf, sendPage } from '../pages/render.ts'
import { sameOrigin } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { shownMessage } from './desk-message.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl'> & FormReader

/** The target of an answer link: the feedback report and the chosen answer. */
type Question = { feedback: Feedback; kind: AnswerKind; token: string }

/**
 * The pages where recipients answer a feedback report by its links. GET changes nothing, because
 * mail scanners follow links. The link is the only authorization: the routes read no session and
 * set no cookie, and are therefore mounted before both. A foreign site that submits these forms
 * gains nothing, because anyone who knows the link may use them.
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
    // The single field that a mail program sends (RFC 8058 §3.1).
    const isOneClick = req.params.kind === 'stop' && form.text('List-Unsubscribe') === 'One-Click'
    // Mail programs may send one-click requests from anywhere (RFC 8058); pages only from this
    // site.
    if (!isOneClick) refuseForeign(req, res, () => undefined)
    const question = await findQuestion(req, site)
    if (!question) return sendGone(req, res)
    const { feedback, kind } = question
    const said = kind === 'resolved' || kind === 'wrong' ? form.text('said') : undefined
    const how = isOneClick ? 'one-click' : 'link'
    const taken = await takeAnswer(site, feedback, { answer: kind, how, said })
    await sendQuestion(req, res, site, question, taken)
  })
  return router
}

async function findQuestion(
  req: Request<{ token: string; kind: string }>,
  { pool, config }: Needs,
): Promise<Question | undefined> {
  const kind = answerKinds.find((name) => name === req.params.kind)
  const key = parseAnswerToken(req.params.token, config.secret)
  const feedback = kind && key && (await findSent(pool, key))
  if (!feedback) return undefined
  return { feedback, kind, token: req.params.token.toLowerCase() }
}

function sendGone(req: Request, res: Response): void {
  const { texts } = visitOf(req)
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, {
    view: 'pages/error',
    title: texts('error.title'),
    status: 404,
    data: { sentence: texts('answers.gone') },
  })
}

/** Sends the page before and after the answer; it shows only what the feedback report contained. */
async function sendQuestion(
  req: Request,
  res: Response,
  { pool, clock }: Needs,
  { feedback, kind, token }: Question,
  taken: AnswerResult | undefined,
): Promise<void> {
  const [analysis, answers, copy, request] = await Promise.all([
    findAnalysis(pool, feedback.reportId),
    answersTo(pool, feedback),
    findDeskCopy(pool, feedback),
    findRequestState(pool, feedback, clock()),
  ])
  const { texts } = visitOf(req)
  const language = req.query['lang'] === undefined ? '' : queryOf({ lang: visitOf(req).language })
  const linkOf = (name: AnswerKind) => `/answer/${token}/${name}${language}`
  const isAboutPage = feedback.recipientRole === 'page'
  const wordsOf = (name: AnswerKind) =>
    isAboutPage && (name === 'not-ours' || name === 'original')
      ? (`answers.pages.${name}` as const)
      : (`answers.kinds.${name}` as const)
  const words = wordsOf(kind)
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, {
    view: 'pages/desk-answer',
    title: texts('answers.title'),
    data: {
      feedback,
      kind,
      taken,
      answers: answers.map(({ answer, at }) => ({ name: texts(`${wordsOf(answer)}.name`), at })),
      words: {
        name: texts(`${words}.name`),
        does: texts(`${words}.does`),
        submit: texts(`${words}.submit`),
        done: texts(`${words}.done`),
      },
      isAboutPage,
      hasText: kind === 'resolved' || kind === 'wrong',
      action: linkOf(kind),
      request,
      others: answerKinds
        .filter((name) => name !== kind)
        .filter((name) => name !== 'original' || isOriginalAskable(feedback))
        .map((name) => ({ href: linkOf(name), name: texts(`${wordsOf(name)}.name`) })),
      // A notice about a page says nothing of the machine that sent the message.
      originIp: isAboutPage ? undefined : analysis?.originIp,
      network: isAboutPage ? undefined : analysis?.network,
      reported: copy && (await shownMessage(copy)),
    },
  })
}

async function answersTo(pool: Needs['pool'], { reportId, number }: FeedbackKey) {
  return (await listAnswers(pool, [reportId])).filter((answer) => answer.number === number)
}
