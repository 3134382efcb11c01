import type { Db } from './pool.ts'
import type { Report, ReportKind, ReportState } from './reports.ts'

/** What a list of a reporter's reports shows of one. */
export type ReportLine = Pick<Report, 'id' | 'state' | 'receivedAt' | 'kind' | 'subject' | 'author'>

/** Which of them: older than `before`, or newer than `after`, from the id `from` on. */
export type ReportFilter = {
  before: string | undefined
  after: string | undefined
  from: string | undefined
  kind: ReportKind | undefined
  state: ReportState | undefined
  limit: number
}

const columns = `id, state, received_at as "receivedAt", kind, subject, author`
const filter = `reporter_id = $1 and id < $2 and id > $3 and id >= $4
  and ($5::text is null or kind = $5) and ($6::text is null or state = $6)`
const LEAST = '00000000-0000-0000-0000-000000000000'
const MOST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Own reports, newest first; behind `after` oldest first. Read along an index, in both cases.
 */
export async function listReporterPage(
  db: Db,
  reporterId: string,
  { before, after, from, kind, state, limit }: ReportFilter,
): Promise<ReportLine[]> {
  const order = after === undefined ? 'desc' : 'asc'
  const { rows } = await db.query<ReportLine>(
    `select ${columns} from reports where ${filter}
     order by reporter_id ${order}, id ${order} limit $7`,
    [reporterId, before ?? MOST, after ?? LEAST, from ?? LEAST, kind ?? null, state ?? null, limit],
  )
  return rows
}
