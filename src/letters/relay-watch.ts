import type { App } from '../app.ts'
import { startOneJob, startPostponedJobs } from '../db/jobs.ts'
import { claimTrial, endPause, type MailRelay, noteReachable } from '../db/mail-relay.ts'
import { inTransaction } from '../db/pool.ts'
import { reasonOf } from '../errors.ts'
import { type Rounds, runRounds, systemRandom } from '../world.ts'
import type { Attempt, RelayGate } from './relay-gate.ts'
import { mailQueueNames, resumedQueueNames } from './queues.ts'
import type { SendOutcome } from './relay-memory.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'boss' | 'log'>

/** Tries a session with the mail server without sending a mail, within a few seconds. */
type Probe = () => Promise<SendOutcome>

/** Time in milliseconds without an answer after which a mail counts as stalled. */
const STALL_MS = 5_000
/** Stalled mails to so many addresses, and no answer about another, are no fault of recipients. */
const STALLED_MIN = 3
/** The server may answer mail that it received before it hung for this time in milliseconds. */
const RESUMING_MS = 4_000
/**
 * Times in milliseconds without an answer after which a message that may have arrived is repeated:
 * when the server has accepted a later mail, or when so many messages wait for an answer that no
 * other mail could be tried.
 */
const UNANSWERED_MS = { whenResumed: 10_000, whenFull: 60_000 }
const UNANSWERED_MAX = 12
/**
 * Times in milliseconds after which mail is made due again that was postponed while sending
 * resumed.
 */
const SWEEPS_MS = [4_000, 12_000]
/** Time in milliseconds for which a probe reserves the mail server, for all processes. */
const CLAIM_MS = 20_000
/** Time in milliseconds without an answer after which a mail is ended while sending is paused. */
const HUNG_MS = 8_000
const LOOK_MS = 1_000
/** Interval in milliseconds at which an idle process reads whether sending is paused. */
const READ_MS = 5_000

/**
 * Watches our mail server in a process that sends mail: notices that it hangs, tries it every few
 * seconds while sending is paused, and has one mail sent when it answers.
 */
export function startRelayWatch(app: Needs, relay: RelayGate, probe: Probe): Rounds {
  const look = openLook(app, relay, probe)
  let readAt = Number.NEGATIVE_INFINITY
  let isPaused = false
  return runRounds(async () => {
    const now = app.clock()
    if (isPaused || hasStalled(relay, now) || now.getTime() - readAt >= READ_MS) {
      readAt = now.getTime()
      isPaused = await look().catch((error: unknown) => {
        app.log.warn({ reason: reasonOf(error) }, 'Could not watch the mail server.')
        return false
      })
    }
    return LOOK_MS
  })
}

/** Returns a function that looks once; its result is whether the next look is urgent. */
export function openLook(app: Needs, relay: RelayGate, probe: Probe): () => Promise<boolean> {
  let probedAt = 0
  const sweep = openSweep(app)
  return async () => {
    const state = await relay.state()
    const now = app.clock()
    const mayProbe = now.getTime() - probedAt >= STALL_MS
    cutHopeless(relay.attempts, state, now)
    if (state.nextTryAt !== null) {
      if (mayProbe && state.nextTryAt <= now && !isTrying(relay, now)) {
        probedAt = now.getTime()
        await tryAgain(app, relay, probe)
      }
      return true
    }
    const isSweeping = await sweep(state)
    if (!mayProbe || !hasStalled(relay, now)) return isSweeping
    probedAt = now.getTime()
    const reason = await hangReason(relay, probe, now)
    if (reason === undefined) return isSweeping
    await relay.pause(reason, now, stalledOf(relay, now)[0]?.startedAt)
    // Those that wait for a place would hang next.
    for (const { dataAt, cut } of relay.attempts) if (dataAt === undefined) cut()
    return true
  }
}

/**
 * Returns a function that makes mail due which was postponed by another decision in the moment when
 * sending resumed. Its result is whether more is to be done.
 */
function openSweep({ pool, clock, boss }: Needs): (state: MailRelay) => Promise<boolean> {
  let sweptUntil = clock().getTime()
  return async ({ resumedAt }) => {
    const now = clock()
    if (resumedAt === null) return false
    const times = SWEEPS_MS.map((ms) => resumedAt.getTime() + ms)
    if (times.some((at) => at > sweptUntil && at <= now.getTime())) {
      await startPostponedJobs(pool, resumedQueueNames, { failedSince: now })
    }
    sweptUntil = now.getTime()
    const isSweeping = times.some((at) => at > now.getTime())
    if (isSweeping) wakeWorkers(boss)
    return isSweeping
  }
}

/** Why the server counts as hung; undefined if only some recipients may be slow. */
async function hangReason(relay: RelayGate, probe: Probe, now: Date): Promise<string | undefined> {
  const found = await probe()
  if (found.outcome === 'later') return found.reason
  const recipients = new Set(stalledOf(relay, now).map(({ to }) => to))
  const isSilent = recipients.size >= STALLED_MIN && hasStalled(relay, now)
  return isSilent ? 'The mail server accepts messages, but does not confirm them.' : undefined
}

/** Whether a mail tries the paused server, and may still be answered. */
function isTrying({ attempts }: RelayGate, now: Date): boolean {
  return [...attempts].some(({ startedAt }) => now.getTime() - startedAt.getTime() < HUNG_MS)
}

/** The mails that got no answer for a while. */
function stalledOf({ attempts }: Pick<RelayGate, 'attempts'>, now: Date): Attempt[] {
  return [...attempts].filter(({ startedAt }) => now.getTime() - startedAt.getTime() >= STALL_MS)
}

/** Whether mail has stalled, and the server has not answered about any other since. */
function hasStalled(relay: RelayGate, now: Date): boolean {
  if (now.getTime() - relay.answeredAt().getTime() < STALL_MS) return false
  return stalledOf(relay, now).length > 0
}

/** Tries the paused server: by a probe first, and if it answers, with one mail. */
async function tryAgain(app: Needs, relay: RelayGate, probe: Probe): Promise<void> {
  const now = app.clock()
  if (!(await claimTrial(app.pool, now, new Date(now.getTime() + CLAIM_MS)))) return
  const found = await probe()
  if (found.outcome === 'later') return relay.pause(found.reason, now)
  relay.startAfresh()
  const which = await inTransaction(app.pool, async (tx) => {
    const which = await startOneJob(tx, mailQueueNames, systemRandom(8).toString('hex'))
    if (which === 'none') await noteReachable(tx, app.clock())
    else await endPause(tx, app.clock())
    return which
  })
  if (which === 'started') wakeWorkers(app.boss)
}

function wakeWorkers({ workers }: Needs['boss']): void {
  for (const name of mailQueueNames) workers.get(name)?.wake()
}

/** Ends the attempts that have no prospect, so that their mail can be tried again. */
function cutHopeless(attempts: ReadonlySet<Attempt>, relay: MailRelay, now: Date): void {
  const open = [...attempts].filter(({ dataAt }) => dataAt !== undefined).length
  let isFull = open >= UNANSWERED_MAX
  for (const attempt of attempts) {
    const { startedAt, dataAt } = attempt
    const isOver = relay.resumedAt !== null && relay.resumedAt > startedAt
    const resumedMs = now.getTime() - (relay.resumedAt?.getTime() ?? 0)
    const wasResumed = isOver && resumedMs >= RESUMING_MS
    const ageMs = now.getTime() - (dataAt ?? startedAt).getTime()
    const isPaused = relay.nextTryAt !== null
    if (dataAt === undefined) {
      if (wasResumed || (isPaused && ageMs >= HUNG_MS)) attempt.cut()
    } else if (wasResumed && ageMs >= UNANSWERED_MS.whenResumed) {
      attempt.cut()
    } else if (isPaused && isFull && ageMs >= UNANSWERED_MS.whenFull) {
      attempt.cut()
      isFull = false
    }
  }
}
