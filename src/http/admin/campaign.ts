import type { Request, Response } from 'express'
import { type CampaignCounts, readCampaignCounts } from '../../counters/campaign-counts.ts'
import type { CounterReader } from '../../counters/reader.ts'
import { type KeptAnalysis, listPackedAnalyses } from '../../db/analyses.ts'
import { type CampaignDay, listCampaignDays } from '../../db/campaign-days.ts'
import { countOrigins, listMemberIds, listMembers } from '../../db/campaign-members.ts'
import { type CampaignHead, listCampaignHeads } from '../../db/campaigns.ts'
import { unpack } from '../../db/packed.ts'
import { findRawMessage } from '../../db/raw-messages.ts'
import { findReport, type Report } from '../../db/reports.ts'
import { uuidTime } from '../../world.ts'
import { seriesChart } from '../pages/series-chart.ts'
import { isUuid, pageOf } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import { shownText } from '../shown-text.ts'
import type { Site } from '../site.ts'
import { mostFrequent } from './most-frequent.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'>

const LINES = 25
/** Where a campaign comes from and what it says is told from so many of its newest reports. */
const NEWEST = 200
const ORIGINS_SHOWN = 50
const SHOWN = 10
const TEXT_CHARS_SHOWN = 4_000
const DAY_MS = 86_400_000

/** One campaign: how much of it came when, from where, what it says, and its reports. */
export async function sendCampaign(
  req: Request<{ id: string }>,
  res: Response,
  site: Needs,
  reader: CounterReader,
): Promise<void> {
  const campaign = await requireCampaign(req.params.id, site)
  const before = isUuid(req.query['before']) ? req.query['before'] : undefined
  const [days, counts, newest, oldest, rows] = await Promise.all([
    listCampaignDays(site.pool, campaign.id),
    readCampaignCounts(reader, campaign.id),
    listMemberIds(site.pool, campaign.id, { from: 'newest', limit: NEWEST }),
    listMemberIds(site.pool, campaign.id, { from: 'oldest', limit: 1 }),
    listMembers(site.pool, campaign.id, { before, limit: LINES + 1 }),
  ])
  const [content, sample] = await Promise.all([
    describeContent(newest, site),
    findSample([campaign.firstReportId, ...oldest], site),
  ])
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ before: id }))
  sendAdminPage(req, res, {
    view: 'admin/campaign',
    title: 'Campaign',
    data: {
      campaign,
      reports: days.reduce((sum, day) => sum + day.reports, 0),
      firstSeen: timeOf(oldest[0]),
      lastSeen: timeOf(newest[0]),
      ...drawn(days, counts, site.clock()),
      looked: newest.length,
      ...content,
      sample,
      lines,
      next,
      isFirst: before === undefined,
      amount,
    },
  })
}

async function requireCampaign(id: string, { pool }: Needs): Promise<CampaignHead> {
  const [campaign] = isUuid(id) ? await listCampaignHeads(pool, [id]) : []
  if (!campaign) throw new ProblemError('not-found', 'There is no such campaign.')
  return campaign
}

const whole = new Intl.NumberFormat('en-GB')

/** `1 report`, `2,000 reports`. */
function amount(count: number, name: string): string {
  return `${whole.format(count)} ${name}${count === 1 ? '' : 's'}`
}

/** When a report came, by its id. */
function timeOf(reportId: string | undefined): Date | undefined {
  return reportId === undefined ? undefined : uuidTime(reportId)
}

/** The two charts, and who was in it day by day. */
function drawn(days: readonly CampaignDay[], counts: CampaignCounts, now: Date) {
  const points = days.map(({ day, reports }) => ({ startsAt: new Date(day), reports }))
  const from = points[0]?.startsAt ?? now
  const reportsOf = new Map(days.map(({ day, reports }) => [day, reports]))
  return {
    byDay: seriesChart(points, {
      id: 'by-day',
      title: 'Reports by day (UTC)',
      period: 'day',
      series: [{ key: 'reports', name: 'Reports', tone: 'plain' }],
      now,
      from: new Date(Math.min(from.getTime(), now.getTime() - 13 * DAY_MS)),
    }),
    lastDay: seriesChart(counts.tenMinutes, {
      id: 'last-day',
      title: 'The last day by ten minutes (UTC)',
      period: 'tenMinutes',
      series: [
        { key: 'complaint', name: 'Reported as spam or phishing', tone: 'bad' },
        { key: 'ham', name: 'Not spam', tone: 'good', isBelow: true },
      ],
      now,
    }),
    different: counts.different
      .map((row) => ({ ...row, reports: reportsOf.get(row.day) ?? 0 }))
      .filter(({ reporters, networks, authors }) => reporters + networks + authors > 0)
      .toReversed(),
  }
}

/** From where reports came, what they say of themselves, and where their links lead. */
async function describeContent(ids: readonly string[], { pool }: Needs) {
  const [origins, details] = await Promise.all([
    countOrigins(pool, ids, ORIGINS_SHOWN),
    listDetails(ids, pool),
  ])
  const frequent = (values: readonly string[]) => mostFrequent(values, SHOWN)
  return {
    origins,
    subjects: asking(
      frequent(details.map(({ subject }) => subject)),
      (value) => value && `kind=subject&value=${encodeURIComponent(value)}`,
    ),
    authors: asking(
      frequent(details.map(({ author }) => author)),
      (value) => endsInAddress.test(value) && `kind=address&value=${encodeURIComponent(value)}`,
    ),
    hosts: asking(
      frequent(details.flatMap(({ hosts }) => hosts)),
      (value) => value && `value=${encodeURIComponent(value)}`,
    ),
  }
}

/** What nobody can ask about leads nowhere. */
const endsInAddress = /[^\s<>@"]{1,64}@[^\s<>@"]{1,255}>?$/

/** Each line with the address of what is counted of it. */
function asking(
  { lines, more }: ReturnType<typeof mostFrequent>,
  query: (value: string) => string | false,
) {
  const hrefOf = (value: string) => {
    const asked = query(value)
    return asked ? `/admin/counters?${asked}` : undefined
  }
  return { lines: lines.map((line) => ({ ...line, href: hrefOf(line.value) })), more }
}

type Details = Pick<KeptAnalysis['details'], 'headers' | 'links'>
/** What a report says; each host once, however often it leads there. */
type Saying = { subject: string; author: string; hosts: string[] }

/** What the analyses of reports found, those of the newest first. */
async function listDetails(ids: readonly string[], pool: Needs['pool']): Promise<Saying[]> {
  const rows = await listPackedAnalyses(pool, ids)
  rows.sort((a, b) => (a.id < b.id ? 1 : -1))
  const found: Saying[] = []
  // One by one: a few KB may unpack to half a megabyte, and all of them at once to hundreds.
  for (const row of rows) {
    const { headers, links } = JSON.parse((await unpack(row)).toString()) as Details
    const hosts = [...new Set(links.map(({ host }) => host))]
    found.push({ subject: headers.subject ?? '', author: headers.from ?? '', hosts })
  }
  return found
}

/** The first of these reports that is still there and was not taken back, and its text. */
async function findSample(ids: readonly string[], { pool }: Needs) {
  for (const id of ids) {
    const [report, packed] = await Promise.all([findReport(pool, id), findRawMessage(pool, id)])
    if (report && report.state !== 'retracted' && packed)
      return describeSample(report, await unpack(packed))
  }
  return undefined
}

async function describeSample(report: Report, raw: Buffer) {
  // The library that reads bodies is loaded when somebody looks at one.
  const { readableText } = await import('../../verdict/readable-text.ts')
  const text = await readableText(raw)
  return { report, text: text && shownText(text, TEXT_CHARS_SHOWN) }
}
