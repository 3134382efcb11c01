import type { AnalysisDetails } from '../../db/analyses.ts'
import { findMarketer } from '../../db/marketers.ts'
import type { Db } from '../../db/pool.ts'
import type { Report } from '../../db/reports.ts'
import { type Advice, adviceOf } from '../../verdict/advice.ts'
import type { Marketer } from '../../verdict/marketers/marketer.ts'

/**
 * What to advise on a report by the registry of the moment: a marketer that was recognized counts
 * while it is still confirmed.
 */
export async function findAdvice(
  db: Db,
  report: Report,
  details: AnalysisDetails,
): Promise<{ advice: Advice | undefined; marketer: Marketer | undefined }> {
  const key = details.marketer?.key
  const found = key === undefined ? undefined : await findMarketer(db, key)
  const marketer = found?.state === 'confirmed' ? found : undefined
  const advice = adviceOf({
    ...details,
    reportedAs: report.kind,
    isLearned: report.channel === 'learn',
    messageKind: details.kind,
    marketer: marketer ? details.marketer : null,
  })
  return { advice, marketer }
}
