import type { App, WorkApp } from '../app.ts'
import {
  claimTrial,
  findMailRelay,
  type MailRelay,
  noteAccepted,
  noteRefused,
  type RelayPauses,
} from '../db/mail-relay.ts'
import type { Db } from '../db/pool.ts'
import { suppress } from '../db/suppressions.ts'
import { statusIn } from '../mail/bounces/codes.ts'
import { storableText } from '../mail/text.ts'
import { afterRefusal, type HealthRecord, healthyRecord } from '../verdict/contact-health.ts'

/** The result of sending one mail. */
export type SendOutcome = Awaited<ReturnType<NonNullable<WorkApp['mailer']>['send']>>

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

/**
 * Pauses all kinds of mail, in all processes, while our own mail server refuses us or is
 * unavailable. After each pause, one mail tests whether sending works again.
 */
export type RelayGate = {
  /** When sending resumes; undefined if mail may be sent now. */
  pausedUntil: () => Promise<Date | undefined>
  /** Sends one mail unless sending is paused. `refusedSince`: when this mail was first refused. */
  send: (sendOne: () => Promise<SendOutcome>, refusedSince?: Date) => Promise<RelayResult>
}

/** The pauses of all mail, and the longest wait of one refused mail, in milliseconds. */
type GatePauses = RelayPauses & { againMsMax: number }

/** The first pause is short, because a refusal may concern one mail only. */
const usualPauses: GatePauses = { firstMs: 5_000, maxMs: 5 * 60_000, againMsMax: 15 * 60_000 }
/** Time in milliseconds for which a read state of the relay is reused. */
const FRESH_MS = 1_000
/**
 * In this period after an accepted mail, in milliseconds, only consecutive failures cause a pause.
 */
const RECENT_MS = 60_000
const FAILURES_FREE = 2
/** A mail refused for this time in milliseconds, while others are accepted, is rejected itself. */
const REFUSED_MS_MAX = 86_400_000
const OTHERS_MS = 3_600_000

type Needs = Pick<App, 'pool' | 'clock'>

/**
 * The relay's state as one process sees it: read from the database and stored there for all
 * processes.
 */
function openRelayMemory({ pool, clock }: Needs, pauses: GatePauses) {
  let known: MailRelay | undefined
  let readAt = 0
  let acceptedAt = 0
  let failuresInRow = 0

  async function read(): Promise<MailRelay> {
    const now = clock().getTime()
    if (!known || now - readAt > FRESH_MS || now < readAt) {
      known = await findMailRelay(pool)
      readAt = now
    }
    return known
  }

  async function enter(): Promise<Date | undefined> {
    const { nextTryAt } = await read()
    if (nextTryAt === null) return undefined
    const now = clock()
    if (nextTryAt > now) return nextTryAt
    const until = new Date(now.getTime() + pauses.firstMs)
    known = undefined
    return (await claimTrial(pool, now, until)) ? undefined : until
  }

  async function keepAccepted(handedOverAt: Date): Promise<void> {
    const at = clock()
    const isNews = (await read()).refusedSince !== null || at.getTime() - acceptedAt > RECENT_MS
    failuresInRow = 0
    if (!isNews) return
    acceptedAt = at.getTime()
    await noteAccepted(pool, { at, handedOverAt })
    known = undefined
  }

  async function keepFailure(result: Later, handedOverAt: Date): Promise<void> {
    const at = clock()
    failuresInRow++
    const isAlone = failuresInRow <= FAILURES_FREE
    const isLate = at.getTime() - acceptedAt > RECENT_MS
    // Failures of consumers pause only their own mail.
    if (!isAboutRelay(result) && (isAlone || !isLate)) return
    const isPausing = isAboutRelay(result) && (!isAlone || isLate)
    const failure = { at, reply: result.reason, handedOverAt }
    await noteRefused(pool, failure, isPausing ? pauses : undefined)
    known = undefined
  }

  return { read, enter, keepAccepted, keepFailure }
}

/** Creates the gate for one process. Its state is stored in the database and shared by all. */
export function createRelayGate(app: Needs, pauses = usualPauses): RelayGate {
  const { clock } = app
  const { read, enter, keepAccepted, keepFailure } = openRelayMemory(app, pauses)
  return {
    async pausedUntil() {
      const { nextTryAt } = await read()
      return nextTryAt !== null && nextTryAt > clock() ? nextTryAt : undefined
    },
    async send(sendOne, refusedSince) {
      const closedUntil = await enter()
      if (closedUntil) return paused(closedUntil)
      const handedOverAt = clock()
      const result = await sendOne()
      if (result.outcome !== 'later') {
        await keepAccepted(handedOverAt)
        return result
      }
      if (result.fault === 'places') return result
      const now = clock()
      if (isRefusal(result) && isOwnFault(refusedSince, await read(), now)) {
        const { replyCode, reason: reply } = result
        return { outcome: 'rejected', replyCode, reply, about: 'message' }
      }
      await keepFailure(result, handedOverAt)
      if (!isAboutRelay(result)) return result
      const waitMs = now.getTime() - (refusedSince ?? now).getTime()
      const ms = Math.min(pauses.againMsMax, Math.max(pauses.firstMs, waitMs))
      const ownAt = new Date(now.getTime() + ms)
      const { nextTryAt } = await read()
      return { ...result, until: nextTryAt && nextTryAt > ownAt ? nextTryAt : ownAt }
    },
  }
}

type Later = Extract<SendOutcome, { outcome: 'later' }>

/** Whether the relay refused a mail permanently for a reason that concerns us. */
export function isRefusal(result: SendOutcome): boolean {
  return result.outcome === 'later' && result.fault === 'relay' && (result.replyCode ?? 0) >= 500
}

function isAboutRelay({ fault }: Later): boolean {
  return fault === 'relay' || fault === 'session'
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
