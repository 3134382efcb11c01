import { DAY_MS } from '../../durations.ts'
import { type Language, number, type Texts } from '../../texts/messages.ts'
import { type Graph, graph, type GraphSeries } from './graph.ts'

/** The duration of a bar: ten minutes, a day, a week from Monday, or a calendar month. */
type BarPeriod = 'tenMinutes' | 'day' | 'week' | 'month'

type CountSeries<Key extends string> = Pick<GraphSeries, 'name' | 'tone' | 'isBelow'> & { key: Key }

export type CountOptions<Key extends string> = {
  id: string
  title: string
  period: BarPeriod
  series: readonly CountSeries<Key>[]
  /** The last bar contains this instant. */
  now: Date
  /** The start of the first bar; by default a day ago, or two weeks ago for days. */
  from?: Date
  /** Whether the counts are disjoint, and so drawn on top of each other. */
  isStacked?: boolean
  language: Language
  texts: Texts
}

/** Counts with a start time; buckets without a point are empty. */
type CountPoint<Key extends string> = { startsAt: Date } & Readonly<Record<Key, number>>

/** The length of each period that is always equally long. */
const PERIOD_MS = { tenMinutes: 600_000, day: DAY_MS, week: 7 * DAY_MS }
const BARS_USUAL: Record<BarPeriod, number> = { tenMinutes: 145, day: 14, week: 52, month: 12 }
/** The first Monday in milliseconds: the Unix epoch is a Thursday. */
const MONDAY_MS = 4 * DAY_MS
/** More bars would be narrower than a pixel, so only the last ones are drawn. */
const BARS_MAX = 400

/**
 * A graph of counts as bars, with one place per period until now, so that gaps are visible.
 * Negative counts, which are possible while a report is being retracted, are drawn as zero.
 */
export function countGraph<Key extends string>(
  points: readonly CountPoint<Key>[],
  { id, title, period, series, now, from, isStacked, language, texts }: CountOptions<Key>,
): Graph {
  const last = placeOf(now, period)
  const wanted = from ? last - placeOf(from, period) + 1 : BARS_USUAL[period]
  const count = Math.max(1, Math.min(wanted, BARS_MAX))
  const first = last - count + 1
  const starts = Array.from({ length: count }, (_, at) => startOf(first + at, period))
  const time = { starts, end: startOf(last + 1, period) }
  const listOf = (key: Key) => countsOf(points, { key, period, first, count })
  const drawn = series.map(({ key, ...rest }) => ({ ...rest, values: listOf(key) }))
  const format = (value: number) => number(language, value)
  const totalOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  const filled = starts.flatMap((start, at) =>
    drawn.some(({ values }) => (values[at] ?? 0) > 0) ? [{ start, at }] : [],
  )
  return graph({
    ...{ id, title, unit: '', format, least: 1, time, language },
    shape: isStacked ? 'stacked bars' : 'bars',
    heads: [texts('chart.total')],
    series: drawn.map((one) => ({ ...one, figures: [format(totalOf(one.values))] })),
    sum: {
      name: texts('chart.together'),
      figures: [format(totalOf(drawn.map(({ values }) => totalOf(values))))],
    },
    listed: filled.map(({ start, at }) => ({
      ...{ from: start, to: starts[at + 1] ?? time.end },
      values: drawn.map(({ values }) => values[at]),
    })),
  })
}

/** The number of the period that contains an instant. */
function placeOf(at: Date, period: BarPeriod): number {
  if (period === 'month') return at.getUTCFullYear() * 12 + at.getUTCMonth()
  return Math.floor((at.getTime() - shiftOf(period)) / PERIOD_MS[period])
}

function startOf(place: number, period: BarPeriod): Date {
  if (period === 'month') return new Date(Date.UTC(Math.floor(place / 12), place % 12))
  return new Date(place * PERIOD_MS[period] + shiftOf(period))
}

function shiftOf(period: BarPeriod): number {
  return period === 'week' ? MONDAY_MS : 0
}

/** The counts of a series in each place; points in the future count as now. */
function countsOf<Key extends string>(
  points: readonly CountPoint<Key>[],
  { key, period, first, count }: { key: Key; period: BarPeriod; first: number; count: number },
): number[] {
  const counts = new Array<number>(count).fill(0)
  for (const point of points) {
    const place = Math.min(placeOf(point.startsAt, period) - first, count - 1)
    if (place >= 0) counts[place] = (counts[place] ?? 0) + point[key]
  }
  return counts.map((value) => Math.max(0, value))
}
