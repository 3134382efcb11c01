import type { App } from '../app.ts'
import { listConsumersByIds } from '../db/consumers.ts'
import {
  type Feedback,
  type FeedbackKey,
  feedbackName,
  isStanding,
  listFeedback,
  listOutdated,
} from '../db/feedback-reports.ts'
import { listMerged } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { listReportsByIds, type Report } from '../db/reports.ts'
import { queueFeedback } from './queue-feedback.ts'

/**
 * Queues a correction for every consumer, enrolled or not, that received the message as a
 * complaint. A consumer that received one sample of a campaign cannot tell the merged reports
 * apart, and has a reason to act while one of them is valid. So the sample is retracted only after
 * all its reports are retracted.
 */
export async function takeBackComplaints(
  tx: Db,
  ids: readonly string[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  const complaints = (await listFeedback(tx, ids)).filter(
    // Others reported the page, too.
    ({ kind, recipientRole }) => kind === 'complaint' && recipientRole !== 'page',
  )
  await takeBack(tx, complaints, app, now)
}

/**
 * Queues a correction for every consumer that received a complaint before the origin of its report
 * was corrected, and nothing about the report since then.
 */
export async function takeBackOutdated(
  tx: Db,
  ids: readonly string[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  const outdated = await listOutdated(tx, ids)
  if (outdated.size === 0) return
  const all = (await listFeedback(tx, ids)).filter(isStanding)
  const last = new Map(all.map((one) => [`${one.reportId} ${one.consumerId}`, one]))
  const complaints = [...last.values()].filter((one) => outdated.has(feedbackName(one)))
  await takeBack(tx, complaints, app, now)
}

async function takeBack(
  tx: Db,
  complaints: readonly Feedback[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  const sent = [
    ...(await listSentAlone(tx, complaints)),
    ...(await listObsoleteSamples(tx, complaints)),
  ]
  const consumers = await listConsumersByIds(tx, [
    ...new Set(sent.map(({ consumerId }) => consumerId)),
  ])
  const owed = sent.flatMap(({ reportId, consumerId, recipientRole, keepsTokens }) => {
    const consumer = consumers.get(consumerId)
    return consumer
      ? [{ reportId, consumer, kind: 'redeemed' as const, recipientRole, keepsTokens }]
      : []
  })
  await queueFeedback(tx, owed, app, now)
}

/** Returns the complaints sent individually or in a digest. */
async function listSentAlone(tx: Db, complaints: readonly Feedback[]): Promise<Feedback[]> {
  const digests = new Set(
    (await listHeads(tx, complaints))
      .filter(({ isDigest, state }) => isDigest && state === 'sent')
      .map(feedbackName),
  )
  return complaints.filter(
    (one) =>
      (one.state === 'sent' && (one.incidents === 1 || one.isDigest)) ||
      (one.state === 'merged' && digests.has(headName(one))),
  )
}

/** Returns the sent campaign samples of these reports for which no valid complaint remains. */
async function listObsoleteSamples(tx: Db, complaints: readonly Feedback[]): Promise<Feedback[]> {
  const own = complaints.filter(({ incidents }) => incidents > 1)
  const all = [...own, ...(await listHeads(tx, complaints))]
  const samples = new Map(
    all
      .filter(({ state, isDigest }) => state === 'sent' && !isDigest)
      .map((one) => [feedbackName(one), one]),
  )
  if (samples.size === 0) return []
  const merged = await listMerged(tx, [...samples.values()])
  const ids = [...all, ...merged.map(({ member }) => member)].map(({ reportId }) => reportId)
  const reports = await listReportsByIds(tx, [...new Set(ids)])
  const outdated = await listOutdated(tx, [...new Set(ids)])
  const standing = new Set(reports.filter(isComplaint).map(({ id }) => id))
  const isValid = (one: FeedbackKey) =>
    standing.has(one.reportId) && !outdated.has(feedbackName(one))
  const stands = new Set([
    ...[...samples.values()].filter(isValid).map(feedbackName),
    ...merged.filter(({ member }) => isValid(member)).map(({ head }) => feedbackName(head)),
  ])
  return [...samples.values()].filter((sample) => !stands.has(feedbackName(sample)))
}

/** Whether the reporter still classifies the message as unwanted. */
export function isComplaint({ state, kind }: Pick<Report, 'state' | 'kind'>): boolean {
  return state !== 'retracted' && kind !== 'not-spam'
}

/** Returns the feedback reports into which `members` were merged. */
async function listHeads(tx: Db, members: readonly Feedback[]): Promise<Feedback[]> {
  const ids = new Set(members.flatMap(({ mergedInto }) => mergedInto ?? []))
  if (ids.size === 0) return []
  const names = new Set(members.map(headName))
  return (await listFeedback(tx, [...ids])).filter((head) => names.has(feedbackName(head)))
}

function headName({ mergedInto, mergedNumber }: Feedback): string {
  return `${mergedInto} ${mergedNumber}`
}
