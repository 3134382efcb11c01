import { Router, type Request, type Response } from 'express'
import { readReporters } from '../../counters/campaign-counts.ts'
import { type CounterReader, createCounterReader } from '../../counters/reader.ts'
import { type CampaignLine, listLargestCampaigns, sumCampaignDays } from '../../db/campaign-days.ts'
import { listCampaignHeads } from '../../db/campaigns.ts'
import { listReportsByIds } from '../../db/reports.ts'
import { isUuid, pageOf, queryOf } from '../paging.ts'
import type { Site } from '../site.ts'
import { sendCampaign } from './campaign.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'>

const LINES = 50
const DAY_MS = 86_400_000
/** Old enough for all that is kept, and far from where dates cannot be told any more. */
const FIRST_DAY = '2000-01-01'
const REPORTS_MAX = 2 ** 31 - 1
/** Counts of a few seconds ago will do, and a few pages of them. */
const memory = { keysMax: 2_000, freshMs: 5_000 }

/** The campaigns of a day, and one of them in full. */
export function campaignRoutes(site: Needs): Router {
  const reader = createCounterReader(site, memory)
  const router = Router()
  router.get('/', (req, res) => sendDay(req, res, site, reader))
  router.get('/:id', (req, res) => sendCampaign(req, res, site, reader))
  return router
}

async function sendDay(
  req: Request,
  res: Response,
  site: Needs,
  reader: CounterReader,
): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const today = dayOf(site.clock())
  const wanted = given.get('day') ?? ''
  const isFault = wanted !== '' && !isDay(wanted, today)
  const day = wanted === '' || isFault ? today : wanted
  const after = readAfter(given)
  const rows = await listLargestCampaigns(site.pool, day, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ campaignId, reports }) => ({
    day,
    after: campaignId,
    reports: String(reports),
  }))
  const before = daysAfter(day, -1)
  sendAdminPage(req, res, {
    view: 'admin/campaigns',
    title: 'Campaigns',
    status: isFault ? 422 : 200,
    data: {
      day,
      today,
      faults: isFault ? ['This is not a day (UTC) up to today, such as 2026-11-20.'] : [],
      dayBefore: before < FIRST_DAY ? undefined : before,
      dayAfter: day < today ? daysAfter(day, 1) : undefined,
      lines: await describe(lines, day, site, reader),
      next,
      first: after && queryOf({ day }),
    },
  })
}

/** Each with its first report, and what is known beside its reports of that day. */
async function describe(
  lines: readonly CampaignLine[],
  day: string,
  { pool }: Needs,
  reader: CounterReader,
) {
  const ids = lines.map(({ campaignId }) => campaignId)
  const [heads, totals, reporters] = await Promise.all([
    listCampaignHeads(pool, ids),
    sumCampaignDays(pool, ids),
    readReporters(reader, ids, day),
  ])
  const reportIds = heads.map(({ firstReportId }) => firstReportId)
  const reports = await listReportsByIds(pool, reportIds)
  const headOf = new Map(heads.map((head) => [head.id, head]))
  const reportOf = new Map(reports.map((report) => [report.id, report]))
  const totalOf = new Map(totals.map((total) => [total.campaignId, total]))
  return lines.map((line) => ({
    ...line,
    first: reportOf.get(headOf.get(line.campaignId)?.firstReportId ?? ''),
    reporters: reporters.get(line.campaignId) ?? 0,
    total: totalOf.get(line.campaignId),
  }))
}

/** The last line of the page before. */
function readAfter(given: URLSearchParams): CampaignLine | undefined {
  const [campaignId, reports] = [given.get('after'), Number(given.get('reports'))]
  const isCount = Number.isInteger(reports) && reports > 0 && reports <= REPORTS_MAX
  return isUuid(campaignId) && isCount ? { campaignId, reports } : undefined
}

function isDay(text: string, today: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < FIRST_DAY || text > today) return false
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && dayOf(at) === text
}

function daysAfter(day: string, days: number): string {
  return dayOf(new Date(new Date(`${day}T00:00:00Z`).getTime() + days * DAY_MS))
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
