import { setTimeout as wait } from 'node:timers/promises'
import type { WorkApp } from '../app.ts'
import { giveBackPlaces } from '../db/consumer-hours.ts'
import { type FeedbackKey, listFeedback, nameOf } from '../db/feedback-reports.ts'
import { reasonOf } from '../errors.ts'
import { composeLoaded, messageIdOf } from '../feedback/compose-loaded.ts'
import { outcomeWords } from '../feedback/feedback-words.ts'
import { type LoadedFeedback, loadFeedback } from '../feedback/load-content.ts'
import { composeReturnPath } from '../mail/verp.ts'
import type { ComposedFeedback, ParserPool } from '../parsing/parser-pool.ts'
import type { JobOutcome } from '../queue/work.ts'
import type { SendResult, SendTurn, Ticket } from './forwarding/consumer-lines.ts'
import {
  hourlyMaxOf,
  hourOf,
  type Leaving,
  whoMayLeave,
  withinLimits,
} from './forwarding/leave-now.ts'
import { type Forwarding, openForwarding } from './forwarding/open-forwarding.ts'
import { type GatedResult, isRefusal } from './forwarding/relay-gate.ts'

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
  composed: Promise<ComposedFeedback>
  ended: Promise<JobOutcome>
  outcome: JobOutcome | undefined
}

/** What nobody took for so long is given up (RFC 5321 §4.5.4.1). */
const GIVE_UP_MS = 5 * 86_400_000
/** A batch does not wait for what would take longer than this in its consumer's line. */
const EXPECTED_MS_MAX = 1_000
/** Nor for what takes longer than this to compose, which goes on in a lane of its own. */
const COMPOSING_MS_MAX = 10_000
const COMPOSING_MAX = 200

/**
 * Composes a batch of feedback reports and sends them, or holds them. Each is kept as soon as it
 * has ended. A batch never waits long for a slow consumer: what is in line is put off, and what is
 * being sent goes on without its job, which comes again when that has surely ended. What is
 * composed is the same at every run, so a run that was cut between sending and marking can only
 * repeat the same mail under the same Message-ID.
 */
export async function forwardReports(
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
  const { underWay, composing } = forwarding
  const name = nameOf(one.feedback)
  const composed = composing.get(name) ?? composeLoaded(loaded, app.parser)
  composing.delete(name)
  const ended = deliver(one, loaded, composed, app, forwarding).catch((error: unknown) => {
    one.ticket?.drop()
    return { retry: reasonOf(error) }
  })
  const onItsWay: OnItsWay = { name, ticket: one.ticket, composed, ended, outcome: undefined }
  underWay.set(name, ended)
  void ended.then((outcome) => {
    onItsWay.outcome = outcome
    underWay.delete(name)
  })
  return onItsWay
}

async function deliver(
  { feedback, consumer, ticket, refusedSince }: Placed,
  loaded: LoadedFeedback,
  composing: Promise<ComposedFeedback>,
  app: Needs,
  { keeper, relay, againMs }: Forwarding,
): Promise<JobOutcome> {
  const { raw, packed } = await composing
  const takenAt = app.clock()
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
): Promise<SendResult> {
  const from = composeReturnPath(feedback, {
    domain: config.returnPathDomain,
    secret: config.secret,
  })
  if (!mailer) throw new Error('Sending was switched off.')
  return mailer.send({ envelope: { from, to: feedback.address }, raw, ...how })
}

/**
 * Waits until all are composed that do not take long, and then a while for those that will not take
 * long to send. What is composed later is kept for the next run of its job.
 */
async function waitFor(
  under: readonly OnItsWay[],
  { patienceMs, composing }: Forwarding,
): Promise<void> {
  const late = new Set(under)
  const settled = under.map(async (one) => {
    await one.composed.catch(() => undefined)
    late.delete(one)
  })
  await withPatience(Promise.all(settled), COMPOSING_MS_MAX)
  for (const { name, ticket, composed } of late) {
    if (ticket) composing.set(name, composed)
    const [oldest] = composing.keys()
    if (oldest !== undefined && composing.size > COMPOSING_MAX) composing.delete(oldest)
  }
  const quick = under.filter(({ ticket }) => (ticket?.expectedMs ?? 0) <= EXPECTED_MS_MAX)
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

/** What still waits gives its place up; what is being sent goes on without its job. */
function letGo({ ticket }: OnItsWay, app: Needs, { leaseMs, againMs }: Forwarding): JobOutcome {
  const isDropped = ticket !== undefined && ticket.expectedMs <= EXPECTED_MS_MAX && ticket.drop()
  const ms = isDropped ? againMs : leaseMs
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
