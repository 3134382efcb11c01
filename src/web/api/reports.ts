import type { Request, Response } from 'express'
import type { z } from 'zod'
import type { KeptAnalysis } from '../../db/analyses.ts'
import { listReporterPage } from '../../db/export-rows.ts'
import type { Db } from '../../db/pool.ts'
import type { ReportEvent } from '../../db/report-events.ts'
import { findRawMessage, listReportsByIds, type Report } from '../../db/reports.ts'
import type { Phrase } from '../../phrase.ts'
import { confirmReport, retractReport } from '../../reports/change-report.ts'
import {
  findReportDetails,
  hurryAnalysis,
  type ReportDetails,
  type ShownOutcome,
  withOutcomes,
} from '../../reports/own-reports.ts'
import type { SameReports } from '../../reports/same-reports.ts'
import { findReportOrSpooled } from '../../reports/take-spooled.ts'
import { restoreOwnReport, takeReportBack } from '../../reports/undo-retraction.ts'
import { inEnglish } from '../../texts/phrases.ts'
import { symbolScore, symbolsForReporters } from '../../verdict/verdict.ts'
import { drawWalk } from '../../verdict/walk-picture.ts'
import { uuidFloor } from '../../world.ts'
import { goneSignal } from '../bodies/read-body.ts'
import { sayMeaning } from '../history/symbols.ts'
import type { Caller } from '../../people/credentials.ts'
import { includesRole, type Role } from '../../roles.ts'
import { isUuid, pageOf, sendMessage, type Reader } from '../pages/render.ts'
import { reportingCaller } from './reporting-caller.ts'
import { ProblemError } from '../problem.ts'
import { refusalOf, type Upload, type UploadedFile } from '../reporting/take-upload.ts'
import type { Site } from '../site.ts'
import { takeBulk } from './bulk.ts'
import type { reportSchema } from './contract/report-schemas.ts'
import { answerOnce, claimKey, withFiles } from './cors.ts'
import { routeJson } from './route-json.ts'
import type { Call, Handlers } from './serve-operations.ts'
import {
  type ApiAnswer,
  linkToNext,
  problemFrom,
  readSubmission,
  receiptAnswer,
  reportUrl,
  resultsAnswer,
  sendAnswer,
  sendJson,
  type ApiSubmission,
  takenTypes,
} from './submission.ts'

/**
 * Returns the caller's reports: the newest first, continuing at `before`; or those after `after`,
 * oldest first, for clients that poll for new ones.
 */
async function listReports(
  { caller, query, res }: Call<'list-reports'>,
  { pool, publicUrl }: Pick<Site, 'pool' | 'publicUrl'>,
) {
  const { before, after, limit, kind, status, since } = query
  if (before !== undefined && after !== undefined) {
    throw new ProblemError('bad-field', 'Use either before or after, not both.')
  }
  const rows = await listReporterPage(pool, caller.id, {
    before,
    after,
    from: since === undefined ? undefined : uuidFloor(new Date(since)),
    kind,
    state: status,
    limit: limit + 1,
  })
  const page = pageOf(rows, limit, ({ id }) => ({
    ...(after === undefined ? { before: id } : { after: id }),
    ...{ limit: String(limit), kind, status, since },
  }))
  const next = linkToNext(res, page.next && `${publicUrl}/api/v1/reports${page.next}`)
  const shown = await withOutcomes(pool, page.lines)
  const reports = shown.map(({ id, state, outcome, receivedAt, kind: its, subject, author }) => ({
    id,
    status: state,
    result: outcome,
    received_at: receivedAt.toISOString(),
    kind: its,
    subject,
    author,
    url: reportUrl(publicUrl, id),
  }))
  return { reports, next }
}

/** A report as `GET /api/v1/reports/:id` returns it. */
export type ReportJson = z.infer<typeof reportSchema>

export async function describeReport(db: Db, report: Report): Promise<ReportJson> {
  const [details, [shown]] = await Promise.all([
    findReportDetails(db, report),
    withOutcomes(db, [report]),
  ])
  const { outcome, reasons } = shown ?? { outcome: 'waiting', reasons: [] }
  return reportJson(report, { ...details, outcome, reasons })
}

function reportJson(
  report: Report,
  {
    analysis,
    events,
    question,
    isUnconfirmed,
    same,
    outcome,
    reasons,
  }: ReportDetails & Pick<ShownOutcome, 'outcome' | 'reasons'>,
): ReportJson {
  return {
    id: report.id,
    status: report.state,
    result: outcome,
    reasons: reasons.map((one) => ({ ...phraseJson(one), text: inEnglish(one) })),
    received_at: report.receivedAt.toISOString(),
    kind: report.kind,
    comment: report.comment,
    rebuilt_from: report.rebuiltFrom,
    subject: report.subject,
    author: report.author,
    origin: originJson(analysis),
    ...(analysis ? routeJson(analysis.details) : noRoute),
    picture: analysis ? pictureJson(analysis) : null,
    question: question
      ? {
          candidates: question.candidates.map((candidate) => ({
            ip: candidate.ip,
            name: candidate.name,
            calls_itself: candidate.callsItself,
            hop: candidate.line,
            seen: candidate.isSeen,
            internal: candidate.isInternal,
          })),
        }
      : null,
    is_reduced: analysis?.details.isReduced === true,
    links: analysis
      ? analysis.details.links.map(({ url, host, where }) => ({ url, host, where }))
      : [],
    outcome: analysis?.details.consequence.action ?? null,
    confirmation_asked: isUnconfirmed,
    verdict: analysis ? verdictJson(analysis) : null,
    campaign: same ? campaignJson(same) : null,
    timeline: [
      {
        at: report.receivedAt.toISOString(),
        event: 'received',
        detail: channelSentences[report.channel],
        phrases: [],
      },
      ...events.map(eventJson),
    ],
  }
}

const noRoute = { origin_obstacle: null, submitter: null, hops: [] }

function eventJson({ at, event, phrases }: ReportEvent): ReportJson['timeline'][number] {
  return {
    at: at.toISOString(),
    event,
    detail: inEnglish(phrases),
    phrases: typeof phrases === 'string' ? [] : phrases.map(phraseJson),
  }
}

function phraseJson({ code, params = {} }: Phrase) {
  return { code, params }
}

function verdictJson({ details: { verdict } }: KeptAnalysis): ReportJson['verdict'] {
  const symbols = symbolsForReporters(verdict.symbols)
  return {
    class: verdict.class,
    score: symbolScore(symbols),
    symbols: symbols.map((symbol) => ({
      name: symbol.name,
      weight: symbol.weight,
      meaning: sayMeaning(symbol, 'en', 'operator').text,
    })),
  }
}

function campaignJson({ mark, others }: SameReports): ReportJson['campaign'] {
  return {
    id: mark,
    others_at_least: others?.min ?? null,
    first_seen_on: others?.firstDay ?? null,
    last_seen_on: others?.lastDay ?? null,
  }
}

const channelSentences: Record<Report['channel'], string> = {
  api: 'Received by the report API.',
  signaler: 'Received from a mail program.',
  form: 'Received by the web form.',
  mail: 'Received by mail.',
  import: 'Imported.',
  learn: 'Learned by a mail server.',
  trap: 'Received by a spam trap.',
  'feedback-loop': 'Received from a feedback loop.',
}

function pictureJson({ details }: KeptAnalysis): ReportJson['picture'] {
  const { stations, border } = drawWalk(details)
  return {
    stations: stations.map(({ role, name, ip, aliases, line, isUnlinked, isSubmitter }) => ({
      role,
      name,
      ip,
      aliases,
      hop: line,
      unlinked: isUnlinked,
      submitter: isSubmitter,
    })),
    border,
  }
}

function originJson(analysis: KeptAnalysis | undefined): ReportJson['origin'] {
  const origin = analysis?.details.origin
  if (!origin) return null
  const network = analysis.network
  return {
    ip: origin.ip,
    confidence: origin.confidence,
    hop: origin.hop,
    network: network
      ? {
          cidr: network.cidr,
          asn: network.asn,
          name: network.name,
          country: network.country,
        }
      : null,
    why: origin.why.map(inEnglish),
    phrases: origin.why.map(phraseJson),
  }
}

/** Reports: submit, read, retract, restore and confirm. */
export function reportHandlers(site: Site) {
  const { pool } = site
  return {
    report: { whole: (req, res) => takeReports(req, res, site) },
    'look-into': { whole: (req, res) => lookInto(req, res, site) },
    'report-many': { whole: (req, res) => takeBulk(req, res, site) },
    async 'list-reports'(call) {
      sendJson(call.res, 200, await listReports(call, site), 'owner')
      return undefined
    },
    async 'read-report'(call) {
      const { report, reader } = await requireOwnReport(call, site, 'viewer')
      if (reader === 'owner') await hurryAnalysis(pool, [report])
      sendJson(call.res, 200, await describeReport(pool, report), reader)
      return undefined
    },
    async 'retract-report'(call) {
      const { report, reader } = await requireOwnReport(call, site, 'analyst')
      const overruledBy = { isReporter: false, administratorId: call.caller.id } as const
      if (reader === 'owner') await takeReportBack(site, report.id)
      else await retractReport(site, report.id, overruledBy)
      const retracted = { ...report, state: 'retracted' as const }
      sendJson(call.res, 200, await describeReport(pool, retracted), reader)
      return undefined
    },
    async 'restore-report'(call) {
      const { report } = await requireOwnReport(call, site, undefined)
      await restoreOwnReport(site, report.id)
      const [restored = report] = await listReportsByIds(pool, [report.id])
      sendJson(call.res, 200, await describeReport(pool, restored), 'owner')
      return undefined
    },
    async 'confirm-report'(call) {
      const { report } = await requireOwnReport(call, site, undefined)
      const isOpen = await confirmReport(site, report.id)
      const confirmed = isOpen ? { ...report, state: 'received' as const } : report
      sendJson(call.res, 200, await describeReport(pool, confirmed), 'owner')
      return undefined
    },
    async 'read-message'(call) {
      const { report, reader } = await requireOwnReport(call, site, 'analyst')
      const raw = await findRawMessage(pool, report.id)
      if (!raw) throw notFound()
      await sendMessage(call.res, `${report.id}.eml`, raw, reader)
      return undefined
    },
  } satisfies Partial<Handlers>
}

/** Reads what a request hands in, after its rate limit: a refused body need not be read. */
async function receive(req: Request, res: Response, site: Site) {
  const { reporter, admit } = await reportingCaller(req, res, site)
  const type = ((req.headers['content-type'] ?? '').split(';')[0] ?? '').trim().toLowerCase()
  if (!takenTypes.split(', ').includes(type)) throw wrongType()
  const entry = await admit(1)
  const submission = await readSubmission(req, res, site, { type, ownerId: reporter.id })
  return { reporter, admit, entry, submission }
}

async function lookInto(req: Request, res: Response, site: Site): Promise<void> {
  const { reporter, submission } = await receive(req, res, site)
  const owner = { reporterId: reporter.id, gone: goneSignal(res) }
  const found = await site.lookInto(uploadedFiles(submission), owner)
  const messages = found.map((one) => ({
    file: one.name,
    problem: 'refusal' in one ? problemFrom(refusalOf(one.refusal), site) : null,
  }))
  const readable = messages.filter(({ problem }) => problem === null).length
  sendJson(res, 200, { found: readable, messages }, 'owner')
}

function uploadedFiles({ files }: ApiSubmission): UploadedFile[] {
  return files.map(({ file, raw, isCut }) => ({ name: file ?? '', bytes: raw, isCut }))
}

async function takeReports(req: Request, res: Response, site: Site): Promise<void> {
  const { reporter, admit, entry, submission } = await receive(req, res, site)
  const key = req.headers['idempotency-key']
  const isOwnMailbox = req.headers['on-behalf-of'] === undefined
  const sender = { reporter, entry, admitMore: admit, gone: goneSignal(res), isOwnMailbox }
  // While the database is away, the content of the messages replaces the key.
  const claimed =
    typeof key === 'string'
      ? await site.outage.run(
          () => claimKey(site, key, reporter.id, submission),
          () => undefined,
        )
      : undefined
  if (!claimed) return sendAnswer(res, (await answerTo(submission, sender, site)).said)
  if (claimed.answer) {
    res.setHeader('idempotency-replayed', 'true')
    const names = submission.files.map(({ file }) => file)
    return sendAnswer(res, withFiles(claimed.answer, names))
  }
  const { said, names } = await answerTo(submission, sender, site)
  const answer = await site.outage.run(
    () => answerOnce(site, claimed, said),
    () => said,
  )
  sendAnswer(res, withFiles(answer, names))
}

type SubmittedBy = Pick<Upload, 'reporter' | 'entry' | 'admitMore' | 'gone'> & {
  /** Whether the caller reports for the account itself, not for a mailbox user. */
  isOwnMailbox: boolean
}

/** The response to a request, with the names of the messages found in it. */
async function answerTo(
  submission: ApiSubmission,
  sender: SubmittedBy,
  site: Site,
): Promise<{ said: ApiAnswer; names: (string | null)[] }> {
  const { files, remarks, are } = submission
  const [first] = files
  // A mailbox may be sent as if it were one message.
  if (first && are === 'messages') {
    const outcome = await site.submit(sender.reporter, 'api', first.raw, remarks, sender.entry)
    const isMailbox = !outcome.taken && outcome.refusal.problem === 'several-messages'
    if (!isMailbox) {
      const said = await receiptAnswer(outcome, site)
      return { said: (await lacksWayIn(sender, site)) ? withoutWayIn(said) : said, names: [] }
    }
  }
  const upload = { ...sender, channel: 'api', remarks } as const
  const lines = await site.takeUpload(uploadedFiles(submission), upload)
  const names = lines.map(({ name }) => name)
  const [only, ...others] = lines
  const answer =
    only && others.length === 0
      ? await receiptAnswer(only.outcome, site)
      : await resultsAnswer(
          lines.map(({ name, outcome }) => ({ file: name, outcome })),
          site,
        )
  return { said: answer, names }
}

/**
 * Whether a test message to the caller's own address would help; false if that cannot be read now,
 * because the report is accepted already.
 */
async function lacksWayIn({ reporter, isOwnMailbox }: SubmittedBy, site: Site): Promise<boolean> {
  if (site.front || !isOwnMailbox) return false
  const advised = site.outage.run(
    () => site.advisesProbe(reporter.id),
    () => false,
  )
  return advised.catch(() => false)
}

function withoutWayIn(said: ApiAnswer): ApiAnswer {
  return { ...said, body: { ...said.body, way_in: 'unknown' } }
}

/**
 * Returns the report in the path if it belongs to the caller, or if the caller has the role that
 * may do the same with reports of others; to others it does not exist.
 */
async function requireOwnReport(
  { caller, path: { id } }: { caller: Caller; path: { id: string } },
  site: Site,
  role: Role | undefined,
): Promise<{ report: Report; reader: Reader }> {
  const report = isUuid(id) ? await findReportOrSpooled(id, caller.id, site) : undefined
  if (!report) throw notFound()
  if (report.reporterId === caller.id) return { report, reader: 'owner' }
  if (role === undefined || !includesRole(caller.role, role)) throw notFound()
  return { report, reader: 'other' }
}

function wrongType(): ProblemError {
  return new ProblemError('wrong-type', `Send one of these types: ${takenTypes}.`, {
    'accept-post': takenTypes,
  })
}

function notFound(): ProblemError {
  return new ProblemError('not-found', 'Report not found, or not yours.')
}
