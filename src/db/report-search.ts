import type { Db } from './pool.ts'
import type { ReportKind, ReportState } from './reports.ts'

/** A report as a line of a list. */
export type ReportLine = {
  id: string
  receivedAt: Date
  state: ReportState
  kind: ReportKind
  author: string | null
  subject: string | null
}

/** The same with what the analysis found. */
export type FoundReport = ReportLine & {
  originIp: string | null
  networkName: string | null
  verdictClass: string | null
}

/** What to look for; all of it must fit, and what is undefined fits always. */
export type ReportQuery = {
  id?: string | undefined
  /** Words of the subject, as a person writes them: `"exact words" -not`. */
  subject?: string | undefined
  /** The author's whole address. */
  author?: string | undefined
  /** An address or a CIDR block. */
  origin?: string | undefined
  state?: ReportState | undefined
}

/** What is shown of a found report: columns of `reports` joined with `analyses`. */
export const foundColumns = `reports.id, received_at as "receivedAt", state, kind, author, subject,
  host(origin_ip) as "originIp", network_name as "networkName", verdict_class as "verdictClass"`

/**
 * A page of the reports that fit and have effect on others, newest first; `before` is the last id
 * of the page before. Each criterion has an index of its own, and the conditions that are not asked
 * for vanish while the statement is planned.
 */
export async function searchReports(
  db: Db,
  query: ReportQuery,
  page: { before: string | undefined; limit: number },
): Promise<FoundReport[]> {
  const { rows } = await db.query<FoundReport>(
    `select ${foundColumns}
     from reports left join analyses on analyses.id = reports.id
     where reports.shadow is null
       and ($1::uuid is null or reports.id = $1)
       and ($2::text is null or subject_words @@ websearch_to_tsquery('simple', $2))
       and ($3::text is null or author = $3)
       and ($4::inet is null or origin_ip <<= $4::inet)
       and ($5::text is null or state = $5)
       and ($6::uuid is null or reports.id < $6)
     order by reports.id desc limit $7`,
    [
      query.id ?? null,
      query.subject ?? null,
      query.author ?? null,
      query.origin ?? null,
      query.state ?? null,
      page.before ?? null,
      page.limit,
    ],
  )
  return rows
}
