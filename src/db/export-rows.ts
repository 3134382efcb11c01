import sql, { raw } from 'sql-template-tag'
import { type Letter, letterContent } from './letters.ts'
import type { Db } from './pool.ts'
import { type Report, reportColumns, type ReportKind, type ReportState } from './reports.ts'
import type { Packed } from './rows.ts'
import { rowsOf } from './rows.ts'

/** Selects the next rows of a person: those after the id `after`. */
export type ExportPage = { after: string | null; limit: number }

/** Returns the reports of a reporter, oldest first. */
export function listReportsToExport(
  db: Db,
  reporterId: string,
  { after, limit }: ExportPage,
): Promise<Report[]> {
  return rowsOf(db)`select ${reportColumns} from reports
    where reporter_id = ${reporterId} and (${after}::uuid is null or id > ${after}::uuid)
      order by id limit ${limit}`
}

/** Returns the letters to a reporter with their exact copies, oldest first. */
export function listLettersToExport(
  db: Db,
  person: { id: string; email: string },
  { after, limit }: ExportPage,
): Promise<(Pick<Letter, 'id' | 'kind' | 'state' | 'address' | 'createdAt'> & Packed)[]> {
  return rowsOf(db)<
    Pick<Letter, 'id' | 'kind' | 'state' | 'address' | 'createdAt'> & Packed
  >`select id, kind, state, address, created_at as "createdAt", encoding, ${letterContent}
    from letters where (reporter_id = ${person.id} or address = ${person.email})
      and (${after}::uuid is null or id > ${after}::uuid)
    order by id limit ${limit}`
}

/** Returns the mails that a reporter sent in, oldest first. */
export function listMailsToExport(
  db: Db,
  reporterId: string,
  { after, limit }: ExportPage,
): Promise<(Packed & { id: string; receivedAt: Date })[]> {
  return rowsOf(db)<Packed & { id: string; receivedAt: Date }>`
    select id, received_at as "receivedAt", encoding, content from inbound_mails
    where reporter_id = ${reporterId} and (${after}::uuid is null or id > ${after}::uuid)
      order by id limit ${limit}`
}

/** A report as shown in the list of a reporter's own reports. */
export type ExportedReport = Pick<
  Report,
  'id' | 'state' | 'receivedAt' | 'kind' | 'subject' | 'author'
>

/** Selects reports with ids below `before`, above `after`, and at or above `from`. */
export type ReportFilter = {
  before: string | undefined
  after: string | undefined
  from: string | undefined
  kind: ReportKind | undefined
  state: ReportState | undefined
  limit: number
}

const columns = sql`id, state, received_at as "receivedAt", kind, subject, author`
const LEAST = '00000000-0000-0000-0000-000000000000'
const MOST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Returns reports of a reporter: newest first, or oldest first when `after` is given. Uses an index
 * in both directions.
 */
export function listReporterPage(
  db: Db,
  reporterId: string,
  { before, after, from, kind, state, limit }: ReportFilter,
): Promise<ExportedReport[]> {
  const order = raw(after === undefined ? 'desc' : 'asc')
  return rowsOf(db)`
    select ${columns} from reports
    where reporter_id = ${reporterId} and id < ${before ?? MOST} and id > ${after ?? LEAST}
      and id >= ${from ?? LEAST} and (${kind}::text is null or kind = ${kind}::text)
      and (${state}::text is null or state = ${state}::text)
    order by reporter_id ${order}, id ${order} limit ${limit}`
}
