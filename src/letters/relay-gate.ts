import type { App } from '../app.ts'
import { type MailRelay, noteRefused } from '../db/mail-relay.ts'
import type { Db } from '../db/pool.ts'
import { suppress } from '../db/suppressions.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { statusIn } from '../mail/bounces/codes.ts'
import { concealKeys } from '../mail/conceal-keys.ts'
import { storableText } from '../mail/text.ts'
import {
  isAboutRelay,
  openRelayMemory,
  pausesAfter,
  type SendOutcome,
  usualPauses,
} from './relay-memory.ts'
import { afterRefusal, type HealthRecord, healthyRecord } from '../verdict/contact-health.ts'

/**
 * Maximum time in milliseconds for the mailer to send one message; callers set this limit when they
 * create the mailer.
 */
export const SEND_MS_MAX = 10 * 60_000

/** Time in milliseconds after which a composed message is no longer sent in this attempt. */
export const COMPOSING_MS_MAX = 60_000

/**
 * Time in milliseconds after which an attempt that starts now has ended: composing, up to a minute
 * of waiting and clock differences included. The job is retried only then, because an earlier retry
 * could send the message twice.
 */
export const LEASE_MS = SEND_MS_MAX + 4 * 60_000

/**
 * The result of sending a mail. `until` is set if our relay refuses us or is unavailable: retry
 * then.
 */
export type RelayResult = SendOutcome & { until?: Date }

/** Passed on to the mailer with a mail: ends the attempt, and learns how far it came. */
export type AttemptWatch = { signal: AbortSignal; onData: () => void }

/** One mail that is being sent. */
export type Attempt = {
  to: string
  startedAt: Date
  /** When the server asked for the message: since then, the message may have arrived. */
  dataAt: Date | undefined
  /** Ends the attempt. */
  cut: () => void
}

/**
 * Pauses all kinds of mail, in all processes, while our own mail server refuses us or is
 * unavailable. After each pause, one mail tests whether sending works again.
 */
export type RelayGate = {
  /**
   * When mail that waits for our mail server is tried at the latest; undefined if mail may be sent
   * now. It is due as soon as sending resumes.
   */
  pausedUntil: () => Promise<Date | undefined>
  /** Sends one mail to an address unless sending is paused. */
  send: (
    mail: { to: string; refusedSince: Date | undefined },
    sendOne: (watch: AttemptWatch) => Promise<SendOutcome>,
  ) => Promise<RelayResult>
  /** Calls what `onFresh` was given: mail that failed before may succeed now. */
  startAfresh: () => void
  /** Sets what is called when sending has resumed, in this process or in another. */
  onFresh: (listener: () => void) => void
  /** For the watch of the relay: its state, and what this process is doing. */
  state: () => Promise<MailRelay>
  attempts: ReadonlySet<Attempt>
  /** When the server last gave any answer about a mail to this process. */
  answeredAt: () => Date
  /** Pauses all mail after a probe that started at an instant, `since` an earlier one. */
  pause: (reply: string, probedAt: Date, since?: Date) => Promise<void>
}

/**
 * Time in milliseconds after which waiting mail is tried again even if nothing has made it due,
 * which happens as soon as sending resumes.
 */
const HOLD_MS = 5 * 60_000
/** A mail refused for this time in milliseconds, while others are accepted, is rejected itself. */
const REFUSED_MS_MAX = DAY_MS
const OTHERS_MS = HOUR_MS

type Needs = Pick<App, 'pool' | 'clock'>

/** Creates the gate for one process. Its state is stored in the database and shared by all. */
export function createRelayGate(app: Needs, pauses = usualPauses): RelayGate {
  const { clock } = app
  let startAfresh: () => void = () => undefined
  const memory = openRelayMemory(app, pauses, () => startAfresh())
  const { read, enter, keepAccepted, keepFailure } = memory
  const attempts = new Set<Attempt>()
  let answeredAt = clock()
  const holdUntil = (until: Date) =>
    new Date(Math.max(until.getTime(), clock().getTime() + HOLD_MS))
  return {
    ...{ attempts, answeredAt: () => answeredAt, state: read },
    ...{ startAfresh: () => startAfresh(), onFresh: (its) => void (startAfresh = its) },
    async pause(reply, handedOverAt, since = handedOverAt) {
      const failure = { at: clock(), reply, handedOverAt, since }
      await noteRefused(app.pool, failure, pausesAfter(undefined, pauses))
      memory.forget()
    },
    async pausedUntil() {
      const { nextTryAt } = await read()
      return nextTryAt !== null && nextTryAt > clock() ? holdUntil(nextTryAt) : undefined
    },
    async send({ to, refusedSince }, sendOne) {
      const closedUntil = await enter()
      if (closedUntil) return paused(holdUntil(closedUntil))
      const handedOverAt = clock()
      const { result, wasCut } = await attemptOne(to, sendOne, attempts, clock)
      if (result.outcome !== 'later' || result.replyCode !== undefined) answeredAt = clock()
      if (result.outcome !== 'later') {
        await keepAccepted(handedOverAt)
        return result
      }
      const now = clock()
      if (wasCut) {
        const { nextTryAt } = await read()
        return { ...result, until: nextTryAt ? holdUntil(nextTryAt) : now }
      }
      if (result.fault === 'places') return result
      if (isRefusal(result) && isOwnFault(refusedSince, await read(), now)) {
        const { replyCode, reason: reply } = result
        return { outcome: 'rejected', replyCode, reply, about: 'message' }
      }
      await keepFailure(result, handedOverAt, to)
      const { nextTryAt } = await read()
      // While sending is paused, a failure of this mail may have the same cause.
      if (!isAboutRelay(result) && nextTryAt === null) return result
      const waitMs = now.getTime() - (refusedSince ?? now).getTime()
      const ms = Math.min(pauses.againMsMax, Math.max(pauses.firstMs, waitMs))
      const ownAt = new Date(now.getTime() + ms)
      return { ...result, until: nextTryAt ? holdUntil(nextTryAt) : ownAt }
    },
  }
}

/** Sends one mail, which the watch of the relay may end. */
async function attemptOne(
  to: string,
  sendOne: (watch: AttemptWatch) => Promise<SendOutcome>,
  attempts: Set<Attempt>,
  clock: Needs['clock'],
): Promise<{ result: SendOutcome; wasCut: boolean }> {
  const ending = new AbortController()
  const attempt: Attempt = {
    ...{ to, startedAt: clock(), dataAt: undefined },
    cut: () => ending.abort(),
  }
  const onData = () => void (attempt.dataAt = clock())
  attempts.add(attempt)
  try {
    const result = await sendOne({ signal: ending.signal, onData })
    return { result: withoutKeys(result), wasCut: ending.signal.aborted }
  } finally {
    attempts.delete(attempt)
  }
}
/** Masks keys in what a server said, because a refusal may quote the mail. It is stored. */
function withoutKeys(result: SendOutcome): SendOutcome {
  return result.outcome === 'later'
    ? { ...result, reason: concealKeys(result.reason) }
    : { ...result, reply: concealKeys(result.reply) }
}

/** Whether the relay refused a mail permanently for a reason that concerns us. */
export function isRefusal(result: SendOutcome): boolean {
  return result.outcome === 'later' && result.fault === 'relay' && (result.replyCode ?? 0) >= 500
}

function isOwnFault(refusedSince: Date | undefined, relay: MailRelay, now: Date): boolean {
  const { acceptedAt, nextTryAt } = relay
  if (!refusedSince || !acceptedAt || nextTryAt) return false
  const refusedMs = now.getTime() - refusedSince.getTime()
  return refusedMs > REFUSED_MS_MAX && now.getTime() - acceptedAt.getTime() < OTHERS_MS
}

function paused(until: Date): RelayResult {
  const reason = 'Sending is paused, because the mail server refuses our mail.'
  return { outcome: 'later', replyCode: undefined, reason, fault: 'relay', until }
}

/** Why our mail server refused a recipient: the address does not exist, or it accepts no mail. */
export type RefusedRecipient = { about: 'gone' | 'unreachable'; reply: string }

/** Suppresses an address that our mail server refused. */
export async function suppressRefused(
  tx: Db,
  address: string,
  { about, reply }: RefusedRecipient,
  at: Date,
  record: HealthRecord = healthyRecord,
): Promise<HealthRecord> {
  const isGone = about === 'gone'
  const after = afterRefusal(record, { isGone, at })
  const status = statusIn(reply)
  await suppress(tx, {
    address,
    reason: isGone ? 'hard-bounce' : 'soft-bounces',
    status: status === undefined ? null : storableText(status, 20),
    detail: about,
    since: at,
    until: after.healthUntil,
  })
  return after
}
