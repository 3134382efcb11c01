import type { App } from '../app.ts'
import {
  claimTrial,
  findMailRelay,
  type MailRelay,
  noteAccepted,
  noteRefused,
  type RelayPauses,
} from '../db/mail-relay.ts'
import type { SendOutcome } from './consumer-lines.ts'

/** The longest that the mailer may take to send one message: whoever opens it says so. */
export const SEND_MS_MAX = 10 * 60_000

/** What takes longer to compose is not sent this time. */
export const COMPOSING_MS_MAX = 60_000

/**
 * When a message that is set out now has surely left or failed, its composing, a minute's wait for
 * its turn and the difference of clocks included. Its job comes again then, and not before: else
 * two would send it.
 */
export const LEASE_MS = SEND_MS_MAX + 4 * 60_000

/** What became of a mail; `until`: the relay refuses us or is away, come again then. */
export type GatedResult = SendOutcome & { until?: Date }

/**
 * Keeps mail back while our own mail server refuses us or is away: in all processes, for every kind
 * of mail. After each pause one mail tries whether it works again.
 */
export type RelayGate = {
  /** When to come again while sending is paused; undefined: mail may be sent. */
  pausedUntil: () => Promise<Date | undefined>
  /** Sends one mail unless sending is paused. `refusedSince`: since when this mail is refused. */
  send: (sendOne: () => Promise<SendOutcome>, refusedSince?: Date) => Promise<GatedResult>
}

/** The first pause is short, because one refusal may be about one mail. */
const usualPauses: RelayPauses = { firstMs: 5_000, maxMs: 5 * 60_000 }
/** The state of the relay is read so often at most. */
const FRESH_MS = 1_000
/** While the relay took mail so lately, it has to fail several times in a row. */
const LATELY_MS = 60_000
const FAILURES_FREE = 2
/** A mail that is refused for so long, while others are taken, is itself the reason. */
const REFUSED_MS_MAX = 86_400_000
const OTHERS_MS = 3_600_000
const AGAIN_MS_MAX = 15 * 60_000

type Needs = Pick<App, 'pool' | 'clock'>

/** What one process knows of the relay: read from the database, and kept there for all. */
function openRelayMemory({ pool, clock }: Needs, pauses: RelayPauses) {
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
    const isNews = (await read()).refusedSince !== null || at.getTime() - acceptedAt > LATELY_MS
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
    const isLate = at.getTime() - acceptedAt > LATELY_MS
    // Consumers that fail are left alone one by one: that pauses no other mail.
    if (!isAboutRelay(result) && (isAlone || !isLate)) return
    const isPausing = isAboutRelay(result) && (!isAlone || isLate)
    const failure = { at, reply: result.reason, handedOverAt }
    await noteRefused(pool, failure, isPausing ? pauses : undefined)
    known = undefined
  }

  return { read, enter, keepAccepted, keepFailure }
}

/** A gate for one process; what it learns is kept in the database, for all. */
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
      const ms = Math.min(AGAIN_MS_MAX, Math.max(pauses.firstMs, waitMs))
      const ownAt = new Date(now.getTime() + ms)
      const { nextTryAt } = await read()
      return { ...result, until: nextTryAt && nextTryAt > ownAt ? nextTryAt : ownAt }
    },
  }
}

type Later = Extract<SendOutcome, { outcome: 'later' }>

/** Whether a mail was refused for good by a reply that is about us. */
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

function paused(until: Date): GatedResult {
  const reason = 'Sending is paused, because the mail server refuses our mail.'
  return { outcome: 'later', replyCode: undefined, reason, fault: 'relay', until }
}
