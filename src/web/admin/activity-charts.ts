import { type Activity, periods, type Period } from '../../activity/read-activity.ts'
import { addHistograms, mergeSlots, quantile, type Slot } from '../../activity/slots.ts'
import type { families } from '../../activity/write-activity.ts'
import { uuidFloor } from '../../world.ts'
import { type LineChart, lineChart, lineTones } from '../pages/line-chart.ts'
import { queryOf } from '../pages/render.ts'
import { shownDuration } from './send-admin-page.ts'

/** A chart: which series it shows, in which unit, and the list behind its points. */
type ChartDefinition = {
  key: string
  title: string
  /** The beginnings of the names of its series, or the name of a histogram. */
  series: readonly string[]
  of: 'rates' | 'states' | 'durations'
  unit: 'per minute' | 'items' | 'time' | 'bytes' | 'cores'
  /** The address of the list of what happened until an instant, newest first. */
  behind?: (until: Date) => string
}

type ActivityGroup = {
  key: string
  title: string
  families: readonly (typeof families)[number][]
  charts: readonly ChartDefinition[]
}

const reports = (at: Date) => `/admin/reports${queryOf({ below: uuidFloor(at) })}`
const letters = (at: Date) => `/admin/outbox/letters${queryOf({ before: uuidFloor(at) })}`
const outbox = (state: string) => (at: Date) =>
  `/admin/outbox${queryOf({ state, report: uuidFloor(at), number: '1' })}`
const inbox = (at: Date) => `/admin/inbox${queryOf({ filter: 'all', before: uuidFloor(at) })}`

/** The groups of charts, each shown on one page. */
export const activityGroups: readonly ActivityGroup[] = [
  {
    key: 'reports',
    title: 'Reports',
    families: ['reports', 'networks'],
    charts: [
      rates('channel', 'Reports by channel', 'reports/channel/', reports),
      rates('kind', 'Reports by kind', 'reports/kind/', reports),
      rates('verdict', 'Verdicts', 'reports/verdict/', reports),
      rates('networks', 'Reports by network of origin', 'networks/', reports),
      durations('forwarded', 'Time from the report to its forwarding', 'reports/time', reports),
    ],
  },
  {
    key: 'mail',
    title: 'Mail',
    families: ['mail'],
    charts: [
      rates('feedback', 'Feedback reports by result', 'mail/feedback/', outbox('sent')),
      rates('letters', 'Letters by result', 'mail/letter/', letters),
      states('unsent', 'Mail that is not sent yet', 'mail/unsent/', 'items'),
      rates('answers', 'Answers of abuse desks', 'mail/answered/', inbox),
    ],
  },
  {
    key: 'desks',
    title: 'Abuse desks',
    families: ['desks'],
    charts: [
      rates('desks-sent', 'Feedback reports sent, by abuse desk', 'desks/sent/', outbox('sent')),
      rates('desks-bounced', 'Bounces, by abuse desk', 'desks/bounced/', outbox('bounced')),
      rates('desks-refused', 'Refusals, by abuse desk', 'desks/refused/', outbox('refused')),
      rates('desks-answered', 'Answers, by abuse desk', 'desks/answered/', inbox),
    ],
  },
  {
    key: 'queues',
    title: 'Queues',
    families: ['queues'],
    charts: [
      states('waiting', 'Waiting jobs', 'queues/waiting/', 'items'),
      states('age', 'Age of the oldest job', 'queues/age/', 'time'),
      rates('done', 'Jobs done', 'queues/done/'),
      rates('failed', 'Failed attempts', 'queues/failed/', () => '/admin/dead-letters'),
    ],
  },
  {
    key: 'checks',
    title: 'Checks',
    families: ['checks'],
    charts: [
      rates('answers', 'Answers to mail servers', 'checks/'),
      durations('time', 'Time to answer a check', 'checks/time'),
    ],
  },
  {
    key: 'people',
    title: 'People',
    families: ['people'],
    charts: [
      rates('sign-ups', 'New accounts', 'people/sign-ups'),
      rates('limits', 'Refusals, by limit', 'people/limits/', () => '/admin/limits'),
    ],
  },
  {
    key: 'system',
    title: 'System',
    families: ['system'],
    charts: [
      states('cpu', 'Processor time, by process', 'system/cpu/', 'cores'),
      states('memory', 'Memory, by process', 'system/memory/', 'bytes'),
      states('database', 'Size of the database', 'system/database', 'bytes'),
    ],
  },
]

function rates(
  key: string,
  title: string,
  series: string,
  behind?: ChartDefinition['behind'],
): ChartDefinition {
  return {
    key,
    title,
    series: [series],
    of: 'rates',
    unit: 'per minute',
    ...(behind && { behind }),
  }
}

function states(
  key: string,
  title: string,
  series: string,
  unit: ChartDefinition['unit'],
): ChartDefinition {
  return { key, title, series: [series], of: 'states', unit }
}

function durations(
  key: string,
  title: string,
  series: string,
  behind?: ChartDefinition['behind'],
): ChartDefinition {
  return { key, title, series: [series], of: 'durations', unit: 'time', ...(behind && { behind }) }
}

const TICKS_PER_MINUTE = 6

const few = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 3, notation: 'compact' })
const formats: Record<ChartDefinition['unit'], (value: number) => string> = {
  'per minute': (value) => few.format(value),
  items: (value) => few.format(value),
  cores: (value) => few.format(value),
  bytes: (value) => `${few.format(value / (value < 1e9 ? 1e6 : 1e9))} ${value < 1e9 ? 'MB' : 'GB'}`,
  time: (seconds) => {
    if (seconds < 1) return `${few.format(seconds * 1_000)} ms`
    return seconds < 60 ? `${few.format(seconds)} s` : shownDuration(seconds)
  },
}

/** A time in one unit, for the grid lines. */
function shortTime(seconds: number): string {
  if (seconds === 0) return '0'
  if (seconds < 1) return `${few.format(seconds * 1_000)} ms`
  if (seconds < 300) return `${few.format(seconds)} s`
  return seconds < 7_200 ? `${few.format(seconds / 60)} min` : `${few.format(seconds / 3_600)} h`
}

/** A line of a chart: its name, its value in a slot, and the largest value in a slot. */
type Line = {
  name: string
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
}

/** A chart, and how many more series it has, whose values are smaller. */
export type ShownChart = LineChart & { key: string; more: number }

/** Draws the charts of a group. */
export function drawGroup(
  group: ActivityGroup,
  drawn: DrawnActivity,
  wanted?: string,
): ShownChart[] {
  const charts = group.charts.filter(({ key }) => wanted === undefined || key === wanted)
  return charts.map((chart) => drawChart(chart, drawn))
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
  day: 3 * 3_600_000,
  week: 86_400_000,
  month: 4 * 86_400_000,
  year: 'month',
}

function drawChart(chart: ChartDefinition, drawn: DrawnActivity): ShownChart {
  const { activity, before, period, marks } = drawn
  const { slots, from, stepMs } = activity
  const { lines, more } = linesOf(chart, drawn)
  const whole = wholeOf(activity)
  const unit = chart.unit === 'per minute' || chart.unit === 'cores' ? chart.unit : ''
  const laidOut = lineChart({
    ...{ id: `chart-${chart.key}`, title: chart.title, unit, format: formats[chart.unit] },
    formatShort: chart.unit === 'time' ? shortTime : formats[chart.unit],
    ...{ from, stepMs, labelMs: labelsOf[period], marks },
    lines: lines.map(({ name, valueIn, largestIn }) => ({
      name,
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
function wholeOf(activity: Activity): Slot | undefined {
  const known = wholes.get(activity) ?? { slot: merged(activity.slots) }
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
  const whole = wholeOf(drawn.activity)
  if (!whole) return { lines: [], more: 0 }
  const found = [...drawn.activity.ids].filter(([name]) =>
    chart.series.some((start) => name.startsWith(start)),
  )
  if (chart.of === 'durations') {
    return { lines: found.some(([, id]) => whole.durations.has(id)) ? ranks(found) : [], more: 0 }
  }
  const { of } = chart
  const known = found
    .flatMap(([name, id]) => {
      const point = whole[of].get(id)
      return point ? [{ name: nameOf(name, drawn.names), id, mean: point.mean }] : []
    })
    .sort((one, other) => other.mean - one.mean || (one.name < other.name ? -1 : 1))
  const factor = of === 'rates' ? TICKS_PER_MINUTE : 1
  const lines = known.slice(0, lineTones.length).map(({ name, id }): Line => {
    // Without a point, a rate is zero and a state unknown.
    const without = of === 'rates' ? 0 : undefined
    const times = (value: number | undefined) => (value === undefined ? without : value * factor)
    return {
      name,
      valueIn: (slot) => times(slot[of].get(id)?.mean),
      largestIn: (slot) => times(slot[of].get(id)?.max),
    }
  })
  return { lines, more: known.length - lines.length }
}

/** The median and the 99th percentile of a histogram, in seconds. */
function ranks(found: readonly [string, number][]): Line[] {
  const line = (name: string, rank: number): Line => {
    const valueIn = (slot: Slot) => {
      const some = found.map(([, id]) => slot.durations.get(id)).filter((one) => one !== undefined)
      const ms = quantile(addHistograms(some), rank)
      return ms === undefined ? undefined : ms / 1_000
    }
    return { name, valueIn, largestIn: valueIn }
  }
  return [line('half are faster than', 0.5), line('99 % are faster than', 0.99)]
}

/** The last part of the name of a series, or what it stands for. */
function nameOf(series: string, names: ReadonlyMap<string, string>): string {
  const last = series.slice(series.lastIndexOf('/') + 1)
  return names.get(last) ?? last
}

/** Describes an event. */
export function markText(kind: 'version' | 'outage' | 'rules' | 'model', detail: string): string {
  if (kind === 'version') return `Version ${detail} of the program`
  if (kind === 'rules') return `Version ${detail} of the rules`
  if (kind === 'model') return `Model ${detail}`
  return `No process ran until ${detail.slice(0, 16).replace('T', ' ')} UTC`
}
