import { DAY_MS, DAY_SECONDS, HOUR_MS, MINUTE_MS } from '../../durations.ts'
import {
  duration,
  fixed,
  formatters,
  type Language,
  locales,
  textsIn,
  timeUnits,
} from '../../texts/messages.ts'

/** What the values of a graph are; events are counted in each step of the graph. */
export type GraphUnit = 'events' | 'items' | 'time' | 'bytes' | 'cores'

/** Round distances between grid lines of times, in seconds: a minute to some months. */
const roundTimes = [
  ...[1, 2, 5, 10, 20, 60, 120, 360, 720].map((minutes) => minutes * 60),
  ...[1, 2, 5, 10, 20, 50, 100].map((days) => days * DAY_SECONDS),
]

/**
 * How the values of a graph with steps of `stepMs` are shown: the name of the unit, empty if each
 * value has it, and their format, the same for the axis, the legend and the cursor.
 */
export function unitOf(unit: GraphUnit, stepMs: number, language: Language) {
  const texts = textsIn(language)
  const counts = (value: number) => shortNumber(value, language)
  switch (unit) {
    case 'events': {
      const [period, lengthMs] = stepUnits.find(([, one]) => stepMs % one === 0) ?? lastUnit
      return { name: texts(`activity.each.${period}`, { n: stepMs / lengthMs }), format: counts }
    }
    case 'items':
      return { name: '', format: counts }
    case 'cores':
      return { name: texts('activity.cores'), format: counts }
    case 'bytes':
      return { name: '', format: (value: number) => bytes(value, language) }
    case 'time':
      return { name: '', format: (value: number) => seconds(value, language), rounds: roundTimes }
  }
}

const lastUnit = ['second', 1_000] as const
const stepUnits = [['day', DAY_MS], ['hour', HOUR_MS], ['minute', MINUTE_MS], lastUnit] as const

const FEW = { maximumSignificantDigits: 3 }

function few(value: number, language: Language): string {
  return formatters.getNumberFormat(locales[language], FEW).format(value)
}

/** A number with three digits; from ten thousand on with a prefix of SI: `12.3 k`, `40 M`. */
function shortNumber(value: number, language: Language): string {
  const [limit, prefix] = prefixes.find(([one]) => Math.abs(value) >= one) ?? [1, '']
  if (Math.abs(value) < PLAIN_MAX) return whole(value, language)
  return `${few(value / limit, language)} ${prefix}`
}

/** Up to this number, all digits are shown. */
const PLAIN_MAX = 10_000

const prefixes = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

function whole(value: number, language: Language): string {
  return Math.abs(value) < 1_000 ? few(value, language) : fixed(language, value, 0)
}

function bytes(value: number, language: Language): string {
  const units = byteUnits[language]
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(value || 1) / 3)))
  return `${few(value / 1_000 ** power, language)} ${units[power]}`
}

const byteUnits: Record<Language, readonly string[]> = {
  en: ['B', 'kB', 'MB', 'GB', 'TB'],
  fr: ['o', 'ko', 'Mo', 'Go', 'To'],
  ru: ['Б', 'кБ', 'МБ', 'ГБ', 'ТБ'],
}

/** A time in the unit that fits: `40 ms`, `3.2 s`, `12 min`, `3 h 5 min`, `463 d`. */
function seconds(value: number, language: Language): string {
  const second = timeUnits[language][3]
  if (value === 0) return `0 ${second}`
  if (value < 1) return `${few(value * 1_000, language)} ${milliseconds[language]}`
  return value < 60 ? `${few(value, language)} ${second}` : duration(language, value)
}

const milliseconds: Record<Language, string> = { en: 'ms', fr: 'ms', ru: 'мс' }
