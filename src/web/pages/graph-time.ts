import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../durations.ts'
import { formatters, type Language, locales } from '../../texts/messages.ts'
import { round } from './graph-scale.ts'

/** The steps of a graph: the start of each, and the end of the last. Each is drawn equally wide. */
export type GraphTime = { starts: readonly Date[]; end: Date }

export function equalSteps(from: Date, stepMs: number, count: number): GraphTime {
  const at = (step: number) => new Date(from.getTime() + step * stepMs)
  return { starts: Array.from({ length: count }, (_, step) => at(step)), end: at(count) }
}

/** The place of an instant, 0 to 1. */
export function placeIn({ starts, end }: GraphTime, at: Date): number {
  const step = starts.findLastIndex((start) => start <= at)
  const start = starts[step]
  if (!start) return 0
  const next = starts[step + 1] ?? end
  const part = (at.getTime() - start.getTime()) / (next.getTime() - start.getTime())
  return Math.min(1, (step + part) / starts.length)
}

const LABELS_MAX = 8
/** A label in the middle of this part at an edge would be cut off. */
const EDGE = 0.03
/** Possible distances of labels, up to half a month. */
const distances = [
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 4, 7, 14].map((days) => days * DAY_MS),
]

/**
 * Labels of the time: at most eight. Steps of a day and longer may have them in their middle,
 * counted back from the last step; otherwise they are at round times.
 */
export function timeLabels(
  time: GraphTime,
  { isCentered, language }: { isCentered: boolean; language: Language },
): { x: number; text: string }[] {
  const { starts, end } = time
  const words = formatsOf(language)
  const [first] = starts
  if (!first) return []
  const stepMs = stepMsOf(time)
  const isMonths = stepMs > 27 * DAY_MS
  const labels =
    isCentered && stepMs >= DAY_MS
      ? centered(starts).map(([x, at]) => ({ x, text: (isMonths ? words.month : words.day)(at) }))
      : roundTimes(first, end, stepMs).map(({ at, isMonth }) => ({
          x: placeIn(time, at),
          text: isMonth
            ? words.shortMonth(at)
            : at.getTime() % DAY_MS === 0
              ? words.day(at)
              : words.time(at),
        }))
  return labels
    .filter(({ x }) => x >= EDGE && x <= 1 - EDGE)
    .map(({ x, text }) => ({ x: round(x * 100), text }))
}

function centered(starts: readonly Date[]): [place: number, at: Date][] {
  const every = Math.ceil(starts.length / LABELS_MAX)
  return starts.flatMap((at, index) => {
    const isLabeled = (starts.length - 1 - index) % every === 0
    return isLabeled ? [[(index + 0.5) / starts.length, at]] : []
  })
}

function roundTimes(first: Date, end: Date, stepMs: number): { at: Date; isMonth?: boolean }[] {
  const [from, to] = [first.getTime(), end.getTime()]
  const distance = distances.find((one) => one >= stepMs && (to - from) / one <= LABELS_MAX)
  if (distance !== undefined) {
    const start = Math.ceil(from / distance) * distance
    const count = Math.max(0, Math.ceil((to - start) / distance))
    return Array.from({ length: count }, (_, nth) => ({ at: new Date(start + nth * distance) }))
  }
  const months = Math.ceil((to - from) / DAY_MS / 30)
  const every = Math.ceil(months / LABELS_MAX)
  return Array.from({ length: months }, (_, nth) => ({
    at: new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1 + nth)),
    isMonth: true,
  })).filter(({ at }, nth) => nth % every === 0 && at < end)
}

function stepMsOf({ starts, end }: GraphTime): number {
  const [first] = starts
  return first ? (starts[1] ?? end).getTime() - first.getTime() : 0
}

/** Whether steps are shorter than a day, so that they have a time of day. */
export function hasClock(time: GraphTime): boolean {
  return stepMsOf(time) < DAY_MS
}

/** Formats the start of a step: with the time of day if steps are shorter than a day. */
export function whenIn(time: GraphTime, language: Language): (at: Date) => string {
  const words = formatsOf(language)
  const stepMs = stepMsOf(time)
  if (stepMs < MINUTE_MS) return words.dayAndSeconds
  if (stepMs < DAY_MS) return words.dayAndTime
  return stepMs > 27 * DAY_MS ? words.longMonth : words.day
}

const clock = { hour: '2-digit', minute: '2-digit' } as const
const date = { day: 'numeric', month: 'short' } as const

function formatsOf(language: Language) {
  const formatter = (options: Intl.DateTimeFormatOptions) => {
    const format = formatters.getDateTimeFormat(locales[language], options)
    return (at: Date) => format.format(at)
  }
  return {
    time: formatter(clock),
    day: formatter(date),
    dayAndTime: formatter({ ...date, ...clock }),
    dayAndSeconds: formatter({ ...date, ...clock, second: '2-digit' }),
    shortMonth: formatter({ month: 'short' }),
    month: formatter({ month: 'short', year: '2-digit' }),
    longMonth: formatter({ month: 'long', year: 'numeric' }),
  }
}
