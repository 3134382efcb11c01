import type { App } from '../app.ts'
import { type Consumer, listConsumersByIds } from '../db/consumers.ts'
import {
  type FeedbackKind,
  insertFeedback,
  isStanding,
  listFeedback,
  type NewFeedback,
} from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import {
  listShadowedAmong,
  listShadowedFeedback,
  releaseShadowedFeedback,
} from '../db/shadow-bans.ts'
import { type Boss, send, sendInReserve } from '../queue/boss.ts'
import type { RecipientRole } from '../verdict/choose-contact.ts'
import { hasContract } from '../verdict/consumers.ts'
import { paceOf } from './pace-feedback.ts'
import { findSharedParts } from './shared-parts.ts'
import { forwardReport, queueOf, reserveJobId } from './queues.ts'

/** A report, and the consumer to notify of it. */
export type QueuedFeedback = {
  reportId: string
  consumer: Consumer
  /** Default: a complaint. */
  kind?: FeedbackKind
  /** Why the consumer is notified. Default: as the abuse desk of the origin's network. */
  recipientRole?: RecipientRole
  keepsTokens?: boolean
  /** See `Feedback`; looked up if absent. */
  sharedParts?: Buffer | null | undefined
  /** Whether the report has no effect on others; looked up if absent. */
  isShadowed?: boolean
}

function shadowedAmong(tx: Db, owed: readonly QueuedFeedback[]): Promise<ReadonlySet<string>> {
  if (owed.some(({ isShadowed }) => isShadowed === undefined)) {
    return listShadowedAmong(tx, [...new Set(owed.map(({ reportId }) => reportId))])
  }
  return Promise.resolve(new Set(owed.flatMap((one) => (one.isShadowed ? [one.reportId] : []))))
}

/** Whether feedback that was just created waits for nothing; that of shadowed reports as well. */
export function waitsForNothing({ state, dueAt }: NewFeedback): boolean {
  return state !== 'waiting' && (dueAt ?? null) === null
}

function emptyAsNull(bytes: Buffer | undefined): Buffer | null {
  return bytes === undefined || bytes.length === 0 ? null : bytes
}

/** The largest number that fits into the token of a return path. */
const NUMBER_MAX = 255

/**
 * Queues feedback reports under the next free numbers of their reports: immediately with a job, or
 * to wait until the consumer's pace allows sending. Skips a consumer whose last feedback about the
 * report was of the same kind; withdrawn feedback does not count. An original is sent once. It does
 * not wait for the pace, nor do notices about pages, which the caller queues once each. Feedback on
 * shadowed reports has jobs too, but is never sent: its reporters see what would be sent. Returns
 * the queued feedback. `isHandedOver`: the caller passes it to `forwardAtOnce` after its
 * transaction.
 */
export async function queueFeedback(
  tx: Db,
  owed: readonly QueuedFeedback[],
  app: Pick<App, 'boss'>,
  now: Date,
  { isHandedOver = false } = {},
): Promise<NewFeedback[]> {
  if (owed.length === 0) return []
  const reportIds = [...new Set(owed.map(({ reportId }) => reportId))]
  const unread = owed.flatMap((one) => (one.sharedParts === undefined ? [one.reportId] : []))
  const [notified, shadowed, shared] = await Promise.all([
    listFeedback(tx, reportIds),
    shadowedAmong(tx, owed),
    findSharedParts(tx, [...new Set(unread)]),
  ])
  const lastKinds = new Map(notified.filter(isStanding).map((one) => [recipientKey(one), one.kind]))
  const originals = new Set(
    notified.flatMap((one) => (one.kind === 'original' ? [recipientKey(one)] : [])),
  )
  const lastOf = new Map<string, number>()
  for (const { reportId, number } of notified) {
    lastOf.set(reportId, Math.max(number, lastOf.get(reportId) ?? 0))
  }
  const feedback: NewFeedback[] = []
  for (const { reportId, consumer, kind = 'complaint', ...one } of owed) {
    const name = recipientKey({ reportId, consumerId: consumer.id })
    const number = (lastOf.get(reportId) ?? 0) + 1
    const isAboutPage = one.recipientRole === 'page'
    const isKnown = kind === 'original' ? originals.has(name) : lastKinds.get(name) === kind
    if ((isKnown && !isAboutPage) || number > NUMBER_MAX) continue
    if (kind === 'original') originals.add(name)
    else if (!isAboutPage) lastKinds.set(name, kind)
    lastOf.set(reportId, number)
    const row = { reportId, number, consumerId: consumer.id, address: consumer.address }
    const isUrgent = kind === 'original' || isAboutPage
    const paced = isUrgent ? { ...consumer, pace: 'at-once' as const } : consumer
    const hasRight = kind === 'original' || (kind === 'complaint' && hasContract(consumer, now))
    const state = shadowed.has(reportId) && { state: 'shadowed' as const }
    feedback.push({
      ...{ ...row, kind, createdAt: now, ...paceOf(paced, now), ...state },
      ...{ recipientRole: one.recipientRole ?? 'network', keepsTokens: one.keepsTokens ?? false },
      hasOriginal: hasRight && !isAboutPage,
      sharedParts: emptyAsNull(one.sharedParts ?? shared.get(reportId)),
    })
  }
  const jobs = feedback.filter(waitsForNothing)
  await Promise.all([insertFeedback(tx, feedback), queueJobs(tx, app.boss, jobs, isHandedOver)])
  return feedback
}

/**
 * Time in seconds after which workers take the jobs of feedback reports that the process which
 * analyzed the report should have sent.
 */
const RESERVE_SECONDS = 60

/** Creates jobs; those of feedback reports that this process sends itself are in reserve. */
async function queueJobs(
  tx: Db,
  boss: Boss,
  feedback: readonly NewFeedback[],
  isInReserve: boolean,
): Promise<void> {
  for (const isShadowed of [false, true]) {
    const queue = queueOf({ isShadowed })
    const keys = feedback
      .filter(({ state }) => (state === 'shadowed') === isShadowed)
      .map(({ reportId, number }) => ({ reportId, number }))
    const jobs = keys.map((data) => ({ id: reserveJobId(data), data }))
    if (isInReserve) await sendInReserve(boss, queue, jobs, tx, RESERVE_SECONDS)
    else await send(boss, queue, keys, tx)
  }
}

function recipientKey(one: { reportId: string; consumerId: string }): string {
  return `${one.reportId} ${one.consumerId}`
}

/**
 * Sends the feedback stored while reports were shadowed: immediately, or when the consumer's pace
 * allows. Feedback to consumers that have since stopped is withdrawn before it is sent.
 */
export async function sendShadowed(
  tx: Db,
  reportIds: readonly string[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  const owed = await listShadowedFeedback(tx, reportIds)
  const consumers = await listConsumersByIds(tx, [
    ...new Set(owed.map(({ consumerId }) => consumerId)),
  ])
  for (const { reportId, number, consumerId } of owed) {
    const consumer = consumers.get(consumerId)
    if (!consumer) continue
    const pace = paceOf(consumer, now)
    const dueAt = pace.state === 'waiting' ? pace.dueAt : null
    await releaseShadowedFeedback(tx, { reportId, number }, { state: pace.state, dueAt })
    if (pace.state === 'queued') await send(app.boss, forwardReport, [{ reportId, number }], tx)
  }
}
