import type { Prefix } from '../keys.ts'
import type { KnownUnique } from './look-up.ts'

const whole = new Intl.NumberFormat('en-GB')

/** How many different ones in two weeks: exactly or, of very many, at most; undefined for none. */
export function differentWords(
  { counts, different }: KnownUnique,
  prefix: Prefix,
): string | undefined {
  const exact = different[prefix]
  const sum = counts[prefix]?.twoWeeks ?? 0
  if ((exact ?? sum) <= 0) return undefined
  return exact === undefined ? `at most ${whole.format(sum)}` : whole.format(exact)
}
