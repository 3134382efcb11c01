import { listMarks, listSeries, listSlots, type SlotRange, type SlotRow } from '../db/activity.ts'
import type { Db } from '../db/pool.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { type families, withSamples } from './families.ts'
import { addSlots, levels, type Slot, slotStart, TICK_MS, unpackSlots } from './slots.ts'

const [MINUTE, HOUR, DAY] = [MINUTE_MS, HOUR_MS, DAY_MS]

/**
 * The periods that pages show: their length, the length of the steps in which it is drawn, and of
 * those in which it is listed, in milliseconds, and the level that has both. Each level is kept for
 * two periods, so that a period can be compared with the one before.
 */
export const periods = {
  hour: { level: 0, lengthMs: HOUR, stepMs: 2 * TICK_MS, listedMs: 5 * MINUTE },
  day: { level: 2, lengthMs: DAY, stepMs: 10 * MINUTE, listedMs: 2 * HOUR },
  week: { level: 2, lengthMs: 7 * DAY, stepMs: HOUR, listedMs: 12 * HOUR },
  month: { level: 3, lengthMs: 30 * DAY, stepMs: 4 * HOUR, listedMs: 2 * DAY },
  year: { level: 4, lengthMs: 364 * DAY, stepMs: 2 * DAY, listedMs: 28 * DAY },
} as const

export type Period = keyof typeof periods

export const periodNames = Object.keys(periods) as Period[]

/** A range of time, how it is divided, and the level that is read. Lengths are in milliseconds. */
export type Span = { from: Date; to: Date; level: number; stepMs: number; listedMs: number }

/** The shortest time that is drawn, however young the installation is. */
const SPAN_MS_MIN = 2 * MINUTE

/**
 * The part of a period for which anything is stored, in steps that fit its length: an installation
 * of ten minutes has ten minutes. `since` is the start of the oldest slot, undefined without any.
 */
export function spanOf(
  period: Period,
  { end, since }: { end: Date; since: Date | undefined },
): Span {
  const { lengthMs } = periods[period]
  const age = since ? Math.max(end.getTime() - since.getTime(), SPAN_MS_MIN) : lengthMs
  const fitting = fittingPeriod(age)
  const { level, stepMs, listedMs } = periods[age < lengthMs ? fitting : period]
  const to = slotStart(end.getTime(), stepMs) + stepMs
  const wanted = age < lengthMs ? slotStart(end.getTime() - age, stepMs) : to - lengthMs
  return { from: new Date(wanted), to: new Date(to), level, stepMs, listedMs }
}

/** The shortest period that is as long as an age in milliseconds. */
export function fittingPeriod(ageMs: number): Period {
  return periodNames.find((name) => periods[name].lengthMs >= ageMs) ?? 'year'
}

type Family = (typeof families)[number]

/** What happened in a range of time, in steps of equal length. */
export type Activity = {
  from: Date
  stepMs: number
  /** One for each step; undefined without any tick. */
  slots: readonly (Slot | undefined)[]
  /** The ids of the series by name. */
  ids: ReadonlyMap<string, number>
}

/** Reads some families over a span. The last, incomplete slot is read from shorter ones. */
export async function readActivity(
  db: Db,
  wanted: readonly Family[],
  { from, to, level, stepMs }: Omit<Span, 'listedMs'>,
  now: Date,
): Promise<Activity> {
  const [rows, series] = await Promise.all([
    listSlots(db, rangesOf(level, from, to, now), withSamples(wanted)),
    listSeries(db, wanted),
  ])
  const byStep = Map.groupBy(rows, ({ at }) => Math.floor((at.getTime() - from.getTime()) / stepMs))
  return {
    from,
    stepMs,
    slots: Array.from({ length: (to.getTime() - from.getTime()) / stepMs }, (_, step) => {
      const some = byStep.get(step)
      return some && ofFamilies(some)
    }),
    ids: new Map(series.map(({ id, name }) => [name, id])),
  }
}

/** The span before a span, of the same length. */
export function spanBefore(span: Span): Span {
  const { from, to } = span
  return { ...span, from: new Date(2 * from.getTime() - to.getTime()), to: from }
}

/**
 * How often each series of some families happened in a range of time, by its name, with that of
 * sample data unless `isReal`.
 */
export async function readTotals(
  db: Db,
  wanted: readonly Family[],
  { from, to, now, isReal }: { from: Date; to: Date; now: Date; isReal?: boolean },
): Promise<Map<string, number>> {
  const [rows, series] = await Promise.all([
    listSlots(db, rangesOf(TOTALS_LEVEL, from, to, now), isReal ? wanted : withSamples(wanted)),
    listSeries(db, wanted),
  ])
  const { rates } = ofFamilies(rows)
  return new Map(
    series.flatMap(({ id, name }) => {
      const point = rates.get(id)
      return point ? [[name, Math.round(point.mean * point.count)]] : []
    }),
  )
}

/** Slots of ten minutes. */
const TOTALS_LEVEL = 2

/** The ranges of slots that cover a range of time, each from the coarsest level that has it. */
function rangesOf(level: number, from: Date, to: Date, now: Date): SlotRange[] {
  const ranges: SlotRange[] = []
  let start = from
  for (let at = level; at >= 0 && start < to; at--) {
    // A slot is written soon after its end.
    const complete = slotStart(now.getTime() - TICK_MS, levels[at]?.stepMs ?? TICK_MS)
    const end = new Date(at === 0 ? to.getTime() : Math.min(to.getTime(), complete))
    if (end <= start) continue
    ranges.push({ level: at, from: start, to: end })
    start = end
  }
  return ranges
}

/**
 * Combines stored slots of several families: those of one family follow each other. Samples are
 * added to what happened at the same time.
 */
function ofFamilies(rows: readonly SlotRow[]): Slot {
  const merged = [...Map.groupBy(rows, ({ family }) => family).values()].map(unpackSlots)
  const [only] = merged
  return only && merged.length === 1 ? only : addSlots(merged)
}

const MARKS_MAX = 60

/** Returns what happened in a span, newest first: versions, starts, outages, rules and models. */
export function readMarks(db: Db, span: Pick<Span, 'from' | 'to'>): ReturnType<typeof listMarks> {
  return listMarks(db, span, MARKS_MAX)
}
