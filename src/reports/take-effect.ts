import type { App } from '../app.ts'
import { appendEvidence, takeBackEvidence } from '../counting/evidence.ts'
import type { Db } from '../db/pool.ts'
import { lookForPages } from '../pages/look-for-pages.ts'
import { isDangerous } from '../verdict/verdict.ts'
import { type CountedBefore, countReports } from './count-reports.ts'
import { type Campaigns, evidenceOf, type Judgment, toCount } from './read-messages.ts'

/**
 * Counts reports and their evidence, corrects earlier counts, and has the pages looked for to which
 * reports lead. Returns the reports that had been
 * counted before; the caller corrects their feedback.
 */
export async function takeEffect(
  tx: Db,
  judgments: readonly Judgment[],
  campaignOf: Campaigns,
  { boss, clock }: Pick<App, 'boss' | 'clock'>,
): Promise<CountedBefore> {
  if (judgments.length === 0) return { ids: [], complaintsTakenBack: [] }
  const now = clock()
  const before = await countReports(
    tx,
    judgments.map((judgment) => toCount(judgment, campaignOf)),
    now,
  )
  await takeBackEvidence(tx, before.complaintsTakenBack, 'retraction', now)
  await appendEvidence(
    tx,
    judgments.map((judgment) => evidenceOf(judgment, campaignOf)),
    now,
  )
  const leading = judgments.flatMap(({ report: { id, kind }, judged: { verdict } }) =>
    kind === 'phishing' || isDangerous(verdict.class) ? [id] : [],
  )
  await lookForPages(tx, boss, [...new Set([...leading, ...before.ids])])
  return before
}
