import type { Request, Response } from 'express'
import { countInLargeCampaigns } from '../../db/campaigns.ts'
import {
  type CountedDay,
  type DayCounts,
  listReporterDays,
  sumReporterCountries,
  sumReporterNetworks,
} from '../../db/reporter-days.ts'
import type { Reporter } from '../../db/reporters.ts'
import { dateOf, DAY_MS } from '../../durations.ts'
import { countryName, type Language, type Texts } from '../../texts/messages.ts'
import { barsOf } from '../pages/graph-scale.ts'
import { sendPage } from '../pages/render.ts'
import { countGraph, type CountOptions } from '../pages/count-graph.ts'
import type { Graph } from '../pages/graph.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'

const DAYS = 30
const WEEKS = 52
const PLACES_MAX = 10
/** Number of newest reports among which those of large campaigns are counted. */
const LATEST = 500
/**
 * Smaller campaigns are not shown: they would tell a spammer that someone else reported the mail.
 */
const LARGE_CAMPAIGN = 50

type Reading = { texts: Texts; language: Language; now: Date }

/** Sends the statistics of a reporter's reports, as charts and tables. */
export async function sendStatistics(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
  reporter: Reporter,
): Promise<void> {
  const now = site.clock()
  const [month, year] = [dayBefore(now, DAYS - 1), dayBefore(now, WEEKS * 7 - 1)]
  const [days, networks, countries, campaigns] = await Promise.all([
    listReporterDays(site.pool, reporter.id, year),
    sumReporterNetworks(site.pool, reporter.id, month, PLACES_MAX),
    sumReporterCountries(site.pool, reporter.id, month, PLACES_MAX),
    countInLargeCampaigns(site.pool, reporter.id, { latest: LATEST, reportsMin: LARGE_CAMPAIGN }),
  ])
  const { texts, language } = visitOf(req)
  const reading = { texts, language, now }
  const recent = days.filter(({ day }) => day >= month)
  sendPage(req, res, {
    view: 'pages/history/statistics',
    title: texts('statistics.title'),
    data: {
      isEmpty: days.length === 0,
      month: drawn(recent, { ...reading, id: 'month', period: 'day', from: month }),
      year: drawn(days, { ...reading, id: 'year', period: 'week', from: year }),
      // Both would be the same.
      isRecent: recent.length === days.length,
      became: [becameOf(recent, texts), becameOf(days, texts)],
      countries: barsOf(
        countries.map(({ country, reports }) => [countryName(language, country), reports]),
      ),
      networks: barsOf(
        networks.map(({ name, asn, reports }) => [
          asn === null ? name : `${name}, AS${asn}`,
          reports,
        ]),
      ),
      campaigns: { ...campaigns, reportsMin: LARGE_CAMPAIGN },
    },
  })
}

function drawn(
  days: readonly CountedDay[],
  { texts, language, now, id, period, from }: Reading & Chosen,
): Graph {
  const options: CountOptions<'spam' | 'phishing' | 'notSpam' | 'retracted'> = {
    id,
    title: texts(`statistics.charts.${period}`),
    period,
    series: [
      { key: 'spam', name: texts('report.kinds.spam'), tone: 'warn' },
      { key: 'phishing', name: texts('report.kinds.phishing'), tone: 'bad' },
      { key: 'notSpam', name: texts('report.kinds.not-spam'), tone: 'good' },
      { key: 'retracted', name: texts('statistics.retracted'), tone: 'rest' },
    ],
    now,
    from: new Date(from),
    isStacked: true,
    ...{ language, texts },
  }
  const points = days.map((counts) => ({ ...counts, startsAt: new Date(counts.day) }))
  return countGraph(points, options)
}

type Chosen = { id: string; period: 'day' | 'week'; from: string }

/** The outcomes of the reports of some days; they add up to the total. */
function becameOf(days: readonly CountedDay[], texts: Texts) {
  const sum = (key: keyof DayCounts) => days.reduce((total, day) => total + day[key], 0)
  const [notified, kept, asked, retracted] = [
    sum('notified'),
    sum('kept'),
    sum('asked'),
    sum('retracted'),
  ]
  const standing = sum('spam') + sum('phishing') + sum('notSpam')
  return {
    total: standing + retracted,
    parts: barsOf([
      [texts('states.told'), notified],
      [texts('states.kept'), kept - asked],
      [texts('states.asking'), asked],
      [texts('states.open'), Math.max(0, standing - notified - kept)],
      [texts('statistics.retracted'), retracted],
    ]),
    mails: sum('mails'),
    answered: sum('answered'),
    told: notified,
  }
}

function dayBefore(now: Date, days: number): string {
  return dateOf(new Date(now.getTime() - days * DAY_MS))
}
