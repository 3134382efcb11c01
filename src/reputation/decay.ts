/** Half-life in days of what tells what happens now. */
export const FAST_DAYS = 1
/** Half-life in days of what is known. */
export const SLOW_DAYS = 30

/** What is left of an amount after so many days. */
export function decayed(amount: number, days: number, halfLifeDays: number): number {
  return amount * 2 ** (-Math.max(0, days) / halfLifeDays)
}

/**
 * What evidence of a day (days since 1 January 1970, with fractions) counts where sums are kept as
 * of the day `epoch`: it is not decayed, what is older or younger is worth less or more instead. So
 * sums are made by adding alone, and the opposite of the same day takes away just what was added.
 */
export function growth(day: number, epoch: number, halfLifeDays: number): number {
  return 2 ** ((day - epoch) / halfLifeDays)
}

/** Sums are kept as of such days: from one to the next both half-lives shift by powers of two. */
export function epochOf(day: number): number {
  return Math.floor(day / SLOW_DAYS) * SLOW_DAYS
}
