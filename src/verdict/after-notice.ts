import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'

/**
 * The reports about one origin by minute: ascending minutes since 1970, and the reports in each.
 * The oldest ones of very many are missing.
 */
export type ReportSeries = { minutes: readonly number[]; counts: readonly number[] }

/** What was seen around the first notice about an origin. */
export type AfterNotice = {
  /** Reports in the day until the notice, and in the day after it. */
  before: number
  after: number
  /**
   * If no report comes until this instant, the reports have stopped. Null if there are too few to
   * tell.
   */
  silentAt: Date | null
}

/** A silence says nothing after reports in fewer different hours. */
const ACTIVE_HOURS_MIN = 3
/** How often chance may give a silence that counts, at the rate of the reports before it. */
const CHANCE_MAX = 1 / 20
/** Many senders mail on some days of the week only, and people report less at weekends. */
const SILENCE_MS_MIN = 7 * DAY_MS
/** A silence is longer than any pause before, by this factor. */
const PAUSE_FACTOR = 2
/** Reports after a longer silence are a new case. */
const CASE_GAP_MS = 30 * DAY_MS
/** Maximum number of minutes that are kept. */
const MINUTES_MAX = 400

const minuteOf = (at: Date) => Math.floor(at.getTime() / MINUTE_MS)

export function noReports(): ReportSeries {
  return { minutes: [], counts: [] }
}

/** Whether a report begins a new case, because the last one of the origin is too long ago. */
export function beginsCase(lastAt: Date, at: Date): boolean {
  return at.getTime() - lastAt.getTime() > CASE_GAP_MS
}

/** Adds reports to a series; of more than 400 different minutes, the latest are kept. */
export function withReports(
  { minutes, counts }: ReportSeries,
  reports: readonly Date[],
): ReportSeries {
  const all = new Map(minutes.map((minute, at) => [minute, counts[at] ?? 0]))
  for (const at of reports) all.set(minuteOf(at), (all.get(minuteOf(at)) ?? 0) + 1)
  const latest = [...all].toSorted(([one], [other]) => one - other).slice(-MINUTES_MAX)
  return { minutes: latest.map(([minute]) => minute), counts: latest.map(([, count]) => count) }
}

/** Describes the reports around a notice, and from when on a silence after them counts. */
export function afterNotice(series: ReportSeries, noticedAt: Date): AfterNotice {
  const notice = minuteOf(noticedAt)
  const day = DAY_MS / MINUTE_MS
  return {
    before: countBetween(series, notice - day, notice),
    after: countBetween(series, notice, notice + day),
    silentAt: silentAfter(series.minutes.filter((minute) => minute > notice - day)),
  }
}

/** Counts the reports after the minute `from`, until the minute `to`. */
function countBetween({ minutes, counts }: ReportSeries, from: number, to: number): number {
  return minutes.reduce(
    (sum, minute, at) => (minute > from && minute <= to ? sum + (counts[at] ?? 0) : sum),
    0,
  )
}

/**
 * A silence counts if it is longer than a week and than twice the longest pause before, and if
 * chance would rarely give it. Reports within an hour count as one, because a mailing is reported
 * by many at once. If k of them came in a span t and nothing changes, a silence of at least s
 * follows with the probability (t / (t + s))^(k - 1): the Poisson process of unknown rate, all
 * rates being equally likely on a logarithmic scale.
 */
function silentAfter(minutes: readonly number[]): Date | null {
  const [first, last] = [minutes[0], minutes.at(-1)]
  const hours = new Set(minutes.map((minute) => Math.floor((minute * MINUTE_MS) / HOUR_MS))).size
  if (first === undefined || last === undefined || hours < ACTIVE_HOURS_MIN) return null
  const pauses = minutes.slice(1).map((minute, at) => minute - (minutes[at] ?? minute))
  const improbable = (last - first) * (CHANCE_MAX ** (-1 / (hours - 1)) - 1)
  const enough = Math.max(
    SILENCE_MS_MIN / MINUTE_MS,
    PAUSE_FACTOR * Math.max(...pauses),
    improbable,
  )
  return new Date(Math.ceil(last + enough) * MINUTE_MS)
}
