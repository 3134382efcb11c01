import { type Request, Router } from 'express'
import { dateOf, DAY_MS } from '../../durations.ts'
import { shownText } from '../../mail/text.ts'
import {
  type CampaignCounts,
  type Growth,
  readCampaignCounts,
  readHourlyGrowth,
} from '../../counting/campaign-counts.ts'
import { type CounterReader, createCounterReader } from '../../counting/reader.ts'
import { type KeptAnalysis, listPackedAnalyses, listVerdicts } from '../../db/analyses.ts'
import {
  type CampaignDay,
  type CampaignHead,
  countOrigins,
  findWitnesses,
  listCampaignDays,
  listCampaignHeads,
  listCampaignMembers,
  listLargestOfDays,
  listMemberIds,
  sumAround,
  sumCampaignDays,
} from '../../db/campaigns.ts'
import { listCampaignDecisions } from '../../db/campaign-decisions.ts'
import { findRawMessage, findReport, listReportsByIds, type Report } from '../../db/reports.ts'
import { unpack } from '../../db/rows.ts'
import { listFoundReports } from '../../db/search.ts'
import {
  decidableClasses,
  decideCampaign,
  undecideCampaign,
} from '../../reports/campaign-decisions.ts'
import type { Language } from '../../texts/messages.ts'
import { symbolsForReporters } from '../../verdict/verdict.ts'
import { uuidTime } from '../../world.ts'
import { plainReasons, sayMeaning } from '../history/symbols.ts'
import { isUuid, pageOf } from '../pages/render.ts'
import { countGraph } from '../pages/count-graph.ts'
import type { Visit } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, choiceParam, digitsParam, listPage } from './list-page.ts'
import { adminPage, type PageCall } from './page.ts'
import { mostFrequent } from './reports.ts'

type Needs = Pick<Site, 'pool' | 'clock'>

/** Number of newest reports from which the origins and contents of a campaign are computed. */
const NEWEST = 200
const CAMPAIGN_LINES = 25
const ORIGINS_SHOWN = 50
const SHOWN = 10
const TEXT_CHARS_SHOWN = 4_000

/** The volume of a campaign over time, its origins, contents and reports. */
async function describeCampaign({ req, ...visit }: PageCall, site: Needs, reader: CounterReader) {
  const campaign = await requireCampaign(req.params['id'], site)
  const before = isUuid(req.query['before']) ? req.query['before'] : undefined
  const [days, counts, newest, oldest, members, decisions] = await Promise.all([
    listCampaignDays(site.pool, campaign.id),
    readCampaignCounts(reader, campaign.id),
    listMemberIds(site.pool, campaign.id, { from: 'newest', limit: NEWEST }),
    listMemberIds(site.pool, campaign.id, { from: 'oldest', limit: 1 }),
    listCampaignMembers(site.pool, campaign.id, { before, limit: CAMPAIGN_LINES + 1 }),
    listCampaignDecisions(site.pool, [campaign.id]),
  ])
  const [content, sample, evidence] = await Promise.all([
    describeContent(newest, site),
    findSample([campaign.firstReportId, ...oldest], site),
    describeEvidence(campaign, newest, visit.language, site),
  ])
  const page = pageOf(members, CAMPAIGN_LINES, (id) => ({ before: id }))
  return {
    campaign,
    reports: days.reduce((sum, day) => sum + day.reports, 0),
    firstSeen: timeOf(oldest[0]),
    lastSeen: timeOf(newest[0]),
    ...drawn(days, counts, site.clock(), visit),
    looked: newest.length,
    decided: decisions.find(({ about }) => about === ''),
    resolved: decisions.filter(({ says }) => says === 'resolved'),
    classes: decidableClasses,
    ...{ evidence, ...content },
    sample,
    lines: await listFoundReports(site.pool, page.lines),
    ...{ first: visit.path, next: page.next && visit.path + page.next },
    isFirst: before === undefined,
  }
}

async function requireCampaign(id: unknown, { pool }: Needs): Promise<CampaignHead> {
  const [campaign] = isUuid(id) ? await listCampaignHeads(pool, [id]) : []
  if (!campaign) throw new ProblemError('not-found', 'Campaign not found.')
  return campaign
}

/** The time when a report was received, from its id. */
function timeOf(reportId: string | undefined): Date | undefined {
  return reportId === undefined ? undefined : uuidTime(reportId)
}

/**
 * Returns the two charts of a campaign, and for each day, newest first, the number of different
 * reporters, networks and authors.
 */
function drawn(
  days: readonly CampaignDay[],
  counts: CampaignCounts,
  now: Date,
  { texts, language }: Pick<Visit, 'texts' | 'language'>,
) {
  const points = days.map(({ day, reports }) => ({ startsAt: new Date(day), reports }))
  const from = points[0]?.startsAt ?? now
  const reportsOf = new Map(days.map(({ day, reports }) => [day, reports]))
  return {
    byDay: countGraph(points, {
      id: 'by-day',
      title: texts('campaign.byDay'),
      ...{ period: 'day', language, texts },
      series: [{ key: 'reports', name: texts('campaigns.reports'), tone: 'one' }],
      now,
      from: new Date(Math.min(from.getTime(), now.getTime() - 13 * DAY_MS)),
    }),
    lastDay: countGraph(counts.tenMinutes, {
      id: 'last-day',
      title: texts('campaign.lastDay'),
      ...{ period: 'tenMinutes', language, texts },
      series: [
        { key: 'complaint', name: texts('campaign.unwanted'), tone: 'bad' },
        { key: 'ham', name: texts('campaign.wanted'), tone: 'good', isBelow: true },
      ],
      now,
    }),
    different: counts.different
      .map((row) => ({ ...row, reports: reportsOf.get(row.day) ?? 0 }))
      .filter(({ reporters, networks, authors }) => reporters + networks + authors > 0)
      .toReversed(),
  }
}

/**
 * Returns the origins of the given reports, and their most frequent subjects, authors and link
 * hosts.
 */
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

/** Names that end in a mail address get no link, because they cannot be looked up. */
const endsInAddress = /[^\s<>@"]{1,64}@[^\s<>@"]{1,255}>?$/

/** Adds to each line a link to the counters of its value. */
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

/**
 * What helps to decide: how the newest reports were judged, what their reporters say, and the signs
 * in the first message. `suggests` is the class of more than half of these reports, if one can
 * decide it.
 */
async function describeEvidence(
  { id, firstReportId }: CampaignHead,
  newest: readonly string[],
  language: Language,
  { pool, clock }: Needs,
) {
  const [reports, signs, [witness]] = await Promise.all([
    listFoundReports(pool, newest),
    listSigns([firstReportId], language, { pool, clock }),
    findWitnesses(pool, [id]),
  ])
  const judged = reports.flatMap(({ verdictClass }) => verdictClass ?? [])
  const classes = mostFrequent(judged, SHOWN).lines
  const [first] = classes
  const isMost = first && first.count * 2 > reports.length
  return {
    classes,
    kinds: mostFrequent(
      reports.map(({ kind }) => kind),
      SHOWN,
    ).lines,
    signs: signs.get(firstReportId)?.signs ?? [],
    independent: witness?.complainants ?? 0,
    suggests: isMost ? decidableClasses.find((one) => one === first.value) : undefined,
  }
}

type Details = Pick<KeptAnalysis['details'], 'headers' | 'links'>
/** The subject and author of a report and the hosts of its links, without duplicates. */
type Saying = { subject: string; author: string; hosts: string[] }

/** Returns the contents found by the analyses of reports, newest first. */
async function listDetails(ids: readonly string[], pool: Needs['pool']): Promise<Saying[]> {
  const rows = await listPackedAnalyses(pool, ids)
  rows.sort((a, b) => (a.id < b.id ? 1 : -1))
  const found: Saying[] = []
  // Unpacked one at a time: a few KB may unpack to half a megabyte, so all rows together could need
  // 100 MB.
  for (const row of rows) {
    const { headers, links } = JSON.parse((await unpack(row)).toString()) as Details
    const hosts = [...new Set(links.map(({ host }) => host))]
    found.push({ subject: headers.subject ?? '', author: headers.from ?? '', hosts })
  }
  return found
}

/**
 * Returns the first of the given reports that still exists and is not retracted, with the text of
 * its message.
 */
async function findSample(ids: readonly string[], { pool }: Needs) {
  for (const id of ids) {
    const [report, raw] = await Promise.all([findReport(pool, id), findRawMessage(pool, id)])
    if (report && report.state !== 'retracted' && raw) return describeSample(report, raw)
  }
  return undefined
}

async function describeSample(report: Report, raw: Buffer) {
  // Loads the library that reads bodies only when it is needed.
  const { messageText } = await import('../../verdict/advice.ts')
  const text = await messageText(raw)
  return { report, text: text && shownText(text, TEXT_CHARS_SHOWN) }
}

/** Earlier than any stored data, and within the range of valid dates. */
const FIRST_DAY = '2000-01-01'
const LINES = 25
/** So many of the largest campaigns are compared; the last hour is read from counters. */
const COMPARED = { days: 300, hour: 100 }
const sorts = ['growth', 'reports'] as const
const periods = ['week', 'month', 'day', 'hour'] as const
/** Days of a period; the last hour may begin yesterday. */
const lengths = { week: 7, month: 30, day: 1, hour: 2 }
type Period = (typeof periods)[number]
/** Limits of the counter cache: counts may be 5 seconds old. */
const memory = { keysMax: 2_000, freshMs: 5_000 }

export function campaignRoutes(site: Site): Router {
  const reader = createCounterReader(site, memory)
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/campaigns',
      title: 'campaigns.title',
      filters: {
        period: choiceParam(periods),
        day: (text) => (isDay(text, dateOf(site.clock())) ? text : undefined),
        sort: choiceOrFirstParam(sorts),
      },
      cursor: { from: digitsParam },
      linesMax: LINES,
      read: async ({ sort, from, limit }, { req, language }) => {
        const grown = await listGrowth(chosenBy(req, site), site, reader)
        const start = Math.min(Number(from ?? 0), grown.length)
        const lines = grown.toSorted(sort === 'growth' ? byGrowth : bySize)
        return describe(lines.slice(start, start + limit), start, language, site)
      },
      next: ({ nth }) => ({ from: String(nth) }),
      data({ req, texts }) {
        const { period, day, today, isFault } = chosenBy(req, site)
        return {
          problems: isFault ? [texts('campaigns.wrongDay', { example: today })] : [],
          ...{ period, periods, day, today, sorts, among: COMPARED },
          dayBefore: day > FIRST_DAY ? daysAfter(day, -1) : undefined,
          dayAfter: day < today ? daysAfter(day, 1) : undefined,
        }
      },
    }),
    adminPage(site, {
      at: '/:id',
      view: 'admin/campaign',
      title: 'campaign.title',
      data: (call) => describeCampaign(call, site, reader),
      form: {
        actions: { decide: decideCampaign, undecide: undecideCampaign },
        fields: (req) => ({ id: req.params['id'] }),
      },
    }),
  )
  return router
}

type Chosen = { period: Period; day: string }

/** The period in an address and its last day. A named day is a period of its own. */
function chosenBy(req: Request, { clock }: Needs): Chosen & { today: string; isFault: boolean } {
  const params = searchParamsOf(req)
  const [given, today] = [params.get('day') ?? '', dateOf(clock())]
  const isNamed = isDay(given, today)
  const period = isNamed ? 'day' : choiceOrFirstParam(periods)(params.get('period') ?? '')
  return { period, day: isNamed ? given : today, today, isFault: given !== '' && !isNamed }
}

type GrowingLine = Growth & { campaignId: string }

/**
 * The largest campaigns of a period, with their reports in it and in the period of the same length
 * before it; for the last hour, with complaints.
 */
async function listGrowth(
  { period, day }: Chosen,
  { pool, clock }: Needs,
  reader: CounterReader,
): Promise<GrowingLine[]> {
  const length = lengths[period]
  const days = Array.from({ length }, (_, ago) => daysAfter(day, -ago))
  const isHour = period === 'hour'
  const ids = await listLargestOfDays(pool, days, isHour ? COMPARED.hour : COMPARED.days)
  const counts = isHour
    ? await readHourlyGrowth(reader, ids, clock())
    : await sumAround(pool, ids, {
        from: daysAfter(day, 1 - 2 * length),
        split: daysAfter(day, 1 - length),
        until: day,
      })
  const lines = [...counts].map(([campaignId, growth]) => ({ campaignId, ...growth }))
  return lines.filter(({ now, before }) => now + before > 0)
}

/** The campaign that grew most first; of equal ones, the larger one. */
function byGrowth(a: GrowingLine, b: GrowingLine): number {
  return b.now - b.before - (a.now - a.before) || bySize(a, b)
}

function bySize(a: GrowingLine, b: GrowingLine): number {
  return b.now - a.now || (a.campaignId < b.campaignId ? -1 : 1)
}

const SIGNS_SHOWN = 2

/** The verdicts on reports, with their heaviest signs in words, by report. */
async function listSigns(ids: readonly string[], language: Language, { pool }: Needs) {
  const signs = (await listVerdicts(pool, ids)).map(({ id, verdict }) => {
    const reasons = plainReasons(symbolsForReporters(verdict.symbols), verdict)
    const words = reasons.map((symbol) => sayMeaning(symbol, language, 'operator').text)
    return [id, { class: verdict.class, signs: words.slice(0, SIGNS_SHOWN) }] as const
  })
  return new Map(signs)
}

/** Adds to each campaign its place, its first report, and what helps to decide about it. */
async function describe(
  lines: readonly GrowingLine[],
  from: number,
  language: Language,
  { pool, clock }: Needs,
) {
  const ids = lines.map(({ campaignId }) => campaignId)
  const [heads, totals, witnesses, decisions] = await Promise.all([
    listCampaignHeads(pool, ids),
    sumCampaignDays(pool, ids),
    findWitnesses(pool, ids),
    listCampaignDecisions(pool, ids),
  ])
  const reportIds = heads.map(({ firstReportId }) => firstReportId)
  const reports = await listReportsByIds(pool, reportIds)
  const signs = await listSigns(reportIds, language, { pool, clock })
  const independent = new Map(witnesses.map((one) => [one.campaignId, one.complainants]))
  const decided = decisions.filter(({ about }) => about === '')
  const saysOf = new Map(decided.map(({ campaignId, says }) => [campaignId, says]))
  const headOf = new Map(heads.map((head) => [head.id, head]))
  const reportOf = new Map(reports.map((report) => [report.id, report]))
  const totalOf = new Map(totals.map((total) => [total.campaignId, total]))
  return lines.map((line, index) => ({
    ...line,
    nth: from + index + 1,
    first: reportOf.get(headOf.get(line.campaignId)?.firstReportId ?? ''),
    found: signs.get(headOf.get(line.campaignId)?.firstReportId ?? ''),
    says: saysOf.get(line.campaignId),
    independent: independent.get(line.campaignId) ?? 0,
    total: totalOf.get(line.campaignId),
  }))
}

function isDay(text: string, today: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < FIRST_DAY || text > today) return false
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && dateOf(at) === text
}

function daysAfter(day: string, days: number): string {
  return dateOf(new Date(new Date(`${day}T00:00:00Z`).getTime() + days * DAY_MS))
}
