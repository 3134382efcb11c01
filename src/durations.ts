export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
export const WEEK_MS = 7 * DAY_MS

export const DAY_SECONDS = DAY_MS / 1_000

/** The date of an instant in UTC: 2026-11-29. */
export function dateOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** The start of the hour of an instant. */
export function hourOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS)
}

/**
 * Parses the value of Retry-After, seconds or a date (RFC 9110 §10.2.3), and returns milliseconds,
 * between a second and a day. Undefined when it is neither.
 */
export function retryAfter(value: string | null, now: Date): number | undefined {
  if (value === null) return undefined
  const waitMs = /^\s*\d{1,9}\s*$/.test(value)
    ? Number(value) * 1_000
    : Date.parse(value) - now.getTime()
  if (Number.isNaN(waitMs)) return undefined
  return Math.min(Math.max(waitMs, 1_000), DAY_MS)
}
