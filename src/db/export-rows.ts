import type { Letter } from './letters.ts'
import type { Packed } from './packed.ts'
import type { Db } from './pool.ts'
import { type Report, reportColumns } from './reports.ts'

/** Which rows of a person come next: those behind the id `after`. */
export type ExportPage = { after: string | null; limit: number }

/** The reports of a reporter, oldest first. */
export async function listReportsToExport(
  db: Db,
  reporterId: string,
  { after, limit }: ExportPage,
): Promise<Report[]> {
  const { rows } = await db.query<Report>(
    `select ${reportColumns} from reports
     where reporter_id = $1 and ($2::uuid is null or id > $2) order by id limit $3`,
    [reporterId, after, limit],
  )
  return rows
}

/** The letters to a reporter with their exact copies, oldest first. */
export async function listLettersToExport(
  db: Db,
  person: { id: string; email: string },
  { after, limit }: ExportPage,
): Promise<(Pick<Letter, 'id' | 'kind' | 'state' | 'address' | 'createdAt'> & Packed)[]> {
  const { rows } = await db.query<
    Pick<Letter, 'id' | 'kind' | 'state' | 'address' | 'createdAt'> & Packed
  >(
    `select id, kind, state, address, created_at as "createdAt", encoding, content
     from letters where (reporter_id = $1 or address = $2) and ($3::uuid is null or id > $3)
     order by id limit $4`,
    [person.id, person.email, after, limit],
  )
  return rows
}

/** The mails a reporter sent in, oldest first. */
export async function listMailsToExport(
  db: Db,
  reporterId: string,
  { after, limit }: ExportPage,
): Promise<(Packed & { id: string; receivedAt: Date })[]> {
  const { rows } = await db.query<Packed & { id: string; receivedAt: Date }>(
    `select id, received_at as "receivedAt", encoding, content from inbound_mails
     where reporter_id = $1 and ($2::uuid is null or id > $2) order by id limit $3`,
    [reporterId, after, limit],
  )
  return rows
}
