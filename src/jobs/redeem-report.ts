import type { App } from '../app.ts'
import { listConsumersByIds } from '../db/consumers.ts'
import { type Feedback, listFeedback } from '../db/feedback-reports.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listReportsByIds } from '../db/reports.ts'
import { oweFeedback } from '../feedback/owe-feedback.ts'
import { takeBackEvidence } from '../judging/evidence.ts'
import type { JobOutcome } from '../queue/work.ts'
import { redeemCounted } from './count-reports.ts'

/**
 * Takes back what a batch of retracted reports was counted as, and was evidence of. Those that were
 * retracted before they were analyzed were never counted; a second run finds nothing to take. What
 * an administrator took back is held against its reporter as overruled. Who was sent the message as
 * a complaint is told once that it is none (RFC 6430).
 */
export async function redeemReports(
  payloads: readonly { reportId: string; isOverruled?: boolean | undefined }[],
  app: Pick<App, 'pool' | 'boss' | 'clock'>,
): Promise<JobOutcome[]> {
  const ids = payloads.map(({ reportId }) => reportId)
  const overruled = new Set(
    payloads.flatMap(({ reportId, isOverruled }) => (isOverruled ? [reportId] : [])),
  )
  const reports = await listReportsByIds(app.pool, ids)
  const retracted = reports.filter(({ state }) => state === 'retracted')
  await inTransaction(app.pool, async (tx) => {
    const now = app.clock()
    await redeemCounted(tx, retracted, now)
    const idsOf = (which: boolean) =>
      retracted.flatMap(({ id }) => (overruled.has(id) === which ? [id] : []))
    await takeBackEvidence(tx, idsOf(false), 'retraction', now)
    await takeBackEvidence(tx, idsOf(true), 'overruling', now)
    await takeBackComplaints(
      tx,
      retracted.map(({ id }) => id),
      app,
      now,
    )
  })
  return payloads.map(() => 'done')
}

/**
 * Whoever has the message as a complaint, asked for or not, is owed its correction. Who was told of
 * it only as one of a campaign's number never had it, and cannot know which one is meant.
 */
async function takeBackComplaints(
  tx: Db,
  ids: readonly string[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  const complaints = (await listFeedback(tx, ids)).filter(({ kind }) => kind === 'complaint')
  const digests = await listSentDigests(tx, complaints)
  const sent = complaints.filter(
    ({ state, mergedInto, mergedNumber }) =>
      state === 'sent' || (state === 'merged' && digests.has(`${mergedInto} ${mergedNumber}`)),
  )
  const consumers = await listConsumersByIds(tx, [
    ...new Set(sent.map(({ consumerId }) => consumerId)),
  ])
  const owed = sent.flatMap(({ reportId, consumerId, toldAs, keepsTokens }) => {
    const consumer = consumers.get(consumerId)
    return consumer ? [{ reportId, consumer, kind: 'redeemed' as const, toldAs, keepsTokens }] : []
  })
  await oweFeedback(tx, owed, app, now)
}

async function listSentDigests(tx: Db, members: readonly Feedback[]): Promise<Set<string>> {
  const heads = members.flatMap(({ mergedInto }) => (mergedInto === null ? [] : [mergedInto]))
  if (heads.length === 0) return new Set()
  const rows = await listFeedback(tx, [...new Set(heads)])
  return new Set(
    rows
      .filter(({ isDigest, state }) => isDigest && state === 'sent')
      .map(({ reportId, number }) => `${reportId} ${number}`),
  )
}
