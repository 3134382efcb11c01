import { Router, type Request, type Response } from 'express'
import { unpack } from '../../db/packed.ts'
import type { Reporter } from '../../db/reporters.ts'
import { findOwnedMessage, findOwnedReport, type OwnedReport } from '../../db/shadowed-reports.ts'
import type { Scope } from '../../intake/credentials.ts'
import { retractReport } from '../../intake/retract-report.ts'
import { authenticate } from '../authenticate.ts'
import { sendMessage } from '../download.ts'
import { admitReports } from '../limits/admit-reports.ts'
import { admit } from '../limits/admit.ts'
import { isUuid } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { claimKey } from './idempotency.ts'
import { describeReport } from './report-json.ts'
import { sendJson, sendReceipt, sendResults } from './results.ts'
import { bodyBytesMax, parseSubmission, takenTypes, type GivenMessage } from './submission.ts'

type Needs = Pick<
  Site,
  | 'pool'
  | 'boss'
  | 'clock'
  | 'config'
  | 'publicUrl'
  | 'credentials'
  | 'limits'
  | 'submit'
  | 'readBody'
>

/** The report API: `/api/v1/reports`. */
export function reportsApi(site: Needs): Router {
  const router = Router()
  router.post('/', (req, res) => takeReports(req, res, site))
  router.all('/', refuseMethod('POST'))
  router.get('/:id', async (req, res) => {
    const { report } = await requireOwnReport(req, res, site, 'read')
    sendJson(res, 200, await describeReport(site.pool, report))
  })
  router.delete('/:id', async (req, res) => {
    const { report, reporter } = await requireOwnReport(req, res, site, 'retract')
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
    const { report } = await requireOwnReport(req, res, site, 'read')
    const packed = await findOwnedMessage(site.pool, report.id)
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
  // Before the body: who is refused need not be read.
  const entry = await admitReports(req, res, site, reporter)
  const body = await site.readBody(req, res, bodyBytesMax(type, messageBytesMax))
  const at = req.url.indexOf('?')
  const query = at < 0 ? '' : req.url.slice(at + 1)
  const submission = await parseSubmission(body, { type, contentType, query, messageBytesMax })
  const key = req.headers['idempotency-key']
  if (typeof key === 'string') await claimKey(site, key, reporter.id, submission)
  const more = submission.messages.length - 1
  const admission = more > 0 ? await admitReports(req, res, site, reporter, more) : entry
  const isShadowed = [entry, admission].includes('shadowed')
  const submit = async (message: GivenMessage) =>
    'refusal' in message
      ? { taken: false as const, refusal: message.refusal }
      : site.submit(
          reporter,
          'api',
          message.raw,
          submission.remarks,
          isShadowed ? 'shadowed' : 'admitted',
        )
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
  res: Response,
  site: Needs,
  scope: Scope,
): Promise<{ report: OwnedReport; reporter: Reporter }> {
  const reporter = await authenticate(req, site.credentials, ['bearer', 'basic'], scope)
  const { id: reporterId, tokenHash } = reporter
  await admit(req, res, site, 'read', { reporterId, tokenHash })
  const report = isUuid(req.params.id) ? await findOwnedReport(site.pool, req.params.id) : undefined
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
