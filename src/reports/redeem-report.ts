import type { App } from '../app.ts'
import { takeBackEvidence } from '../counting/evidence.ts'
import { listConsumersByIds } from '../db/consumers.ts'
import { type Feedback, type FeedbackKey, listFeedback } from '../db/feedback-reports.ts'
import { listMerged } from '../db/feedback-waiting.ts'
import { keepShadowed } from '../db/limits.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listReportsByIds, type Report } from '../db/reports.ts'
import { oweFeedback } from '../feedback/owe-feedback.ts'
import type { JobOutcome } from '../queue/work.ts'
import { redeemCounted } from './count-reports.ts'

const AGAIN_MS = 5_000

/**
 * Takes back what a batch of retracted reports was counted as, and was evidence of. Those that were
 * retracted before they were analyzed were never counted; a second run finds nothing to take. What
 * an administrator took back is held against its reporter as overruled. Those who were sent the
 * message as a complaint are told once that it is none (RFC 6430), also where it was changed to
 * "not spam" while the complaint was leaving. A report that is held now no longer counts either.
 */
export async function runRedeemReport(
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
    const held = await keepShadowed(tx, ids)
    const heldNow = reports.filter(({ id, state }) => held.has(id) && state !== 'retracted')
    await redeemCounted(tx, [...retracted, ...heldNow], now)
    const idsOf = (which: boolean) =>
      retracted.flatMap(({ id }) => (overruled.has(id) === which ? [id] : []))
    await takeBackEvidence(tx, idsOf(false), 'retraction', now)
    await takeBackEvidence(tx, idsOf(true), 'overruling', now)
    await takeBackEvidence(
      tx,
      heldNow.map(({ id }) => id),
      'new-analysis',
      now,
    )
    const noComplaints = reports.filter(
      (report) => report.state !== 'received' && !isComplaint(report),
    )
    await takeBackComplaints(
      tx,
      noComplaints.map(({ id }) => id),
      app,
      now,
    )
  })
  // What was changed is counted by its new analysis; whoever was told is found after it.
  const open = new Set(reports.flatMap(({ id, state }) => (state === 'received' ? [id] : [])))
  const putOff = new Date(app.clock().getTime() + AGAIN_MS)
  return payloads.map((payload) => (open.has(payload.reportId) ? { putOff, payload } : 'done'))
}

/**
 * Whoever has the message as a complaint, asked for or not, is owed its correction. Who was told of
 * a campaign by one sample cannot know which of its number is meant, and goes on having a reason to
 * act while one of them stands: so the sample is taken back when all of them are.
 */
export async function takeBackComplaints(
  tx: Db,
  ids: readonly string[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  const complaints = (await listFeedback(tx, ids)).filter(({ kind }) => kind === 'complaint')
  const sent = [
    ...(await listToldAlone(tx, complaints)),
    ...(await listToldForNobody(tx, complaints)),
  ]
  const consumers = await listConsumersByIds(tx, [
    ...new Set(sent.map(({ consumerId }) => consumerId)),
  ])
  const owed = sent.flatMap(({ reportId, consumerId, toldAs, keepsTokens }) => {
    const consumer = consumers.get(consumerId)
    return consumer ? [{ reportId, consumer, kind: 'redeemed' as const, toldAs, keepsTokens }] : []
  })
  await oweFeedback(tx, owed, app, now)
}

/** What was told for itself: alone, or as a part of a digest that left. */
async function listToldAlone(tx: Db, complaints: readonly Feedback[]): Promise<Feedback[]> {
  const digests = new Set(
    (await listHeads(tx, complaints))
      .filter(({ isDigest, state }) => isDigest && state === 'sent')
      .map(nameOf),
  )
  return complaints.filter(
    (one) =>
      (one.state === 'sent' && (one.incidents === 1 || one.isDigest)) ||
      (one.state === 'merged' && digests.has(headName(one))),
  )
}

/** The samples that left for these or with them, and for which no report stands any more. */
async function listToldForNobody(tx: Db, complaints: readonly Feedback[]): Promise<Feedback[]> {
  const own = complaints.filter(({ incidents }) => incidents > 1)
  const all = [...own, ...(await listHeads(tx, complaints))]
  const samples = new Map(
    all
      .filter(({ state, isDigest }) => state === 'sent' && !isDigest)
      .map((one) => [nameOf(one), one]),
  )
  if (samples.size === 0) return []
  const merged = await listMerged(tx, [...samples.values()])
  const ids = [...all, ...merged.map(({ member }) => member)].map(({ reportId }) => reportId)
  const reports = await listReportsByIds(tx, [...new Set(ids)])
  const standing = new Set(reports.filter(isComplaint).map(({ id }) => id))
  const stands = new Set([
    ...[...samples.values()].filter(({ reportId }) => standing.has(reportId)).map(nameOf),
    ...merged.filter(({ member }) => standing.has(member.reportId)).map(({ head }) => nameOf(head)),
  ])
  return [...samples.values()].filter((sample) => !stands.has(nameOf(sample)))
}

/** Whether the reporter still says that the message is unwanted. */
function isComplaint({ state, kind }: Pick<Report, 'state' | 'kind'>): boolean {
  return state !== 'retracted' && kind !== 'not-spam'
}

/** The feedback reports that tell of what was merged into them. */
async function listHeads(tx: Db, members: readonly Feedback[]): Promise<Feedback[]> {
  const ids = new Set(members.flatMap(({ mergedInto }) => mergedInto ?? []))
  if (ids.size === 0) return []
  const names = new Set(members.map(headName))
  return (await listFeedback(tx, [...ids])).filter((head) => names.has(nameOf(head)))
}

function nameOf({ reportId, number }: FeedbackKey): string {
  return `${reportId} ${number}`
}

function headName({ mergedInto, mergedNumber }: Feedback): string {
  return `${mergedInto} ${mergedNumber}`
}
