import type { App } from '../app.ts'
import {
  listOpenRecords,
  listRecordedBefore,
  OWN_RETRACTION,
  type OpenRecord,
} from '../db/mass-records.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listReportsByIds, lockReports, type Report, reportStates } from '../db/reports.ts'
import { isComplaint, takeBackComplaints } from '../feedback/take-back-complaints.ts'
import { retractable, retractIn } from './change-report.ts'
import { recordReports, restoreReports, settleReports, UNDO_MS } from './restore-reports.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

/**
 * Retracts a report on behalf of its reporter, who can undo it within an hour. The desks that were
 * notified get their correction after the hour. Returns false and changes nothing if the report was
 * retracted before.
 */
export async function takeReportBack(app: Needs, reportId: string): Promise<boolean> {
  return inTransaction(app.pool, async (tx) => {
    const now = app.clock()
    const given = { ids: [reportId], from: retractable }
    if ((await lockReports(tx, given.ids, given.from)).length === 0) return false
    // An earlier retraction may still wait for its end, if the message was reported again since.
    await settleReports(tx, given.ids, OWN_RETRACTION, now)
    await recordReports(tx, OWN_RETRACTION, given, now)
    return retractIn(tx, app, reportId, { isReporter: true })
  })
}

/** Until when its reporter can restore a retracted report; undefined if they cannot. */
export async function restorableUntil(
  db: Db,
  { id, state }: Pick<Report, 'id' | 'state'>,
  now: Date,
): Promise<Date | undefined> {
  if (state !== 'retracted') return undefined
  const last = (await listOpenRecords(db, [id])).at(-1)
  const until = last && isOwn(last) && new Date(last.takenAt.getTime() + UNDO_MS)
  return until && now < until ? until : undefined
}

/**
 * Restores a report that its reporter retracted less than an hour ago: its state, counts, campaign,
 * reputations and unsent feedback. Returns false and changes nothing if that is not possible.
 */
export async function restoreOwnReport(app: Needs, reportId: string): Promise<boolean> {
  return inTransaction(app.pool, async (tx) => {
    await lockReports(tx, [reportId], reportStates)
    const [report] = await listReportsByIds(tx, [reportId])
    if (!report || !(await restorableUntil(tx, report, app.clock()))) return false
    const action = { id: OWN_RETRACTION, isRetraction: true, isOwn: true } as const
    await restoreReports(tx, [reportId], action, app)
    return true
  })
}

/**
 * Makes retractions by reporters final: what they say about the reporters now takes effect, and the
 * desks that were notified get a correction. Returns the ids of the reports for which that was
 * still to be done.
 */
export async function endUndo(
  tx: Db,
  ids: readonly string[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<string[]> {
  const open = (await listOpenRecords(tx, ids)).filter(isOwn).map(({ reportId }) => reportId)
  if (open.length === 0) return []
  await settleReports(tx, open, OWN_RETRACTION, now)
  const taken = (await listReportsByIds(tx, open)).filter((report) => !isComplaint(report))
  await takeBackComplaints(
    tx,
    taken.map(({ id }) => id),
    app,
    now,
  )
  return open
}

/** Of some retracted reports, those whose reporter can restore them; the desks wait for them. */
export async function listRestorable(tx: Db, ids: readonly string[]): Promise<Set<string>> {
  const open = await listOpenRecords(tx, ids)
  return new Set(open.filter(isOwn).map(({ reportId }) => reportId))
}

function isOwn({ actionId }: OpenRecord): boolean {
  return actionId === OWN_RETRACTION
}

const ENDED_AT_ONCE = 100

/** Makes the retractions by reporters final that can no longer be undone. */
export async function endLateUndos(app: Needs): Promise<void> {
  const now = app.clock()
  const before = new Date(now.getTime() - UNDO_MS)
  const endSome = async (tx: Db) => {
    const ids = await listRecordedBefore(tx, OWN_RETRACTION, { before, limit: ENDED_AT_ONCE })
    await lockReports(tx, ids, reportStates)
    await endUndo(tx, ids, app, now)
    return ids.length === ENDED_AT_ONCE
  }
  while (await inTransaction(app.pool, endSome));
}
