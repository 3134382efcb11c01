import { DAY_MS } from '../../durations.ts'
import { formatters } from '../../texts/messages.ts'
import {
  type Box,
  type ChartFrame,
  hasRoom,
  HEIGHT,
  linesOf,
  PLOT,
  round,
  type Scale,
  scaleTo,
  WIDTH,
} from './chart-frame.ts'

/** The duration of a bar: ten minutes, a day, a week from Monday, or a calendar month. */
type BarPeriod = 'tenMinutes' | 'day' | 'week' | 'month'

/** A series to draw, from the values of the points at its `key`. */
type DrawnSeries<Key extends string> = {
  key: Key
  name: string
  /** The color and pattern of the series; see `series.css`. */
  tone: 'bad' | 'warn' | 'good' | 'plain'
  /**
   * Whether the series is drawn below the zero line: for favorable counts, while the other series
   * are unfavorable.
   */
  isBelow?: boolean
}

export type ChartOptions<Key extends string> = {
  /** Unique on its page: labels and patterns refer to it. */
  id: string
  title: string
  period: BarPeriod
  series: readonly DrawnSeries<Key>[]
  /** The last bar contains this instant. */
  now: Date
  /** The start of the first bar; by default a day ago, or two weeks ago for days. */
  from?: Date
  /**
   * Whether the series are drawn on top of each other, for disjoint counts; otherwise side by side.
   */
  isStacked?: boolean
  language?: string
}

/** Counts with a start time; buckets without a point are empty. */
export type ChartPoint<Key extends string> = { startsAt: Date } & Readonly<Record<Key, number>>

/** A chart of bars, laid out in the units of its view box; `views/parts/series.eta` draws it. */
export type SeriesChart = ChartFrame & {
  legend: { name: string; tone: DrawnSeries<string>['tone']; total: string }[]
  bars: (Box & { tone: DrawnSeries<string>['tone'] })[]
  /** Hover areas, one per non-empty bucket, as high as the plot. */
  columns: (Box & { text: string })[]
  /** The highest bar and its time; undefined if all are empty. */
  highest: { value: string; when: string } | undefined
  /** The figures of the non-empty buckets, oldest first. */
  rows: { when: string; iso: string; values: string[] }[]
}

/** The length of each period that is always equally long. */
const PERIOD_MS = { tenMinutes: 600_000, day: DAY_MS, week: 7 * DAY_MS }
const BARS_USUAL: Record<BarPeriod, number> = { tenMinutes: 145, day: 14, week: 52, month: 12 }
/** The first Monday in milliseconds: the Unix epoch is a Thursday. */
const MONDAY_MS = 4 * DAY_MS
/** More bars would be narrower than a pixel, so only the last ones are drawn. */
const BARS_MAX = 400

/** Minimum height, so that every count is visible beside the highest bar. */
const BAR_HEIGHT_MIN = 1.5
const LABELS_MAX = 9
const SLOTS_BETWEEN_LABELS = 18

/**
 * Lays out bars over time in UTC, with one place per period until now, so that gaps are visible.
 * Negative counts, which are possible while a report is being retracted, are drawn as zero. Does
 * not read the clock: the same input gives the same chart.
 */
export function seriesChart<Key extends string>(
  points: readonly ChartPoint<Key>[],
  options: ChartOptions<Key>,
): SeriesChart {
  const { id, title, period, series, language = 'en' } = options
  const span = spanOf(options)
  const buckets = bucketsOf(points, series, span)
  const scale = scaleOf(buckets, options)
  const words = wordsOf(period, language)
  const filled = buckets.flatMap((values, index) =>
    values.some((value) => value > 0) ? [{ values, index, at: startOf(span, index) }] : [],
  )
  return {
    id,
    title,
    width: WIDTH,
    height: HEIGHT,
    plot: PLOT,
    legend: series.map(({ name, tone }, place) => ({
      name,
      tone,
      total: words.number(buckets.reduce((sum, values) => sum + (values[place] ?? 0), 0)),
    })),
    bars: filled.flatMap(({ values, index }) =>
      barsOf(values, slotBox(index, span), options, scale),
    ),
    columns: filled.map(({ values, index, at }) => ({
      ...slotBox(index, span),
      text: `${words.when(at)}: ${series
        .map(({ name }, place) => `${name} ${words.number(values[place] ?? 0)}`)
        .join(', ')}`,
    })),
    lines: linesOf(scale, words.short),
    labels: labelsOf(span, words.label),
    highest: highestOf(filled, words),
    rows: filled.map(({ values, at }) => ({
      when: words.when(at),
      iso: at.toISOString(),
      values: values.map(words.number),
    })),
  }
}

type Span = { first: number; count: number; period: BarPeriod }

function spanOf({ period, now, from }: ChartOptions<string>): Span {
  const last = placeOf(now, period)
  const wanted = from ? last - placeOf(from, period) + 1 : BARS_USUAL[period]
  const count = Math.max(1, Math.min(wanted, BARS_MAX))
  return { first: last - count + 1, count, period }
}

/** The number of the period that contains an instant. */
function placeOf(at: Date, period: BarPeriod): number {
  if (period === 'month') return at.getUTCFullYear() * 12 + at.getUTCMonth()
  return Math.floor((at.getTime() - shiftOf(period)) / PERIOD_MS[period])
}

function startOf({ first, period }: Span, index: number): Date {
  const place = first + index
  if (period === 'month') return new Date(Date.UTC(Math.floor(place / 12), place % 12))
  return new Date(place * PERIOD_MS[period] + shiftOf(period))
}

function shiftOf(period: BarPeriod): number {
  return period === 'week' ? MONDAY_MS : 0
}

/** The values of each place, in the order of the series; points in the future count as now. */
function bucketsOf<Key extends string>(
  points: readonly ChartPoint<Key>[],
  series: readonly DrawnSeries<Key>[],
  span: Span,
): number[][] {
  const { first, count } = span
  const buckets = Array.from({ length: count }, () => series.map(() => 0))
  for (const point of points) {
    const index = Math.min(placeOf(point.startsAt, span.period) - first, count - 1)
    const bucket = buckets[index]
    if (!bucket) continue
    for (const [place, { key }] of series.entries())
      bucket[place] = (bucket[place] ?? 0) + point[key]
  }
  return buckets.map((values) => values.map((value) => Math.max(0, value)))
}

function scaleOf(buckets: readonly number[][], { series, isStacked }: ChartOptions<string>): Scale {
  const greatest = (isBelow: boolean) =>
    buckets.reduce((most, values) => {
      const own = values.filter((_, place) => (series[place]?.isBelow ?? false) === isBelow)
      const height = isStacked ? own.reduce((sum, value) => sum + value, 0) : Math.max(0, ...own)
      return Math.max(most, height)
    }, 0)
  const [up, down] = [greatest(false), greatest(true)]
  return scaleTo({ up, down, least: 1 })
}

function slotBox(index: number, { count }: Span): Box {
  const width = PLOT.width / count
  return { x: round(PLOT.x + index * width), y: PLOT.y, width: round(width), height: PLOT.height }
}

function barsOf(
  values: readonly number[],
  slot: Box,
  { series, isStacked }: ChartOptions<string>,
  { base, unit }: Scale,
): SeriesChart['bars'] {
  const gap = slot.width > 8 ? slot.width * 0.12 : 0.3
  const room = slot.width - 2 * gap
  const seriesBeside = isStacked ? 1 : Math.max(1, series.filter(({ isBelow }) => !isBelow).length)
  const next = { above: 0, below: 0 }
  const piled = { above: 0, below: 0 }
  return series.flatMap(({ tone, isBelow }, place) => {
    const side = isBelow ? 'below' : 'above'
    // A bar drawn downwards has the full width if it is the only series there.
    const isAlone = isBelow && series.filter((one) => one.isBelow).length === 1
    const width = isAlone ? room : room / seriesBeside
    const x = slot.x + gap + (isStacked || isAlone ? 0 : next[side]++ * width)
    const value = values[place] ?? 0
    if (value === 0) return []
    const height = Math.max(BAR_HEIGHT_MIN, value * unit)
    const from = piled[side]
    if (isStacked) piled[side] += height
    const y = isBelow ? base + from : base - from - height
    return [{ x: round(x), y: round(y), width: round(width), height: round(height), tone }]
  })
}

/**
 * Labels days by their date, counted back from today, and ten-minute periods at every third hour.
 */
function labelsOf(span: Span, label: (at: Date) => string): ChartFrame['labels'] {
  const isDay = span.period !== 'tenMinutes'
  const least = isDay ? 1 : SLOTS_BETWEEN_LABELS
  const step = least * Math.ceil(span.count / least / LABELS_MAX)
  const last = span.first + span.count - 1
  const labels: ChartFrame['labels'] = []
  for (let index = 0; index < span.count; index++) {
    const place = span.first + index
    if ((isDay ? last - place : place) % step !== 0) continue
    const { x, width } = slotBox(index, span)
    const middle = isDay ? x + width / 2 : x
    if (!hasRoom(middle)) continue
    labels.push({ x: round(middle), text: label(startOf(span, index)) })
  }
  return labels
}

function highestOf(
  filled: readonly { values: number[]; at: Date }[],
  { number, when }: ReturnType<typeof wordsOf>,
): SeriesChart['highest'] {
  let best: { value: number; at: Date } | undefined
  for (const { values, at } of filled) {
    const value = Math.max(...values)
    if (!best || value > best.value) best = { value, at }
  }
  return best && { value: number(best.value), when: when(best.at) }
}

function wordsOf(period: BarPeriod, language: string) {
  const locale = language === 'en' ? 'en-GB' : language
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = formatters.getDateTimeFormat(locale, options)
    return (at: Date) => formatter.format(at)
  }
  const day = { day: 'numeric', month: 'short' } as const
  const time = { hour: '2-digit', minute: '2-digit' } as const
  const whole = new Intl.NumberFormat(locale)
  const compact = new Intl.NumberFormat(locale, { notation: 'compact' })
  const number = (value: number) => whole.format(value)
  const short = (value: number) => compact.format(value)
  if (period === 'month') {
    const label = format({ month: 'short', year: '2-digit' })
    return { number, short, when: format({ month: 'long', year: 'numeric' }), label }
  }
  if (period !== 'tenMinutes') return { number, short, when: format(day), label: format(day) }
  const [date, hour] = [format(day), format(time)]
  const label = (at: Date) => (at.getTime() % DAY_MS === 0 ? date(at) : hour(at))
  return { number, short, when: format({ ...day, ...time }), label }
}
