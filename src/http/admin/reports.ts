import { Router, type Request, type Response } from 'express'
import { findAnalysis } from '../../db/analyses.ts'
import { findCampaignOf } from '../../db/campaign-members.ts'
import { listFeedback } from '../../db/feedback-reports.ts'
import { unpack } from '../../db/packed.ts'
import { findRawMessage } from '../../db/raw-messages.ts'
import { listEvents } from '../../db/report-events.ts'
import { searchReports, type ReportQuery } from '../../db/report-search.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { findReport, type Report, type ReportState } from '../../db/reports.ts'
import { parseBlock } from '../../mail/ip-blocks.ts'
import { storableText } from '../../mail/storable-text.ts'
import { sendMessage } from '../download.ts'
import { shownWalk } from '../history/shown-walk.ts'
import { isUuid, pageOf } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import { shownBytes } from '../shown-text.ts'
import type { Site } from '../site.ts'
import { authenticationRows } from './authentication-rows.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool'>

const LINES = 50
const RAW_BYTES_SHOWN = 256 * 1024

const states: readonly ReportState[] = [
  'received',
  'analyzed',
  'forwarded',
  'kept',
  'retracted',
  'failed',
]

/** Reports found, and one of them in full. */
export function reportRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendSearch(req, res, site))
  router.get('/:id', (req, res) => sendReport(req, res, site))
  router.get('/:id/message.eml', async (req, res) => {
    const report = await requireReport(req.params.id, site)
    const packed = await findRawMessage(site.pool, report.id)
    if (!packed) throw new ProblemError('not-found', 'The message is no longer kept.')
    sendMessage(res, `${report.id}.eml`, await unpack(packed))
  })
  return router
}

/** What the search form holds, as text to show again. */
type SearchForm = Record<'id' | 'subject' | 'author' | 'origin' | 'state', string>

async function sendSearch(req: Request, res: Response, site: Needs): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const form: SearchForm = {
    id: textOf(given, 'id'),
    subject: textOf(given, 'subject'),
    author: textOf(given, 'author'),
    origin: textOf(given, 'origin'),
    state: textOf(given, 'state'),
  }
  const { query, faults } = readSearch(form)
  const before = given.get('before')
  const page = { before: isUuid(before) ? before : undefined, limit: LINES + 1 }
  const rows = faults.length > 0 ? [] : await searchReports(site.pool, query, page)
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ ...form, before: id }))
  sendAdminPage(req, res, {
    view: 'admin/reports',
    title: 'Reports',
    status: faults.length > 0 ? 422 : 200,
    data: { form, faults, lines, next, states, isFirst: page.before === undefined },
  })
}

function textOf(given: URLSearchParams, name: string): string {
  return storableText(given.get(name)?.trim() ?? '', 320)
}

/** What to look for; a field that makes no sense is a fault, not an empty list. */
export function readSearch(form: SearchForm): { query: ReportQuery; faults: string[] } {
  const faults: string[] = []
  const state = states.find((name) => name === form.state)
  const origin = form.origin === '' ? undefined : parseBlock(form.origin)
  if (form.id !== '' && !isUuid(form.id)) faults.push('The id is not the id of a report.')
  if (form.origin !== '' && !origin)
    faults.push('The origin is neither an address nor a CIDR block.')
  if (form.state !== '' && !state) faults.push('There is no such state.')
  const query = {
    id: isUuid(form.id) ? form.id : undefined,
    subject: form.subject || undefined,
    author: form.author === '' ? undefined : withLowerDomain(form.author),
    origin,
    state,
  }
  return { query, faults }
}

/** Authors are kept with their domain in lower case. */
function withLowerDomain(address: string): string {
  const at = address.lastIndexOf('@')
  return at < 0 ? address : address.slice(0, at) + address.slice(at).toLowerCase()
}

async function requireReport(id: string, site: Needs): Promise<Report> {
  const report = isUuid(id) ? await findReport(site.pool, id) : undefined
  if (!report) throw new ProblemError('not-found', 'There is no such report.')
  return report
}

async function sendReport(req: Request<{ id: string }>, res: Response, site: Needs): Promise<void> {
  const report = await requireReport(req.params.id, site)
  const [analysis, events, feedback, emails, packed, campaignId] = await Promise.all([
    findAnalysis(site.pool, report.id),
    listEvents(site.pool, report.id),
    listFeedback(site.pool, [report.id]),
    listReporterEmails(site.pool, [report.reporterId]),
    findRawMessage(site.pool, report.id),
    findCampaignOf(site.pool, report.id),
  ])
  const raw = packed && (await unpack(packed))
  const authentication = analysis?.details.authentication
  sendAdminPage(req, res, {
    view: 'admin/report',
    title: 'Report',
    data: {
      report,
      reporterEmail: emails.get(report.reporterId),
      analysis,
      found: analysis?.details,
      walk: analysis && shownWalk(analysis),
      checks: authentication ? authenticationRows(authentication) : undefined,
      events,
      feedback,
      campaignId,
      rawText: raw && shownBytes(raw, RAW_BYTES_SHOWN),
      isRawCut: (raw?.length ?? 0) > RAW_BYTES_SHOWN,
    },
  })
}
