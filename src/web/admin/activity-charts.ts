import { type Activity, periods, type Period } from '../../activity/read-activity.ts'
import { addHistograms, mergeSlots, quantile, type Slot } from '../../activity/slots.ts'
import type { families } from '../../activity/write-activity.ts'
import { DAY_MS, HOUR_MS } from '../../durations.ts'
import {
  duration,
  type Language,
  locales,
  message,
  textsIn,
  timeUnits,
} from '../../texts/messages.ts'
import { uuidFloor } from '../../world.ts'
import { type LineChart, lineChart, lineTones } from '../pages/line-chart.ts'
import { queryOf } from '../pages/render.ts'

/**
 * A chart: which series it shows, in which unit, and the list behind its points. Its title is in
 * the texts `activity.charts`.
 */
type ChartDefinition = {
  key: string
  /** The beginning of the names of its series, or the name of a histogram. */
  series: string
  of: 'rates' | 'states' | 'durations'
  unit: 'per minute' | 'items' | 'time' | 'bytes' | 'cores'
  /** The address of the list of what happened until an instant, newest first. */
  behind?: ((until: Date) => string) | undefined
}

type ActivityGroup = {
  key: 'reports' | 'mail' | 'desks' | 'queues' | 'checks' | 'people' | 'system'
  families: readonly (typeof families)[number][]
  charts: readonly ChartDefinition[]
}

const LOWEST_ID = '00000000-0000-0000-0000-000000000000'

const reports = (at: Date) => `/admin/reports${queryOf({ below: uuidFloor(at) })}`
const letters = (at: Date) => `/admin/outbox/letters${queryOf({ before: uuidFloor(at) })}`
const outbox = (state: string) => (at: Date) =>
  `/admin/outbox${queryOf({ state, report: uuidFloor(at), number: '1' })}`
const deadLetters = (at: Date) =>
  `/admin/dead-letters${queryOf({ at: String(at.getTime() * 1_000), id: LOWEST_ID })}`
const inbox = (at: Date) => `/admin/inbox${queryOf({ filter: 'all', before: uuidFloor(at) })}`

/** The groups of charts, each shown on one page. Their titles are in the texts `activity`. */
export const activityGroups: readonly ActivityGroup[] = [
  {
    key: 'reports',
    families: ['reports', 'networks'],
    charts: [
      rates('channel', 'reports/channel/', reports),
      rates('kind', 'reports/kind/', reports),
      rates('verdict', 'reports/verdict/', reports),
      rates('networks', 'networks/', reports),
      durations('forwarded', 'reports/time', reports),
    ],
  },
  {
    key: 'mail',
    families: ['mail'],
    charts: [
      rates('feedback', 'mail/feedback/', outbox('sent')),
      rates('letters', 'mail/letter/', letters),
      states('unsent', 'mail/unsent/', 'items'),
      rates('answers', 'mail/answered/', inbox),
    ],
  },
  {
    key: 'desks',
    families: ['desks'],
    charts: [
      rates('desks-sent', 'desks/sent/', outbox('sent')),
      rates('desks-bounced', 'desks/bounced/', outbox('bounced')),
      rates('desks-refused', 'desks/refused/', outbox('refused')),
      rates('desks-answered', 'desks/answered/', inbox),
    ],
  },
  {
    key: 'queues',
    families: ['queues'],
    charts: [
      states('waiting', 'queues/waiting/', 'items'),
      states('age', 'queues/age/', 'time'),
      rates('done', 'queues/done/'),
      rates('failed', 'queues/failed/', deadLetters),
    ],
  },
  {
    key: 'checks',
    families: ['checks'],
    charts: [rates('answers', 'checks/'), durations('time', 'checks/time')],
  },
  {
    key: 'people',
    families: ['people'],
    charts: [
      rates('sign-ups', 'people/sign-ups'),
      rates('limits', 'people/limits/', () => '/admin/limits'),
    ],
  },
  {
    key: 'system',
    families: ['system'],
    charts: [
      states('cpu', 'system/cpu/', 'cores'),
      states('memory', 'system/memory/', 'bytes'),
      states('database', 'system/database', 'bytes'),
    ],
  },
]

function rates(key: string, series: string, behind?: ChartDefinition['behind']): ChartDefinition {
  return { key, series, of: 'rates', unit: 'per minute', behind }
}

function states(key: string, series: string, unit: ChartDefinition['unit']): ChartDefinition {
  return { key, series, of: 'states', unit }
}

function durations(
  key: string,
  series: string,
  behind?: ChartDefinition['behind'],
): ChartDefinition {
  return { key, series, of: 'durations', unit: 'time', behind }
}

const TICKS_PER_MINUTE = 6

/** A minute to a day, in seconds. */
const roundTimes = [1, 2, 5, 10, 20, 60, 120, 360, 720, 1_440].map((minutes) => minutes * 60)

/** Formats values of a unit for a language, in full and beside a grid line. */
function formatsOf(unit: ChartDefinition['unit'], language: Language) {
  const options = { maximumSignificantDigits: 3, notation: 'compact' } as const
  const compact = new Intl.NumberFormat(locales[language], options)
  const few = (value: number) => compact.format(value)
  const [, hour, minute, second] = timeUnits[language]
  const [mega, giga, ms] = sizeUnits[language]
  if (unit === 'bytes') {
    const bytes = (value: number) =>
      value < 1e9 ? `${few(value / 1e6)} ${mega}` : `${few(value / 1e9)} ${giga}`
    return { format: bytes, formatShort: bytes }
  }
  if (unit !== 'time') {
    // The Russian words for thousands are too long beside a grid line.
    const short = new Intl.NumberFormat(language === 'ru' ? 'en-GB' : locales[language], options)
    return { format: few, formatShort: (value: number) => short.format(value) }
  }
  const below = (seconds: number) =>
    seconds < 1 ? `${few(seconds * 1_000)} ${ms}` : `${few(seconds)} ${second}`
  return {
    format: (seconds: number) => (seconds < 60 ? below(seconds) : duration(language, seconds)),
    formatShort: (seconds: number) => {
      if (seconds === 0) return '0'
      if (seconds % 3_600 === 0) return `${few(seconds / 3_600)} ${hour}`
      return seconds % 60 === 0 ? `${few(seconds / 60)} ${minute}` : below(seconds)
    },
    rounds: roundTimes,
  }
}

const sizeUnits: Record<Language, readonly [mega: string, giga: string, ms: string]> = {
  en: ['MB', 'GB', 'ms'],
  fr: ['Mo', 'Go', 'ms'],
  ru: ['МБ', 'ГБ', 'мс'],
}

/** A line of a chart: its name, its value in a slot, and the largest value in a slot. */
type Line = {
  name: string
  /** The page of what the line is about. */
  href?: string | undefined
  valueIn: (slot: Slot) => number | undefined
  largestIn: (slot: Slot) => number | undefined
}

/** What a page draws. */
export type DrawnActivity = {
  period: Period
  activity: Activity
  before?: Activity | undefined
  marks: readonly { at: Date; text: string }[]
  /** Names for parts of the names of series, such as the addresses of abuse desks. */
  names: ReadonlyMap<string, string>
  language: Language
  /** The most lines of a chart: those with the largest values. */
  linesMax?: number
}

/** A chart, and how many more series it has, whose values are smaller. */
export type ShownChart = LineChart & { key: string; more: number }

export function drawGroup(
  group: ActivityGroup,
  drawn: DrawnActivity,
  wanted?: string,
): ShownChart[] {
  const charts = group.charts.filter(({ key }) => wanted === undefined || key === wanted)
  return charts.map((chart) => drawChart(chart, chartTitle(group, chart, drawn.language), drawn))
}

function chartTitle(group: ActivityGroup, { key }: ChartDefinition, language: Language): string {
  const code = `activity.charts.${group.key}.${key}`
  return message(language, code)?.text ?? code
}

/** The values of a chart for a program that draws it in the browser; unknown ones are null. */
export function chartData(chart: ChartDefinition, drawn: DrawnActivity) {
  const { from, stepMs, slots } = drawn.activity
  return {
    ...{ fromSeconds: from.getTime() / 1_000, stepSeconds: stepMs / 1_000, unit: chart.unit },
    lines: linesOf(chart, drawn).lines.map(({ name, valueIn }) => ({
      name,
      values: slots.map((slot) => (slot && valueIn(slot)) ?? null),
    })),
  }
}

const labelsOf: Record<Period, number | 'month'> = {
  hour: 600_000,
  day: 3 * HOUR_MS,
  week: DAY_MS,
  month: 4 * DAY_MS,
  year: 'month',
}

function drawChart(chart: ChartDefinition, title: string, drawn: DrawnActivity): ShownChart {
  const { activity, before, period, marks, language } = drawn
  const { slots, from, stepMs } = activity
  const { lines, more } = linesOf(chart, drawn)
  const whole = wholeOf(drawn)
  const texts = textsIn(language)
  const units = { 'per minute': texts('activity.perMinute'), cores: texts('activity.cores') }
  const unit = chart.unit === 'per minute' || chart.unit === 'cores' ? units[chart.unit] : ''
  const laidOut = lineChart({
    ...{ id: `chart-${chart.key}`, title, unit, language },
    ...formatsOf(chart.unit, language),
    ...{ from, stepMs, labelMs: labelsOf[period], marks },
    lines: lines.map(({ name, href, valueIn, largestIn }) => ({
      ...{ name, href },
      values: slots.map((slot) => slot && valueIn(slot)),
      before: before?.slots.map((slot) => slot && valueIn(slot)),
      average: whole && valueIn(whole),
      maximum: largest(slots.map((slot) => slot && largestIn(slot))),
    })),
    listed: listed(drawn).map(({ slot, ...range }) => ({
      ...range,
      values: lines.map(({ valueIn }) => slot && valueIn(slot)),
      href: slot && chart.behind?.(range.to),
    })),
  })
  return { ...laidOut, key: chart.key, more }
}

function largest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

function merged(slots: readonly (Slot | undefined)[]): Slot | undefined {
  const known = slots.filter((slot) => slot !== undefined)
  return known.length === 0 ? undefined : mergeSlots(known)
}

const wholes = new WeakMap<Activity, { slot: Slot | undefined }>()

/** The whole period as one slot, combined once for all charts of a page. */
function wholeOf(drawn: DrawnActivity): Slot | undefined {
  const { activity } = drawn
  const known = wholes.get(activity) ?? { slot: merged(listed(drawn).map(({ slot }) => slot)) }
  wholes.set(activity, known)
  return known.slot
}

const listedOf = new WeakMap<Activity, { from: Date; to: Date; slot: Slot | undefined }[]>()

/** The listed ranges of an activity, combined once for all charts of a page. */
function listed({ activity, period }: DrawnActivity) {
  const known = listedOf.get(activity)
  if (known) return known
  const { from, stepMs, slots } = activity
  const steps = periods[period].listedMs / stepMs
  const ranges = Array.from({ length: Math.ceil(slots.length / steps) }, (_, index) => ({
    from: new Date(from.getTime() + index * steps * stepMs),
    to: new Date(from.getTime() + Math.min(slots.length, (index + 1) * steps) * stepMs),
    slot: merged(slots.slice(index * steps, (index + 1) * steps)),
  }))
  listedOf.set(activity, ranges)
  return ranges
}

function linesOf(chart: ChartDefinition, drawn: DrawnActivity): { lines: Line[]; more: number } {
  const whole = wholeOf(drawn)
  if (!whole) return { lines: [], more: 0 }
  const found = [...drawn.activity.ids].filter(([name]) => name.startsWith(chart.series))
  if (chart.of === 'durations') {
    return {
      lines: found.some(([, id]) => whole.durations.has(id)) ? ranks(found, drawn.language) : [],
      more: 0,
    }
  }
  const { of } = chart
  const known = found
    .flatMap(([name, id]) => {
      const point = whole[of].get(id)
      return point ? [{ ...named(name, drawn), id, mean: point.mean }] : []
    })
    .sort((one, other) => other.mean - one.mean || (one.name < other.name ? -1 : 1))
  const factor = of === 'rates' ? TICKS_PER_MINUTE : 1
  const lines = known
    .slice(0, drawn.linesMax ?? lineTones.length)
    .map(({ name, href, id }): Line => {
      // Without a point, a rate is zero and a state unknown.
      const without = of === 'rates' ? 0 : undefined
      const times = (value: number | undefined) => (value === undefined ? without : value * factor)
      return {
        ...{ name, href },
        valueIn: (slot) => times(slot[of].get(id)?.mean),
        largestIn: (slot) => times(slot[of].get(id)?.max),
      }
    })
  return { lines, more: known.length - lines.length }
}

/** The median and the 99th percentile of a histogram, in seconds. */
function ranks(found: readonly [string, number][], language: Language): Line[] {
  const texts = textsIn(language)
  const line = (name: string, rank: number): Line => {
    const valueIn = (slot: Slot) => {
      const some = found.map(([, id]) => slot.durations.get(id)).filter((one) => one !== undefined)
      const ms = quantile(addHistograms(some), rank)
      return ms === undefined ? undefined : ms / 1_000
    }
    return { name, valueIn, largestIn: valueIn }
  }
  return [line(texts('activity.half'), 0.5), line(texts('activity.almostAll'), 0.99)]
}

/** The last part of the name of a series, or what it stands for, and the page about it. */
function named(series: string, { names, language }: DrawnActivity) {
  const last = series.slice(series.lastIndexOf('/') + 1)
  if (series.startsWith('queues/')) return { name: last, href: `/admin/queues/${last}` }
  const desk = names.get(last)
  if (desk !== undefined) return { name: desk, href: `/admin/consumers/${last}` }
  const isWord = /^(?:reports|mail|networks)\//.test(series)
  const word = isWord ? message(language, `names.${last}`)?.text : undefined
  return { name: word ?? last, href: undefined }
}

/** Describes an event. */
export function markText(
  { kind, detail }: { kind: 'version' | 'outage' | 'rules' | 'model'; detail: string },
  language: Language,
): string {
  if (kind !== 'outage') return textsIn(language)(`activity.marks.${kind}`, { detail })
  const until = `${detail.slice(0, 16).replace('T', ' ')} UTC`
  return textsIn(language)('activity.marks.outage', { until })
}
