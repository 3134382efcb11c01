import { DAY_MS } from '../durations.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { Health, KnownContact } from './choose-contact.ts'

export type HealthRecord = {
  health: Health
  /** When delivery is tried again; null while healthy. */
  healthUntil: Date | null
  /** Number of consecutive soft bounces. */
  softBounces: number
  /** When the first mail of the consecutive bounces was sent. */
  bouncesSince: Date | null
  lastBouncedAt: Date | null
}

export type ContactBounce = {
  /** Whether the failure is permanent. */
  hard: boolean
  sentAt: Date
  bouncedAt: Date
  /** Whether another mail, sent after the first bounced one and before this one, was delivered. */
  hasDelivered: boolean
}

/**
 * Time in milliseconds before a dead or a failing address is tried again. Desks become reachable
 * again, and domains are renewed.
 */
const DEAD_MS = 30 * DAY_MS
const FAILING_MS = 7 * DAY_MS
/** Time in milliseconds without a bounce, after which the next soft bounce counts as the first. */
const ROW_MS = 7 * DAY_MS

/** Number of consecutive soft bounces that makes an address failing. */
export const SOFT_BOUNCES_MAX = 3

/** The record of an address that never bounced. */
export const healthyRecord: HealthRecord = {
  health: 'healthy',
  healthUntil: null,
  softBounces: 0,
  bouncesSince: null,
  lastBouncedAt: null,
}

/** Returns the health at a given time. A failure ends automatically. */
export function healthAt(record: HealthRecord, now: Date): Health {
  const isOver = record.healthUntil !== null && record.healthUntil <= now
  return isOver ? 'healthy' : record.health
}

/**
 * Returns the record after a bounce. A hard bounce makes the address dead for 30 days. Three
 * consecutive soft bounces, sent over a day or more, make it failing for 7 days. A delivery in
 * between, or a week without a bounce, resets the count. A soft bounce never improves a dead
 * address.
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
 * Returns the record after our mail server permanently refused mail to the address: dead for 30
 * days when the address does not exist, failing for 7 days when its mailbox accepts no mail.
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

/** When the current run of bounces began; undefined when the next bounce starts a new one. */
function rowStart({ bouncesSince, lastBouncedAt }: HealthRecord, now: Date): Date | undefined {
  if (!bouncesSince || !lastBouncedAt) return undefined
  return now.getTime() - lastBouncedAt.getTime() < ROW_MS ? bouncesSince : undefined
}

export type ConsumerStanding = HealthRecord & {
  state: KnownContact['state']
  /** When a pause ends; null when an operator must end it. */
  pausedUntil: Date | null
  enrolledAt: Date | null
  takes: KnownContact['takes']
}

/** Why we no longer write to an address. */
export type KeptSuppression = {
  reason: 'hard-bounce' | 'soft-bounces' | 'complaint' | 'stop' | 'operator'
}

/** Whether mail may be sent to a consumer now, later or never. */
export type MayNotify =
  | { is: 'yes' }
  /** `at` is null while the end of the pause is not known. */
  | { is: 'later'; at: Date | null; why: Phrase }
  /** Mail to the consumer bounces; another address may be used instead. */
  | { is: 'bouncing'; why: Phrase }
  | { is: 'never'; why: Phrase }

/**
 * Returns the state at a given time. A pause ends automatically, and an enrolled consumer stays
 * enrolled.
 */
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
 * Whether mail may be sent to a consumer at a given time. Checked again right before sending, so
 * that a stop or a pause takes effect immediately, also for queued mail. `suppression` must be in
 * force.
 */
export function mayNotify(
  consumer: ConsumerStanding,
  suppression: KeptSuppression | undefined,
  now: Date,
): MayNotify {
  const { state, health, isMuted } = contactOf(consumer, suppression, now)
  if (state === 'stopped') return { is: 'never', why: phrase('recipient-stopped') }
  if (isMuted) return { is: 'never', why: phrase('recipient-suppressed') }
  if (state === 'paused') {
    return { is: 'later', at: consumer.pausedUntil, why: phrase('recipient-paused') }
  }
  if (health !== 'healthy') return { is: 'bouncing', why: phrase('recipient-bounces') }
  return { is: 'yes' }
}

/**
 * Returns what is known of an address at a given time: as a consumer, or only as a suppressed
 * address.
 */
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
