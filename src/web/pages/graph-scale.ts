const LINES_ABOVE = 3

/** The position of the zero line, the value between grid lines, and the height of the value one. */
export type Scale = { base: number; step: number; above: number; below: number; unit: number }

/**
 * A scale with round grid lines from `-down` to `up`; `least` is the smallest step. `rounds` are
 * large steps that are round in the unit, such as an hour in seconds, smallest first.
 */
export function scaleTo({
  up,
  down,
  least,
  rounds = [],
  height,
}: {
  up: number
  down: number
  least: number
  rounds?: readonly number[] | undefined
  height: number
}): Scale {
  const rough = Math.max(up, down) / LINES_ABOVE
  const isLarge = rounds[0] !== undefined && rough > rounds[0] / 2
  const large = isLarge ? rounds.find((one) => one >= rough) : undefined
  const step = large ?? roundStep(rough, least)
  const above = Math.max(Math.ceil(up / step) * step, down === 0 ? step : 0)
  const below = down < step ? down : Math.ceil(down / step) * step
  const unit = height / (above + below)
  return { base: above * unit, step, above, below, unit }
}

/** Returns the smallest of 1, 2 or 5 times a power of ten that is not below `rough`. */
function roundStep(rough: number, least: number): number {
  if (rough === 0) return 1
  if (rough <= least) return least
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5].find((digit) => digit * power >= rough) ?? 10) * power
}

/** One line of a list of bars; the width is relative to the longest bar. */
type Bar = { name: string; count: number; width: number }

/** Lays out a list of bars. */
export function barsOf(rows: readonly (readonly [name: string, count: number])[]): Bar[] {
  const most = Math.max(1, ...rows.map(([, count]) => count))
  return rows.map(([name, count]) => ({ name, count, width: Math.round((100 * count) / most) }))
}

/** Rounds to hundredths of a unit. */
export function round(value: number): number {
  return Math.round(value * 100) / 100
}
