import { setTimeout as wait } from 'node:timers/promises'
import type { WorkApp } from '../app.ts'
import { giveBackPlaces } from '../db/consumer-scopes.ts'
import { type FeedbackKey, listFeedback, nameOf } from '../db/feedback-reports.ts'
import { reasonOf } from '../errors.ts'
import { composeReturnPath } from '../mail/verp.ts'
import type { ComposedFeedback, ParserPool } from '../parsing/parser-pool.ts'
import type { JobOutcome } from '../queue/work.ts'
import { composeLoaded, messageIdOf } from './compose-feedback.ts'
import type { SendOutcome, SendTurn, Ticket } from './consumer-lines.ts'
import {
  type Forwarding,
  hourlyMaxOf,
  hourOf,
  type Leaving,
  openForwarding,
  whoMayLeave,
  withinLimits,
} from './leave-now.ts'
import { type LoadedFeedback, loadFeedback } from './load-content.ts'
import { outcomeWords } from './owe-feedback.ts'
import { COMPOSING_MS_MAX, type GatedResult, isRefusal } from './relay-gate.ts'

type How = Parameters<SendTurn>[0]
type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config' | 'mailer'> & {
  parser: Pick<ParserPool, 'compose' | 'sign'>
}
type Payload = FeedbackKey & {
  putOffSince?: string | undefined
  refusedSince?: string | undefined
}
type Placed = Leaving & { ticket: Ticket | undefined; refusedSince?: string | undefined }

/** One feedback report on its way. */
type OnItsWay = {
  name: string
  ticket: Ticket | undefined
  composing: Composing
  ended: Promise<JobOutcome>
  outcome: JobOutcome | undefined
}
type Composing = {
  composed: Promise<ComposedFeedback>
  /** Whether it takes long to compose. */
  isSlow: () => boolean
  /** Resolves when it is composed, cannot be composed, or is slow. */
  decided: Promise<unknown>
}

/** What nobody took for so long is given up (RFC 5321 §4.5.4.1). */
const GIVE_UP_MS = 5 * 86_400_000
/** A batch does not wait for what would take longer than this in its consumer's line. */
const EXPECTED_MS_MAX = 1_000

/**
 * Composes a batch of feedback reports and sends them, or holds them. Each is kept as soon as it
 * has ended. A batch never waits long for a slow consumer or a slow message: what is in line is put
 * off, and what is being sent, or takes long to compose, goes on without its job, which comes again
 * when that has surely ended. What is composed is the same at every run, so a run that was cut
 * between sending and marking can only repeat the same mail under the same Message-ID.
 */
export async function runForwardReport(
  payloads: readonly Payload[],
  app: Needs,
  forwarding: Forwarding = openForwarding(app),
): Promise<JobOutcome[]> {
  const pausedUntil = app.mailer && (await forwarding.relay.pausedUntil())
  if (pausedUntil) return payloads.map((payload) => afterRelay(payload, pausedUntil))
  const outcomes = new Map<string, JobOutcome>()
  const placed = await findPlaces(payloads, app, forwarding, outcomes)
  const loaded = await loadFeedback(
    app.pool,
    placed.map(({ feedback }) => feedback),
    app.config,
    {
      consumers: placed.map(({ consumer }) => consumer),
      reports: placed.flatMap(({ report }) => (report ? [report] : [])),
    },
  )
  const under = placed.flatMap((one) => {
    const its = loaded.get(nameOf(one.feedback))
    if (its) return [setOut(one, its, app, forwarding)]
    one.ticket?.drop()
    const hopeless = 'The report of this feedback is not complete any more.'
    outcomes.set(nameOf(one.feedback), { hopeless })
    return []
  })
  await waitFor(under, forwarding)
  for (const one of under) outcomes.set(one.name, one.outcome ?? letGo(one, app, forwarding))
  return payloads.map((payload) => {
    const outcome = outcomes.get(nameOf(payload)) ?? 'done'
    outcomes.delete(nameOf(payload))
    return outcome === 'done' || !('putOff' in outcome) ? outcome : again(payload, outcome, app)
  })
}

/** Asks who may leave, and takes their places in line and in the hour. */
async function findPlaces(
  payloads: readonly Payload[],
  app: Needs,
  { lines, underWay, againMs }: Forwarding,
  outcomes: Map<string, JobOutcome>,
): Promise<Placed[]> {
  const wanted = new Map(payloads.map((payload) => [nameOf(payload), payload]))
  const ids = [...new Set(payloads.map(({ reportId }) => reportId))]
  const queued = (await listFeedback(app.pool, ids)).filter(
    (feedback) => feedback.state === 'queued' && wanted.has(nameOf(feedback)),
  )
  const now = app.clock()
  const idle = queued.filter((feedback) => {
    if (!underWay.has(nameOf(feedback))) return true
    outcomes.set(nameOf(feedback), { putOff: new Date(now.getTime() + againMs), payload: {} })
    return false
  })
  const leaving = await whoMayLeave(idle, app)
  if (!app.mailer) return leaving.map((one) => ({ ...one, ticket: undefined }))
  const inLine = leaving.flatMap((one) => {
    const admission = lines.admit(one.consumer)
    const refusedSince = wanted.get(nameOf(one.feedback))?.refusedSince
    if ('ticket' in admission) return [{ ...one, ticket: admission.ticket, refusedSince }]
    outcomes.set(nameOf(one.feedback), { putOff: admission.putOff, payload: {} })
    return []
  })
  const within = new Set((await withinLimits(inLine, app)).map(({ feedback }) => nameOf(feedback)))
  return inLine.filter(({ feedback, ticket }) => within.has(nameOf(feedback)) || !ticket.drop())
}

function setOut(one: Placed, loaded: LoadedFeedback, app: Needs, forwarding: Forwarding): OnItsWay {
  const { underWay } = forwarding
  const name = nameOf(one.feedback)
  const composing = compose(one, loaded, app)
  const ended = deliver(one, loaded, composing, app, forwarding).catch((error: unknown) => {
    one.ticket?.drop()
    return { retry: reasonOf(error) }
  })
  const onItsWay: OnItsWay = { name, ticket: one.ticket, composing, ended, outcome: undefined }
  underWay.set(name, ended)
  void ended.then((outcome) => {
    onItsWay.outcome = outcome
    underWay.delete(name)
  })
  return onItsWay
}

/** One that is slow to compose gives up its place, so that it takes up no room in the line. */
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
  { lines, keeper, relay, againMs }: Forwarding,
): Promise<JobOutcome> {
  const { feedback, consumer, refusedSince } = one
  const takenAt = app.clock()
  const { raw, packed } = await composing.composed
  const ticket = composing.isSlow() ? placeAgain(one, takenAt, lines, app) : one.ticket
  const since = refusedSince === undefined ? undefined : new Date(refusedSince)
  const sending = (how: How) => relay.send(() => sendOne(raw, feedback, how, app), since)
  const result: GatedResult | 'held' | undefined = ticket ? await ticket.run(sending) : 'held'
  if (result === undefined || (result !== 'held' && result.outcome === 'later')) {
    if (hourlyMaxOf(consumer, app.config) !== undefined) {
      await giveBackPlaces(app.pool, consumer.id, 1, hourOf(takenAt))
    }
    if (result?.until) {
      const isRefused = refusedSince === undefined && isRefusal(result)
      const since = isRefused ? app.clock().toISOString() : refusedSince
      return afterRelay({ ...feedback, refusedSince: since }, result.until)
    }
    if (result !== undefined && result.fault !== 'places') return { retry: result.reason }
    return { putOff: new Date(app.clock().getTime() + againMs), payload: {} }
  }
  const { reportId, number } = feedback
  const state = result === 'held' ? 'held' : result.outcome === 'accepted' ? 'sent' : 'refused'
  const at = app.clock()
  const reply = result === 'held' ? null : result.reply
  await keeper.keep({
    outcome: { reportId, number, state, at, messageId: messageIdOf(loaded), reply },
    rejectedFor: result !== 'held' && result.outcome === 'rejected' ? result.about : undefined,
    copy: packed,
    event: { reportId, at, event: state, detail: outcomeWords(state, loaded) },
  })
  return 'done'
}

async function sendOne(
  raw: Buffer,
  feedback: Leaving['feedback'],
  how: How,
  { mailer, config }: Needs,
): Promise<SendOutcome> {
  const from = composeReturnPath(feedback, {
    domain: config.returnPathDomain,
    secret: config.secret,
  })
  if (!mailer) throw new Error('Sending was switched off.')
  return mailer.send({ envelope: { from, to: feedback.address }, raw, ...how })
}

/**
 * A new place for one that was slow to compose and has given its first one up. The first one, from
 * which nothing is sent, when there is no place now or it is too late to send within the lease.
 */
function placeAgain(
  { consumer, ticket }: Placed,
  takenAt: Date,
  lines: Forwarding['lines'],
  { clock }: Pick<Needs, 'clock'>,
): Ticket | undefined {
  if (!ticket || clock().getTime() - takenAt.getTime() > COMPOSING_MS_MAX) return ticket
  const admission = lines.admit(consumer)
  return 'ticket' in admission ? admission.ticket : ticket
}

/** Waits until all but the slow ones are composed, then a while for those that leave quickly. */
async function waitFor(
  under: readonly OnItsWay[],
  { patienceMs }: Pick<Forwarding, 'patienceMs'>,
): Promise<void> {
  await Promise.all(under.map(({ composing }) => composing.decided))
  const quick = under.filter(
    ({ composing, ticket }) => !composing.isSlow() && (ticket?.expectedMs ?? 0) <= EXPECTED_MS_MAX,
  )
  await withPatience(Promise.all(quick.map(({ ended }) => ended)), patienceMs)
  // What has ended just now is heard of one step later.
  await Promise.resolve()
}

async function withPatience(awaited: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController()
  const patience = wait(ms, undefined, { signal: over.signal }).catch(() => undefined)
  await Promise.race([awaited, patience])
  over.abort()
}

/** What waits in line gives its place up; what is slow or being sent goes on without its job. */
function letGo(one: OnItsWay, app: Needs, { leaseMs, againMs }: Forwarding): JobOutcome {
  const { composing, ticket } = one
  const isInLine =
    !composing.isSlow() && ticket !== undefined && ticket.expectedMs <= EXPECTED_MS_MAX
  const ms = isInLine && ticket.drop() ? againMs : leaseMs
  return { putOff: new Date(app.clock().getTime() + ms), payload: {} }
}

/** Put off for our own mail server's sake: that is never given up, however long it takes. */
function afterRelay({ reportId, number, refusedSince }: Payload, putOff: Date): JobOutcome {
  const since = refusedSince === undefined ? {} : { refusedSince }
  return { putOff, payload: { reportId, number, ...since } }
}

function again(
  { reportId, number, putOffSince }: Payload,
  { putOff, payload }: { putOff: Date; payload: object },
  app: Pick<Needs, 'clock'>,
): JobOutcome {
  if ('reportId' in payload) return { putOff, payload }
  const now = app.clock()
  const since = putOffSince ?? now.toISOString()
  if (now.getTime() - Date.parse(since) > GIVE_UP_MS) {
    return { hopeless: 'The mail server of its consumer took nothing for five days.' }
  }
  return { putOff, payload: { reportId, number, putOffSince: since } }
}
