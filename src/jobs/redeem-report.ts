import type { App } from '../app.ts'
import { inTransaction } from '../db/pool.ts'
import { listReportsByIds } from '../db/reports.ts'
import { takeBackEvidence } from '../judging/evidence.ts'
import type { JobOutcome } from '../queue/work.ts'
import { redeemCounted } from './count-reports.ts'

/**
 * Takes back what a batch of retracted reports was counted as, and was evidence of. Those that were
 * retracted before they were analyzed were never counted; a second run finds nothing to take. What
 * an administrator took back is held against its reporter as overruled.
 */
export async function redeemReports(
  payloads: readonly { reportId: string; isOverruled?: boolean | undefined }[],
  app: Pick<App, 'pool' | 'clock'>,
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
  })
  return payloads.map(() => 'done')
}
