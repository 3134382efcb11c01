import type { AnalysisDigest } from '../parsing/parser-pool.ts'
import type { Report } from '../db/reports.ts'
import type { JudgedCase } from '../judging/judge.ts'
import type { ReportEvidence } from '../reputation/evidence.ts'
import type { AdviceCase } from '../verdict/advice.ts'
import type { ReportToCount } from './count-reports.ts'
import type { Case } from './draw-consequences.ts'

/** A report with all that was found and made of it, before anything is kept. */
export type Judgment = {
  report: Report
  analysis: AnalysisDigest
  judgedCase: JudgedCase
  judged: Case
  submitterAsn: number | null
}

/** The campaigns of reports, by their ids. */
export type Campaigns = ReadonlyMap<string, string>

/** What advice on a report is decided by. */
export function adviceCase({
  report,
  analysis,
  judged,
}: Judgment): AdviceCase & { reportId: string } {
  return { ...judged, reportId: report.id, ...analysis }
}

/** What a report says of those it can be blamed on. */
export function evidenceOf(
  { report, judgedCase: { verdict, facts, subjects } }: Judgment,
  campaignOf: Campaigns,
): ReportEvidence {
  return {
    reportId: report.id,
    reporterId: report.reporterId,
    karma: Number(facts.report?.karma ?? 0),
    reportedAs: report.kind,
    verdict: { class: verdict.class, confidence: verdict.confidence ?? 0 },
    campaignId: campaignOf.get(report.id),
    subjects,
    at: report.receivedAt,
  }
}

/** What a report is counted as. */
export function toCount(
  { report, analysis: { shingles }, judgedCase, judged, submitterAsn }: Judgment,
  campaignOf: Campaigns,
): ReportToCount {
  const isSure = (judged.origin?.confidence ?? 0) >= judged.originConfidenceMin
  const originAsn = isSure ? judged.network?.asn : undefined
  const campaignId = campaignOf.get(report.id)
  const { verdict } = judgedCase
  return { report, verdict, shingles, originAsn, submitterAsn, campaignId }
}
