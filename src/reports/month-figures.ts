import { z } from 'zod'
import { defineAction, oneOf } from '../actions.ts'
import type { App } from '../app.ts'
import {
  countMonth,
  insertMonth,
  listMonths,
  type MonthCount,
  type MonthTotal,
  setPublishesStatistics,
} from '../db/month-figures.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listNetworkEndings } from '../db/reported-origins.ts'
import { dateOf, DAY_MS } from '../durations.ts'
import { findSeenUntil } from '../feedback/did-it-stop.ts'
import { isUnwanted, verdictClasses } from '../verdict/verdict.ts'
import { hideSmallCounts, isLargeEnough, type Shares } from './hide-small-counts.ts'

export type NetworkFigure = {
  asn: number
  name: string
  country: string
  reports: number
  /**
   * The median of the hours from the first notice about an address to the last report about it;
   * null if most have not stopped, absent with too few addresses.
   */
  endedHours?: number | null
}

/**
 * The published figures of a month. The parts of `kinds`, `classes`, `outcomes` and `countries` add
 * up to `reports`; reports without a country in `countries` have the key ''.
 */
export type MonthFigures = {
  reports: number
  kinds: Shares
  classes: Shares
  /** `kept`, the answer of the desk, or `unanswered`. */
  outcomes: Shares
  countries: Shares
  /** The largest networks, most frequent first. */
  networks: NetworkFigure[]
  /** Median time until the first feedback report was sent; null with too few. */
  medianSeconds: number | null
}

/** Time after the end of a month for retractions, mail and answers. */
const SETTLED_MS = 7 * DAY_MS
/**
 * Age of the notices at the end of their month whose endings count: when the month is counted, they
 * are three weeks old.
 */
const ENDED_MS = 14 * DAY_MS
const NETWORKS_MAX = 50
const NAME_CHARS_MAX = 100

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

/**
 * Counts each month that ended a week ago or earlier, whose reports are all still kept, and that
 * was not counted before.
 */
export async function runCountMonths(app: Needs): Promise<void> {
  const now = app.clock()
  const known = new Set((await listMonths(app.pool)).map(({ month }) => month))
  const oldest = new Date(now.getTime() - app.config.retentionDays * DAY_MS)
  let from = monthBefore(new Date(now.getTime() - SETTLED_MS))
  for (; from >= oldest; from = monthBefore(from)) {
    const month = dateOf(from)
    if (!known.has(month)) await countOneMonth(app, { month, from, now })
  }
}

async function countOneMonth(
  { pool, config, log }: Needs,
  { month, from, now }: { month: string; from: Date; now: Date },
): Promise<void> {
  const bounds = {
    from,
    to: monthAfter(from),
    originConfidenceMin: config.originConfidenceMin,
    unwantedClasses: verdictClasses.filter((name) => isUnwanted({ class: name })),
  }
  await inTransaction(pool, async (tx) => {
    const { total, counts } = await countMonth(tx, bounds)
    const endings = await listMonthEndings(tx, bounds)
    await insertMonth(tx, { month, figures: publishedFigures(total, counts, endings) }, now)
  })
  log.info({ month }, 'Counted the reports of a month for the page of figures.')
}

/** The endings of networks that may be published, by AS number and country. */
type PublishedEndings = ReadonlyMap<string, number | null>

async function listMonthEndings(
  tx: Db,
  { from, to }: { from: Date; to: Date },
): Promise<PublishedEndings> {
  const seenUntil = await findSeenUntil(tx)
  if (seenUntil === undefined || seenUntil < to) return new Map()
  const earlier = (at: Date) => new Date(at.getTime() - ENDED_MS)
  const rows = await listNetworkEndings(tx, { from: earlier(from), to: earlier(to), seenUntil })
  const large = rows.filter((row) => isLargeEnough({ reports: row.cases, reporters: row.people }))
  return new Map(large.map((row) => [`${row.asn} ${row.country}`, row.medianHours]))
}

/** Returns what may be published of the counts of a month; null if it had too few reports. */
function publishedFigures(
  total: MonthTotal,
  counts: readonly MonthCount[],
  endings: PublishedEndings,
): MonthFigures | null {
  if (!isLargeEnough(total)) return null
  const sharesOf = (part: MonthCount['part']) =>
    hideSmallCounts(counts.filter((one) => one.part === part))
  const countries = sharesOf('country')
  const { forwarded, forwardedReporters, medianSeconds } = total
  const isTimed = isLargeEnough({ reports: forwarded, reporters: forwardedReporters })
  return {
    reports: total.reports,
    kinds: sharesOf('kind'),
    classes: sharesOf('class'),
    outcomes: sharesOf('outcome'),
    countries,
    networks: publishedNetworks(countries, counts, endings),
    medianSeconds: isTimed ? medianSeconds : null,
  }
}

/**
 * The networks of a published country add up to its number, so the small ones among them are hidden
 * country by country. Networks of other countries are not published.
 */
function publishedNetworks(
  countries: Shares,
  counts: readonly MonthCount[],
  endings: PublishedEndings,
): NetworkFigure[] {
  const networks = counts.filter(({ part }) => part === 'network')
  return countries.shown
    .filter(({ key }) => key !== '')
    .flatMap(({ key: country }) => {
      const its = networks.filter((one) => one.country === country)
      const { shown } = hideSmallCounts(its)
      return shown.map(({ key, reports }) => {
        const name = its.find((one) => one.key === key)?.name ?? ''
        const figure = { asn: Number(key), name: name.slice(0, NAME_CHARS_MAX), country, reports }
        const endedHours = endings.get(`${key} ${country}`)
        return endedHours === undefined ? figure : { ...figure, endedHours }
      })
    })
    .toSorted((a, b) => b.reports - a.reports || a.asn - b.asn)
    .slice(0, NETWORKS_MAX)
}

function monthBefore(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1))
}

function monthAfter(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
}

export const publishStatistics = defineAction({
  name: 'statistics publish',
  summary: 'open the page of figures for everybody, or only for people with a role',
  audit: 'set public statistics',
  role: 'administrator',
  input: z.object({ public: oneOf(['on', 'off']).meta({ argument: 'on|off' }) }),
  async run(tx, { public: state }) {
    if (!(await setPublishesStatistics(tx, state === 'on'))) return { unchanged: 'same' }
    return { done: state, audit: state }
  },
})
