import type { KnownContact } from './choose-contact.ts'
import { healthAt, type HealthRecord } from './contact-health.ts'

/** How a consumer stands, as it is kept. */
export type Standing = HealthRecord & {
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
  { state, pausedUntil, enrolledAt }: Pick<Standing, 'state' | 'pausedUntil' | 'enrolledAt'>,
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
  consumer: Standing,
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
  consumer: Standing | undefined,
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
