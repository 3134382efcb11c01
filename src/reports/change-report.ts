import { removeAnalyses } from '../db/analyses.ts'
import { insertAudit } from '../db/audit-log.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import { outdateOwnRetraction } from '../db/mass-records.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import {
  addComment,
  changeKind,
  eventNow,
  insertEvents,
  type KindChange,
  listToChange,
  overruled,
  type ReportEvent,
} from '../db/report-events.ts'
import { markConfirmed, markReports, type ReportState } from '../db/reports.ts'
import { insertSearchNews } from '../db/search.ts'
import { queueWebhooks } from '../people/deliver-webhooks.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { type Boss, send } from '../queue/boss.ts'
import type { Clock } from '../world.ts'
import { analyzeReport, redeemReport } from './queues.ts'

/**
 * The events of the changed reports, the ids of the changed reports that had an effect and are now
 * held, and those of unchanged reports with a further comment.
 */
type Changed = { events: ReportEvent[]; held: string[]; commented: string[] }

/**
 * Applies the reporters' latest statements to earlier reports of the same messages, which keep
 * their ids: their kind changes, and retracted ones take effect again. Their unsent feedback is
 * withdrawn. A new analysis corrects counts, evidence and feedback already sent. A report by a
 * banned reporter is held, and its counts are reversed. Returns the ids of the changed reports; a
 * repeated statement changes nothing, but its comment is kept with the earlier ones.
 */
export async function changeReports(
  tx: Db,
  { boss }: { boss: Boss },
  changes: readonly KindChange[],
  now: Date,
): Promise<Set<string>> {
  if (changes.length === 0) return new Set()
  const { events, held, commented } = await changeEach(tx, changes, now)
  await insertSearchNews(tx, commented, now)
  const ids = events.map(idOf)
  if (ids.length === 0) return new Set()
  const jobs = (some: readonly string[]) => some.map((reportId) => ({ reportId }))
  await removeAnalyses(tx, ids)
  await insertEvents(tx, events)
  await send(boss, analyzeReport, jobs(ids), tx)
  await send(boss, redeemReport, jobs(held), tx)
  return new Set(ids)
}

/** Changes reports in the order of their ids, because unordered transactions deadlock. */
async function changeEach(tx: Db, changes: readonly KindChange[], now: Date): Promise<Changed> {
  const known = await listToChange(tx, changes.map(idOf))
  const standing = new Map(known.map((report) => [report.id, report]))
  const changed: Changed = { events: [], held: [], commented: [] }
  for (const change of changes.toSorted((a, b) => (a.reportId < b.reportId ? -1 : 1))) {
    const { reportId, kind, comment } = change
    const report = standing.get(reportId)
    if (!report) continue
    if (!report.isRetracted && report.kind === kind) {
      const isNew = comment !== null && (await addComment(tx, reportId, comment))
      if (isNew) changed.commented.push(reportId)
      continue
    }
    if (!(await changeKind(tx, change))) continue
    // The new statement replaces the retraction, which can no longer be undone.
    if (report.isRetracted) await outdateOwnRetraction(tx, reportId)
    const withdrawn = await withdrawFeedback(tx, reportId, now)
    const phrases = [
      phrase('kind-changed', { kind: kind === 'not-spam' ? 'wanted' : kind }),
      ...recalled(withdrawn),
    ]
    changed.events.push({ reportId, at: change.saidAt ?? now, event: 'changed', phrases })
    if (change.isShadowed && !report.isShadowed) changed.held.push(reportId)
  }
  return changed
}

function recalled(withdrawn: number): Phrase[] {
  return withdrawn > 0 ? [phrase('unsent-withdrawn')] : []
}

function idOf({ reportId }: { reportId: string }): string {
  return reportId
}

/**
 * Confirms the complaint of a report about which the reporter was asked, and queues the report for
 * another analysis. Returns false if there is no open question about it.
 */
export async function confirmReport(
  app: { pool: Pool; boss: Boss; clock: Clock },
  reportId: string,
): Promise<boolean> {
  return inTransaction(app.pool, async (tx) => {
    if (!(await markConfirmed(tx, reportId))) return false
    await removeAnalyses(tx, [reportId])
    await insertEvents(tx, [eventNow(app.clock, reportId, 'confirmed', [])])
    await send(app.boss, analyzeReport, [{ reportId }], tx)
    return true
  })
}

/** The states from which a report can be retracted. */
export const retractable: readonly ReportState[] = [
  'received',
  'analyzed',
  'forwarded',
  'kept',
  'failed',
]

/**
 * Who retracts a report: its reporter, or an administrator who overrules the reporter (null at the
 * command line).
 */
export type Retractor = { isReporter: true } | { isReporter: false; administratorId: string | null }

/**
 * Retracts a report: its state becomes `retracted`, its unsent feedback is withdrawn, and a job
 * reverses its counts. Returns false and changes nothing if it was retracted before.
 */
export async function retractReport(
  app: { pool: Pool; boss: Boss; clock: Clock },
  reportId: string,
  retractor: Retractor,
): Promise<boolean> {
  return inTransaction(app.pool, (tx) => retractIn(tx, app, reportId, retractor))
}

/** Retracts a report like `retractReport`, in the caller's transaction. */
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
  const what = retractor.isReporter ? phrase('retracted-by-reporter') : overruled
  const phrases = [what, ...recalled(withdrawn)]
  await insertEvents(tx, [eventNow(app.clock, reportId, 'retracted', phrases)])
  await queueWebhooks(tx, app.boss, { 'report.retracted': [reportId] }, now)
  if (!retractor.isReporter) {
    const { administratorId: reporterId } = retractor
    await insertAudit(tx, { at: now, reporterId, action: 'retract', detail: reportId })
  }
  return true
}
