import { setTimeout as wait } from 'node:timers/promises'
import type { z } from 'zod'
import type { WorkApp } from '../app.ts'
import { giveBackPlaces } from '../db/consumer-scopes.ts'
import { postponeJobs } from '../db/jobs.ts'
import {
  type FeedbackKey,
  type FeedbackState,
  listFeedback,
  feedbackName,
} from '../db/feedback-reports.ts'
import { mayAppear } from '../db/prepared.ts'
import { DAY_MS, hourOf } from '../durations.ts'
import { reasonOf } from '../errors.ts'
import {
  type AttemptWatch,
  COMPOSING_MS_MAX,
  type RelayResult,
  isRefusal,
  SEND_MS_MAX,
} from '../letters/relay-gate.ts'
import type { SendOutcome } from '../letters/relay-memory.ts'
import { composeReturnPath } from '../mail/verp.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import { secondsUntil } from '../queue/boss.ts'
import { failureOf, giveBack, type JobOutcome, underWay } from '../queue/work.ts'
import { type ComposedMail, composeLoaded, messageIdOf } from './compose-feedback.ts'
import type { SendTurn, Ticket } from './consumer-queues.ts'
import {
  type Forwarding,
  hourlyMaxOf,
  type SendableFeedback,
  openForwarding,
  selectSendable,
  withinLimits,
} from './select-sendable.ts'
import { type LoadedFeedback, loadFeedback } from './load-content.ts'
import { outcomePhrase } from './keep-outcomes.ts'
import { forwardReport, queueOf, reserveJobId } from './queues.ts'
import { inTime } from '../world.ts'

type How = Parameters<SendTurn>[0]
type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config' | 'mailer' | 'log'> & {
  parser: Pick<ParserPool, 'compose' | 'sign'>
}
type Payload = z.infer<typeof forwardReport.payload>
type Placed = SendableFeedback & {
  ticket: Ticket | undefined
  /** How long it took to find the place, in milliseconds. */
  placingMs: number
  refusedSince?: string | undefined
  /** For a mail with a job in reserve: its job, and when it is too late to send without it. */
  reserve?: { jobId: string; sendBefore: Date }
}

/** A feedback report that is being composed or sent. */
type FeedbackInProgress = {
  feedback: SendableFeedback['feedback']
  reserve: Placed['reserve']
  ticket: Ticket | undefined
  composing: Composing
  ended: Promise<JobOutcome>
  outcome: JobOutcome | undefined
}
type Composing = {
  composed: Promise<ComposedMail>
  /** Whether composing has taken so long that the batch no longer waits. */
  isSlow: () => boolean
  /** Resolves when the report is composed, cannot be composed, or turns out to be slow. */
  decided: Promise<unknown>
}

/** Time in milliseconds after which undeliverable mail is given up (RFC 5321 §4.5.4.1). */
const GIVE_UP_MS = 5 * DAY_MS
/** A batch does not wait for mail expected to take longer than this, in milliseconds. */
const EXPECTED_MS_MAX = 1_000

const SHOWN_SEND_MS_MAX = 10_000

/**
 * Composes a batch of feedback reports and sends them, or holds them. Each result is stored
 * immediately. A batch does not wait long for a slow consumer or a slow message: queued mail is
 * postponed. Mail that is being sent or is slow to compose continues without its job, which runs
 * again after the lease. Every run composes the same bytes, so a run interrupted between sending
 * and storing the result can only repeat the same mail under the same Message-ID.
 */
export async function runForwardReport(
  payloads: readonly Payload[],
  app: Needs,
  forwarding: Forwarding = openForwarding(app),
  { isShadowed = false } = {},
): Promise<JobOutcome[]> {
  const pausedUntil = app.mailer && (await forwarding.relay.pausedUntil())
  if (pausedUntil) return payloads.map((payload) => postponeUntilRelay(payload, pausedUntil))
  const outcomes = new Map<string, JobOutcome>()
  const from = { payloads, isShadowed }
  const sendable = await findSendable(from, app, forwarding, outcomes)
  const placed = await findPlaces(sendable, app, forwarding, outcomes)
  const loaded = await loadFeedback(
    app.pool,
    placed.map(({ feedback }) => feedback),
    app.config,
    app.clock(),
    {
      consumers: placed.map(({ consumer }) => consumer),
      reports: placed.flatMap(({ report }) => (report ? [report] : [])),
    },
  )
  await sendPlaced(placed, loaded, app, forwarding, outcomes)
  return payloads.map((payload) => {
    const outcome = outcomes.get(feedbackName(payload)) ?? 'done'
    outcomes.delete(feedbackName(payload))
    return outcome === 'done' || !('postponedTo' in outcome)
      ? outcome
      : postponeAgain(payload, outcome, app)
  })
}

/** Shows outcomes of shadowed feedback reports, but not while the queue of the others is paused. */
export async function runShowForwarded(
  payloads: readonly Payload[],
  app: Needs,
  forwarding: Forwarding,
): Promise<JobOutcome[]> {
  if (!app.boss.isPaused(forwardReport.name)) {
    return runForwardReport(payloads, app, forwarding, { isShadowed: true })
  }
  const postponedTo = new Date(app.clock().getTime() + forwarding.retryMs)
  return payloads.map((payload) => ({ postponedTo, payload }))
}

/** A feedback report that was created a moment ago, with everything to compose it from. */
export type HandedOver = SendableFeedback & { loaded: LoadedFeedback }

/** Time in milliseconds after which a mail that was handed over is left to its job in reserve. */
const AT_ONCE_MS_MAX = 30_000

/**
 * Sends feedback reports right after the transaction that created them, in the same process. The
 * transaction has checked that they may be sent, and everything is still in memory, so that no job
 * has to be fetched and nothing loaded. Never rejects: what is not sent here is left to the job in
 * reserve, which starts a minute later, or later still while the mail is being sent.
 */
export async function forwardAtOnce(
  handed: readonly HandedOver[],
  app: Needs,
  forwarding: Forwarding,
): Promise<void> {
  const sendBefore = new Date(app.clock().getTime() + AT_ONCE_MS_MAX)
  forwarding.handedOver += handed.length
  try {
    const pausedUntil = app.mailer && (await forwarding.relay.pausedUntil())
    if (pausedUntil) {
      for (const [queue, its] of Map.groupBy(handed, ({ feedback }) => queueOf(feedback))) {
        const ids = its.map(({ feedback }) => reserveJobId(feedback))
        await postponeJobs(app.pool, queue.name, ids, pausedUntil)
      }
      return
    }
    const outcomes = new Map<string, JobOutcome>()
    const placed = (await findPlaces(handed, app, forwarding, outcomes)).map((one) => ({
      ...one,
      reserve: { jobId: reserveJobId(one.feedback), sendBefore },
    }))
    const loaded = new Map(handed.map((one) => [feedbackName(one.feedback), one.loaded]))
    const slow = await sendPlaced(placed, loaded, app, forwarding, outcomes)
    const left = new Map(slow.map((one) => [feedbackName(one.feedback), one]))
    for (const { feedback } of handed) {
      const outcome = outcomes.get(feedbackName(feedback))
      const one = left.get(feedbackName(feedback))
      if (one) await postponeReserve(one, outcome, app)
      // The job of a mail that was sent is dropped with its outcome.
      else if (typeof outcome === 'object') returnReserve(feedback, Promise.resolve(outcome), app)
    }
  } catch (error) {
    const reportIds = handed.map(({ feedback }) => feedback.reportId)
    const facts = { reportIds, reason: reasonOf(error) }
    app.log.warn(facts, 'Feedback reports are left to their jobs.')
  } finally {
    forwarding.handedOver -= handed.length
  }
}

/** Lets the job in reserve start only when the mail in progress has certainly ended. */
async function postponeReserve(
  { feedback, reserve, ended }: FeedbackInProgress,
  outcome: JobOutcome | undefined,
  app: Needs,
): Promise<void> {
  if (!reserve || typeof outcome !== 'object' || !('postponedTo' in outcome)) return
  const { postponedTo } = outcome
  const payload = underWay(keyOf(feedback))
  const job = { id: reserve.jobId, startAfter: secondsUntil(postponedTo, app.clock()) }
  const { updated } = await app.boss.update(queueOf(feedback).name, payload, job)
  if (updated > 0) reserve.sendBefore = new Date(postponedTo.getTime() - SEND_MS_MAX)
  returnReserve(feedback, ended, app)
}

/** Drops the job in reserve of a mail that was sent, and lets it start soon otherwise. */
function returnReserve(
  feedback: FeedbackKey & { isShadowed?: boolean },
  ended: Promise<JobOutcome>,
  app: Needs,
): void {
  const job = { id: reserveJobId(feedback), payload: keyOf(feedback) }
  giveBack(app, queueOf(feedback), job, ended)
}

function keyOf({ reportId, number }: FeedbackKey): FeedbackKey {
  return { reportId, number }
}

/**
 * Sends mail that has its places, and records an outcome for each. Returns the mail in progress.
 */
async function sendPlaced(
  placed: readonly Placed[],
  loaded: ReadonlyMap<string, LoadedFeedback>,
  app: Needs,
  forwarding: Forwarding,
  outcomes: Map<string, JobOutcome>,
): Promise<FeedbackInProgress[]> {
  const under = placed.flatMap((one) => {
    const its = loaded.get(feedbackName(one.feedback))
    if (its) return [startSending(one, its, app, forwarding)]
    one.ticket?.drop()
    const failed = 'The report of this feedback report is no longer complete.'
    outcomes.set(feedbackName(one.feedback), { failed })
    return []
  })
  await waitFor(under, forwarding)
  const underWay = under.filter(({ outcome }) => outcome === undefined)
  for (const one of under) {
    outcomes.set(feedbackName(one.feedback), one.outcome ?? postpone(one, app, forwarding))
  }
  return underWay
}

/** States from which feedback is queued; its job may be visible before that is. */
const earlyStates: readonly FeedbackState[] = ['waiting', 'held', 'refused']

/** Selects the reports that may be sent now. */
async function findSendable(
  { payloads, isShadowed }: { payloads: readonly Payload[]; isShadowed: boolean },
  app: Needs,
  { inProgress, retryMs }: Forwarding,
  outcomes: Map<string, JobOutcome>,
): Promise<(SendableFeedback & { refusedSince?: string | undefined })[]> {
  const wanted = new Map(payloads.map((payload) => [feedbackName(payload), payload]))
  const ids = [...new Set(payloads.map(({ reportId }) => reportId))]
  const existing = await listFeedback(app.pool, ids)
  const ready = existing.filter(
    (one) => one.isShadowed === isShadowed && !earlyStates.includes(one.state),
  )
  const queued = ready.filter((one) => one.state === 'queued' && wanted.has(feedbackName(one)))
  const now = app.clock()
  const found = new Set((isShadowed ? existing : ready).map(feedbackName))
  for (const [name, { postponedSince }] of wanted) {
    const since = postponedSince === undefined ? now : new Date(postponedSince)
    if (found.has(name) || !mayAppear(since, now)) continue
    outcomes.set(name, { postponedTo: new Date(now.getTime() + retryMs), payload: {} })
  }
  const idle = queued.filter((feedback) => {
    if (!inProgress.has(feedbackName(feedback))) return true
    outcomes.set(feedbackName(feedback), {
      postponedTo: new Date(now.getTime() + retryMs),
      payload: {},
    })
    return false
  })
  const sendable = await selectSendable(idle, app)
  return sendable.map((one) => {
    return { ...one, refusedSince: wanted.get(feedbackName(one.feedback))?.refusedSince }
  })
}

/**
 * Takes the places of feedback reports in the queues of their consumers and hourly limits. Shadowed
 * ones take none, because nothing is sent.
 */
async function findPlaces(
  leaving: readonly (SendableFeedback & { refusedSince?: string | undefined })[],
  app: Needs,
  { queues }: Forwarding,
  outcomes: Map<string, JobOutcome>,
): Promise<Placed[]> {
  const startMs = performance.now()
  const isSent = ({ feedback }: SendableFeedback) => app.mailer && !feedback.isShadowed
  const others = leaving.filter((one) => !isSent(one)).map((one) => ({ ...one, ticket: undefined }))
  const inLine = leaving.filter(isSent).flatMap((one) => {
    const admission = queues.admit(one.consumer)
    if ('ticket' in admission) return [{ ...one, ticket: admission.ticket }]
    outcomes.set(feedbackName(one.feedback), { postponedTo: admission.waitsUntil, payload: {} })
    return []
  })
  const within = new Set(
    (await withinLimits(inLine, app)).map(({ feedback }) => feedbackName(feedback)),
  )
  const placed = inLine.filter(
    ({ feedback, ticket }) => within.has(feedbackName(feedback)) || !ticket.drop(),
  )
  const placingMs = performance.now() - startMs
  return [...placed, ...others].map((one) => ({ ...one, placingMs }))
}

function startSending(
  one: Placed,
  loaded: LoadedFeedback,
  app: Needs,
  forwarding: Forwarding,
): FeedbackInProgress {
  const { inProgress } = forwarding
  const name = feedbackName(one.feedback)
  const composing = compose(one, loaded, app)
  const ended = deliver(one, loaded, composing, app, forwarding).catch((error: unknown) => {
    one.ticket?.drop()
    return failureOf(error)
  })
  const started: FeedbackInProgress = {
    feedback: one.feedback,
    reserve: one.reserve,
    ticket: one.ticket,
    composing,
    ended,
    outcome: undefined,
  }
  inProgress.set(name, ended)
  void ended.then((outcome) => {
    started.outcome = outcome
    inProgress.delete(name)
  })
  return started
}

/** Starts composing. A report that is slow to compose gives up its place in the queue. */
function compose({ ticket }: Placed, loaded: LoadedFeedback, { parser }: Needs): Composing {
  let isSlow = false
  const slow = Promise.withResolvers<undefined>()
  const composed = composeLoaded(loaded, parser, () => {
    isSlow = true
    ticket?.drop()
    slow.resolve(undefined)
  })
  const ended = composed.catch(() => undefined)
  return { composed, isSlow: () => isSlow, decided: Promise.race([ended, slow.promise]) }
}

async function deliver(
  one: Placed,
  loaded: LoadedFeedback,
  composing: Composing,
  app: Needs,
  forwarding: Forwarding,
): Promise<JobOutcome> {
  const { queues, keeper, relay, retryMs } = forwarding
  const { feedback, consumer, placingMs, refusedSince, reserve } = one
  const takenAt = app.clock()
  const { raw, copy } = await composing.composed
  if (reserve && app.clock() > reserve.sendBefore) {
    throw new Error('Composing took so long that the mail is left to its job.')
  }
  const ticket = composing.isSlow() ? takePlaceAgain(one, takenAt, queues, app) : one.ticket
  const since = refusedSince === undefined ? undefined : new Date(refusedSince)
  const sending = (how: How) =>
    relay.send({ to: feedback.address, refusedSince: since }, (watch) =>
      sendOne(raw, feedback, { ...how, ...watch }, app),
    )
  const isShownSent = feedback.isShadowed && app.mailer !== undefined
  if (isShownSent) await wait(Math.max(0, forwarding.sendMs - placingMs))
  const startMs = performance.now()
  const result: RelayResult | 'held' | undefined = ticket ? await ticket.run(sending) : 'held'
  if (typeof result === 'object' && result.outcome === 'accepted') {
    const sendMs = placingMs + performance.now() - startMs
    forwarding.sendMs = Math.min(sendMs, SHOWN_SEND_MS_MAX)
  }
  if (result === undefined || (result !== 'held' && result.outcome === 'later')) {
    if (hourlyMaxOf(consumer, app.config) !== undefined) {
      await giveBackPlaces(app.pool, consumer.id, 1, hourOf(takenAt))
    }
    if (result?.until) {
      const isRefused = refusedSince === undefined && isRefusal(result)
      const since = isRefused ? app.clock().toISOString() : refusedSince
      return postponeUntilRelay({ ...feedback, refusedSince: since }, result.until)
    }
    if (result !== undefined && result.fault !== 'places') return { retry: result.reason }
    return { postponedTo: new Date(app.clock().getTime() + retryMs), payload: {} }
  }
  const { reportId, number, isShadowed } = feedback
  const state = outcomeState(result, isShownSent)
  const at = app.clock()
  const reply = result === 'held' ? null : result.reply
  await keeper.keep({
    outcome: { reportId, number, isShadowed, state, at, messageId: messageIdOf(loaded), reply },
    // A released report was shown as sent while it was shadowed.
    isShown: !isShadowed && feedback.dueAt !== null,
    rejectedFor: result !== 'held' && result.outcome === 'rejected' ? result.about : undefined,
    copy,
    jobId: reserve?.jobId,
    event: { reportId, at, event: state, phrases: [outcomePhrase(state, loaded)] },
  })
  return 'done'
}

/** The outcome to store; shadowed feedback is shown as sent where other feedback is sent. */
function outcomeState(result: RelayResult | 'held', isShownSent: boolean) {
  if (isShownSent) return 'sent'
  if (result === 'held') return 'held'
  return result.outcome === 'accepted' ? 'sent' : 'refused'
}

async function sendOne(
  raw: Buffer,
  feedback: SendableFeedback['feedback'],
  how: How & AttemptWatch,
  { mailer, config }: Needs,
): Promise<SendOutcome> {
  const from = composeReturnPath(feedback, {
    domain: config.returnPathDomain,
    secret: config.secret,
  })
  if (!mailer) throw new Error('Sending is switched off.')
  return mailer.send({ envelope: { from, to: feedback.address }, raw, ...how })
}

/**
 * Takes a new place for a report that gave up its place because it was slow to compose. Returns the
 * old ticket, with which nothing is sent, if no place is free or too little time is left before the
 * lease ends.
 */
function takePlaceAgain(
  { consumer, ticket }: Placed,
  takenAt: Date,
  queues: Forwarding['queues'],
  { clock }: Pick<Needs, 'clock'>,
): Ticket | undefined {
  if (!ticket || clock().getTime() - takenAt.getTime() > COMPOSING_MS_MAX) return ticket
  const admission = queues.admit(consumer)
  return 'ticket' in admission ? admission.ticket : ticket
}

/**
 * Waits until all but the slow reports are composed, then up to `waitMsMax` for the quick ones to
 * be sent.
 */
async function waitFor(
  under: readonly FeedbackInProgress[],
  { waitMsMax }: Pick<Forwarding, 'waitMsMax'>,
): Promise<void> {
  await Promise.all(under.map(({ composing }) => composing.decided))
  const quick = under.filter(
    ({ composing, ticket }) => !composing.isSlow() && (ticket?.expectedMs ?? 0) <= EXPECTED_MS_MAX,
  )
  await inTime(Promise.all(quick.map(({ ended }) => ended)), waitMsMax, undefined)
  // Outcomes are recorded one microtask after delivery ends.
  await Promise.resolve()
}

/**
 * Postpones a report. A report in a queue gives up its place; a report that is slow to compose or
 * is being sent continues without its job.
 */
function postpone(
  one: FeedbackInProgress,
  app: Needs,
  { leaseMs, retryMs }: Forwarding,
): JobOutcome {
  const { composing, ticket } = one
  const isInLine =
    !composing.isSlow() && ticket !== undefined && ticket.expectedMs <= EXPECTED_MS_MAX
  const isDropped = isInLine && ticket.drop()
  const postponedTo = new Date(app.clock().getTime() + (isDropped ? retryMs : leaseMs))
  return { postponedTo, payload: {}, ...(!isDropped && { ended: one.ended }) }
}

/**
 * Postpones a report because our own mail server is unavailable. A report may wait for the server
 * without a time limit.
 */
function postponeUntilRelay(
  { reportId, number, refusedSince }: Payload,
  postponedTo: Date,
): JobOutcome {
  const since = refusedSince === undefined ? {} : { refusedSince }
  return { postponedTo, payload: { reportId, number, ...since } }
}

function postponeAgain(
  { reportId, number, postponedSince }: Payload,
  outcome: Extract<JobOutcome, { postponedTo: Date }>,
  app: Pick<Needs, 'clock'>,
): JobOutcome {
  if ('reportId' in outcome.payload) return outcome
  const now = app.clock()
  const since = postponedSince ?? now.toISOString()
  if (now.getTime() - Date.parse(since) > GIVE_UP_MS) {
    return { failed: 'The mail server of the consumer accepted nothing for five days.' }
  }
  return { ...outcome, payload: { reportId, number, postponedSince: since } }
}
