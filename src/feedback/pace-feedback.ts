import type { App } from '../app.ts'
import { type Consumer, findConsumer } from '../db/consumers.ts'
import { type FeedbackKey, feedbackName } from '../db/feedback-reports.ts'
import {
  claimPacing,
  delayFeedback,
  type DueFeedback,
  listDueConsumers,
  listDueFeedback,
  mergeWaiting,
  queueShadowed,
  queueWaiting,
  withdrawUnsent,
} from '../db/feedback-waiting.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import { mayNotify } from '../verdict/contact-health.ts'
import { forwardReport, showForwarded } from './queues.ts'
import { DIGEST_MAX } from './load-content.ts'

/** Whether a feedback report is sent immediately or waits, and until when. */
export type SendTime = { state: 'queued' } | { state: 'waiting'; dueAt: Date }

const RETRY_DAY_MS = 24 * HOUR_MS
/** Digests are sent at 6:00 UTC, before most abuse desks start work. */
const DIGEST_MS = 6 * HOUR_MS

/**
 * Returns when feedback created at `now` is sent to a consumer: immediately, at the end of the hour
 * (by campaign), at 6:00 UTC (in a digest), or when its pause ends. A pause without an end is
 * checked again after a day.
 */
export function paceOf(
  consumer: Pick<Consumer, 'state' | 'pace' | 'pausedUntil'>,
  now: Date,
): SendTime {
  const usual = usualPace(consumer.pace, now)
  const resumesAt = resumesAtOf(consumer, now)
  if (resumesAt === undefined) return usual
  const dueAt = usual.state === 'waiting' && usual.dueAt > resumesAt ? usual.dueAt : resumesAt
  return { state: 'waiting', dueAt }
}

/** Returns when the pause of a consumer ends; undefined if it is not paused. */
export function resumesAtOf(
  { state, pausedUntil }: Pick<Consumer, 'state' | 'pausedUntil'>,
  now: Date,
): Date | undefined {
  if (state !== 'paused') return undefined
  if (pausedUntil === null) return new Date(now.getTime() + RETRY_DAY_MS)
  return pausedUntil > now ? pausedUntil : undefined
}

/** Returns the end of the current hour, when one report of each campaign is sent. */
export function endOfHour(now: Date): Date {
  return new Date((Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS)
}

function usualPace(pace: Consumer['pace'], now: Date): SendTime {
  if (pace === 'at-once') return { state: 'queued' }
  if (pace === 'campaign') return { state: 'waiting', dueAt: endOfHour(now) }
  const days = Math.floor((now.getTime() - DIGEST_MS) / RETRY_DAY_MS) + 1
  return { state: 'waiting', dueAt: new Date(days * RETRY_DAY_MS + DIGEST_MS) }
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

/** A mail for one or more reports: `head` and the `members` that are merged into it. */
type FeedbackMail = { head: DueFeedback; members: DueFeedback[]; isDigest: boolean }

const CONSUMERS_MAX = 500
/** Maximum number of rows per consumer and run; the rest is due in the next minute. */
const ROWS_MAX = 5_000

/**
 * Queues the feedback that is due: one sample per campaign with the number of its reports, or all
 * in one digest. Each consumer has its own transaction and is processed by one process at a time,
 * so the next run completes an interrupted one and sends nothing twice. Shadowed feedback is queued
 * too, and never sent. Returns the number of queued mails.
 */
export async function runPaceFeedback(app: Needs): Promise<number> {
  await inTransaction(app.pool, async (tx) => {
    const keys = await queueShadowed(tx, { dueAt: app.clock() }, ROWS_MAX)
    await send(app.boss, showForwarded, keys, tx)
  })
  let queued = 0
  for (const id of await listDueConsumers(app.pool, app.clock(), CONSUMERS_MAX)) {
    queued += await inTransaction(app.pool, (tx) => paceConsumer(tx, id, app))
  }
  return queued
}

async function paceConsumer(tx: Db, consumerId: string, app: Needs): Promise<number> {
  if (!(await claimPacing(tx, consumerId))) return 0
  const now = app.clock()
  const consumer = await findConsumer(tx, consumerId)
  const due = await listDueFeedback(tx, consumerId, now, ROWS_MAX)
  if (!consumer || due.length === 0) return 0
  const suppressed = await listSuppressed(tx, [consumer.address], now)
  const may = mayNotify(consumer, suppressed.get(consumer.address.toLowerCase()), now)
  if (may.is === 'later') {
    await delayFeedback(tx, due, may.at ?? new Date(now.getTime() + DAY_MS))
    return 0
  }
  if (may.is === 'never') {
    await withdraw(tx, due, may.why, now)
    return 0
  }
  const gathered = groupIntoMails(due, consumer.pace)
  const jobs: FeedbackKey[] = []
  for (const { head, members, isDigest } of gathered) {
    const incidents = members.reduce((sum, one) => sum + one.incidents, head.incidents)
    const { reportId, number } = head
    if (!(await queueWaiting(tx, { reportId, number, incidents, isDigest }))) continue
    await mergeWaiting(tx, head, members)
    await insertMergedEvents(tx, members, isDigest, now)
    jobs.push({ reportId, number })
  }
  await send(app.boss, forwardReport, jobs, tx)
  return jobs.length
}

/** Whether a feedback report is always a mail of its own: an original, or a notice about a page. */
function isAlone({ kind, recipientRole }: DueFeedback): boolean {
  return kind === 'original' || recipientRole === 'page'
}

/**
 * Groups the feedback due for one consumer into mails. A digest
 * contains at most 100 reports and no report that already represents a campaign. A report without a
 * campaign gets a separate mail.
 */
function groupIntoMails(due: readonly DueFeedback[], pace: Consumer['pace']): FeedbackMail[] {
  const alone = (head: DueFeedback) => ({ head, members: [], isDigest: head.isDigest })
  if (pace !== 'digest') {
    const whole = due.filter(({ isDigest }) => isDigest)
    const byCampaign = Map.groupBy(
      due.filter(({ isDigest }) => !isDigest),
      (one) => (isAlone(one) ? feedbackName(one) : `${one.kind} ${one.campaignId ?? one.reportId}`),
    )
    const samples = [...byCampaign.values()].flatMap(([head, ...members]) =>
      head ? [{ head, members, isDigest: false }] : [],
    )
    return [...samples, ...whole.map(alone)]
  }
  const isReady = (one: DueFeedback) => one.incidents > 1 || isAlone(one)
  const ready = due.filter(isReady).map(alone)
  const mails: FeedbackMail[] = []
  const singles = due.filter((one) => !isReady(one))
  for (const its of Map.groupBy(singles, ({ kind }) => kind).values()) {
    for (let from = 0; from < its.length; from += DIGEST_MAX) {
      const [head, ...members] = its.slice(from, from + DIGEST_MAX)
      if (head) mails.push({ head, members, isDigest: members.length > 0 })
    }
  }
  return [...ready, ...mails]
}

async function withdraw(tx: Db, due: readonly FeedbackKey[], why: Phrase, at: Date): Promise<void> {
  const withdrawn = await withdrawUnsent(tx, due, at)
  const phrases = [phrase('feedback-withdrawn'), why]
  await insertEvents(
    tx,
    withdrawn.map(({ reportId }) => ({ reportId, at, event: 'withdrawn', phrases })),
  )
}

async function insertMergedEvents(
  tx: Db,
  members: readonly FeedbackKey[],
  isDigest: boolean,
  at: Date,
): Promise<void> {
  const phrases = [phrase(isDigest ? 'merged-into-digest' : 'merged-into-sample')]
  await insertEvents(
    tx,
    members.map(({ reportId }) => ({ reportId, at, event: 'merged', phrases })),
  )
}
