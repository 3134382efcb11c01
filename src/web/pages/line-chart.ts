import { DAY_MS } from '../../durations.ts'
import { formatters, type Language, locales } from '../../texts/messages.ts'
import {
  type ChartFrame,
  hasRoom,
  HEIGHT,
  linesOf,
  PLOT,
  round,
  scaleTo,
  WIDTH,
} from './chart-frame.ts'

/** The colors and patterns of lines, in the order in which they are given; see `series.css`. */
export const lineTones = ['one', 'two', 'three', 'four', 'five', 'six'] as const

/** A value in each step; undefined where nothing is known. */
type Values = readonly (number | undefined)[]

/** A line: its values, and figures about the whole period. */
export type DrawnLine = {
  name: string
  /** The page of what the line is about. */
  href?: string | undefined
  values: Values
  /** The values of the period before, drawn with the same color. */
  before?: Values | undefined
  average: number | undefined
  maximum: number | undefined
}

export type LineChartOptions = {
  /** Unique on its page. */
  id: string
  title: string
  /** The unit of the values, for example `per minute`. */
  unit: string
  /** Formats a value with few digits. */
  format: (value: number) => string
  /** Formats a value beside a grid line, in at most six characters. */
  formatShort: (value: number) => string
  /** Large distances of grid lines that are round in the unit; see `scaleTo`. */
  rounds?: readonly number[] | undefined
  from: Date
  stepMs: number
  lines: readonly DrawnLine[]
  /** The distance of the labels below, in milliseconds; `month` labels the first of each month. */
  labelMs: number | 'month'
  marks: readonly { at: Date; text: string }[]
  /** Ranges of time with their figures, listed in a table. `href` shows what is behind them. */
  listed: readonly { from: Date; to: Date; values: Values; href?: string | undefined }[]
  language: Language
}

/** A chart of lines, laid out in the units of its view box; `views/parts/lines.eta` draws it. */
export type LineChart = ChartFrame & {
  unit: string
  isEmpty: boolean
  /** SVG path data of each line. */
  paths: { d: string; tone: string; isBefore: boolean }[]
  marks: { x: number; text: string }[]
  /** The lines with their last, average and largest values. */
  legend: {
    name: string
    href: string | undefined
    tone: string
    now: string
    average: string
    maximum: string
  }[]
  /** Areas that lead to what is behind them, as high as the plot. */
  links: { x: number; width: number; href: string; text: string }[]
  rows: { when: string; iso: string; href: string | undefined; values: string[] }[]
}

const UNKNOWN = '–'

/** Lays out lines over time in UTC. The same input gives the same chart: it reads no clock. */
export function lineChart(options: LineChartOptions): LineChart {
  const { id, title, unit, format, rounds, from, stepMs, lines } = options
  const steps = lines[0]?.values.length ?? 0
  const drawn = lines.flatMap(({ values, before = [] }) => [...values, ...before])
  const scale = scaleTo({ up: Math.max(0, ...defined(drawn)), down: 0, least: 1e-3, rounds })
  const place = (at: number) =>
    round(PLOT.x + ((at - from.getTime()) / (steps * stepMs)) * PLOT.width)
  const pathOf = (values: Values) => path(values, { steps, base: scale.base, unit: scale.unit })
  const shown = (value: number | undefined) => (value === undefined ? UNKNOWN : format(value))
  const tone = (index: number) => lineTones[index % lineTones.length] ?? 'one'
  const when = wordsFor(options)
  return {
    ...{ id, title, unit, width: WIDTH, height: HEIGHT, plot: PLOT },
    isEmpty: defined(drawn).length === 0,
    lines: linesOf(scale, options.formatShort),
    labels: labelsOf(options, steps, place),
    paths: [
      ...lines.map(({ before = [] }, at) => ({
        d: pathOf(before),
        tone: tone(at),
        isBefore: true,
      })),
      ...lines.map(({ values }, at) => ({ d: pathOf(values), tone: tone(at), isBefore: false })),
    ].filter(({ d }) => d !== ''),
    marks: options.marks.map(({ at, text }) => ({ x: place(at.getTime()), text })),
    legend: lines.map(({ name, href, values, average, maximum }, at) => ({
      ...{
        name,
        href,
        tone: tone(at),
        now: shown(values.findLast((value) => value !== undefined)),
      },
      ...{ average: shown(average), maximum: shown(maximum) },
    })),
    links: options.listed.flatMap(({ from: start, to, values, href }) => {
      if (href === undefined) return []
      const x = place(start.getTime())
      const figures = lines.map(({ name }, at) => `${name} ${shown(values[at])}`)
      const text = `${when(start)}: ${figures.join(', ')}`
      return [{ x, width: round(place(to.getTime()) - x), href, text }]
    }),
    rows: options.listed.map(({ from: start, values, href }) => ({
      ...{ when: when(start), iso: start.toISOString(), href },
      values: lines.map((_, at) => shown(values[at])),
    })),
  }
}

function defined(values: Values): number[] {
  return values.filter((value) => value !== undefined)
}

/** SVG path data: a line through known values, with gaps where nothing is known. */
function path(
  values: Values,
  { steps, base, unit }: { steps: number; base: number; unit: number },
): string {
  let isDown = false
  const pieces = values.map((value, step) => {
    if (value === undefined) {
      isDown = false
      return ''
    }
    const x = PLOT.x + ((step + 0.5) / steps) * PLOT.width
    const command = isDown ? 'L' : 'M'
    isDown = true
    const point = `${command}${x.toFixed(1)} ${(base - value * unit).toFixed(1)}`
    // A value between two gaps is drawn as a dot.
    return command === 'M' && values[step + 1] === undefined ? `${point}m-2 0h4` : point
  })
  return pieces.join('')
}

function labelsOf(
  { from, stepMs, labelMs, language }: LineChartOptions,
  steps: number,
  place: (at: number) => number,
): ChartFrame['labels'] {
  const labels: ChartFrame['labels'] = []
  const { time, day, month } = formatsOf(language)
  for (let step = 0; step < steps; step++) {
    const at = new Date(from.getTime() + step * stepMs)
    const isLabeled = labelMs === 'month' ? at.getUTCDate() === 1 : at.getTime() % labelMs === 0
    const x = place(at.getTime())
    if (!isLabeled || !hasRoom(x)) continue
    labels.push({
      x,
      text: labelMs === 'month' ? month(at) : at.getTime() % DAY_MS === 0 ? day(at) : time(at),
    })
  }
  return labels
}

const clock = { hour: '2-digit', minute: '2-digit' } as const
const date = { day: 'numeric', month: 'short' } as const

function formatsOf(language: Language) {
  const formatter = (options: Intl.DateTimeFormatOptions) => {
    const format = formatters.getDateTimeFormat(locales[language], options)
    return (at: Date) => format.format(at)
  }
  const [time, day, month] = [formatter(clock), formatter(date), formatter({ month: 'short' })]
  return { time, day, month, dayAndTime: formatter({ ...date, ...clock }) }
}

/** Formats the start of a listed range: with the time of day if ranges are shorter than a day. */
function wordsFor({ listed, language }: LineChartOptions): (at: Date) => string {
  const { day, dayAndTime } = formatsOf(language)
  const [first] = listed
  const isShort = first && first.to.getTime() - first.from.getTime() < DAY_MS
  return isShort ? dayAndTime : day
}
