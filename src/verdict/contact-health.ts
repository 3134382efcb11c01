import type { KnownContact } from './choose-contact.ts'

/** How an abuse address fares: `failing` and `dead` ones are not written to for now. */
export type Health = 'healthy' | 'failing' | 'dead'

/** What is kept about the bounces of one address. */
export type HealthRecord = {
  health: Health
  /** When it is tried again; null while healthy. */
  healthUntil: Date | null
  /** Passing failures in a row. */
  softBounces: number
  /** When the first mail of that row had been sent. */
  bouncesSince: Date | null
  lastBouncedAt: Date | null
}

/** A mail that came back. */
export type ContactBounce = {
  /** Whether writing to the address again is of no use. */
  hard: boolean
  sentAt: Date
  bouncedAt: Date
  /** Whether a mail sent after the first of the row, and before this one, did not come back. */
  hasDelivered: boolean
}

const DAY_MS = 86_400_000

/** A dead address is tried again after so long: desks come back, domains are renewed. */
const DEAD_MS = 30 * DAY_MS
const FAILING_MS = 7 * DAY_MS
/** A row of soft bounces ends when none came for so long. */
const ROW_MS = 7 * DAY_MS

/** So many soft bounces in a row are too many. */
export const SOFT_BOUNCES_MAX = 3

/** The record of an address that never bounced. */
export const healthyRecord: HealthRecord = {
  health: 'healthy',
  healthUntil: null,
  softBounces: 0,
  bouncesSince: null,
  lastBouncedAt: null,
}

/** The health at an instant: what was wrong ends by itself. */
export function healthAt(record: HealthRecord, now: Date): Health {
  const isOver = record.healthUntil !== null && record.healthUntil <= now
  return isOver ? 'healthy' : record.health
}

/**
 * The record after a bounce. A hard one is the end of the address for 30 days; three soft ones in
 * a row, sent over a day or more, for 7 days. A delivery in between, or a week without a bounce,
 * ends the row. A dead address does not get better by a soft bounce.
 */
export function afterBounce(record: HealthRecord, bounce: ContactBounce): HealthRecord {
  const { sentAt, bouncedAt } = bounce
  const lastBouncedAt = bouncedAt
  if (bounce.hard) {
    const healthUntil = new Date(bouncedAt.getTime() + DEAD_MS)
    return { ...healthyRecord, health: 'dead', healthUntil, lastBouncedAt }
  }
  const health = healthAt(record, bouncedAt)
  if (health === 'dead') return { ...record, lastBouncedAt }
  const since = bounce.hasDelivered ? undefined : rowStart(record, bouncedAt)
  const softBounces = since ? Math.min(record.softBounces + 1, 1_000) : 1
  const bouncesSince = since && since < sentAt ? since : sentAt
  const row = { softBounces, bouncesSince, lastBouncedAt }
  if (health === 'failing') return { ...record, ...row }
  const isLong = sentAt.getTime() - bouncesSince.getTime() >= DAY_MS
  if (softBounces < SOFT_BOUNCES_MAX || !isLong) return { ...healthyRecord, ...row }
  const healthUntil = new Date(bouncedAt.getTime() + FAILING_MS)
  return { ...row, health: 'failing', healthUntil }
}

/**
 * The record after our mail server refused mail to the address for good: it is dead for 30 days
 * when nobody has it, and failing for 7 when its mailbox takes nothing.
 */
export function afterRefusal(
  record: HealthRecord,
  { isGone, at }: { isGone: boolean; at: Date },
): HealthRecord {
  if (isGone) {
    return afterBounce(record, { hard: true, sentAt: at, bouncedAt: at, hasDelivered: false })
  }
  if (healthAt(record, at) === 'dead') return { ...record, lastBouncedAt: at }
  const healthUntil = new Date(at.getTime() + FAILING_MS)
  return { ...healthyRecord, health: 'failing', healthUntil, lastBouncedAt: at }
}

/** When the row began that a bounce would prolong; undefined when it begins one. */
function rowStart({ bouncesSince, lastBouncedAt }: HealthRecord, now: Date): Date | undefined {
  if (!bouncesSince || !lastBouncedAt) return undefined
  return now.getTime() - lastBouncedAt.getTime() < ROW_MS ? bouncesSince : undefined
}

/** How a consumer stands, as it is kept. */
export type ConsumerStanding = HealthRecord & {
  state: KnownContact['state']
  /** When a pause ends; null: when it is ended by hand. */
  pausedUntil: Date | null
  enrolledAt: Date | null
  takes: KnownContact['takes']
}

/** Why an address is not written to, as it is kept. */
export type KeptSuppression = {
  reason: 'hard-bounce' | 'soft-bounces' | 'complaint' | 'stop' | 'operator'
}

/** Whether a consumer may be told now, or when, or never. */
export type MayTell =
  | { is: 'yes' }
  /** `at` is null while the end of the pause is not known. */
  | { is: 'later'; at: Date | null; why: string }
  /** Its mail comes back: another address may be told instead. */
  | { is: 'bouncing'; why: string }
  | { is: 'never'; why: string }

/** The state at an instant: a pause ends by itself, and leaves who enrolled enrolled. */
export function stateAt(
  {
    state,
    pausedUntil,
    enrolledAt,
  }: Pick<ConsumerStanding, 'state' | 'pausedUntil' | 'enrolledAt'>,
  now: Date,
): KnownContact['state'] {
  if (state !== 'paused' || pausedUntil === null || pausedUntil > now) return state
  return enrolledAt === null ? 'found' : 'enrolled'
}

/**
 * Whether a consumer may be told at an instant. Asked again right before anything leaves: a stop
 * and a pause hold at once, for what is in line too. `suppression` is one that still holds.
 */
export function mayTell(
  consumer: ConsumerStanding,
  suppression: KeptSuppression | undefined,
  now: Date,
): MayTell {
  const { state, health, isMuted } = contactOf(consumer, suppression, now)
  if (state === 'stopped') return { is: 'never', why: 'Reports to this consumer are stopped.' }
  if (isMuted) return { is: 'never', why: 'The address is not to be written to.' }
  if (state === 'paused') {
    return { is: 'later', at: consumer.pausedUntil, why: 'The consumer is paused.' }
  }
  if (health !== 'healthy') return { is: 'bouncing', why: 'Mail to the consumer comes back.' }
  return { is: 'yes' }
}

/** How an address stands at an instant, known as a consumer or only as one not to be written to. */
export function contactOf(
  consumer: ConsumerStanding | undefined,
  suppression: KeptSuppression | undefined,
  now: Date,
): KnownContact {
  const state = consumer ? stateAt(consumer, now) : 'found'
  const health = consumer ? healthAt(consumer, now) : 'healthy'
  const takes = consumer?.takes ?? null
  if (suppression === undefined) return { state, health, takes }
  if (suppression.reason === 'hard-bounce') return { state, health: 'dead', takes }
  if (suppression.reason === 'soft-bounces') {
    return { state, health: health === 'dead' ? 'dead' : 'failing', takes }
  }
  return { state, health, takes, isMuted: true }
}
