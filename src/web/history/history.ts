import { type Request, type Response, Router } from 'express'
import { listFeedback } from '../../db/feedback-reports.ts'
import { findRawMessage, type Report, type ReportKind } from '../../db/reports.ts'
import { storableText } from '../../mail/text.ts'
import { confirmReport } from '../../reports/change-report.ts'
import { findOwnReports, ownOutcomes, type OwnSearch } from '../../reports/own-reports.ts'
import { restoreOwnReport, takeReportBack } from '../../reports/undo-retraction.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, queryOf, sendMessage, sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendStatistics } from './statistics.ts'
import { requireOwn, sendMessageText, sendStory, takeRelayAnswer } from './story.ts'

/** The kinds of reports, in the order of the form. */
const kinds: readonly ReportKind[] = ['spam', 'phishing', 'not-spam']

const WORDS_MAX = 100
/** Reads the search from the query of a page; invalid values are left out. */
function readSearch(req: Request): OwnSearch {
  const given = searchParamsOf(req)
  const kind = kinds.find((name) => name === given.get('kind')) ?? ''
  const outcome = ownOutcomes.find((name) => name === given.get('outcome')) ?? ''
  const words = storableText(given.get('words')?.trim() ?? '', WORDS_MAX)
  return { words, kind, outcome, from: dayOf(given.get('from')), to: dayOf(given.get('to')) }
}

function dayOf(text: string | null): string {
  const isDay = text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text)
  return isDay && !Number.isNaN(Date.parse(text)) ? text : ''
}

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'readText'> & FormReader
type OwnRequest = Request<{ id: string }>

/** The reporter's own reports: the list, the statistics, and the story of each. */
export function historyRoutes(site: Needs): Router {
  const router = Router()
  const ofOwn =
    (send: (req: OwnRequest, res: Response, report: Report) => Promise<void>) =>
    async (req: OwnRequest, res: Response) =>
      send(req, res, await requireOwn(req.params.id, requireReporter(req), site))
  router.get('/reports', (req, res) => sendList(req, res, site))
  router.get('/reports/statistics', (req, res) =>
    sendStatistics(req, res, site, requireReporter(req)),
  )
  router.get(
    '/reports/:id',
    ofOwn((req, res, report) => sendStory(req, res, site, report)),
  )
  router.post('/reports/:id/answer', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const report = await requireOwn(req.params.id, requireReporter(req), site)
    const problem = await takeRelayAnswer(req, site, report, form)
    if (problem === undefined) return res.redirect(303, `/reports/${report.id}?done=1`)
    await sendStory(req, res, site, report, problem)
  })
  router.post('/reports/:id/confirm', async (req, res) => {
    await readShortForm(req, res, site)
    const report = await requireOwn(req.params.id, requireReporter(req), site)
    await confirmReport(site, report.id)
    res.redirect(303, `/reports/${report.id}?done=1`)
  })
  router.get(
    '/reports/:id/message',
    ofOwn((req, res, report) => sendMessageText(req, res, site, report)),
  )
  router.get(
    '/reports/:id/message.eml',
    ofOwn(async (_req, res, report) => {
      const raw = await findRawMessage(site.pool, report.id)
      if (!raw) throw new ProblemError('not-found', 'The message has been deleted.')
      await sendMessage(res, `${report.id}.eml`, raw, 'owner')
    }),
  )
  router.get(
    '/reports/:id/retract',
    ofOwn((req, res, report) => sendRetraction(req, res, site, report)),
  )
  router.post('/reports/:id/retract', async (req, res) => {
    await readShortForm(req, res, site)
    const report = await requireOwn(req.params.id, requireReporter(req), site)
    await takeReportBack(site, report.id)
    res.redirect(303, `/reports/${report.id}?done=1`)
  })
  router.post('/reports/:id/restore', async (req, res) => {
    await readShortForm(req, res, site)
    const report = await requireOwn(req.params.id, requireReporter(req), site)
    // When it is too late, the page says what to do.
    await restoreOwnReport(site, report.id)
    res.redirect(303, `/reports/${report.id}?done=restored`)
  })
  return router
}

async function sendList(req: Request, res: Response, site: Needs): Promise<void> {
  const reporter = requireReporter(req)
  const form = readSearch(req)
  const [before, after] = [req.query['before'], req.query['after']].map((id) =>
    isUuid(id) ? id : undefined,
  )
  const page = await findOwnReports(site.pool, reporter.id, form, { before, after })
  sendPage(req, res, {
    view: 'pages/history/reports',
    title: visitOf(req).texts('reports.title'),
    data: {
      ...page,
      newer: page.newer && queryOf({ ...form, ...page.newer }),
      older: page.older && queryOf({ ...form, ...page.older }),
      form,
      kinds,
      outcomes: ownOutcomes,
      first: queryOf(form),
      isNarrowed: Object.values(form).some((value) => value !== ''),
      isFirst: req.query['before'] === undefined && req.query['after'] === undefined,
    },
  })
}

/** Sends the page that explains a retraction before it is done. */
async function sendRetraction(
  req: Request,
  res: Response,
  site: Needs,
  report: Report,
): Promise<void> {
  if (report.state === 'retracted') return res.redirect(303, `/reports/${report.id}`)
  const feedback = await listFeedback(site.pool, [report.id])
  const complaints = feedback.filter(({ kind }) => kind === 'complaint')
  const { texts } = visitOf(req)
  sendPage(req, res, {
    view: 'pages/history/retract',
    title: texts('retraction.title'),
    data: {
      report,
      told: complaints.filter(({ state }) => state === 'sent').length,
      waiting: complaints.filter(({ state }) => state === 'waiting' || state === 'queued').length,
    },
  })
}
