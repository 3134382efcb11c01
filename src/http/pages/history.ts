import { Router, type Request, type Response } from 'express'
import { findAnalysis, type KeptAnalysis } from '../../db/analyses.ts'
import { listFeedback } from '../../db/feedback-reports.ts'
import { unpack } from '../../db/packed.ts'
import { listEvents } from '../../db/report-events.ts'
import { listOwnReports } from '../../db/report-search.ts'
import type { Reporter } from '../../db/reporters.ts'
import { findOwnedMessage, findOwnedReport, type OwnedReport } from '../../db/shadowed-reports.ts'
import { findOwnedAnalysis } from '../../intake/owned-reports.ts'
import { retractReport } from '../../intake/retract-report.ts'
import { answerQuestion, SET_RELAYS_MAX, type RelayStatement } from '../../intake/tell-relays.ts'
import { blockOfAddress } from '../../mail/relay-block.ts'
import { storableText } from '../../mail/storable-text.ts'
import { readAnswer, type RelayCandidate } from '../../verdict/relay-question.ts'
import { symbolsForReporters } from '../../verdict/verdict.ts'
import { answersOf } from '../desks/answers-of.ts'
import { shownAdvice } from '../advice/shown-advice.ts'
import { sendMessage } from '../download.ts'
import { ProblemError } from '../problem.ts'
import { describeSame } from './same-campaign.ts'
import type { Site } from '../site.ts'
import { isUuid, pageOf } from '../paging.ts'
import { readShortForm, type Form, type FormReader } from './form.ts'
import { findQuestion } from './question.ts'
import { sendPage } from './render.ts'
import { shownWalk } from './shown-walk.ts'
import { requireReporter } from './signed-in.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock'> & FormReader

const LINES = 25
const LINKS_SHOWN = 20

/** A reporter's own reports: the list, and the story of each. */
export function historyRoutes(site: Needs): Router {
  const router = Router()
  router.get('/reports', async (req, res) => {
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const before = isUuid(req.query['before']) ? req.query['before'] : undefined
    const rows = await listOwnReports(site.pool, reporter.id, { before, limit: LINES + 1 })
    const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ before: id }))
    sendPage(req, res, {
      view: 'pages/reports',
      title: visitOf(req).words.reports.title,
      data: { lines, next, isFirst: before === undefined },
    })
  })
  router.get('/reports/:id', async (req, res) => {
    const reporter = requireReporter(req, res)
    if (reporter) await sendStory(req, res, site, reporter)
  })
  router.post('/reports/:id/answer', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const report = await requireOwn(req.params.id, reporter, site)
    const problem = await takeAnswer(req, site, report, form)
    if (problem === undefined) return res.redirect(303, `/reports/${report.id}`)
    const picked = form.texts('relay')
    await sendStory(req, res, site, reporter, { problem, picked })
  })
  router.get('/reports/:id/message.eml', async (req, res) => {
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const report = await requireOwn(req.params.id, reporter, site)
    const packed = await findOwnedMessage(site.pool, report.id)
    if (!packed) throw new ProblemError('not-found', 'The message is no longer kept.')
    sendMessage(res, `${report.id}.eml`, await unpack(packed))
  })
  router.post('/reports/:id/retract', async (req, res) => {
    await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const report = await requireOwn(req.params.id, reporter, site)
    await retractReport(site, report.id, { isReporter: true })
    res.redirect(303, `/reports/${report.id}`)
  })
  return router
}

async function requireOwn(id: string, reporter: Reporter, site: Needs): Promise<OwnedReport> {
  const report = isUuid(id) ? await findOwnedReport(site.pool, id) : undefined
  if (report && report.reporterId === reporter.id) return report
  throw new ProblemError('not-found', 'There is no such report, or it is not yours.')
}

/** What was wrong with an answer, and what it picked. */
type Refused = { problem: string; picked: readonly string[] }

/** Takes the answer to a report's question, if it still asks one; answers why it cannot. */
async function takeAnswer(
  req: Request,
  site: Needs,
  report: OwnedReport,
  form: Form,
): Promise<string | undefined> {
  const { question: words } = visitOf(req).words
  const [analysis, events] = await Promise.all([
    findAnalysis(site.pool, report.id),
    listEvents(site.pool, report.id),
  ])
  const question = await findQuestion(site.pool, report, analysis, events)
  if (!question) return undefined
  const answer = form.text('answer')
  if (answer === 'unknown') {
    if (!question.isAnswered) await answerQuestion(site, report, undefined)
    return undefined
  }
  const offered = question.candidates.map(({ ip }) => ip)
  const picked = answer === 'none' ? [] : form.texts('relay').filter((ip) => offered.includes(ip))
  if (answer !== 'none' && picked.length === 0) return words.nothing
  const read = readAnswer(question.candidates, picked)
  if ('gap' in read) return words.gap(read.gap.picked.ip, read.gap.between.ip)
  const said = [...statementsOf(read.mine, 'set'), ...statementsOf(read.notMine, 'refused')]
  const told = await answerQuestion(site, report, said)
  return told === 'full' ? words.full(SET_RELAYS_MAX) : undefined
}

function statementsOf(
  candidates: readonly RelayCandidate[],
  how: RelayStatement['how'],
): RelayStatement[] {
  return candidates.flatMap(({ ip, name }) => {
    const cidr = blockOfAddress(ip)
    return cidr === undefined ? [] : [{ cidr, name: name && storableText(name, 255), how }]
  })
}

async function sendStory(
  req: Request<{ id: string }>,
  res: Response,
  site: Needs,
  reporter: Reporter,
  refused?: Refused,
): Promise<void> {
  const report = await requireOwn(req.params.id, reporter, site)
  const [analysis, events, feedback, same] = await Promise.all([
    findOwnedAnalysis(site.pool, report),
    listEvents(site.pool, report.id),
    listFeedback(site.pool, [report.id]),
    describeSame(site.pool, report),
  ])
  const question = await findQuestion(site.pool, report, analysis, events)
  const { language } = visitOf(req)
  const advice = await shownAdvice(site.pool, { report, analysis, language, now: site.clock() })
  sendPage(req, res, {
    view: 'pages/story',
    title: visitOf(req).words.story.whereFrom,
    status: refused ? 422 : 200,
    data: {
      report,
      events: [{ event: 'received', at: report.receivedAt, detail: '' }, ...events],
      feedback,
      answers: await answersOf(site.pool, feedback, events),
      found: analysis && findings(analysis),
      same,
      advice,
      question: question && {
        id: report.id,
        isAnswered: question.isAnswered,
        problem: refused?.problem,
        candidates: question.candidates.map((candidate) => ({
          ...candidate,
          isPicked: refused?.picked.includes(candidate.ip) ?? false,
        })),
      },
    },
  })
}

function findings(analysis: KeptAnalysis) {
  const { origin, links, attachments, verdict, consequence } = analysis.details
  return {
    origin,
    walk: shownWalk(analysis),
    verdict,
    symbols: symbolsForReporters(verdict.symbols),
    consequence,
    links: links.slice(0, LINKS_SHOWN),
    linksMore: Math.max(0, links.length - LINKS_SHOWN),
    attachments,
  }
}
