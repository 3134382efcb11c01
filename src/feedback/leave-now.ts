import type { App } from '../app.ts'
import { takePlaces } from '../db/consumer-scopes.ts'
import { type Consumer, listConsumersByIds } from '../db/consumers.ts'
import { type Feedback, nameOf } from '../db/feedback-reports.ts'
import { delayFeedback, withdrawUnsent } from '../db/feedback-waiting.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listReportsByIds, type Report } from '../db/reports.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { mayTell, type MayTell } from '../verdict/contact-health.ts'
import { type ConsumerLines, createConsumerLines, usualPauses } from './consumer-lines.ts'
import { createKeeper, type Keeper } from './keep-outcomes.ts'
import { tellNextContact } from './next-contact.ts'
import { endOfHour } from './pace-feedback.ts'
import { createRelayGate, LEASE_MS, type RelayGate } from './relay-gate.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>

/** A feedback report that may leave, of which report, unless that is gone, and for whom. */
export type Leaving = { feedback: Feedback; report: Report | undefined; consumer: Consumer }

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/**
 * Those of the queued feedback reports that may leave now. It is asked again, however long ago they
 * became owed: what was taken back, and what goes to who stopped, is withdrawn; who is paused is
 * told later; where mail comes back the next contact is told.
 */
export async function whoMayLeave(queued: readonly Feedback[], app: Needs): Promise<Leaving[]> {
  if (queued.length === 0) return []
  const now = app.clock()
  const ids = [...new Set(queued.map(({ reportId }) => reportId))]
  const [consumers, suppressed, reports] = await Promise.all([
    listConsumersByIds(app.pool, [...new Set(queued.map((one) => one.consumerId))]),
    listSuppressed(app.pool, [...new Set(queued.map(({ address }) => address))], now),
    listReportsByIds(app.pool, ids),
  ])
  const reportOf = new Map(reports.map((report) => [report.id, report]))
  const leaving: Leaving[] = []
  const stays: { feedback: Feedback; may: Exclude<MayTell, { is: 'yes' }> }[] = []
  for (const feedback of queued) {
    const consumer = consumers.get(feedback.consumerId)
    if (!consumer) continue
    const suppression = suppressed.get(feedback.address.toLowerCase())
    const report = reportOf.get(feedback.reportId)
    const obstacle = obstacleOf(feedback, consumer, report, app)
    const may: MayTell = obstacle
      ? { is: 'never', why: obstacle }
      : mayTell(consumer, suppression, now)
    if (may.is === 'yes') leaving.push({ feedback, report, consumer })
    else stays.push({ feedback, may })
  }
  for (const { feedback, may } of stays) {
    await inTransaction(app.pool, (tx) => keepBack(tx, feedback, may, app))
  }
  return leaving
}

/** Why nobody is complained to any more, whoever it is. What takes a complaint back may leave. */
function obstacleOf(
  { kind }: Feedback,
  { enrolledAt, state }: Consumer,
  report: Report | undefined,
  { config }: Pick<Needs, 'config'>,
): string | undefined {
  if (kind !== 'complaint') return undefined
  if (report?.state === 'retracted') return 'The report was taken back.'
  const isEnrolled = enrolledAt !== null || state === 'enrolled'
  if (config.forwardTo === 'any' || isEnrolled) return undefined
  return 'Only who enrolled is told.'
}

async function keepBack(
  tx: Db,
  feedback: Feedback,
  may: Exclude<MayTell, { is: 'yes' }>,
  app: Needs,
): Promise<void> {
  const now = app.clock()
  if (may.is === 'later') {
    await delayFeedback(tx, [feedback], may.at ?? new Date(now.getTime() + DAY_MS))
    return
  }
  const withdrawn = await withdrawUnsent(tx, [feedback], now)
  const detail = `The feedback report was called back before it left. ${may.why}`
  await insertEvents(
    tx,
    withdrawn.map(({ reportId }) => ({ reportId, at: now, event: 'withdrawn', detail })),
  )
  if (may.is !== 'bouncing' || feedback.kind !== 'complaint') return
  for (const key of withdrawn) await tellNextContact(tx, key, app, now)
}

/** The limit of a consumer, an hour; undefined: none. Who never asked for reports has one. */
export function hourlyMaxOf(
  { hourlyMax, enrolledAt, state }: Pick<Consumer, 'hourlyMax' | 'enrolledAt' | 'state'>,
  config: Pick<App['config'], 'feedbackHourlyMax'>,
): number | undefined {
  if (hourlyMax !== null) return hourlyMax
  return enrolledAt === null && state !== 'enrolled' ? config.feedbackHourlyMax : undefined
}

/** The beginning of the hour in which places are counted. */
export function hourOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS)
}

/**
 * Those for which their consumers have places in this hour (RFC 6650 §7.5 asks for a pace). The
 * others wait for the next one, when they are told by campaign.
 */
export async function withinLimits(
  leaving: readonly Leaving[],
  app: Pick<App, 'pool' | 'clock' | 'config'>,
): Promise<Leaving[]> {
  const byConsumer = Map.groupBy(leaving, ({ consumer }) => consumer.id)
  const asked = [...byConsumer].flatMap(([consumerId, its]) => {
    const hourlyMax = its[0] && hourlyMaxOf(its[0].consumer, app.config)
    return hourlyMax === undefined ? [] : [{ consumerId, wanted: its.length, hourlyMax }]
  })
  if (asked.length === 0) return [...leaving]
  const now = app.clock()
  const granted = await takePlaces(app.pool, asked, hourOf(now))
  const late = [...byConsumer].flatMap(([id, its]) => its.slice(granted.get(id) ?? its.length))
  const keys = late.map(({ feedback }) => feedback)
  if (keys.length > 0) await delayFeedback(app.pool, keys, endOfHour(now))
  const names = new Set(keys.map(nameOf))
  return leaving.filter(({ feedback }) => !names.has(nameOf(feedback)))
}

/** What the batches of one process share while they forward. */
export type Forwarding = {
  lines: ConsumerLines
  keeper: Keeper
  /** Whether our own mail server takes mail. */
  relay: RelayGate
  /** What is being composed or sent, by name, until it is kept. */
  underWay: Map<string, Promise<unknown>>
  /** How long a batch waits for what is being sent. */
  patienceMs: number
  /** What is still under way then is tried again so much later: by then it has ended. */
  leaseMs: number
  /** What had no turn comes again so much later. */
  againMs: number
}

const PATIENCE_MS = 2_000
const AGAIN_MS = 30_000

/** Begins to forward. */
export function openForwarding(
  app: Pick<App, 'pool' | 'boss' | 'clock' | 'config'>,
  { patienceMs = PATIENCE_MS, leaseMs = LEASE_MS, againMs = AGAIN_MS, pauses = usualPauses } = {},
): Forwarding {
  const lines = createConsumerLines(app.clock, pauses)
  const kept = { keeper: createKeeper(app), relay: createRelayGate(app) }
  return { lines, ...kept, underWay: new Map(), patienceMs, leaseMs, againMs }
}

/** Resolves when nothing is being composed or sent any more. */
export async function forwardingIdle({ underWay }: Forwarding): Promise<void> {
  while (underWay.size > 0) await Promise.allSettled(underWay.values())
}
