import { listMarks, listSeries, listSlots, type SlotRange, type SlotRow } from '../db/activity.ts'
import type { Db } from '../db/pool.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { levels, type Slot, slotStart, TICK_MS, unpackSlots } from './slots.ts'
import type { families } from './write-activity.ts'

const [MINUTE, HOUR, DAY] = [MINUTE_MS, HOUR_MS, DAY_MS]

/**
 * The periods that pages show: their length, the length of the steps in which it is drawn, and of
 * those in which it is listed, in milliseconds, and the level that has both. Each level is kept for
 * two periods, so that a period can be compared with the one before.
 */
export const periods = {
  hour: { level: 0, lengthMs: HOUR, stepMs: TICK_MS, listedMs: 5 * MINUTE },
  day: { level: 2, lengthMs: DAY, stepMs: 10 * MINUTE, listedMs: 2 * HOUR },
  week: { level: 2, lengthMs: 7 * DAY, stepMs: 30 * MINUTE, listedMs: 12 * HOUR },
  month: { level: 3, lengthMs: 30 * DAY, stepMs: 2 * HOUR, listedMs: 2 * DAY },
  year: { level: 4, lengthMs: 365 * DAY, stepMs: DAY, listedMs: 28 * DAY },
} as const

export type Period = keyof typeof periods

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

/** The start of the first step of a period that ends with the step of an instant. */
function periodStart(period: Period, end: Date): Date {
  const { lengthMs, stepMs } = periods[period]
  return new Date(slotStart(end.getTime(), stepMs) + stepMs - lengthMs)
}

/**
 * Reads some families from the start of a period to its end, or the period before it, in the steps
 * in which it is drawn. The last, incomplete slot of a level is read from the finer levels.
 */
export async function readActivity(
  db: Db,
  wanted: readonly Family[],
  { period, end, isBefore = false }: { period: Period; end: Date; isBefore?: boolean },
): Promise<Activity> {
  const { level, lengthMs, stepMs } = periods[period]
  const from = new Date(periodStart(period, end).getTime() - (isBefore ? lengthMs : 0))
  const to = new Date(from.getTime() + lengthMs)
  const [rows, series] = await Promise.all([
    listSlots(db, rangesOf(level, from, to, end), wanted),
    listSeries(db, wanted),
  ])
  const byStep = Map.groupBy(
    rows,
    ({ at }) => (slotStart(at.getTime(), stepMs) - from.getTime()) / stepMs,
  )
  return {
    from,
    stepMs,
    slots: Array.from({ length: lengthMs / stepMs }, (_, step) => {
      const some = byStep.get(step)
      return some && ofFamilies(some)
    }),
    ids: new Map(series.map(({ id, name }) => [name, id])),
  }
}

/** How often each series of some families happened in a range of time, by its name. */
export async function readTotals(
  db: Db,
  wanted: readonly Family[],
  { from, to, now }: { from: Date; to: Date; now: Date },
): Promise<Map<string, number>> {
  const [rows, series] = await Promise.all([
    listSlots(db, rangesOf(TOTALS_LEVEL, from, to, now), wanted),
    listSeries(db, wanted),
  ])
  const { rates } = unpackSlots(rows)
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

/** Combines stored slots of several families: those of one family follow each other. */
function ofFamilies(rows: readonly SlotRow[]): Slot {
  const merged = [...Map.groupBy(rows, ({ family }) => family).values()].map(unpackSlots)
  const [only] = merged
  if (only && merged.length === 1) return only
  return {
    ticks: Math.max(...merged.map(({ ticks }) => ticks)),
    rates: new Map(merged.flatMap(({ rates }) => [...rates])),
    states: new Map(merged.flatMap(({ states }) => [...states])),
    durations: new Map(merged.flatMap(({ durations }) => [...durations])),
  }
}

const MARKS_MAX = 60

/** Returns what happened in a period, newest first: versions, outages, rules and models. */
export function readMarks(
  db: Db,
  { period, end }: { period: Period; end: Date },
): ReturnType<typeof listMarks> {
  return listMarks(db, { from: periodStart(period, end), to: end }, MARKS_MAX)
}
