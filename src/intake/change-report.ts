import { removeAnalyses } from '../db/analyses.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { changeKind, type KindChange, listToChange } from '../db/report-changes.ts'
import { insertEvents, type ReportEvent } from '../db/report-events.ts'
import type { ReportKind } from '../db/reports.ts'
import { moveAside } from '../db/shadowed-reports.ts'
import type { Boss } from '../queue/boss.ts'
import { analyzeReport, redeemReport, settleShadowed } from '../queue/queues.ts'
import { send } from '../queue/send.ts'

const words: Record<ReportKind, string> = {
  spam: 'The reporter now says that this is spam.',
  phishing: 'The reporter now says that this is phishing.',
  'not-spam': 'The reporter now says that this is not spam.',
}

/** Which of the changed reports wait for what. */
type Changed = { analyzed: string[]; settled: string[]; putAside: string[]; events: ReportEvent[] }

/**
 * Makes the latest choice of their reporters count: reports of another kind, and retracted ones,
 * become what is said of them now, under their ids. Feedback that has not left never will. Their
 * analysis is made anew; it corrects counts and evidence, and tells those who were told before.
 * What is said by a banned reporter puts the report aside: what it was counted as is taken back.
 * Returns the ids of those that were changed: where the reporter says the same again, nothing is.
 */
export async function changeReports(
  tx: Db,
  { boss }: { boss: Boss },
  said: readonly KindChange[],
  now: Date,
): Promise<Set<string>> {
  if (said.length === 0) return new Set()
  const changed = await changeEach(tx, said, now)
  const { analyzed, settled, putAside, events } = changed
  const ids = events.map(idOf)
  if (ids.length === 0) return new Set()
  const jobs = (some: readonly string[]) => some.map((reportId) => ({ reportId }))
  await moveAside(tx, putAside)
  await removeAnalyses(tx, ids)
  await insertEvents(tx, events)
  await send(boss, analyzeReport, jobs(analyzed), tx)
  await send(boss, settleShadowed, jobs([...settled, ...putAside]), tx)
  await send(boss, redeemReport, jobs(putAside), tx)
  return new Set(ids)
}

/** In the order of their ids: unordered, two transactions that share reports deadlock. */
async function changeEach(tx: Db, said: readonly KindChange[], now: Date): Promise<Changed> {
  const known = await listToChange(tx, said.map(idOf))
  const standing = new Map(known.map((report) => [report.id, report]))
  const changed: Changed = { analyzed: [], settled: [], putAside: [], events: [] }
  for (const change of said.toSorted((a, b) => (a.reportId < b.reportId ? -1 : 1))) {
    const { reportId, kind } = change
    const report = standing.get(reportId)
    if (!report || (!report.isRetracted && report.kind === kind)) continue
    const table = report.isShadowed ? 'shadowed_reports' : 'reports'
    if (!(await changeKind(tx, change, table))) continue
    const withdrawn = await withdrawFeedback(tx, reportId, now)
    const recall = withdrawn > 0 ? ' Feedback that had not left was called back.' : ''
    const detail = `${words[kind]}${recall}`
    changed.events.push({ reportId, at: now, event: 'changed', detail })
    const way = report.isShadowed ? 'settled' : change.isShadowed ? 'putAside' : 'analyzed'
    changed[way].push(reportId)
  }
  return changed
}

function idOf({ reportId }: { reportId: string }): string {
  return reportId
}
