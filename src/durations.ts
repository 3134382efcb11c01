export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
export const WEEK_MS = 7 * DAY_MS

export const DAY_SECONDS = DAY_MS / 1_000

/** The date of an instant in UTC: 2026-11-29. */
export function dateOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
