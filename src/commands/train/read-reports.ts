import { type JudgedReport, listJudgedReports } from '../../db/labeled-reports.ts'
import type { Db } from '../../db/pool.ts'
import type { Facts } from '../../verdict/facts/fact.ts'
import { unpackFacts } from '../../verdict/facts/packed-facts.ts'
import { LABEL_KARMA_MIN, labelOf } from '../../verdict/model/label.ts'
import type { TrainingRow } from '../../verdict/model/training-row.ts'
import type { VerdictClass } from '../../verdict/verdict.ts'

const PAGE = 1_000
/** Each is some 5 KB in memory. */
const REPORTS_MAX = 200_000

type Voices = { unwanted: Set<string>; wanted: Set<string> }
type Report = JudgedReport & { karma: number }

/**
 * The reports since an instant that prove something, see `labelOf`, with the facts they were judged
 * by at their time. Of more than 200,000 only the newest are taken.
 */
export async function readReports(
  db: Db,
  since: Date,
  tell: (line: string) => void,
): Promise<TrainingRow[]> {
  const reports: Report[] = []
  let after = idBefore(since)
  for (;;) {
    const page = await listJudgedReports(db, { after, limit: PAGE })
    reports.push(
      ...page.map((report) => ({ ...report, karma: karmaIn(unpackFacts(report.facts)) })),
    )
    if (reports.length > REPORTS_MAX) reports.splice(0, reports.length - REPORTS_MAX)
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    after = last.id
    tell(`Read ${reports.length} reports.`)
  }
  const voices = voicesOf(reports)
  return reports.flatMap((report) => rowOf(report, voices) ?? [])
}

function karmaIn({ report }: Facts): number {
  return Number(report?.['karma'] ?? 0)
}

function rowOf(report: Report, voices: ReadonlyMap<string, Voices>): TrainingRow | undefined {
  const { id, kind, isRetracted, verdictClass, campaignId, reporterId, symbols, karma } = report
  const facts = unpackFacts(report.facts)
  const others = othersThan(reporterId, campaignId === null ? undefined : voices.get(campaignId))
  const verdict = verdictClass as VerdictClass
  const label = labelOf({ kind, isRetracted, verdict, karma, others })
  if (label === undefined) return undefined
  return { at: timeIn(id), campaign: campaignId ?? id, kind: label, facts, symbols }
}

/**
 * Who says what of each campaign: of the proven, for three new accounts would write a label, or
 * strike one out. A report that was taken back says nothing.
 */
function voicesOf(reports: readonly Report[]): Map<string, Voices> {
  const voices = new Map<string, Voices>()
  for (const { campaignId, kind, isRetracted, reporterId, karma } of reports) {
    if (campaignId === null || isRetracted || karma < LABEL_KARMA_MIN) continue
    const its = voices.get(campaignId) ?? { unwanted: new Set(), wanted: new Set() }
    voices.set(campaignId, its)
    its[kind === 'not-spam' ? 'wanted' : 'unwanted'].add(reporterId)
  }
  return voices
}

function othersThan(reporterId: string, voices: Voices | undefined) {
  const count = (set: Set<string> | undefined) => (set ? set.size - Number(set.has(reporterId)) : 0)
  return { unwanted: count(voices?.unwanted), wanted: count(voices?.wanted) }
}

/** The milliseconds inside a version 7 id. */
function timeIn(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}

/** The least version 7 id of an instant. */
function idBefore(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}
