import { removeAnalyses } from '../db/analyses.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { changeKind, type KindChange, listToChange } from '../db/report-changes.ts'
import { insertEvents, type ReportEvent } from '../db/report-events.ts'
import type { ReportKind } from '../db/reports.ts'
import type { Boss } from '../queue/boss.ts'
import { analyzeReport } from '../queue/queues.ts'
import { send } from '../queue/send.ts'

const words: Record<ReportKind, string> = {
  spam: 'The reporter now says that this is spam.',
  phishing: 'The reporter now says that this is phishing.',
  'not-spam': 'The reporter now says that this is not spam.',
}

/**
 * Makes the latest choice of their reporters count: reports of another kind, and retracted ones,
 * become what is said of them now, under their ids. Feedback that has not left never will. Their
 * analysis is made anew; it corrects counts and evidence, and tells those who were told before.
 * Returns the ids of those that were changed: where the reporter says the same again, nothing is.
 */
export async function changeReports(
  tx: Db,
  app: { boss: Boss },
  said: readonly KindChange[],
  now: Date,
): Promise<Set<string>> {
  const changed: ReportEvent[] = []
  if (said.length === 0) return new Set()
  const standing = new Map(
    (await listToChange(tx, said.map(idOf))).map((report) => [report.id, report]),
  )
  const others = said.filter(({ reportId, kind }) => {
    const report = standing.get(reportId)
    return report !== undefined && (report.isRetracted || report.kind !== kind)
  })
  // In the order of their ids: unordered, two transactions that share reports deadlock.
  for (const change of others.toSorted((a, b) => (a.reportId < b.reportId ? -1 : 1))) {
    const { reportId, kind } = change
    if (!(await changeKind(tx, change))) continue
    const withdrawn = await withdrawFeedback(tx, reportId, now)
    const recall = withdrawn > 0 ? ' Feedback that had not left was called back.' : ''
    changed.push({ reportId, at: now, event: 'changed', detail: `${words[kind]}${recall}` })
  }
  const ids = changed.map(idOf)
  if (ids.length === 0) return new Set()
  await Promise.all([
    removeAnalyses(tx, ids),
    insertEvents(tx, changed),
    send(
      app.boss,
      analyzeReport,
      ids.map((reportId) => ({ reportId })),
      tx,
    ),
  ])
  return new Set(ids)
}

function idOf({ reportId }: { reportId: string }): string {
  return reportId
}
