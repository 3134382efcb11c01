import { Router, type Request, type Response } from 'express'
import { listFeedback } from '../../db/feedback-reports.ts'
import { unpack } from '../../db/packed.ts'
import { findRawMessage } from '../../db/raw-messages.ts'
import type { Report } from '../../db/reports.ts'
import { retractReport } from '../../intake/retract-report.ts'
import { sendMessage } from '../download.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import { queryOf } from '../paging.ts'
import type { Site } from '../site.ts'
import { kinds, outcomes, readListForm, readOwnPage } from './own-list.ts'
import { sendStatistics } from './statistics.ts'
import { requireOwn, sendStory } from './story.ts'
import { takeAnswer } from './take-answer.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock'> & FormReader
type OwnRequest = Request<{ id: string }>

/** A reporter's own reports: the list, what they come to, and the story of each. */
export function historyRoutes(site: Needs): Router {
  const router = Router()
  const ofOwn =
    (send: (req: OwnRequest, res: Response, report: Report) => Promise<void>) =>
    async (req: OwnRequest, res: Response) => {
      const reporter = requireReporter(req, res)
      if (reporter) await send(req, res, await requireOwn(req.params.id, reporter, site.pool))
    }
  router.get('/reports', (req, res) => sendList(req, res, site))
  router.get('/reports/statistics', async (req, res) => {
    const reporter = requireReporter(req, res)
    if (reporter) await sendStatistics(req, res, site, reporter)
  })
  router.get(
    '/reports/:id',
    ofOwn((req, res, report) => sendStory(req, res, site, report)),
  )
  router.post('/reports/:id/answer', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const report = await requireOwn(req.params.id, reporter, site.pool)
    const problem = await takeAnswer(req, site, report, form)
    if (problem === undefined) return res.redirect(303, `/reports/${report.id}`)
    await sendStory(req, res, site, report, { problem, picked: form.texts('relay') })
  })
  router.get(
    '/reports/:id/message.eml',
    ofOwn(async (_req, res, report) => {
      const packed = await findRawMessage(site.pool, report.id)
      if (!packed) throw new ProblemError('not-found', 'The message is no longer kept.')
      sendMessage(res, `${report.id}.eml`, await unpack(packed))
    }),
  )
  router.get(
    '/reports/:id/retract',
    ofOwn((req, res, report) => askWhether(req, res, site, report)),
  )
  router.post('/reports/:id/retract', async (req, res) => {
    await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const report = await requireOwn(req.params.id, reporter, site.pool)
    await retractReport(site, report.id, { isReporter: true })
    res.redirect(303, `/reports/${report.id}`)
  })
  return router
}

async function sendList(req: Request, res: Response, site: Needs): Promise<void> {
  const reporter = requireReporter(req, res)
  if (!reporter) return
  const form = readListForm(req)
  const { before, after } = req.query
  const page = await readOwnPage(site.pool, reporter.id, form, { before, after })
  sendPage(req, res, {
    view: 'pages/history/reports',
    title: visitOf(req).words.reports.title,
    data: {
      ...page,
      form,
      kinds,
      outcomes,
      first: queryOf(form),
      isNarrowed: Object.values(form).some((value) => value !== ''),
      isFirst: before === undefined && after === undefined,
    },
  })
}

/** Says what taking a report back does, before it is done: it cannot be undone. */
async function askWhether(req: Request, res: Response, site: Needs, report: Report): Promise<void> {
  if (report.state === 'retracted') return res.redirect(303, `/reports/${report.id}`)
  const feedback = await listFeedback(site.pool, [report.id])
  const complaints = feedback.filter(({ kind }) => kind === 'complaint')
  const { words } = visitOf(req)
  sendPage(req, res, {
    view: 'pages/history/retract',
    title: words.retraction.title,
    data: {
      report,
      told: complaints.filter(({ state }) => state === 'sent').length,
      waiting: complaints.filter(({ state }) => state === 'waiting' || state === 'queued').length,
    },
  })
}
