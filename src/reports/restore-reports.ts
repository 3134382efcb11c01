import type { App } from '../app.ts'
import {
  appendTestimonies,
  namedEvidence,
  putBackEvidence,
  takeBackEvidence,
} from '../counting/evidence.ts'
import { removeAnalyses } from '../db/analyses.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import {
  findMassRecord,
  inheritMassRecord,
  insertMassRecords,
  listFreedMembers,
  listOpenRecords,
  type MassRecord,
  removeMassRecords,
  restoreAnalysis,
  restoreReport,
  takeTestimonies,
} from '../db/mass-records.ts'
import type { Db } from '../db/pool.ts'
import {
  type EventName,
  eventNow,
  insertEvents,
  listEvents,
  markSentBefore,
  overruled,
  replaceRetractions,
} from '../db/report-events.ts'
import {
  listReportsByIds,
  listWithMessages,
  lockReports,
  type Report,
  reportStates,
  type ReportState,
} from '../db/reports.ts'
import { giveBackFeedback, recordFeedback } from '../feedback/give-back-feedback.ts'
import { findContact } from '../feedback/queues.ts'
import { HOUR_MS } from '../durations.ts'
import { lookForPages } from '../pages/look-for-pages.ts'
import { queueWebhooks } from '../people/deliver-webhooks.ts'
import { phrase } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import { type FormerCount, isNoLongerComplaint, putBackCounts } from './count-reports.ts'
import { analyzeReport, redeemReport } from './queues.ts'

type Needs = Pick<App, 'boss' | 'clock'>

/** Time in milliseconds during which an action on reports can be undone. */
export const UNDO_MS = HOUR_MS

/** The action whose changes are undone. */
type ActionOfReports = {
  id: string
  isRetraction: boolean
  /** Whether its reporter retracted the report, and restores it. */
  isOwn?: true
}

/**
 * Locks the reports that are in one of the states `from`, and records their current state. The
 * caller then changes them in the same transaction. Returns their ids.
 */
export async function recordReports(
  tx: Db,
  actionId: string,
  { ids, from }: { ids: readonly string[]; from: readonly ReportState[] },
  now: Date,
): Promise<string[]> {
  const held = await lockReports(tx, ids, from)
  if (held.length === 0) return []
  const [feedback, evidence] = await Promise.all([
    recordFeedback(tx, held),
    namedEvidence(tx, held),
  ])
  const evidenceOf = new Map(evidence.map(({ id, content }) => [id, content]))
  const parts = held.map((reportId) => ({
    reportId,
    feedback: feedback.get(reportId) ?? [],
    evidence: evidenceOf.get(reportId),
  }))
  await insertMassRecords(tx, actionId, parts, now)
  return held
}

/**
 * What undoing an action did with a report. `undone`: everything is as before. `notified`: so it
 * is, but desks were notified in the meantime, and are notified of the correction. `overtaken`: a
 * later action on the report stays, and undoing that one restores the report as it was before both.
 * If the action was the last to correct the verdict, the correction ends. `gone`: the report was
 * deleted.
 */
export type Restored = 'undone' | 'notified' | 'overtaken' | 'gone'

/**
 * Restores reports as they were before an action: their state, analysis, counts, evidence and
 * feedback, and what they say about pages. The action has not changed any karma yet, and will not.
 * If the reporter has made another statement since then, this statement takes effect as if there
 * had been no action.
 */
export async function restoreReports(
  tx: Db,
  ids: readonly string[],
  action: ActionOfReports,
  app: Needs,
): Promise<ReadonlyMap<string, Restored>> {
  await lockReports(tx, ids, reportStates)
  const reports = new Map((await listReportsByIds(tx, ids)).map((report) => [report.id, report]))
  const freed = await listFreedMembers(tx, action.id, ids)
  const restored = new Map<string, Restored>()
  // In reverse order: a feedback report is restored before others are merged into it again.
  for (const id of ids.toSorted().toReversed()) {
    const report = reports.get(id)
    restored.set(id, report ? await restore(tx, report, { action, freed }, app) : 'gone')
  }
  await removeMassRecords(
    tx,
    action.id,
    ids.filter((id) => !reports.has(id)),
  )
  // What the reports say about pages follows from what they are now.
  await lookForPages(tx, app.boss, [...reports.keys()])
  return restored
}

async function restore(
  tx: Db,
  report: Report,
  { action, freed }: { action: ActionOfReports; freed: ReadonlySet<string> },
  app: Needs,
): Promise<Restored> {
  const { id } = report
  const records = await listOpenRecords(tx, [id])
  const later = records.slice(1 + records.findIndex(({ actionId }) => actionId === action.id))
  const record = await findMassRecord(tx, action.id, id)
  if (!record) return 'gone'
  if (later[0]) {
    await inheritMassRecord(tx, id, { from: action.id, to: later[0].actionId })
    const isLast = later.every(({ correctedAs }) => correctedAs === report.correctedAs)
    if (isLast) await endCorrection(tx, report, record, app)
    return 'overtaken'
  }
  const now = app.clock()
  const since = await statementSince(tx, report, record, action)
  const former = formerCount(record)
  const isTakenBack = since === 'changed' && (await isNoLongerComplaint(tx, id, former))
  await putBackEvidence(tx, id, record.evidence ?? undefined, now)
  if (!isTakenBack) await putBackCounts(tx, report, former, now)
  if (since === 'changed') await removeAnalyses(tx, [id])
  else await restoreAnalysis(tx, action.id, id)
  const state = since === 'changed' ? 'received' : (since ?? record.state)
  await restoreReport(tx, id, { state, correctedAs: record.correctedAs })
  await removeMassRecords(tx, action.id, [id])
  if (action.isRetraction) await replaceRetractions(tx, id, record.takenAt)
  const isByRules = report.correctedAs !== null && record.correctedAs === null
  const undone = phrase(action.isOwn ? 'restored-by-reporter' : 'action-undone')
  const phrases = [undone, ...(isByRules ? [phrase('judged-by-rules-again')] : [])]
  await insertEvents(tx, [eventNow(app.clock, id, action.isOwn ? 'changed' : 'redriven', phrases)])
  if (since === 'changed') return applyChange(tx, id, isTakenBack, app)
  if (since === 'retracted') {
    const isOverruled = await wasOverruled(tx, id, record.takenAt)
    await send(app.boss, redeemReport, [{ reportId: id, ...(isOverruled && { isOverruled }) }], tx)
    return 'undone'
  }
  return resume(tx, report, { record, isFreed: freed.has(id) }, app)
}

/** Ends the correction by an action. A report that is not retracted is judged again. */
async function endCorrection(
  tx: Db,
  { id, state, correctedAs: present }: Report,
  { correctedAs }: MassRecord,
  app: Needs,
): Promise<void> {
  if (correctedAs === present) return
  if (state === 'retracted') return restoreReport(tx, id, { state, correctedAs })
  if ((await listWithMessages(tx, [id])).length === 0) return
  await restoreReport(tx, id, { state: 'received', correctedAs })
  await removeAnalyses(tx, [id])
  await insertEvents(tx, [eventNow(app.clock, id, 'redriven', [phrase('action-undone')])])
  await applyChange(tx, id, false, app)
}

function formerCount({ campaignId, counted, redeemed, redeemedAt }: MassRecord): FormerCount {
  return {
    counted: counted ? { campaignId, content: counted } : undefined,
    redeemed: redeemed && redeemedAt ? { content: redeemed, at: redeemedAt } : undefined,
  }
}

const changes: readonly EventName[] = ['changed', 'confirmed', 'reopened']

/** What happened to a report since an action besides the action; undefined: nothing. */
async function statementSince(
  tx: Db,
  report: Report,
  record: MassRecord,
  { isRetraction }: ActionOfReports,
): Promise<'retracted' | 'changed' | undefined> {
  const { state, kind, isConfirmed, shadow } = report
  if (!isRetraction && state === 'retracted') return 'retracted'
  const isOther =
    kind !== record.kind || isConfirmed !== record.isConfirmed || shadow !== record.shadow
  if (isOther || (isRetraction && state !== 'retracted')) return 'changed'
  const events = await listEvents(tx, report.id)
  const isSince = events.some(({ event, at, phrases: [first] }) => {
    const isStatement = changes.includes(event) && first?.code !== 'restored-by-reporter'
    return isStatement && at > record.takenAt
  })
  return isSince ? 'changed' : undefined
}

async function wasOverruled(tx: Db, id: string, since: Date): Promise<boolean> {
  const events = await listEvents(tx, id)
  const last = events.findLast(({ event, at }) => event === 'retracted' && at >= since)
  return last?.phrases.some(({ code }) => code === overruled.code) ?? false
}

/** Queues the analysis of a report that changed after an action. */
async function applyChange(
  tx: Db,
  id: string,
  isTakenBack: boolean,
  { boss, clock }: Needs,
): Promise<Restored> {
  if (isTakenBack) await takeBackEvidence(tx, [id], 'retraction', clock())
  await withdrawFeedback(tx, id, clock())
  await send(boss, analyzeReport, [{ reportId: id }], tx)
  return 'undone'
}

async function resume(
  tx: Db,
  { id, shadow }: Report,
  { record, isFreed }: { record: MassRecord; isFreed: boolean },
  app: Needs,
): Promise<Restored> {
  const now = app.clock()
  const recorded = record.feedback
  const given = { reportId: id, recorded, isFreed }
  const { wasNotified, isMerged } = await giveBackFeedback(tx, given, app, now)
  if (!isMerged) await markSentBefore(tx, [id])
  const { state, isLookUp } = record
  if (state === 'received' || shadow === 'released') {
    await send(app.boss, analyzeReport, [{ reportId: id }], tx)
  }
  if (isLookUp && (state === 'analyzed' || state === 'forwarded')) {
    await send(app.boss, findContact, [{ reportId: id }], tx)
  }
  if (state !== 'received' && state !== 'failed') {
    await queueWebhooks(tx, app.boss, { 'report.analyzed': [id] }, now)
  }
  return wasNotified ? 'notified' : 'undone'
}

/**
 * Makes changes of reports final, by one action or by all: testimonies about their reporters that
 * waited now change karma, and the records are deleted.
 */
export async function settleReports(
  tx: Db,
  ids: readonly string[],
  actionId: string | null,
  now: Date,
): Promise<void> {
  if (ids.length > 0) await appendTestimonies(tx, await takeTestimonies(tx, ids, actionId), now)
}
