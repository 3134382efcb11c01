import { Router, type Request, type Response } from 'express'
import { unpack } from '../../db/packed.ts'
import { findRawMessage } from '../../db/raw-messages.ts'
import type { Reporter } from '../../db/reporters.ts'
import { findReport, type Report } from '../../db/reports.ts'
import type { Scope } from '../../db/tokens.ts'
import { retractReport } from '../../intake/retract-report.ts'
import { authenticate } from '../authenticate.ts'
import { sendMessage } from '../download.ts'
import { isUuid } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { claimKey } from './idempotency.ts'
import { describeReport } from './report-json.ts'
import { sendJson, sendReceipt, sendResults } from './results.ts'
import { bodyBytesMax, parseSubmission, takenTypes, type GivenMessage } from './submission.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'credentials' | 'submit' | 'readBody'
>

/** The report API: `/api/v1/reports`. */
export function reportsApi(site: Needs): Router {
  const router = Router()
  router.post('/', (req, res) => takeReports(req, res, site))
  router.all('/', refuseMethod('POST'))
  router.get('/:id', async (req, res) => {
    const { report } = await requireOwnReport(req, site, 'read')
    sendJson(res, 200, await describeReport(site.pool, report))
  })
  router.delete('/:id', async (req, res) => {
    const { report, reporter } = await requireOwnReport(req, site, 'retract')
    const isReporter = report.reporterId === reporter.id
    const administratorId = reporter.id
    await retractReport(
      site,
      report.id,
      isReporter ? { isReporter } : { isReporter, administratorId },
    )
    const retracted = { ...report, state: 'retracted' as const }
    sendJson(res, 200, await describeReport(site.pool, retracted))
  })
  router.all('/:id', refuseMethod('GET, DELETE'))
  router.get('/:id/raw', async (req, res) => {
    const { report } = await requireOwnReport(req, site, 'read')
    const packed = await findRawMessage(site.pool, report.id)
    if (!packed) throw notFound()
    sendMessage(res, `${report.id}.eml`, await unpack(packed))
  })
  router.all('/:id/raw', refuseMethod('GET'))
  return router
}

async function takeReports(req: Request, res: Response, site: Needs): Promise<void> {
  const reporter = await authenticate(req, site.credentials, ['bearer', 'basic'], 'report')
  const contentType = req.headers['content-type'] ?? ''
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const { messageBytesMax } = site.config
  if (!isTaken(type)) throw wrongType()
  const body = await site.readBody(req, res, bodyBytesMax(type, messageBytesMax))
  const at = req.url.indexOf('?')
  const query = at < 0 ? '' : req.url.slice(at + 1)
  const submission = await parseSubmission(body, { type, contentType, query, messageBytesMax })
  const key = req.headers['idempotency-key']
  if (typeof key === 'string') await claimKey(site, key, reporter.id, submission)
  const submit = async (message: GivenMessage) =>
    'refusal' in message
      ? { taken: false as const, refusal: message.refusal }
      : site.submit(reporter, 'api', message.raw, submission.remarks)
  const [first, ...others] = submission.messages
  if (first && others.length === 0) return sendReceipt(res, await submit(first), site)
  const outcomes = await Promise.all(submission.messages.map(submit))
  const results = outcomes.map((outcome, index) => ({
    file: submission.messages[index]?.file ?? null,
    outcome,
  }))
  await sendResults(res, results, site)
}

/** The report of the address, if it is the caller's: others learn nothing of it. */
async function requireOwnReport(
  req: Request<{ id: string }>,
  site: Needs,
  scope: Scope,
): Promise<{ report: Report; reporter: Reporter }> {
  const reporter = await authenticate(req, site.credentials, ['bearer', 'basic'], scope)
  const report = isUuid(req.params.id) ? await findReport(site.pool, req.params.id) : undefined
  if (!report || (report.reporterId !== reporter.id && !reporter.isAdmin)) throw notFound()
  return { report, reporter }
}

function isTaken(type: string): boolean {
  return takenTypes.split(', ').includes(type)
}

function wrongType(): ProblemError {
  return new ProblemError('wrong-type', `Send one of these types: ${takenTypes}.`, {
    'accept-post': takenTypes,
  })
}

function notFound(): ProblemError {
  return new ProblemError('not-found', 'There is no such report, or it is not yours.')
}

function refuseMethod(allow: string) {
  return () => {
    throw new ProblemError('wrong-method', `This address takes ${allow}.`, { allow })
  }
}
