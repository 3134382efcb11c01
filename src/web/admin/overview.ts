import { type Activity, readActivity, type Span, spanOf } from '../../activity/read-activity.ts'
import { mergeSlots, type Slot, slotStart } from '../../activity/slots.ts'
import { findFirstSlot } from '../../db/activity.ts'
import { DAY_MS, MINUTE_MS } from '../../durations.ts'
import { formatters, type Language, locales, textsIn } from '../../texts/messages.ts'
import { type Graph, graph, type GraphValues } from '../pages/graph.ts'
import { equalSteps } from '../pages/graph-time.ts'
import type { Site } from '../site.ts'
import { amountIn, secondsIn } from './activity-charts.ts'
import { type GraphUnit, unitOf } from './graph-units.ts'

const families = ['reports', 'mail', 'queues'] as const
/** The steps of a whole day: few, because the graphs are small. */
const STEP_MS = 30 * MINUTE_MS
/** The number of days before the last one, with which it is compared. */
const DAYS = 7
/** With fewer earlier days, nothing is called usual. */
const DAYS_MIN = 3
/** The part of the values of earlier days that is left out at each end as unusual. */
const UNUSUAL = 0.05

type Ids = Activity['ids']

/** A graph of one value of the whole site. */
type OverviewGraph = {
  key: 'reports' | 'forwarded' | 'sent' | 'held' | 'waiting'
  unit: GraphUnit
  /** The page with the same in detail. */
  group: 'reports' | 'mail' | 'queues'
  /** What stands above the graph: the events or the value of the day, or what is so at present. */
  headline: 'total' | 'whole' | 'now'
  valueIn: (slot: Slot, ids: Ids) => number | undefined
}

/** The graphs of a site that sends mail, or of one that holds all of it. */
const graphsOf = (outcome: 'sent' | 'held'): readonly OverviewGraph[] => [
  {
    ...{ key: 'reports', unit: 'events', group: 'reports', headline: 'total' },
    valueIn: (slot, ids) => sumIn(slot, 'rates', ids, 'reports/channel/'),
  },
  {
    ...{ key: outcome, unit: 'events', group: 'mail', headline: 'total' },
    valueIn: (slot, ids) => sumIn(slot, 'rates', ids, `mail/feedback/${outcome}`),
  },
  {
    ...{ key: 'forwarded', unit: 'time', group: 'reports', headline: 'whole' },
    valueIn: (slot, ids) => secondsIn(slot, seriesOf(ids, 'reports/time'), 0.5),
  },
  {
    ...{ key: 'waiting', unit: 'items', group: 'queues', headline: 'now' },
    valueIn: (slot, ids) => sumIn(slot, 'states', ids, 'queues/waiting/'),
  },
]

function seriesOf(ids: Ids, start: string): [string, number][] {
  return [...ids].filter(([name]) => name.startsWith(start))
}

function sumIn(slot: Slot, of: 'rates' | 'states', ids: Ids, start: string): number | undefined {
  const values = seriesOf(ids, start).flatMap(([, id]) => amountIn(slot, of, id) ?? [])
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0)
}

type Shown = { chart: Graph; href: string; headline: string; usual: string | undefined }

/**
 * Returns a function that draws the last day in four small graphs, each with the band of what was
 * usual at the same time of day in the week before. What was usual changes slowly, so it is kept
 * for half an hour.
 */
export function createOverview({ pool, config }: Pick<Site, 'pool' | 'config'>) {
  const graphs = graphsOf(config.smtpUrl === undefined ? 'held' : 'sent')
  let known: { at: number; usual: Promise<Usual | undefined> } | undefined
  const usualAt = (span: Span, since: Date, now: Date) => {
    if (known?.at !== span.to.getTime()) {
      known = { at: span.to.getTime(), usual: readUsual(span, since, now) }
      // A failure is not kept.
      known.usual.catch(() => (known = undefined))
    }
    return known.usual
  }

  async function readUsual(span: Span, since: Date, now: Date): Promise<Usual | undefined> {
    const from = new Date(span.from.getTime() - DAYS * DAY_MS)
    if (since.getTime() > span.from.getTime() - DAYS_MIN * DAY_MS) return undefined
    const before = { ...span, from, to: span.from }
    return usualOf(graphs, await readActivity(pool, families, before, now), span)
  }

  return async (
    now: Date,
    { events, ...shown }: Pick<Given, 'waitingNow' | 'language'> & { events: Given['marks'] },
  ): Promise<Shown[]> => {
    const since = await findFirstSlot(pool)
    if (!since) return []
    const found = spanOf('day', { end: now, since })
    const isWhole = found.to.getTime() - found.from.getTime() >= DAY_MS
    const end = slotStart(now.getTime(), STEP_MS) + STEP_MS
    const whole = { from: new Date(end - DAY_MS), to: new Date(end), stepMs: STEP_MS }
    const span = isWhole ? { ...found, ...whole } : found
    const [activity, usual] = await Promise.all([
      readActivity(pool, families, span, now),
      isWhole ? usualAt(span, since, now) : undefined,
    ])
    const marks = events.filter(({ at }) => at >= span.from && at < span.to)
    const elapsed = (now.getTime() - span.to.getTime()) / span.stepMs + 1
    return graphs.map((one) => {
      const its = usual?.get(one.key)
      return drawn(one, {
        ...{ activity, marks, ...shown },
        usual: its && one.headline === 'total' ? untilNow(its, elapsed) : its,
      })
    })
  }
}

/** What is usual until now: the last step has not ended, and only a part of it is counted. */
function untilNow(usual: UsualValues, elapsed: number): UsualValues {
  const partly = (values: GraphValues) => {
    const last = values.at(-1)
    return [...values.slice(0, -1), last && last * elapsed]
  }
  return { ...usual, low: partly(usual.low), high: partly(usual.high) }
}

/** What was usual: the range of the values at each step, and of the headlines of whole days. */
type UsualValues = { low: GraphValues; high: GraphValues; days: readonly number[] }
type Usual = ReadonlyMap<OverviewGraph['key'], UsualValues>

function usualOf(graphs: readonly OverviewGraph[], { slots, ids }: Activity, span: Span): Usual {
  const steps = (span.to.getTime() - span.from.getTime()) / span.stepMs
  return new Map(
    graphs.map((one) => {
      const values = slots.map((slot) => slot && one.valueIn(slot, ids))
      const ranges = Array.from({ length: steps }, (_, step) => rangeAt(values, step, steps))
      const days = Array.from({ length: DAYS }, (_, day) => {
        return headlineOf(one, slots.slice(day * steps, (day + 1) * steps), ids)
      })
      return [
        one.key,
        {
          low: ranges.map((range) => range?.[0]),
          high: ranges.map((range) => range?.[1]),
          days: days.filter((value) => value !== undefined),
        },
      ]
    }),
  )
}

/** The range of most values at the same time of earlier days, and half an hour around it. */
function rangeAt(values: GraphValues, step: number, steps: number): [number, number] | undefined {
  const near = Array.from({ length: DAYS }, (_, day) => day * steps + step)
  const some = near.flatMap((at) => values.slice(Math.max(0, at - 1), at + 2))
  const sorted = some.filter((value) => value !== undefined).toSorted((a, b) => a - b)
  if (sorted.length < 3 * DAYS_MIN - 1) return undefined
  const low = sorted[Math.floor(UNUSUAL * sorted.length)]
  const high = sorted[Math.ceil((1 - UNUSUAL) * sorted.length) - 1]
  return low === undefined || high === undefined ? undefined : [low, high]
}

/** The value of a day in some slots; undefined if nothing is stored for most of them. */
function headlineOf(
  { valueIn }: OverviewGraph,
  slots: readonly (Slot | undefined)[],
  ids: Ids,
): number | undefined {
  const known = slots.filter((slot) => slot !== undefined)
  if (known.length < slots.length / 2) return undefined
  return valueIn(mergeSlots(known), ids)
}

/** What is usual at the end of the day. */
function nowOf(usual: Given['usual']): number[] {
  return [usual?.low.at(-1), usual?.high.at(-1)].filter((value) => value !== undefined)
}

const headlines = { total: 'dashboard.inDay', now: 'dashboard.atPresent' } as const

type Given = {
  activity: Activity
  usual: UsualValues | undefined
  marks: readonly { at: Date; text: string }[]
  /** The number of waiting jobs, as in the list of queues. */
  waitingNow: number
  language: Language
}

function drawn(one: OverviewGraph, { activity, usual, marks, waitingNow, language }: Given): Shown {
  const { slots, ids, from, stepMs } = activity
  const texts = textsIn(language)
  const unit = unitOf(one.unit, stepMs, language)
  const count = formatters.getNumberFormat(locales[language])
  const shown = (value: number) =>
    one.headline === 'whole' ? unit.format(value) : count.format(Math.round(value))
  const headline = (value: number) =>
    one.headline === 'whole' ? shown(value) : texts(headlines[one.headline], { n: shown(value) })
  const value = one.headline === 'now' ? waitingNow : headlineOf(one, slots, ids)
  const title = texts(`dashboard.graphs.${one.key}`)
  const days = one.headline === 'now' ? nowOf(usual) : (usual?.days ?? [])
  return {
    chart: graph({
      ...{ id: `overview-${one.key}`, title, unit: unit.name, format: unit.format, language },
      ...{ rounds: unit.rounds, least: one.unit === 'time' ? 1e-3 : 1, shape: 'lines', marks },
      time: equalSteps(from, stepMs, slots.length),
      heads: [],
      series: [
        {
          name: title,
          tone: 'one',
          values: slots.map((slot) => slot && one.valueIn(slot, ids)),
          figures: [],
        },
      ],
      band: usual?.high.some(Boolean)
        ? { name: texts('dashboard.usual'), low: usual.low, high: usual.high }
        : undefined,
      listed: [],
    }),
    href: `/admin/activity?group=${one.group}`,
    headline: value === undefined ? '–' : headline(value),
    usual: !days.some(Boolean)
      ? undefined
      : texts('dashboard.usually', {
          low: shown(Math.min(...days)),
          high: shown(Math.max(...days)),
        }),
  }
}
