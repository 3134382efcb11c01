import { Router, type Request, type Response } from 'express'
import { unpack } from '../../db/packed.ts'
import type { Reporter } from '../../db/reporters.ts'
import { findRawMessage } from '../../db/raw-messages.ts'
import { findReport, type Report } from '../../db/reports.ts'
import type { Scope } from '../../db/tokens.ts'
import { retractReport } from '../../intake/retract-report.ts'
import { authenticate } from '../authenticate.ts'
import { sendMessage } from '../download.ts'
import { admitReports } from '../limits/admit-reports.ts'
import { admit } from '../limits/admit.ts'
import { isUuid } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import { goneSignal } from '../read-body.ts'
import type { Upload } from '../reporting/take-upload.ts'
import type { Site } from '../site.ts'
import { takeBulk } from './bulk.ts'
import { answerOnce, claimKey, withFiles } from './idempotency.ts'
import { listReports } from './list-reports.ts'
import { otherMethods } from './methods.ts'
import { describeReport } from './report-json.ts'
import { type ApiAnswer, receiptAnswer, resultsAnswer, sendAnswer, sendJson } from './results.ts'
import { readSubmission, takenTypes, type Submission } from './submission.ts'

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
  | 'takeUpload'
  | 'readBody'
  | 'takeBody'
  | 'bodies'
  | 'readLines'
>

/** The report API: `/api/v1/reports`. */
export function reportsApi(site: Needs): Router {
  const router = Router()
  router.post('/', (req, res) => takeReports(req, res, site))
  router.get('/', (req, res) => listReports(req, res, site))
  router.all('/', otherMethods('GET', 'POST'))
  router.post('/bulk', (req, res) => takeBulk(req, res, site))
  router.all('/bulk', otherMethods('POST'))
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
  router.all('/:id', otherMethods('GET', 'DELETE'))
  router.get('/:id/raw', async (req, res) => {
    const { report } = await requireOwnReport(req, res, site, 'read')
    const packed = await findRawMessage(site.pool, report.id)
    if (!packed) throw notFound()
    sendMessage(res, `${report.id}.eml`, await unpack(packed))
  })
  router.all('/:id/raw', otherMethods('GET'))
  return router
}

async function takeReports(req: Request, res: Response, site: Needs): Promise<void> {
  const reporter = await authenticate(req, site.credentials, ['bearer', 'basic'], 'report')
  const type = ((req.headers['content-type'] ?? '').split(';')[0] ?? '').trim().toLowerCase()
  if (!isTaken(type)) throw wrongType()
  // Before the body: who is refused need not be read.
  const entry = await admitReports(req, res, site, reporter)
  const submission = await readSubmission(req, res, site, { type, ownerId: reporter.id })
  const key = req.headers['idempotency-key']
  const admitMore = (messages: number) => admitReports(req, res, site, reporter, messages)
  const who = { reporter, entry, admitMore, gone: goneSignal(res) }
  if (typeof key !== 'string') return sendAnswer(res, (await answerTo(submission, who, site)).said)
  const claimed = await claimKey(site, key, reporter.id, submission)
  if (claimed.answer) {
    res.setHeader('idempotency-replayed', 'true')
    const names = submission.files.map(({ file }) => file)
    return sendAnswer(res, withFiles(claimed.answer, names))
  }
  const { said, names } = await answerTo(submission, who, site)
  sendAnswer(res, withFiles(await answerOnce(site, claimed, said), names))
}

type Who = Pick<Upload, 'reporter' | 'entry' | 'admitMore' | 'gone'>

/** What came of a request, with the names of what was found in it. */
async function answerTo(
  { files, remarks, are }: Submission,
  who: Who,
  site: Needs,
): Promise<{ said: ApiAnswer; names: (string | null)[] }> {
  const [first] = files
  if (first && are === 'messages') {
    const outcome = await site.submit(who.reporter, 'api', first.raw, remarks, who.entry)
    return { said: await receiptAnswer(outcome, site), names: [] }
  }
  const given = files.map(({ file, raw, isCut }) => ({ name: file ?? '', bytes: raw, isCut }))
  const lines = await site.takeUpload(given, { ...who, channel: 'api', remarks })
  const names = lines.map(({ name }) => name)
  const [only, ...others] = lines
  const said =
    only && others.length === 0
      ? await receiptAnswer(only.outcome, site)
      : await resultsAnswer(
          lines.map(({ name, outcome }) => ({ file: name, outcome })),
          site,
        )
  return { said, names }
}

/** The report of the address, if it is the caller's: others learn nothing of it. */
async function requireOwnReport(
  req: Request<{ id: string }>,
  res: Response,
  site: Needs,
  scope: Scope,
): Promise<{ report: Report; reporter: Reporter }> {
  const reporter = await authenticate(req, site.credentials, ['bearer', 'basic'], scope)
  const { id: reporterId, tokenHash } = reporter
  await admit(req, res, site, 'read', { reporterId, tokenHash })
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
