import { insertAudit } from '../db/audit-log.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { OVERRULED } from '../db/report-changes.ts'
import { eventNow, insertEvents } from '../db/report-events.ts'
import { markReports, type ReportState } from '../db/reports.ts'
import type { Boss } from '../queue/boss.ts'
import { oweWebhooks } from '../queue/owe-webhooks.ts'
import { redeemReport } from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import type { Clock } from '../world.ts'

const retractable: readonly ReportState[] = ['received', 'analyzed', 'forwarded', 'kept', 'failed']

/** Who takes a report back: its reporter, or an administrator who overrules the reporter. */
export type Retractor = { isReporter: true } | { isReporter: false; administratorId: string }

/**
 * Takes a report back: it ends as `retracted`, feedback that has not left never will, and what it
 * was counted as is taken back soon. Returns false, changing nothing, when it was retracted before.
 */
export async function retractReport(
  app: { pool: Pool; boss: Boss; clock: Clock },
  reportId: string,
  retractor: Retractor,
): Promise<boolean> {
  return inTransaction(app.pool, (tx) => retractIn(tx, app, reportId, retractor))
}

/** The same in the caller's transaction. */
export async function retractIn(
  tx: Db,
  app: { boss: Boss; clock: Clock },
  reportId: string,
  retractor: Retractor,
): Promise<boolean> {
  const now = app.clock()
  const [retracted] = await markReports(tx, [reportId], retractable, 'retracted')
  if (retracted === undefined) return false
  const withdrawn = await withdrawFeedback(tx, reportId, now)
  const isOverruled = !retractor.isReporter
  await send(app.boss, redeemReport, [{ reportId, ...(isOverruled && { isOverruled }) }], tx)
  const what = retractor.isReporter ? 'The reporter took it back.' : OVERRULED
  const recall = withdrawn > 0 ? ' Feedback that had not left was called back.' : ''
  const detail = `${what}${recall}`
  await insertEvents(tx, [eventNow(app.clock, reportId, 'retracted', detail)])
  await oweWebhooks(tx, app.boss, { 'report.retracted': [reportId] }, now)
  if (!retractor.isReporter) {
    const { administratorId: reporterId } = retractor
    await insertAudit(tx, { at: now, reporterId, action: 'retract', detail: reportId })
  }
  return true
}
