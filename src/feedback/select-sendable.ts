import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../app.ts'
import { takePlaces } from '../db/consumer-scopes.ts'
import { type Consumer, listConsumersByIds } from '../db/consumers.ts'
import { type Feedback, feedbackName } from '../db/feedback-reports.ts'
import { delayFeedback, withdrawUnsent } from '../db/feedback-waiting.ts'
import { listNoticesOfFeedback } from '../db/page-notices.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listReportsByIds, type Report } from '../db/reports.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { DAY_MS, hourOf } from '../durations.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { mayNotify, type MayNotify } from '../verdict/contact-health.ts'
import { type ConsumerQueues, createConsumerQueues, usualPauses } from './consumer-queues.ts'
import { createKeeper, type Keeper } from './keep-outcomes.ts'
import { notifyNextContact } from './next-contact.ts'
import { endOfHour } from './pace-feedback.ts'
import { createRelayGate, LEASE_MS, type RelayGate } from '../letters/relay-gate.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>

/** A feedback report that may be sent, its report unless deleted, and its consumer. */
export type SendableFeedback = {
  feedback: Feedback
  report: Report | undefined
  consumer: Consumer
}

/**
 * Returns the queued feedback reports that may be sent now. The check is repeated just before
 * sending: feedback for retracted reports and stopped consumers is withdrawn, feedback for paused
 * consumers is postponed, and if the mail of a consumer bounces, the next contact is notified.
 */
export async function selectSendable(
  queued: readonly Feedback[],
  app: Needs,
): Promise<SendableFeedback[]> {
  if (queued.length === 0) return []
  const now = app.clock()
  const ids = [...new Set(queued.map(({ reportId }) => reportId))]
  const aboutPages = queued.filter(({ recipientRole }) => recipientRole === 'page')
  const [consumers, suppressed, reports, pages] = await Promise.all([
    listConsumersByIds(app.pool, [...new Set(queued.map((one) => one.consumerId))]),
    listSuppressed(app.pool, [...new Set(queued.map(({ address }) => address))], now),
    listReportsByIds(app.pool, ids),
    listNoticesOfFeedback(app.pool, [...new Set(aboutPages.map(({ reportId }) => reportId))]),
  ])
  const reportOf = new Map(reports.map((report) => [report.id, report]))
  const leaving: SendableFeedback[] = []
  const blocked: { feedback: Feedback; may: Exclude<MayNotify, { is: 'yes' }> }[] = []
  for (const feedback of queued) {
    const consumer = consumers.get(feedback.consumerId)
    // Servers of a distributed database show rows of one transaction at different times.
    if (!consumer) throw new Error('The consumer of a feedback report is not visible yet.')
    const suppression = suppressed.get(feedback.address.toLowerCase())
    const report = reportOf.get(feedback.reportId)
    const page = pages.get(feedbackName(feedback))
    const isCleared = feedback.recipientRole === 'page' && page?.state !== 'confirmed'
    const obstacle = obstacleOf({ ...feedback, isCleared }, consumer, report, app)
    const may: MayNotify = obstacle
      ? { is: 'never', why: obstacle }
      : mayNotify(consumer, suppression, now)
    if (may.is === 'yes') leaving.push({ feedback, report, consumer })
    else blocked.push({ feedback, may })
  }
  for (const { feedback, may } of blocked) {
    await inTransaction(app.pool, (tx) => withholdFeedback(tx, feedback, may, app))
  }
  return leaving
}

/**
 * Returns the reason not to send a complaint to this consumer, if any. Feedback that retracts a
 * complaint may always be sent.
 */
function obstacleOf(
  { kind, isCleared }: Feedback & { isCleared: boolean },
  { enrolledAt, state }: Consumer,
  report: Report | undefined,
  { config }: Pick<Needs, 'config'>,
): Phrase | undefined {
  if (kind === 'redeemed') return undefined
  if (isCleared) return phrase('page-was-cleared')
  if (report?.state === 'retracted') return phrase('report-was-retracted')
  const isEnrolled = enrolledAt !== null || state === 'enrolled'
  if (config.forwardTo === 'any' || isEnrolled) return undefined
  return phrase('only-enrolled-notified')
}

async function withholdFeedback(
  tx: Db,
  feedback: Feedback,
  may: Exclude<MayNotify, { is: 'yes' }>,
  app: Needs,
): Promise<void> {
  const now = app.clock()
  if (may.is === 'later') {
    await delayFeedback(tx, [feedback], may.at ?? new Date(now.getTime() + DAY_MS))
    return
  }
  const withdrawn = await withdrawUnsent(tx, [feedback], now)
  const phrases = [phrase('feedback-withdrawn'), may.why]
  await insertEvents(
    tx,
    withdrawn.map(({ reportId }) => ({ reportId, at: now, event: 'withdrawn', phrases })),
  )
  if (may.is !== 'bouncing' || feedback.kind !== 'complaint') return
  for (const key of withdrawn) await notifyNextContact(tx, key, app, now)
}

/**
 * Returns the maximum number of mails per hour to a consumer; undefined means no limit. Consumers
 * that did not enroll have a default limit.
 */
export function hourlyMaxOf(
  { hourlyMax, enrolledAt, state }: Pick<Consumer, 'hourlyMax' | 'enrolledAt' | 'state'>,
  config: Pick<App['config'], 'feedbackHourlyMax'>,
): number | undefined {
  if (hourlyMax !== null) return hourlyMax
  return enrolledAt === null && state !== 'enrolled' ? config.feedbackHourlyMax : undefined
}

/**
 * Returns the feedback reports within their consumers' hourly limits (RFC 6650 §7.5 recommends rate
 * limits). The others are postponed to the next hour and then combined by campaign.
 */
export async function withinLimits(
  leaving: readonly SendableFeedback[],
  app: Pick<App, 'pool' | 'clock' | 'config'>,
): Promise<SendableFeedback[]> {
  const byConsumer = Map.groupBy(leaving, ({ consumer }) => consumer.id)
  const asked = [...byConsumer].flatMap(([consumerId, its]) => {
    const hourlyMax = its[0] && hourlyMaxOf(its[0].consumer, app.config)
    return hourlyMax === undefined ? [] : [{ consumerId, wanted: its.length, hourlyMax }]
  })
  if (asked.length === 0) return [...leaving]
  const now = app.clock()
  const granted = await takePlaces(app.pool, asked, hourOf(now))
  const overLimit = [...byConsumer].flatMap(([id, its]) => its.slice(granted.get(id) ?? its.length))
  const keys = overLimit.map(({ feedback }) => feedback)
  if (keys.length > 0) await delayFeedback(app.pool, keys, endOfHour(now))
  const names = new Set(keys.map(feedbackName))
  return leaving.filter(({ feedback }) => !names.has(feedbackName(feedback)))
}

/** State shared by the forwarding batches of one process. */
export type Forwarding = {
  queues: ConsumerQueues
  keeper: Keeper
  /** Holds back mail while our own mail server is unavailable. */
  relay: RelayGate
  /** Reports being composed or sent, by name, until their outcome is stored. */
  inProgress: Map<string, Promise<unknown>>
  /** The number of reports that are sent without their jobs. */
  handedOver: number
  /**
   * How long the last accepted mail took to find its place and to be sent, in milliseconds.
   * Shadowed reports, of which nothing is sent, are shown as sent after the same time.
   */
  sendMs: number
  /** Time in milliseconds that a batch waits for mail that is being sent. */
  waitMsMax: number
  /**
   * Delay in milliseconds before the retry of mail still being sent; by then the attempt has ended.
   */
  leaseMs: number
  /** Delay in milliseconds before the retry of mail that found no free place. */
  retryMs: number
}

const PATIENCE_MS = 2_000
const AGAIN_MS = 30_000
/** Usual for mail servers; applies until the first mail is sent. */
const USUAL_SEND_MS = 300

export function openForwarding(
  app: Pick<App, 'pool' | 'boss' | 'clock' | 'config'>,
  {
    waitMsMax = PATIENCE_MS,
    leaseMs = LEASE_MS,
    retryMs = AGAIN_MS,
    pauses = usualPauses,
    relay = createRelayGate(app),
  } = {},
): Forwarding {
  const queues = createConsumerQueues(app.clock, pauses)
  relay.onFresh(() => queues.forgive())
  const kept = { keeper: createKeeper(app), relay, inProgress: new Map(), handedOver: 0 }
  return { queues, ...kept, sendMs: USUAL_SEND_MS, waitMsMax, leaseMs, retryMs }
}

/** With this number of handed-over reports, further ones are left to their jobs. */
const HANDED_OVER_MAX = 200
const ROOM_MS_MAX = 250
const ROOM_POLL_MS = 10

/**
 * Whether further feedback reports may be handed over. Waits a moment for the earlier ones, so that
 * the analysis does not overtake the composing; a slow mail server does not delay it further.
 */
export async function hasRoom(forwarding: Forwarding): Promise<boolean> {
  for (let ms = 0; forwarding.handedOver > HANDED_OVER_MAX / 2 && ms < ROOM_MS_MAX;) {
    ms += ROOM_POLL_MS
    await wait(ROOM_POLL_MS)
  }
  return forwarding.handedOver < HANDED_OVER_MAX
}

/** Resolves when no feedback report is being composed or sent. */
export async function forwardingIdle(forwarding: Forwarding): Promise<void> {
  const { inProgress } = forwarding
  while (inProgress.size > 0 || forwarding.handedOver > 0) {
    await Promise.allSettled([...inProgress.values(), wait(ROOM_POLL_MS)])
  }
}
