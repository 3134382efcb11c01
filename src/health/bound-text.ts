import { DAY_SECONDS } from '../durations.ts'
import { duration, type Language, type Texts } from '../texts/messages.ts'
import { type Condition, definitionOf } from './conditions.ts'

type Reader = { texts: Texts; language: Language }

/**
 * Returns when a condition is a warning and when it is critical, in words: `always` and `never` if
 * it is bad without a value, so that no bound matters.
 */
export function shownBounds({ code, level, value, unit, bounds }: Condition, reader: Reader) {
  if (value === null && (level === 'warning' || level === 'critical')) {
    const [always, never] = [
      reader.texts('health.bounds.always'),
      reader.texts('health.bounds.never'),
    ]
    return level === 'warning'
      ? { warning: always, critical: never }
      : { warning: never, critical: always }
  }
  const side = definitionOf(code).isLowBad ? 'below' : 'from'
  const shown = (n: number | null) =>
    n === null
      ? reader.texts('health.bounds.never')
      : reader.texts(`health.bounds.${side}`, { bound: valueText(unit, n, reader) })
  return { warning: shown(bounds.warning), critical: shown(bounds.critical) }
}

/** A value in its unit; times in their largest units. */
function valueText(unit: Condition['unit'], n: number, { texts, language }: Reader): string {
  if (unit === 'seconds') return duration(language, n)
  if (unit === 'days') return duration(language, n * DAY_SECONDS)
  return texts(`health.values.${unit}`, { n })
}
