import { removeAnalyses } from '../db/analyses.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listAskedReports, markReports } from '../db/reports.ts'
import { uuidFloor } from '../world.ts'
import type { Boss } from './boss.ts'
import { analyzeReport } from './queues.ts'
import { send } from './send.ts'

const REPORTS_MAX = 200
const AGE_MS_MAX = 30 * 86_400_000

/**
 * Puts the reports in line again of which their reporter was asked something, now that more is
 * known of the reporter's relays: the latest 200 of the last 30 days. They go back to `received`,
 * without their analysis, in the transaction `tx` that writes down what is known; what anybody was
 * told of is left alone, so nothing is ever sent twice. Returns their ids.
 */
export async function reopenAskedReports(
  tx: Db,
  boss: Boss,
  reporterId: string,
  now: Date,
): Promise<string[]> {
  const from = uuidFloor(new Date(now.getTime() - AGE_MS_MAX))
  const asked = await listAskedReports(tx, reporterId, { from, limit: REPORTS_MAX })
  const reopened = await markReports(tx, asked, ['kept'], 'received')
  if (reopened.length === 0) return []
  const detail = 'More is known of the reporter’s mail servers: it is looked at again.'
  await removeAnalyses(tx, reopened)
  await insertEvents(
    tx,
    reopened.map((reportId) => ({ reportId, at: now, event: 'reopened', detail })),
  )
  await send(
    boss,
    analyzeReport,
    reopened.map((reportId) => ({ reportId })),
    tx,
  )
  return reopened
}
