import type { App } from '../app.ts'
import { inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { markShadowed } from '../db/shadowed-reports.ts'
import { whyNobody } from '../intake/owned-reports.ts'
import { oweWebhooks } from '../queue/owe-webhooks.ts'
import type { JobOutcome } from '../queue/work.ts'

/**
 * Lets reports that were put aside look to their reporters as others do of which nothing came.
 * Nobody looks at the messages. A second run changes nothing.
 */
export async function settleShadowed(
  payloads: readonly { reportId: string }[],
  app: Pick<App, 'pool' | 'boss' | 'clock'>,
): Promise<JobOutcome[]> {
  const ids = payloads.map(({ reportId }) => reportId)
  const at = app.clock()
  await inTransaction(app.pool, async (tx) => {
    const settled = await markShadowed(tx, ids, ['received'], 'kept')
    await insertEvents(
      tx,
      settled.map(({ id, kind }) => {
        const detail = `The origin could not be found. ${whyNobody(kind)}`
        return { reportId: id, at, event: 'analyzed', detail }
      }),
    )
    await oweWebhooks(tx, app.boss, { 'report.analyzed': settled.map(({ id }) => id) }, at)
  })
  return payloads.map(() => 'done')
}
