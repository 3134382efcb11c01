import { type Request, type Response, Router } from 'express'
import { listFeedback } from '../../db/feedback-reports.ts'
import {
  findOwnStop,
  listOutcomes,
  listOwnReports,
  type OwnOutcome,
  type OwnQuery,
  type OwnStop,
  type OwnStretch,
  type ReportLine,
} from '../../db/own-reports.ts'
import type { Db } from '../../db/pool.ts'
import { findRawMessage, type Report, type ReportKind, type ReportState } from '../../db/reports.ts'
import { unpack } from '../../db/rows.ts'
import { storableText } from '../../mail/text.ts'
import { retractReport } from '../../reports/change-report.ts'
import { uuidFloor } from '../../world.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, queryOf, sendMessage, sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendStatistics } from './statistics.ts'
import { requireOwn, sendStory, takeRelayAnswer } from './story.ts'

/** The outcomes by which reports can be filtered, in the order of the form. */
const outcomes = ['asking', 'waiting', 'told', 'answered', 'kept', 'taken-back'] as const

/** One of the outcomes. */
type Outcome = (typeof outcomes)[number]

/** The kinds of reports, in the order of the form. */
const kinds: readonly ReportKind[] = ['spam', 'phishing', 'not-spam']

/** The content of the form, to show again; invalid values are left out. */
type ListForm = {
  words: string
  kind: ReportKind | ''
  outcome: Outcome | ''
  /** Days in UTC such as `2026-11-20`, both inclusive. */
  from: string
  to: string
}

/** A report of the reporter, with its outcome. */
type OwnLine = ReportLine & OwnOutcome

/** A page of the reporter's reports, and the queries for the pages before and after it. */
type OwnPage = {
  lines: OwnLine[]
  /** Leads to newer reports; undefined if there are none. */
  newer: string | undefined
  older: string | undefined
  /**
   * Set if the search stopped before the page was full; `older` or `newer` continues from there.
   */
  lookedAtTo: Date | undefined
}

const LINES = 25
const WORDS_MAX = 100
const DAY_MS = 86_400_000
/** Maximum number of reports examined per page, which takes about 15 ms. */
const LOOKED_AT = 5_000
/** Rows of other tables are read for this many reports at once, up to LOOKED_UP per page. */
const CHUNK = 400
const LOOKED_UP = 2_000

const statesOf: Record<Outcome, readonly ReportState[]> = {
  asking: ['kept'],
  waiting: ['received', 'analyzed', 'failed'],
  told: ['forwarded'],
  answered: ['forwarded', 'retracted'],
  kept: ['kept'],
  'taken-back': ['retracted'],
}

/** Reads the form from the query of a page. */
function readListForm(req: Request): ListForm {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const kind = kinds.find((name) => name === given.get('kind')) ?? ''
  const outcome = outcomes.find((name) => name === given.get('outcome')) ?? ''
  const words = storableText(given.get('words')?.trim() ?? '', WORDS_MAX)
  return { words, kind, outcome, from: dayOf(given.get('from')), to: dayOf(given.get('to')) }
}

/** Reads the page for a query: `before` or `after` is the end of the adjacent page. */
async function readOwnPage(
  db: Db,
  reporterId: string,
  form: ListForm,
  cursor: { before: unknown; after: unknown },
): Promise<OwnPage> {
  const before = isUuid(cursor.before) ? cursor.before : undefined
  const after = isUuid(cursor.after) ? cursor.after : undefined
  const isBack = after !== undefined
  const { found, stop } = await gather(db, reporterId, form, {
    before: least(before, form.to && uuidFloor(new Date(Date.parse(form.to) + DAY_MS))),
    after: most(after, form.from && uuidFloor(new Date(form.from))),
    first: isBack ? 'oldest' : 'newest',
    limit: LINES + 1,
    lookedAtMax: LOOKED_AT,
  })
  const shown = found.slice(0, LINES)
  const lines = isBack ? shown.toReversed() : shown
  const onward = found.length > LINES ? shown.at(-1)?.id : stop?.id
  const [newest, oldest] = [lines.at(0)?.id, lines.at(-1)?.id]
  const link = (of: Record<string, string | undefined>) => queryOf({ ...form, ...of })
  const newer = isBack ? onward : before && (newest ?? before)
  const older = isBack ? (oldest ?? after) : onward
  return {
    lines,
    newer: newer && link({ after: newer }),
    older: older && link({ before: older }),
    lookedAtTo: stop?.receivedAt,
  }
}

/** The reports found, and where the search stopped if the page is not full. */
type Gathered = { found: OwnLine[]; stop: OwnStop | undefined }

async function gather(
  db: Db,
  reporterId: string,
  form: ListForm,
  stretch: OwnStretch,
): Promise<Gathered> {
  const query: OwnQuery = {
    words: form.words || undefined,
    kind: form.kind || undefined,
    states: form.outcome === '' ? undefined : statesOf[form.outcome],
  }
  const isSought = [form.words, form.kind, form.outcome].some((field) => field !== '')
  const fits = lookedUp[form.outcome] ?? (() => true)
  const limit = form.outcome in lookedUp ? CHUNK : stretch.limit
  const isBeyond = (id: string, stop: OwnStop) =>
    stretch.first === 'newest' ? id < stop.id : id > stop.id
  const found: OwnLine[] = []
  let part = { ...stretch, limit }
  for (let looked = 0; ;) {
    const rows = await listOwnReports(db, reporterId, query, part)
    const isEnd = rows.length < limit
    const stop = isSought && isEnd ? await findOwnStop(db, reporterId, part) : undefined
    const sure = stop ? rows.filter(({ id }) => !isBeyond(id, stop)) : rows
    const outcomes = await listOutcomes(db, sure)
    found.push(...sure.flatMap((row) => withOutcome(row, outcomes)).filter(fits))
    const last = sure.at(-1)
    looked += sure.length
    if (found.length >= stretch.limit) return { found, stop: undefined }
    if (!last || isEnd || sure.length < rows.length) return { found, stop }
    if (looked >= LOOKED_UP) return { found, stop: last }
    part = { ...part, [part.first === 'newest' ? 'before' : 'after']: last.id }
  }
}

/** Outcomes that need other tables to decide whether a report matches. */
const lookedUp: Readonly<Partial<Record<Outcome | '', (line: OwnLine) => boolean>>> = {
  asking: ({ isAsking }) => isAsking,
  answered: ({ answer }) => answer !== null,
}

function withOutcome(row: ReportLine, outcomes: ReadonlyMap<string, OwnOutcome>): OwnLine[] {
  const outcome = outcomes.get(row.id)
  return outcome ? [{ ...row, ...outcome }] : []
}

function dayOf(text: string | null): string {
  const isDay = text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text)
  return isDay && !Number.isNaN(Date.parse(text)) ? text : ''
}

function least(...ids: (string | undefined)[]): string | undefined {
  return ids.filter((id) => id).sort()[0]
}

function most(...ids: (string | undefined)[]): string | undefined {
  return ids
    .filter((id) => id)
    .sort()
    .at(-1)
}

type Needs = Pick<Site, 'pool' | 'boss' | 'clock'> & FormReader
type OwnRequest = Request<{ id: string }>

/** The reporter's own reports: the list, the statistics, and the story of each. */
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
    const problem = await takeRelayAnswer(req, site, report, form)
    if (problem === undefined) return res.redirect(303, `/reports/${report.id}`)
    await sendStory(req, res, site, report, { problem, picked: form.texts('relay') })
  })
  router.get(
    '/reports/:id/message.eml',
    ofOwn(async (_req, res, report) => {
      const packed = await findRawMessage(site.pool, report.id)
      if (!packed) throw new ProblemError('not-found', 'The message has been deleted.')
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
    title: visitOf(req).texts('reports.title'),
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

/** Sends the page that explains a retraction before it is done, because it cannot be undone. */
async function askWhether(req: Request, res: Response, site: Needs, report: Report): Promise<void> {
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
