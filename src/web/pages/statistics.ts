import { type Request, type Response, Router } from 'express'
import { csvLine } from '../../mail/csv.ts'
import { publishStatistics, type NetworkFigure } from '../../reports/month-figures.ts'
import { REPORTS_FLOOR, type Shares } from '../../reports/hide-small-counts.ts'
import { includesRole } from '../../roles.ts'
import {
  type Code,
  countryName,
  formatters,
  type Language,
  locales,
  type Texts,
} from '../../texts/messages.ts'
import { doneMessage, postAction } from '../admin/post-action.ts'
import { askerOf } from '../limits.ts'
import { createThrottle } from '../../people/throttle.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import type { PublishedMonth } from './published-months.ts'
import { barsOf } from './graph-scale.ts'
import { sendPage } from './render.ts'
import { countGraph } from './count-graph.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'config' | 'clock' | 'statistics'>

const PER_MINUTE = 60
const ASKERS_MAX = 10_000
const FRESH_SECONDS = 300
/** The number of months in the page without a year. */
const MONTHS = 12
const COUNTRIES_MAX = 20
const NETWORKS_MAX = 20

/** The figures for the public: a page for the last months or one year, and all figures as CSV. */
export function statisticsRoutes(site: Needs): Router {
  const throttle = createThrottle({ perMinute: PER_MINUTE, askersMax: ASKERS_MAX })
  const admitted = (req: Request) => {
    const waitSeconds = throttle(askerOf(req, site.config), site.clock())
    if (waitSeconds === undefined) return
    const headers = { 'retry-after': String(waitSeconds) }
    throw new ProblemError('too-often', `Wait ${waitSeconds} seconds and try again.`, headers)
  }
  const router = Router()
  router.get('/statistics', async (req, res) => {
    admitted(req)
    await sendFigures(req, res, site, await readable(req, site))
  })
  router.get('/statistics.csv', async (req, res) => {
    admitted(req)
    const { isPublic } = await readable(req, site)
    res.setHeader('content-type', 'text/csv; charset=utf-8')
    res.setHeader('content-disposition', 'attachment; filename="statistics.csv"')
    const caching = isPublic ? `public, max-age=${FRESH_SECONDS}` : 'no-store'
    res.setHeader('cache-control', caching)
    res.end(csvOf(await site.statistics.months()))
  })
  return router
}

/** The switch of the page of figures. The page itself is the preview for people with a role. */
export function statisticsAdminRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (_req, res) => res.redirect(303, '/statistics'))
  const back = () => {
    site.statistics.forget()
    return '/statistics'
  }
  router.post('/', postAction(site, { actions: publishStatistics, back }))
  return router
}

/**
 * Whether the page is public, for visitors who may open it: until it is public, people with a role.
 *
 * @throws ProblemError as for a page that does not exist
 */
async function readable(req: Request, { statistics }: Needs): Promise<{ isPublic: boolean }> {
  const isPublic = await statistics.isPublic()
  if (isPublic || includesRole(visitOf(req).reporter?.role ?? null, 'viewer')) return { isPublic }
  throw new ProblemError('not-found', 'Page not found.')
}

async function sendFigures(
  req: Request,
  res: Response,
  { statistics }: Needs,
  { isPublic }: { isPublic: boolean },
): Promise<void> {
  const { texts, language, reporter } = visitOf(req)
  const all = await statistics.months()
  const years = [...new Set(all.map(({ month }) => month.slice(0, 4)))].toReversed()
  const year = years.find((one) => one === req.query['year'])
  const months = year ? all.filter(({ month }) => month.startsWith(year)) : all.slice(-MONTHS)
  const role = reporter?.role ?? null
  const maySwitch = includesRole(role, publishStatistics.role)
  sendPage(req, res, {
    view: 'pages/statistics',
    title: texts('figures.title'),
    data: {
      ...periodOf(months, texts, language),
      ...{ years, year, isPublic, maySwitch, reportsMin: REPORTS_FLOOR },
      done: maySwitch ? doneMessage(req, publishStatistics) : undefined,
      isForRoles: includesRole(role, 'viewer'),
    },
  })
}

/** What the page shows of some months. */
function periodOf(months: readonly PublishedMonth[], texts: Texts, language: Language) {
  const first = months[0]
  const last = months.at(-1)
  const reports = months.reduce((sum, one) => sum + one.reports, 0)
  const barsOf = (part: 'kinds' | 'classes' | 'outcomes', code: (key: string) => Code) => {
    const { shown, rest } = summed(months.map((month) => month[part]))
    return withRest(
      shown.map(({ key, reports: count }) => [texts(code(key)), count]),
      rest,
      texts,
    )
  }
  return {
    reports,
    first: first && monthName(first.month, language),
    last: last && monthName(last.month, language),
    chart: first && last && chartOf(months, { texts, language, first, last }),
    rows: months.toReversed().map((month) => rowOf(month, language)),
    kinds: barsOf('kinds', (key) => `report.kinds.${key}` as Code),
    classes: barsOf('classes', classCode),
    outcomes: barsOf('outcomes', (key) => `figures.outcomes.${key}` as Code),
    countries: countryBars(months, texts, language),
    networks: sumNetworks(months.flatMap(({ networks }) => networks))
      .slice(0, NETWORKS_MAX)
      .map((network) => ({
        ...network,
        country: countryName(language, network.country),
        share: share(network.reports / reports, language),
        ended: endedWords(network, texts, language),
      })),
  }
}

/** Spam and phishing have the same name as a class and as what people say. */
function classCode(key: string): Code {
  const isKind = key === 'spam' || key === 'phishing'
  return (isKind ? `report.kinds.${key}` : `figures.classes.${key}`) as Code
}

function chartOf(
  months: readonly PublishedMonth[],
  {
    texts,
    language,
    first,
    last,
  }: { texts: Texts; language: Language; first: PublishedMonth; last: PublishedMonth },
) {
  const points = months.map(({ month, reports }) => ({ startsAt: new Date(month), reports }))
  return countGraph(points, {
    id: 'months',
    title: texts('figures.months'),
    period: 'month',
    series: [{ key: 'reports', name: texts('figures.reports'), tone: 'one' }],
    from: new Date(first.month),
    now: new Date(last.month),
    ...{ language, texts },
  })
}

/** The line of a month: numbers that were hidden are undefined. */
function rowOf({ month, reports, outcomes, medianSeconds }: PublishedMonth, language: Language) {
  const kept = outcomes.shown.find(({ key }) => key === 'kept')
  // Only if all outcomes are shown, the rest of the reports was forwarded.
  const isKeptKnown = kept !== undefined || outcomes.rest === 0
  return {
    month: monthName(month, language),
    reports,
    forwarded: isKeptKnown ? reports - (kept?.reports ?? 0) : undefined,
    median: medianSeconds === null ? undefined : duration(medianSeconds, language),
  }
}

function countryBars(months: readonly PublishedMonth[], texts: Texts, language: Language) {
  const { shown, rest } = summed(months.map(({ countries }) => countries))
  const known = shown.filter(({ key }) => key !== '')
  const [most, others] = [known.slice(0, COUNTRIES_MAX), known.slice(COUNTRIES_MAX)]
  const unknown = shown.filter(({ key }) => key === '')
  const sum = (some: readonly { reports: number }[]) =>
    some.reduce((total, { reports }) => total + reports, rest)
  return withRest(
    most.map(({ key, reports }) => [countryName(language, key), reports]),
    sum([...others, ...unknown]),
    texts,
  )
}

/** Adds the published figures of months, so that a sum reveals nothing that the months hide. */
function summed(parts: readonly Shares[]): Shares {
  const sums = new Map<string, number>()
  for (const { key, reports } of parts.flatMap(({ shown }) => shown)) {
    sums.set(key, (sums.get(key) ?? 0) + reports)
  }
  const shown = [...sums].map(([key, reports]) => ({ key, reports }))
  return {
    shown: shown.toSorted((a, b) => b.reports - a.reports),
    rest: parts.reduce((sum, { rest }) => sum + rest, 0),
  }
}

function sumNetworks(networks: readonly NetworkFigure[]): NetworkFigure[] {
  const sums = new Map<string, NetworkFigure>()
  for (const network of networks) {
    const key = `${network.asn} ${network.country}`
    // Networks change their names; the latest month has the current one.
    const before = sums.get(key)
    sums.set(key, { ...before, ...network, reports: (before?.reports ?? 0) + network.reports })
  }
  return [...sums.values()].toSorted((a, b) => b.reports - a.reports)
}

/** The time until reports stop, in words; undefined if it is not published. */
function endedWords({ endedHours }: NetworkFigure, texts: Texts, language: Language) {
  if (endedHours === undefined) return undefined
  return endedHours === null
    ? texts('figures.notEnded')
    : duration(Math.max(3_600, endedHours * 3_600), language)
}

function withRest(rows: readonly [name: string, count: number][], rest: number, texts: Texts) {
  return barsOf(rest > 0 ? [...rows, [texts('figures.rest'), rest]] : rows)
}

/** All published figures, one number a line. */
function csvOf(months: readonly PublishedMonth[]): string {
  const lines = months.flatMap((month) => {
    const { reports, medianSeconds, networks } = month
    const parts = ['kinds', 'classes', 'outcomes', 'countries'] as const
    const all: (string | number)[][] = [
      ['reports', '', '', '', reports],
      ...(medianSeconds === null
        ? []
        : [['median_seconds', '', '', '', Math.round(medianSeconds)]]),
      ...parts.flatMap((part) => [
        ...month[part].shown.map((one) => [part, one.key || 'unknown', '', '', one.reports]),
        ...(month[part].rest > 0 ? [[part, 'rest', '', '', month[part].rest]] : []),
      ]),
      ...networks.map((one) => ['networks', `AS${one.asn}`, one.country, one.name, one.reports]),
      ...networks.flatMap(({ asn, country, name, endedHours }) =>
        typeof endedHours === 'number'
          ? [['networks_hours_until_end', `AS${asn}`, country, name, Math.ceil(endedHours)]]
          : [],
      ),
    ]
    return all.map((cells) => csvLine([month.month.slice(0, 7), ...cells]))
  })
  return [csvLine(['month', 'part', 'key', 'country', 'name', 'number']), ...lines].join('')
}

function monthName(month: string, language: Language): string {
  const format = { month: 'long', year: 'numeric' } as const
  return formatters.getDateTimeFormat(locales[language], format).format(new Date(month))
}

function share(part: number, language: Language): string {
  const format = { style: 'percent', maximumSignificantDigits: 2 } as const
  return formatters.getNumberFormat(locales[language], format).format(part)
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** A duration in one unit, with two digits: an exact median would be that of a single report. */
function duration(seconds: number, language: Language): string {
  const [unit, length] = units.find(([, one]) => seconds >= 2 * one) ?? ['second', 1]
  const format = { style: 'unit', unitDisplay: 'long', maximumSignificantDigits: 2 } as const
  const number = formatters.getNumberFormat(locales[language], { ...format, unit })
  return number.format(seconds / length)
}
