import type { App } from '../app.ts'
import { inTransaction } from '../db/pool.ts'
import { listReportsByIds } from '../db/reports.ts'
import { takeBackEvidence } from '../judging/evidence.ts'
import type { JobOutcome } from '../queue/work.ts'
import { redeemCounted } from './count-reports.ts'

/**
 * Takes back what a batch of retracted reports was counted as, and was evidence of. Those that were
 * retracted before they were analyzed were never counted; a second run finds nothing to take.
 */
export async function redeemReports(
  payloads: readonly { reportId: string }[],
  app: Pick<App, 'pool' | 'clock'>,
): Promise<JobOutcome[]> {
  const ids = payloads.map(({ reportId }) => reportId)
  const reports = await listReportsByIds(app.pool, ids)
  const retracted = reports.filter(({ state }) => state === 'retracted')
  await inTransaction(app.pool, async (tx) => {
    const now = app.clock()
    await redeemCounted(tx, retracted, now)
    await takeBackEvidence(
      tx,
      retracted.map(({ id }) => id),
      'retraction',
      now,
    )
  })
  return payloads.map(() => 'done')
}
