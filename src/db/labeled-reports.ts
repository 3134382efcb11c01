import type { Db } from './pool.ts'

/** A report that was judged, with what it was judged by. */
export type JudgedReport = {
  id: string
  reporterId: string
  kind: 'spam' | 'phishing' | 'not-spam'
  isRetracted: boolean
  verdictClass: string
  campaignId: string | null
  /** Packed, see `verdict/facts/packed-facts.ts`. */
  facts: Buffer
  symbols: { name: string }[]
}

/**
 * A page of the reports judged by facts, in the order of their ids: those after `after`. Reports
 * without effect on others teach nothing.
 */
export async function listJudgedReports(
  db: Db,
  page: { after: string; limit: number },
): Promise<JudgedReport[]> {
  const { rows } = await db.query<JudgedReport>(
    `select reports.id, reports.reporter_id as "reporterId", reports.kind,
       reports.state = 'retracted' as "isRetracted", analyses.verdict_class as "verdictClass",
       counted_reports.campaign_id as "campaignId", analyses.facts,
       coalesce(analyses.judgment #> '{verdict,symbols}', '[]') as symbols
     from reports
       join analyses on analyses.id = reports.id
       left join counted_reports on counted_reports.id = reports.id
     where reports.id > $1 and analyses.facts is not null and reports.shadow is null
     order by reports.id limit $2`,
    [page.after, page.limit],
  )
  return rows
}
