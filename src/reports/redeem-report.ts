import type { z } from 'zod'
import type { App } from '../app.ts'
import { takeBackEvidence } from '../counting/evidence.ts'
import { inTransaction } from '../db/pool.ts'
import { mayAppear } from '../db/prepared.ts'
import { holdReport, listReportsByIds } from '../db/reports.ts'
import { isComplaint, takeBackComplaints } from '../feedback/take-back-complaints.ts'
import { reconsiderPages } from '../pages/look-for-pages.ts'
import type { JobOutcome } from '../queue/work.ts'
import { redeemCounted } from './count-reports.ts'
import type { redeemReport } from './queues.ts'
import { listRestorable } from './undo-retraction.ts'

const AGAIN_MS = 5_000

/**
 * Reverses the counts and evidence of a batch of retracted reports. Reports retracted before their
 * analysis were never counted, and a second run has no effect. A report retracted by an
 * administrator counts against its reporter as overruled. Recipients of a complaint are notified
 * once of its retraction (RFC 6430), also if the report was changed to "not spam" while the
 * complaint was being sent; but not while its reporter can undo the retraction. Reports that are
 * now held are reversed too.
 */
export async function runRedeemReport(
  payloads: readonly z.infer<typeof redeemReport.payload>[],
  app: Pick<App, 'pool' | 'boss' | 'clock'>,
): Promise<JobOutcome[]> {
  const ids = payloads.map(({ reportId }) => reportId)
  const overruled = new Set(
    payloads.flatMap(({ reportId, isOverruled }) => (isOverruled ? [reportId] : [])),
  )
  const now = app.clock()
  const { reports, held } = await inTransaction(app.pool, async (tx) => {
    for (const id of ids.toSorted()) await holdReport(tx, id)
    const reports = await listReportsByIds(tx, ids)
    const retracted = reports.filter(({ state }) => state === 'retracted')
    const held = new Set(reports.flatMap(({ id, shadow }) => (shadow === null ? [] : [id])))
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
    const restorable = await listRestorable(tx, idsOf(false))
    const noComplaints = reports.filter(
      (report) => report.state !== 'received' && !isComplaint(report) && !restorable.has(report.id),
    )
    await takeBackComplaints(
      tx,
      noComplaints.map(({ id }) => id),
      app,
      now,
    )
    const taken = [...retracted, ...heldNow].map(({ id }) => id)
    await reconsiderPages(tx, app.boss, taken)
    return { reports, held }
  })
  const found = new Map(reports.map((report) => [report.id, report]))
  const postponedTo = new Date(now.getTime() + AGAIN_MS)
  return payloads.map((payload) => {
    const report = found.get(payload.reportId)
    // A changed report is counted by its new analysis; its recipients are known only afterwards.
    if (report?.state === 'received') return { postponedTo, payload }
    const isChanged = report?.state === 'retracted' || (report && !isComplaint(report))
    const waitsSince = payload.waitsSince ?? now.toISOString()
    const mayWait =
      !isChanged && !held.has(payload.reportId) && mayAppear(new Date(waitsSince), now)
    return mayWait ? { postponedTo, payload: { ...payload, waitsSince } } : 'done'
  })
}
