import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { type Consumer, listConsumers, listConsumersByIds } from '../db/consumers.ts'
import {
  type Feedback,
  type FeedbackKey,
  type FeedbackKind,
  findFeedback,
  insertFeedback,
  listFeedback,
  type NewFeedback,
} from '../db/feedback-reports.ts'
import { listMerged } from '../db/feedback-waiting.ts'
import { listShadowedAmong, listShadowedFeedback, releaseShadowedFeedback } from '../db/limits.ts'
import type { Db } from '../db/pool.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { type Phrase, phrase, type PhraseCode } from '../phrase.ts'
import { type Boss, send, sendInReserve } from '../queue/boss.ts'
import type { KnownContact, RecipientRole } from '../verdict/choose-contact.ts'
import { contactOf } from '../verdict/contact-health.ts'
import { forwardReport, queueOf, reserveJobId } from './queues.ts'
import type { LoadedFeedback } from './load-content.ts'
import { paceOf } from './pace-feedback.ts'

const outcomeCodes = {
  complaint: { sent: 'feedback-sent', held: 'feedback-held', refused: 'feedback-refused' },
  redeemed: { sent: 'correction-sent', held: 'correction-held', refused: 'correction-refused' },
} as const satisfies Record<FeedbackKind, Record<string, PhraseCode>>

/**
 * Returns the outcome of a feedback report for the report's history, without the recipient's
 * address.
 */
export function outcomePhrase(
  state: 'held' | 'sent' | 'refused',
  { feedback: { kind, recipientRole: role }, parts }: Pick<LoadedFeedback, 'feedback' | 'parts'>,
): Phrase {
  const known = parts[0]?.content.network
  const network = known?.name ?? known?.cidr
  const recipient = role === 'network' && network === undefined ? 'unnamed' : role
  return phrase(outcomeCodes[kind][state], { recipient, network: network ?? '' })
}

/** The known consumers at some addresses, and whether they may be notified. */
export type KnownContacts = {
  consumers: ReadonlyMap<string, Consumer>
  /** Also contains addresses that are suppressed without being consumers. */
  byAddress: ReadonlyMap<string, KnownContact>
}

/** Returns the known consumers at addresses. Uses two queries in total. */
export async function knownContacts(
  db: Db,
  addresses: readonly string[],
  now: Date,
): Promise<KnownContacts> {
  if (addresses.length === 0) return { consumers: new Map(), byAddress: new Map() }
  const [consumers, suppressed] = await Promise.all([
    listConsumers(db, addresses),
    listSuppressed(db, addresses, now),
  ])
  const byAddress = new Map<string, KnownContact>()
  for (const address of addresses) {
    const consumer = consumers.get(address)
    const suppression = suppressed.get(address.toLowerCase())
    if (consumer || suppression) byAddress.set(address, contactOf(consumer, suppression, now))
  }
  return { consumers, byAddress }
}

/** Maximum number of merged reports that share the outcome of a feedback report. */
const MEMBERS_MAX = 1_000

/** Returns the reports merged into a feedback report, which share its outcome. */
export async function listMergedReports(db: Db, { reportId, number }: FeedbackKey) {
  const merged = await listMerged(db, [{ reportId, number }])
  return merged.slice(0, MEMBERS_MAX).map(({ member }) => member)
}

/**
 * Returns the other feedback reports that a consumer's answer applies to: those that it did not
 * receive itself, but that were included in the number of reports of a campaign. Reports in a
 * digest are answered separately. `of its block` keeps only those from the same network block, for
 * the answer "not ours".
 */
export async function listAnswered(
  db: Db,
  { reportId, number, incidents, isDigest }: Feedback,
  which: 'all' | 'of its block',
): Promise<FeedbackKey[]> {
  if (incidents === 1 || isDigest) return []
  const members = await listMergedReports(db, { reportId, number })
  if (which === 'all' || members.length === 0) return members
  const ids = [reportId, ...members.map((member) => member.reportId)]
  const analyses = await listPackedAnalyses(db, ids)
  const blockOf = new Map(analyses.map((one) => [one.id, one.network?.cidr ?? one.originIp]))
  return members.filter((member) => blockOf.get(member.reportId) === blockOf.get(reportId))
}

/**
 * Returns a feedback report that the consumer has received, individually or in a digest, and can
 * therefore answer. Undefined if it was not sent.
 */
export async function findSent(db: Db, key: FeedbackKey): Promise<Feedback | undefined> {
  const feedback = await findFeedback(db, key)
  if (!feedback || wasSent(feedback)) return feedback
  const { mergedInto: reportId, mergedNumber: number } = feedback
  const head = reportId && number ? await findFeedback(db, { reportId, number }) : undefined
  return head?.isDigest && wasSent(head) ? feedback : undefined
}

function wasSent({ state }: Pick<Feedback, 'state'>): boolean {
  return state === 'sent' || state === 'bounced'
}

/** A report, and the consumer to notify of it. */
export type QueuedFeedback = {
  reportId: string
  consumer: Consumer
  /** Default: a complaint. */
  kind?: FeedbackKind
  /** Why the consumer is notified. Default: as the abuse desk of the origin's network. */
  recipientRole?: RecipientRole
  keepsTokens?: boolean
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

/** The largest number that fits into the token of a return path. */
const NUMBER_MAX = 255

/**
 * Queues feedback reports under the next free numbers of their reports: immediately with a job, or
 * to wait until the consumer's pace allows sending. Skips a consumer whose last feedback about the
 * report was of the same kind; withdrawn feedback does not count. Feedback on shadowed reports has
 * jobs too, but is never sent: its reporters see what would be sent. Returns the queued feedback.
 * `isHandedOver`: the caller passes it to `forwardAtOnce` after its transaction.
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
  const [notified, shadowed] = await Promise.all([
    listFeedback(tx, reportIds),
    shadowedAmong(tx, owed),
  ])
  const lastKinds = new Map(
    notified.flatMap((one) => (one.state === 'withdrawn' ? [] : [[recipientKey(one), one.kind]])),
  )
  const lastOf = new Map<string, number>()
  for (const { reportId, number } of notified) {
    lastOf.set(reportId, Math.max(number, lastOf.get(reportId) ?? 0))
  }
  const feedback: NewFeedback[] = []
  for (const { reportId, consumer, kind = 'complaint', recipientRole, keepsTokens } of owed) {
    const name = recipientKey({ reportId, consumerId: consumer.id })
    const number = (lastOf.get(reportId) ?? 0) + 1
    if (lastKinds.get(name) === kind || number > NUMBER_MAX) continue
    lastKinds.set(name, kind)
    lastOf.set(reportId, number)
    const row = { reportId, number, consumerId: consumer.id, address: consumer.address }
    const state = shadowed.has(reportId) && { state: 'shadowed' as const }
    feedback.push({
      ...{ ...row, kind, createdAt: now, ...paceOf(consumer, now), ...state },
      ...{ recipientRole: recipientRole ?? 'network', keepsTokens: keepsTokens ?? false },
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
