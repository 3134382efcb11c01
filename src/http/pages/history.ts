import { Router, type Request, type Response } from 'express'
import { findAnalysis, type KeptAnalysis } from '../../db/analyses.ts'
import { listFeedback } from '../../db/feedback-reports.ts'
import { unpack } from '../../db/packed.ts'
import { findRawMessage } from '../../db/raw-messages.ts'
import { listEvents } from '../../db/report-events.ts'
import { listOwnReports } from '../../db/report-search.ts'
import type { Reporter } from '../../db/reporters.ts'
import { findReport, type Report } from '../../db/reports.ts'
import { retractReport } from '../../intake/retract-report.ts'
import { sendMessage } from '../download.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { isUuid, pageOf } from '../paging.ts'
import { readShortForm, type FormReader } from './form.ts'
import { sendPage } from './render.ts'
import { requireReporter } from './signed-in.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

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
  router.get('/reports/:id/message.eml', async (req, res) => {
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const report = await requireOwn(req.params.id, reporter, site)
    const packed = await findRawMessage(site.pool, report.id)
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

async function requireOwn(id: string, reporter: Reporter, site: Needs): Promise<Report> {
  const report = isUuid(id) ? await findReport(site.pool, id) : undefined
  if (report && report.reporterId === reporter.id) return report
  throw new ProblemError('not-found', 'There is no such report, or it is not yours.')
}

async function sendStory(
  req: Request<{ id: string }>,
  res: Response,
  site: Needs,
  reporter: Reporter,
): Promise<void> {
  const report = await requireOwn(req.params.id, reporter, site)
  const [analysis, events, feedback] = await Promise.all([
    findAnalysis(site.pool, report.id),
    listEvents(site.pool, report.id),
    listFeedback(site.pool, [report.id]),
  ])
  sendPage(req, res, {
    view: 'pages/story',
    title: visitOf(req).words.story.whereFrom,
    data: {
      report,
      events: [{ event: 'received', at: report.receivedAt, detail: '' }, ...events],
      feedback,
      found: analysis && findings(analysis),
    },
  })
}

function findings({ details, network }: KeptAnalysis) {
  const { origin, hops, links, attachments, verdict, consequence } = details
  return {
    origin,
    percent: origin ? Math.round(origin.confidence * 100) : 0,
    network,
    hops,
    verdict,
    consequence,
    links: links.slice(0, LINKS_SHOWN),
    linksMore: Math.max(0, links.length - LINKS_SHOWN),
    attachments,
  }
}
