import { type Activity, type Span } from '../../activity/read-activity.ts'
import { addHistograms, mergeSlots, quantile, type Slot } from '../../activity/slots.ts'
import type { families } from '../../activity/families.ts'
import type { MarkKind } from '../../db/activity.ts'
import { formatters, type Language, locales, message, textsIn } from '../../texts/messages.ts'
import { uuidFloor } from '../../world.ts'
import {
  type Graph,
  graph,
  type GraphSeries,
  type GraphValues,
  plainTones,
} from '../pages/graph.ts'
import { equalSteps } from '../pages/graph-time.ts'
import { queryOf } from '../pages/render.ts'
import { type GraphUnit, unitOf } from './graph-units.ts'

/**
 * A chart: which series it shows, in which unit, and the list behind its points. Its title is in
 * the texts `activity.charts`.
 */
type ChartDefinition = {
  key: string
  /** The beginning of the names of its series, or the name of a histogram. */
  series: string
  of: 'rates' | 'states' | 'durations'
  unit: GraphUnit
  /** Whether the series are parts of a whole, and are drawn as areas that add up. */
  isWhole: boolean
  /** Whether it is left out if nothing was counted. */
  isOptional?: true
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
      rates('feedback', 'mail/feedback/', outbox('')),
      rates('letters', 'mail/letter/', letters),
      parts('unsent', 'mail/unsent/', 'items'),
      rates('answers', 'mail/answered/', inbox),
    ],
  },
  {
    key: 'desks',
    families: ['desks'],
    charts: [
      rates('desks-sent', 'desks/sent/', outbox('sent')),
      { ...rates('desks-held', 'desks/held/', outbox('held')), isOptional: true },
      rates('desks-bounced', 'desks/bounced/', outbox('bounced')),
      rates('desks-refused', 'desks/refused/', outbox('refused')),
      rates('desks-answered', 'desks/answered/', inbox),
    ],
  },
  {
    key: 'queues',
    families: ['queues'],
    charts: [
      parts('waiting', 'queues/waiting/', 'items'),
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
      parts('cpu', 'system/cpu/', 'cores'),
      parts('memory', 'system/memory/', 'bytes'),
      parts('database', 'system/database', 'bytes'),
    ],
  },
]

function rates(key: string, series: string, behind?: ChartDefinition['behind']): ChartDefinition {
  return { key, series, of: 'rates', unit: 'events', isWhole: true, behind }
}

function states(key: string, series: string, unit: ChartDefinition['unit']): ChartDefinition {
  return { key, series, of: 'states', unit, isWhole: false }
}

/** States that are parts of a whole. */
function parts(key: string, series: string, unit: ChartDefinition['unit']): ChartDefinition {
  return { ...states(key, series, unit), isWhole: true }
}

function durations(
  key: string,
  series: string,
  behind?: ChartDefinition['behind'],
): ChartDefinition {
  return { key, series, of: 'durations', unit: 'time', isWhole: false, behind }
}

/** A series of a chart: its name, and its value in a slot: the number of events, or a state. */
type Line = {
  name: string
  /** The page of what the line is about. */
  href?: string | undefined
  tone: GraphSeries['tone']
  valueIn: (slot: Slot) => number | undefined
}

/** What a page draws. */
export type DrawnActivity = {
  span: Span
  activity: Activity
  before?: Activity | undefined
  marks: readonly { at: Date; text: string }[]
  /** Names for parts of the names of series, such as the addresses of abuse desks. */
  names: ReadonlyMap<string, string>
  language: Language
}

export function drawGroup(group: ActivityGroup, drawn: DrawnActivity): Graph[] {
  return group.charts.flatMap((chart) => {
    const one = drawChart(chart, chartTitle(group, chart, drawn), drawn)
    return chart.isOptional && one.isEmpty ? [] : [one]
  })
}

function chartTitle(
  group: ActivityGroup,
  { key }: ChartDefinition,
  { language }: DrawnActivity,
): string {
  const code = `activity.charts.${group.key}.${key}`
  return message(language, code)?.text ?? code
}

function drawChart(chart: ChartDefinition, title: string, drawn: DrawnActivity): Graph {
  const { activity, before, marks, language } = drawn
  const { slots, from, stepMs } = activity
  const texts = textsIn(language)
  const lines = linesOf(chart, drawn)
  const raw = lines.map(({ valueIn }) => slots.map((slot) => slot && valueIn(slot)))
  const { name, format, rounds } = unitOf(chart.unit, stepMs, language)
  const shown = (value: number | undefined) => (value === undefined ? '–' : format(value))
  const isCount = chart.of === 'rates'
  const whole = wholeOf(drawn)
  const totals = lines.map(({ valueIn }) => (whole && valueIn(whole)) ?? 0)
  const number = formatters.getNumberFormat(locales[language])
  const figuresOf = (values: GraphValues, total: number) => {
    const now = shown(values.findLast((value) => value !== undefined))
    const mean = shown(meanOf(values))
    return [isCount ? number.format(Math.round(total)) : now, mean, shown(largest(values))]
  }
  return graph({
    ...{ id: `chart-${chart.key}`, title, unit: name, format, rounds, language },
    least: isCount ? 1 : 1e-3,
    shape: chart.isWhole ? 'areas' : 'lines',
    time: equalSteps(from, stepMs, slots.length),
    heads: isCount
      ? [
          texts('chart.total'),
          `${texts('activity.average')} ${name}`,
          `${texts('activity.maximum')} ${name}`,
        ]
      : [texts('activity.now'), texts('activity.average'), texts('activity.maximum')],
    series: lines.map(({ name: its, href, tone, valueIn }, at) => ({
      ...{ name: its, href, tone, values: raw[at] ?? [] },
      before: before?.slots.map((slot) => slot && valueIn(slot)),
      figures: figuresOf(raw[at] ?? [], totals[at] ?? 0),
    })),
    sum: {
      name: texts('chart.together'),
      figures: figuresOf(
        sumsOf(raw),
        totals.reduce((sum, one) => sum + one, 0),
      ),
    },
    marks,
    listed: listed(drawn).map(({ slot, ...range }) => ({
      ...range,
      values: lines.map(({ valueIn }) => slot && valueIn(slot)),
      href: slot && chart.behind?.(range.to),
    })),
  })
}

function largest(values: GraphValues): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((most, one) => Math.max(most, one))
}

function meanOf(values: GraphValues): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0) / known.length
}

function sumsOf(lists: readonly GraphValues[]): GraphValues {
  return (lists[0] ?? []).map((_, at) => {
    const known = lists.flatMap((values) => values[at] ?? [])
    return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0)
  })
}

function merged(slots: readonly (Slot | undefined)[]): Slot | undefined {
  const known = slots.filter((slot) => slot !== undefined)
  return known.length === 0 ? undefined : mergeSlots(known)
}

const wholes = new WeakMap<Activity, { slot: Slot | undefined }>()

/** The whole period as one slot, combined once for all charts of a page. */
function wholeOf(drawn: DrawnActivity): Slot | undefined {
  const make = () => ({ slot: merged(listed(drawn).map(({ slot }) => slot)) })
  return wholes.getOrInsertComputed(drawn.activity, make).slot
}

const listedOf = new WeakMap<Activity, { from: Date; to: Date; slot: Slot | undefined }[]>()

/** The listed ranges of an activity, combined once for all charts of a page. */
function listed({ activity, span }: DrawnActivity) {
  const known = listedOf.get(activity)
  if (known) return known
  const { from, stepMs, slots } = activity
  const steps = span.listedMs / stepMs
  const ranges = Array.from({ length: Math.ceil(slots.length / steps) }, (_, index) => ({
    from: new Date(from.getTime() + index * steps * stepMs),
    to: new Date(from.getTime() + Math.min(slots.length, (index + 1) * steps) * stepMs),
    slot: merged(slots.slice(index * steps, (index + 1) * steps)),
  }))
  listedOf.set(activity, ranges)
  return ranges
}

/** The series of a chart, largest first. Small ones are one series, so that areas add up. */
function linesOf(chart: ChartDefinition, drawn: DrawnActivity): Line[] {
  const whole = wholeOf(drawn)
  if (!whole) return []
  const found = [...drawn.activity.ids].filter(([name]) => name.startsWith(chart.series))
  const { of } = chart
  if (of === 'durations')
    return found.some(([, id]) => whole.durations.has(id)) ? ranks(found, drawn.language) : []
  const known = found
    .flatMap(([name, id]) => {
      const point = whole[of].get(id)
      return point ? [{ ...named(name, drawn), id, mean: point.mean }] : []
    })
    .sort((one, other) => other.mean - one.mean || (one.name < other.name ? -1 : 1))
  const [shown, rest] = [known.slice(0, plainTones.length), known.slice(plainTones.length)]
  const lines = shown.map(({ name, href, id }, at): Line => {
    return { name, href, tone: plainTones[at] ?? 'rest', valueIn: (slot) => amountIn(slot, of, id) }
  })
  if (rest.length === 0) return lines
  const texts = textsIn(drawn.language)
  const name = texts(chart.isWhole ? 'activity.rest' : 'activity.restMost', { n: rest.length })
  const ofRest = (slot: Slot) => {
    const values = rest.map(({ id }) => amountIn(slot, of, id))
    return chart.isWhole ? sumsOf(values.map((value) => [value]))[0] : largest(values)
  }
  return [...lines, { name, tone: 'rest', valueIn: ofRest }]
}

/** The number of events of a series in a slot, or the mean of a state. */
export function amountIn(slot: Slot, of: 'rates' | 'states', id: number): number | undefined {
  const mean = slot[of].get(id)?.mean
  // Without a point, there were no events, and a state is unknown.
  return of === 'states' ? mean : (mean ?? 0) * slot.ticks
}

/** The median and the 99th percentile of a histogram, in seconds. */
function ranks(found: readonly [string, number][], language: Language): Line[] {
  const texts = textsIn(language)
  const line = (name: string, tone: Line['tone'], rank: number): Line => {
    return { name, tone, valueIn: (slot) => secondsIn(slot, found, rank) }
  }
  return [line(texts('activity.half'), 'one', 0.5), line(texts('activity.almostAll'), 'two', 0.99)]
}

/** The seconds that a share of the durations of some series does not exceed. */
export function secondsIn(
  slot: Slot,
  series: readonly (readonly [string, number])[],
  rank: number,
): number | undefined {
  const some = series.map(([, id]) => slot.durations.get(id)).filter((one) => one !== undefined)
  const ms = quantile(addHistograms(some), rank)
  return ms === undefined ? undefined : ms / 1_000
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

export function markText({ kind, detail }: { kind: MarkKind; detail: string }, language: Language) {
  if (kind !== 'outage') return textsIn(language)(`activity.marks.${kind}`, { detail })
  const until = `${detail.slice(0, 16).replace('T', ' ')} UTC`
  return textsIn(language)('activity.marks.outage', { until })
}
