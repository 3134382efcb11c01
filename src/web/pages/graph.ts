import { type GraphTime, hasClock, placeIn, timeLabels, whenIn } from './graph-time.ts'
import { round, type Scale, scaleTo } from './graph-scale.ts'
import type { Language } from '../../texts/messages.ts'

/** The colors of series that mean nothing by themselves, in the order in which they are given. */
export const plainTones = ['one', 'two', 'three', 'four', 'five', 'six'] as const

/** The color of a series; those after `rest` have a meaning. See `graphs.css`. */
type Tone = (typeof plainTones)[number] | 'rest' | 'bad' | 'warn' | 'good' | 'plain'

/** A value in each step; undefined where nothing is known. */
export type GraphValues = readonly (number | undefined)[]

export type GraphSeries = {
  name: string
  /** The page of what the series is about. */
  href?: string | undefined
  tone: Tone
  values: GraphValues
  /** The values of the period before, which are drawn pale. */
  before?: GraphValues | undefined
  /** Whether bars are drawn below the zero line: favorable counts among unfavorable ones. */
  isBelow?: boolean
  /** What the legend says of the series, in the order of its heads. */
  figures: readonly string[]
}

export type GraphOptions = {
  /** Unique on its page. */
  id: string
  title: string
  /** The unit of the values, for example `per minute`; empty if the values contain it. */
  unit: string
  /**
   * Areas and stacked bars show parts that make a whole, and have a line with the sum. Lines and
   * bars side by side show values that cannot be added.
   */
  shape: 'lines' | 'areas' | 'stacked bars' | 'bars'
  /** Formats a value of the axis, of the legend and at the cursor: one way, so that all agree. */
  format: (value: number) => string
  /** Large distances of grid lines that are round in the unit; see `scaleTo`. */
  rounds?: readonly number[] | undefined
  /** The smallest distance of grid lines; 1 for counts. */
  least: number
  time: GraphTime
  series: readonly GraphSeries[]
  heads: readonly string[]
  sum?: { name: string; figures: readonly string[] } | undefined
  /** What is usual at each step. */
  band?: { name: string; low: GraphValues; high: GraphValues } | undefined
  marks?: readonly { at: Date; text: string }[]
  /** Ranges of time with their figures, listed in a table; `href` shows what is behind them. */
  listed: readonly { from: Date; to: Date; values: GraphValues; href?: string | undefined }[]
  language: Language
}

/**
 * A graph, laid out; `views/parts/graph.eta` draws it. Horizontal places are percentages of the
 * plot, and paths are in a box that is stretched over it, so that a graph fills any width with
 * letters of the same size.
 */
export type Graph = {
  id: string
  title: string
  unit: string
  /** The zone of times of day; empty if there are only days. */
  zone: string
  isEmpty: boolean
  /** The size of the box of the paths. */
  box: { width: number; height: number }
  steps: number
  /** Grid lines: their distance from the top in percent. */
  lines: { y: number; text: string; isBase: boolean }[]
  labels: { x: number; text: string }[]
  marks: { x: number; step: number; text: string }[]
  sets: { name: string; tone: Tone; line: string; area: string; before: string; values: string }[]
  band: { name: string; area: string; values: string } | undefined
  /** The start of each step in words, and the sums, for the cursor. */
  times: string
  sums: { name: string; values: string } | undefined
  legend: {
    heads: readonly string[]
    rows: { name: string; href: string | undefined; tone: Tone; figures: readonly string[] }[]
    sum: GraphOptions['sum']
  }
  /** Areas that lead to what is behind them, as high as the plot. */
  links: { x: number; width: number; href: string; text: string }[]
  rows: { when: string; iso: string; href: string | undefined; values: string[] }[]
}

const UNKNOWN = '–'
const HEIGHT = 1_000
/** The width of a step in the box of the paths. */
const STEP = 20
/** Between bars, as part of `STEP`. */
const GAP = 2
/** Makes every count visible beside the highest bar. */
const BAR_HEIGHT_MIN = 8
/** A narrower area, as part of the plot, could not be hit. */
const LINK_MIN = 0.06
/** Between values that the cursor reads. */
const BETWEEN = '|'

/** Lays out a graph over time in UTC. Reads no clock: the same input gives the same graph. */
export function graph(options: GraphOptions): Graph {
  const { id, title, unit, format, time, series, band, marks = [], listed, language } = options
  const steps = time.starts.length
  const isStacked = options.shape === 'areas' || options.shape === 'stacked bars'
  const scale = scaleOf(options, isStacked)
  const shown = (value: number | undefined) => (value === undefined ? UNKNOWN : format(value))
  const joined = (values: GraphValues) =>
    values.map((value) => (value === undefined ? '' : format(value))).join(BETWEEN)
  const when = whenIn(time, language)
  const zone = hasClock(time) ? 'UTC' : ''
  const whenInZone = (at: Date) => `${when(at)} ${zone}`.trimEnd()
  const sums = isStacked && series.length > 1 ? sumsOf(series, steps) : undefined
  const places = listed.map(({ from, to }) => [placeIn(time, from), placeIn(time, to)] as const)
  return {
    ...{ id, title, unit, zone, steps, box: { width: steps * STEP, height: HEIGHT } },
    isEmpty: !series.some(({ values, before = [] }) => [...values, ...before].some(isDrawn)),
    lines: linesOf(scale, format),
    labels: timeLabels(time, { isCentered: options.shape.endsWith('bars'), language }),
    marks: marks.map(({ at, text }) => {
      const place = placeIn(time, at)
      return { x: round(place * 100), step: Math.floor(place * steps), text }
    }),
    // The topmost area first: the others are drawn over it.
    sets: setsOf(options, scale)
      .map((set, index) => ({ ...set, values: joined(series[index]?.values ?? []) }))
      .toReversed(),
    band: band && {
      ...{ name: band.name, area: areaOf(band.high, band.low, scale) },
      values: band.low
        .map((low, at) => (low === undefined ? '' : `${format(low)} – ${shown(band.high[at])}`))
        .join(BETWEEN),
    },
    times: time.starts.map(whenInZone).join(BETWEEN),
    sums: sums && options.sum && { name: options.sum.name, values: joined(sums) },
    legend: {
      heads: options.heads,
      rows: series.map(({ name, href, tone, figures }) => ({ name, href, tone, figures })),
      sum: sums && options.sum,
    },
    links: listed.flatMap(({ from, values, href }, at) => {
      const [start, end] = places[at] ?? [0, 0]
      if (href === undefined || end - start < LINK_MIN) return []
      const figures = series.map(({ name }, nth) => `${name} ${shown(values[nth])}`)
      const place = { x: round(start * 100), width: round((end - start) * 100) }
      return [{ ...place, href, text: `${whenInZone(from)}: ${figures.join(', ')}` }]
    }),
    rows: listed.map(({ from, values, href }) => ({
      ...{ when: when(from), iso: from.toISOString(), href },
      values: series.map((_, at) => shown(values[at])),
    })),
  }
}

/** Zero is drawn in a graph of states or rates, but a graph of nothing else is empty. */
function isDrawn(value: number | undefined): boolean {
  return value !== undefined && value !== 0
}

function scaleOf({ series, band, rounds, least }: GraphOptions, isStacked: boolean): Scale {
  const greatest = (some: readonly GraphSeries[], of: 'values' | 'before') => {
    const lists = some.map((one) => one[of] ?? [])
    const steps = Math.max(0, ...lists.map((list) => list.length))
    return Array.from({ length: steps }, (_, at) => lists.map((list) => list[at] ?? 0)).reduce(
      (most, values) =>
        Math.max(most, isStacked ? values.reduce((sum, one) => sum + one, 0) : Math.max(...values)),
      0,
    )
  }
  const above = series.filter(({ isBelow }) => !isBelow)
  const usual = Math.max(0, ...(band?.high ?? []).map((value) => value ?? 0))
  const up = Math.max(greatest(above, 'values'), greatest(above, 'before'), usual)
  const down = greatest(
    series.filter(({ isBelow }) => isBelow),
    'values',
  )
  return scaleTo({ up, down, least, rounds, height: HEIGHT })
}

function linesOf(
  { base, step, above, below, unit }: Scale,
  format: (value: number) => string,
): Graph['lines'] {
  const [first, last] = [-Math.floor(below / step), Math.round(above / step)]
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const value = (first + index) * step
    const y = round(((base - value * unit) / HEIGHT) * 100)
    return { y, text: format(Math.abs(value)), isBase: first + index === 0 }
  })
}

function sumsOf(series: readonly GraphSeries[], steps: number): (number | undefined)[] {
  return Array.from({ length: steps }, (_, at) => sumOf(series.map(({ values }) => values[at])))
}

/** The sum of the known values; undefined if none is known. */
function sumOf(values: GraphValues): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0)
}

type DrawnSet = Omit<Graph['sets'][number], 'values'>

function setsOf(options: GraphOptions, scale: Scale): DrawnSet[] {
  switch (options.shape) {
    case 'lines':
      return options.series.map(({ name, tone, values, before = [] }) => ({
        ...{ name, tone, area: '' },
        line: lineOf(values, scale),
        before: lineOf(before, scale),
      }))
    case 'areas':
      return areasOf(options, scale)
    case 'stacked bars':
    case 'bars':
      return barsOf(options, scale)
  }
}

/**
 * Areas on top of each other: each reaches down to zero and is drawn over the one above it. The
 * period before is one line: its sum.
 */
function areasOf({ series }: GraphOptions, scale: Scale): DrawnSet[] {
  const piled: (number | undefined)[] = []
  return series.map(({ name, tone, values, before = [] }, index) => {
    const tops = values.map((value, at) =>
      value === undefined ? undefined : value + (piled[at] ?? 0),
    )
    for (const [at, value] of tops.entries()) piled[at] = value ?? piled[at]
    const befores = index === 0 ? series.map((one) => one.before ?? []) : []
    const sums = before.map((_, at) => sumOf(befores.map((list) => list[at])))
    const area = areaOf(tops, undefined, scale)
    return { name, tone, area, line: '', before: lineOf(index === 0 ? sums : [], scale) }
  })
}

function barsOf({ series, shape }: GraphOptions, { base, unit }: Scale): DrawnSet[] {
  const isStacked = shape === 'stacked bars'
  const beside = Math.max(1, isStacked ? 1 : series.filter(({ isBelow }) => !isBelow).length)
  const piled = { above: [] as number[], below: [] as number[] }
  let next = 0
  return series.map(({ name, tone, values, isBelow }) => {
    const side = isBelow ? 'below' : 'above'
    const width = (STEP - 2 * GAP) / (isBelow ? 1 : beside)
    const shift = GAP + (isStacked || isBelow ? 0 : next++ * width)
    const bars = values.map((value, at) => {
      if (!isDrawn(value)) return ''
      const height = Math.max(BAR_HEIGHT_MIN, (value ?? 0) * unit)
      const from = piled[side][at] ?? 0
      if (isStacked) piled[side][at] = from + height
      const top = isBelow ? base + from : base - from - height
      const [x, y] = [round(at * STEP + shift), Math.round(top)]
      return `M${x} ${y}h${round(width)}v${Math.round(height)}h-${round(width)}z`
    })
    return { name, tone, area: bars.join(''), line: '', before: '' }
  })
}

/** SVG path data of a line through known values, with gaps where nothing is known. */
function lineOf(values: GraphValues, scale: Scale): string {
  const paths = runsOf(values, scale).map(({ first, places }) => {
    const [x, y] = [first * STEP + STEP / 2, places[0] ?? 0]
    // A value between two gaps is drawn as a dash.
    return places.length === 1 ? `M${x - 5} ${y}h10` : `M${x} ${y}${steps(places)}`
  })
  return paths.join('')
}

/** SVG path data of what is below a line, down to another one or to zero. */
function areaOf(high: GraphValues, low: GraphValues | undefined, scale: Scale): string {
  const lows = low && runsOf(low, scale)
  const paths = runsOf(high, scale).map(({ first, places }, at) => {
    const width = places.length * STEP
    const half = `h${STEP / 2}`
    const top = `M${first * STEP} ${places[0]}${half}${steps(places)}${half}`
    const floor = lows?.[at]?.places.toReversed()
    if (!floor) return `${top}V${Math.round(scale.base)}h-${width}z`
    return `${top}V${floor[0]}h-${STEP / 2}${steps(floor, -STEP)}z`
  })
  return paths.join('')
}

/** The ranges of known values, as places from the top of the box. */
function runsOf(values: GraphValues, { base, unit }: Scale) {
  const runs: { first: number; places: number[] }[] = []
  for (const [at, value] of values.entries()) {
    if (value === undefined) continue
    const last = runs.at(-1)
    const place = Math.round(base - value * unit)
    if (last && last.first + last.places.length === at) last.places.push(place)
    else runs.push({ first: at, places: [place] })
  }
  return runs
}

/** From each place to the next one: relative, because that is short. */
function steps(places: readonly number[], width = STEP): string {
  const moves = places.slice(1).map((place, at) => `${width} ${place - (places[at] ?? 0)}`)
  return moves.length > 0 ? `l${moves.join(' ')}` : ''
}
