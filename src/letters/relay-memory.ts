import type { App, WorkApp } from '../app.ts'
import { startPostponedJobs } from '../db/jobs.ts'
import {
  claimTrial,
  findMailRelay,
  type MailRelay,
  noteAccepted,
  noteRefused,
  type RelayPauses,
} from '../db/mail-relay.ts'
import { inTransaction } from '../db/pool.ts'
import { resumedQueueNames } from './queues.ts'

export type SendOutcome = Awaited<ReturnType<NonNullable<WorkApp['mailer']>['send']>>

type Later = Extract<SendOutcome, { outcome: 'later' }>

/** Whether a mail failed because of our mail server. */
export function isAboutRelay({ fault }: Later): boolean {
  return fault === 'relay' || fault === 'session'
}

/**
 * The pauses of all mail, and the longest wait of one refused mail, in milliseconds. `maxMs` is for
 * permanent refusals, which need a person and may count against us; `silentMsMax` for all others.
 */
export type GatePauses = RelayPauses & { silentMsMax: number; againMsMax: number }

/** The first pause is short, because a refusal may concern one mail only. */
export const usualPauses: GatePauses = {
  ...{ firstMs: 5_000, maxMs: 5 * 60_000, silentMsMax: 5_000 },
  againMsMax: 15 * 60_000,
}
/** What failed this long before the first refusal, in milliseconds, may have the same cause. */
const BEFORE_MS = 60_000
/** Time in milliseconds for which a read state of the relay is reused. */
const FRESH_MS = 1_000
/**
 * In this period after an accepted mail, in milliseconds, only consecutive failures cause a pause.
 */
const RECENT_MS = 60_000
const FAILURES_FREE = 2

type Needs = Pick<App, 'pool' | 'clock'>

/**
 * The relay's state as one process sees it: read from the database and stored there for all
 * processes. `onResumed` is called when sending has resumed, in this process or in another.
 */
export function openRelayMemory({ pool, clock }: Needs, pauses: GatePauses, onResumed: () => void) {
  let known: MailRelay | undefined
  let readAt = 0
  let acceptedAt = 0
  const failures = countFailures()
  let resumedMs: number | undefined

  async function read(): Promise<MailRelay> {
    const now = clock().getTime()
    if (!known || now - readAt > FRESH_MS || now < readAt) {
      known = await findMailRelay(pool)
      readAt = now
      const its = known.resumedAt?.getTime() ?? 0
      if (resumedMs !== undefined && its > resumedMs) onResumed()
      resumedMs = its
    }
    return known
  }

  async function enter(): Promise<Date | undefined> {
    const [{ nextTryAt }, now] = [await read(), clock()]
    if (nextTryAt === null || nextTryAt > now) return nextTryAt ?? undefined
    const until = new Date(now.getTime() + pauses.firstMs)
    known = undefined
    return (await claimTrial(pool, now, until)) ? undefined : until
  }

  async function keepAccepted(handedOverAt: Date): Promise<void> {
    const at = clock()
    const isNews = (await read()).refusedSince !== null || at.getTime() - acceptedAt > RECENT_MS
    failures.end()
    if (!isNews) return
    acceptedAt = at.getTime()
    await inTransaction(pool, async (tx) => {
      const since = await noteAccepted(tx, { at, handedOverAt })
      if (!since) return
      const failedSince = new Date(since.getTime() - BEFORE_MS)
      await startPostponedJobs(tx, resumedQueueNames, { failedSince })
    })
    known = undefined
  }

  async function keepFailure(result: Later, handedOverAt: Date, to: string): Promise<void> {
    const at = clock()
    const isLate = at.getTime() - acceptedAt > RECENT_MS
    const effect = failures.add(result, to, isLate)
    if (effect === 'none') return
    const failure = { at, reply: result.reason, handedOverAt }
    await noteRefused(
      pool,
      failure,
      effect === 'pauses' ? pausesAfter(result.replyCode, pauses) : undefined,
    )
    known = undefined
  }

  const forget = () => void (known = undefined)
  return { read, enter, keepAccepted, keepFailure, forget }
}

/** Counts the failures since the last answer, and decides what the next one means. */
function countFailures() {
  let inRow = 0
  const recipients = new Set<string>()
  return {
    end() {
      inRow = 0
      recipients.clear()
    },
    /** `isLate`: no mail was accepted for a while. */
    add(result: Later, to: string, isLate: boolean): 'none' | 'shows' | 'pauses' {
      inRow++
      if (recipients.size <= FAILURES_FREE) recipients.add(to)
      const isAlone = inRow <= FAILURES_FREE
      // No mail to several recipients leaves, whatever the reasons are.
      if (recipients.size > FAILURES_FREE) return 'pauses'
      if (isAboutRelay(result)) return isAlone && !isLate ? 'shows' : 'pauses'
      // Failures of consumers pause only their own mail.
      return isAlone || !isLate ? 'none' : 'shows'
    },
  }
}

/** Returns the pauses after a failure with this reply code, or without a reply. */
export function pausesAfter(
  replyCode = 0,
  { firstMs, maxMs, silentMsMax }: GatePauses,
): RelayPauses {
  return { firstMs, maxMs: replyCode >= 500 ? maxMs : Math.min(maxMs, silentMsMax) }
}
