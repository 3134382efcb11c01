import { type Request, type Response, Router } from 'express'
import { countReceivedDays } from '../../db/feedback-reports.ts'
import { DAY_MS } from '../../durations.ts'
import {
  answerDeskReports,
  type DeskReport,
  findDeskCopy,
  findDeskReport,
  groupAnswers,
  listDeskReports,
  parseReportNumber,
  reportNumber,
} from '../../feedback/desk-reports.ts'
import { findRequestState } from '../../feedback/original-requests.ts'
import { isOriginalAskable } from '../../verdict/consumers.ts'
import { shownText } from '../../mail/text.ts'
import { csvLine } from '../../mail/csv.ts'
import type { Language, Texts } from '../../texts/messages.ts'
import type { Form, FormReader } from '../pages/form.ts'
import { formPage, type PageCall } from '../pages/form-page.ts'
import { pageOf, queryOf, sendMessage, sendPage } from '../pages/render.ts'
import { countGraph } from '../pages/count-graph.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { shownMessage } from './desk-message.ts'
import { consumerOf } from './own-page.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config'> & FormReader

const LINES = 25
const TREND_DAYS = 30
const CSV_LINES_MAX = 10_000
const CSV_LINES_AT_ONCE = 50
const TEXT_CHARS_MAX = 100_000

/** The reports that an abuse desk received, on its own page: read, answer and download them. */
export function deskReportRoutes(site: Needs): Router {
  const router = Router()
  router.use(
    formPage(site, {
      at: '/consumers/:token/reports',
      view: 'pages/consumers/reports',
      title: 'desk.reports.link',
      data: (call) => describeReports(call, site),
      async take({ req, texts, form }) {
        const consumer = await consumerOf(req.params['token'], site)
        const given = answerIn(form)
        if (given === undefined) return { status: 422, fault: texts('desk.group.none') }
        const outcomes = await answerDeskReports(site, consumer.id, given)
        const done = outcomes.filter(({ result }) => result === 'taken').length
        const open = req.query['open'] === undefined ? undefined : '1'
        return `${baseOf(req)}${queryOf({ open, done: String(done) })}`
      },
    }),
  )
  router.get('/consumers/:token/reports.csv', async (req, res) => {
    const consumer = await consumerOf(req.params.token, site)
    await sendCsv(res, consumer.id, site)
  })
  router.get('/consumers/:token/reports/:number', async (req, res) => {
    await sendReport(req, res, site)
  })
  router.get('/consumers/:token/reports/:number/message.eml', async (req, res) => {
    const { feedback } = await reportOf(req, site)
    const copy = await findDeskCopy(site.pool, feedback)
    if (!copy) throw new ProblemError('not-found', 'Mail not found.')
    await sendMessage(res, `report-${reportNumber(feedback)}.eml`, copy.raw, 'owner')
  })
  return router
}

/** Parses the answer to the chosen reports; undefined if none is chosen. */
function answerIn(form: Form) {
  const answer = [...groupAnswers, 'original' as const].find((one) => one === form.text('answer'))
  const numbers = form.texts(form.text('all') === 'yes' ? 'listed' : 'chosen')
  if (answer === 'original' && numbers.length > 1) return undefined
  if (answer === undefined || numbers.length === 0) return undefined
  return { numbers, answer, said: form.text('said'), how: 'link' as const }
}

/** The path of the list of reports, from a request for it or for something below it. */
function baseOf({ params }: Pick<Request, 'params'>): string {
  return `/consumers/${encodeURIComponent(String(params['token']))}/reports`
}

async function describeReports({ req, res, texts, language }: PageCall, site: Needs) {
  const consumer = await consumerOf(req.params['token'], site)
  const isOpen = req.query['open'] !== undefined
  const before = parseReportNumber(String(req.query['before'] ?? ''))
  const [reports, trend] = await Promise.all([
    listDeskReports(site.pool, consumer.id, { before, isOpen, limit: LINES + 1 }),
    trendOf(consumer.id, { texts, language }, site),
  ])
  const open = isOpen ? '1' : undefined
  const page = pageOf(reports, LINES, ({ key }) => ({ open, before: reportNumber(key) }))
  const done = /^\d{1,3}$/.exec(String(req.query['done'] ?? ''))?.[0]
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  return {
    address: consumer.address,
    base: baseOf(req),
    lines: page.lines.map((line) => ({ ...line, number: reportNumber(line.key) })),
    ...{ next: page.next, isFirst: before === undefined, isOpen, trend, groupAnswers },
    done: done === undefined ? undefined : Number(done),
  }
}

async function trendOf(
  consumerId: string,
  { texts, language }: { texts: Texts; language: Language },
  { pool, clock }: Pick<Needs, 'pool' | 'clock'>,
) {
  const now = clock()
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const from = new Date(today - (TREND_DAYS - 1) * DAY_MS)
  const days = await countReceivedDays(pool, consumerId, from)
  const points = days.map((counts) => ({ ...counts, startsAt: new Date(counts.day) }))
  return countGraph(points, {
    ...{ id: 'trend', title: texts('desk.trend.title'), period: 'day', isStacked: true },
    series: [
      { key: 'open', name: texts('desk.trend.open'), tone: 'warn' },
      { key: 'answered', name: texts('desk.trend.answered'), tone: 'good' },
    ],
    ...{ now, from, language, texts },
  })
}

const csvColumns = [
  ...['number', 'sent_at', 'type', 'source_ip', 'arrived_at', 'messages', 'subject', 'answers'],
]

/** Sends the newest reports as CSV, in bounded steps. */
async function sendCsv(res: Response, consumerId: string, { pool }: Needs): Promise<void> {
  res.setHeader('content-type', 'text/csv; charset=utf-8')
  res.setHeader('content-disposition', 'attachment; filename="reports.csv"')
  res.setHeader('cache-control', 'no-store')
  res.write(csvLine(csvColumns))
  let before: DeskReport['key'] | undefined
  for (let sent = 0; sent < CSV_LINES_MAX && !res.destroyed; sent += CSV_LINES_AT_ONCE) {
    const filter = { before, isOpen: false, limit: CSV_LINES_AT_ONCE }
    const reports = await listDeskReports(pool, consumerId, filter)
    const isTaken = res.write(reports.map(csvOf).join(''))
    before = reports.at(-1)?.key
    if (reports.length < CSV_LINES_AT_ONCE) break
    if (!isTaken) await drained(res)
  }
  res.end()
}

function drained(res: Response): Promise<void> {
  return new Promise((resolve) => {
    res.once('drain', resolve).once('close', resolve)
  })
}

function csvOf({ key, sentAt, isDigest, line, incidents, answers }: DeskReport): string {
  return csvLine([
    ...[reportNumber(key), sentAt.toISOString(), isDigest ? 'digest' : (line?.kind ?? '')],
    ...[line?.sourceIp ?? '', line?.arrivedAt?.toISOString() ?? '', incidents],
    ...[line?.subject ?? '', answers.join(' ')],
  ])
}

/** Returns the report of a request to its desk; otherwise throws the error for "not found". */
async function reportOf(req: Request<{ token: string; number: string }>, site: Needs) {
  const consumer = await consumerOf(req.params.token, site)
  const key = parseReportNumber(req.params.number)
  const found = key && (await findDeskReport(site.pool, consumer.id, key))
  if (!found) throw new ProblemError('not-found', 'Report not found.')
  return found
}

async function sendReport(
  req: Request<{ token: string; number: string }>,
  res: Response,
  site: Needs,
): Promise<void> {
  const { feedback, others } = await reportOf(req, site)
  const copy = await findDeskCopy(site.pool, feedback)
  const number = reportNumber(feedback)
  const { texts } = visitOf(req)
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, {
    view: 'pages/consumers/report',
    title: texts('desk.report.title'),
    data: {
      ...{ base: baseOf(req), reportNumber: number, groupAnswers },
      others: others.map(reportNumber),
      request: await findRequestState(site.pool, feedback, site.clock()),
      mayAskOriginal: isOriginalAskable(feedback) && copy?.line.kind === 'abuse',
      reported: copy && (await shownMessage(copy)),
      text: copy && shownText(copy.parts.text, TEXT_CHARS_MAX),
    },
  })
}
