import type { App } from '../app.ts'
import { takeBackEvidence } from '../counting/evidence.ts'
import { listConsumersByIds } from '../db/consumers.ts'
import { type Feedback, type FeedbackKey, listFeedback } from '../db/feedback-reports.ts'
import { listMerged } from '../db/feedback-waiting.ts'
import { keepShadowed } from '../db/limits.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listReportsByIds, type Report } from '../db/reports.ts'
import { queueFeedback } from '../feedback/queue-feedback.ts'
import type { JobOutcome } from '../queue/work.ts'
import { redeemCounted } from './count-reports.ts'

const AGAIN_MS = 5_000

/**
 * Reverses the counts and evidence of a batch of retracted reports. Reports retracted before their
 * analysis were never counted, and a second run has no effect. A report retracted by an
 * administrator counts against its reporter as overruled. Recipients of a complaint are notified
 * once of its retraction (RFC 6430), also if the report was changed to "not spam" while the
 * complaint was being sent. Reports that are now held are reversed too.
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
  // A changed report is counted by its new analysis; its recipients are known only after that.
  const open = new Set(reports.flatMap(({ id, state }) => (state === 'received' ? [id] : [])))
  const putOff = new Date(app.clock().getTime() + AGAIN_MS)
  return payloads.map((payload) => (open.has(payload.reportId) ? { putOff, payload } : 'done'))
}

/**
 * Queues a correction for every consumer that received the message as a complaint, whether it
 * enrolled or not. A consumer that received one sample of a campaign cannot tell the merged reports
 * apart and has a reason to act while one of them is valid, so the sample is retracted only after
 * all its reports are.
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
  await queueFeedback(tx, owed, app, now)
}

/** Returns the complaints sent individually or in a digest. */
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

/** Returns the sent campaign samples of these reports for which no valid complaint remains. */
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

/** Whether the reporter still classifies the message as unwanted. */
function isComplaint({ state, kind }: Pick<Report, 'state' | 'kind'>): boolean {
  return state !== 'retracted' && kind !== 'not-spam'
}

/** Returns the feedback reports into which these were merged. */
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
