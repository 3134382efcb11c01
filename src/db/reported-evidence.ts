import type { Db } from './pool.ts'
import { values } from './values.ts'

/** What a report is evidence of, packed by `judging/evidence.ts`. */
export type ReportedEvidence = { id: string; content: Buffer }

/** Keeps what reports are evidence of, in the transaction that appends it. */
export async function insertReportedEvidence(
  tx: Db,
  rows: readonly ReportedEvidence[],
): Promise<void> {
  if (rows.length === 0) return
  const { text, params } = values(rows.map(({ id, content }) => [id, content]))
  await tx.query(`insert into reported_evidence (id, content) values ${text}`, params)
}

/**
 * Takes away what reports are evidence of and gives it, in the transaction that appends the
 * opposite. Those that are no evidence, or not any more, are absent.
 */
export async function takeReportedEvidence(
  tx: Db,
  ids: readonly string[],
): Promise<ReportedEvidence[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<ReportedEvidence>(
    `delete from reported_evidence where id = any($1::uuid[]) returning id, content`,
    [ids],
  )
  return rows
}
