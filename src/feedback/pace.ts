import type { Consumer } from '../db/consumers.ts'

/** Whether a feedback report leaves at once, or waits, and until when. */
export type Pace = { state: 'queued' } | { state: 'waiting'; dueAt: Date }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Digests leave at six in the morning, UTC: before the desks of most open. */
const DIGEST_MS = 6 * HOUR_MS

/**
 * When a consumer is to be told of what became known `now`: at once, at the end of the hour (by
 * campaign), at six in the morning (in a digest), or when its pause ends. A pause that is ended by
 * hand is looked at again after a day.
 */
export function paceOf(
  consumer: Pick<Consumer, 'state' | 'pace' | 'pausedUntil'>,
  now: Date,
): Pace {
  const usual = usualPace(consumer.pace, now)
  const resumesAt = resumesAtOf(consumer, now)
  if (resumesAt === undefined) return usual
  const dueAt = usual.state === 'waiting' && usual.dueAt > resumesAt ? usual.dueAt : resumesAt
  return { state: 'waiting', dueAt }
}

/** When a paused consumer may be told again; undefined when it may be told now. */
export function resumesAtOf(
  { state, pausedUntil }: Pick<Consumer, 'state' | 'pausedUntil'>,
  now: Date,
): Date | undefined {
  if (state !== 'paused') return undefined
  if (pausedUntil === null) return new Date(now.getTime() + DAY_MS)
  return pausedUntil > now ? pausedUntil : undefined
}

/** The end of the hour in which an instant lies: when one report of each campaign leaves. */
export function endOfHour(now: Date): Date {
  return new Date((Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS)
}

function usualPace(pace: Consumer['pace'], now: Date): Pace {
  if (pace === 'at-once') return { state: 'queued' }
  if (pace === 'campaign') return { state: 'waiting', dueAt: endOfHour(now) }
  const days = Math.floor((now.getTime() - DIGEST_MS) / DAY_MS) + 1
  return { state: 'waiting', dueAt: new Date(days * DAY_MS + DIGEST_MS) }
}
