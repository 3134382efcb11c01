import type { Db } from './pool.ts'
import { values } from './values.ts'

/** What a report was counted as; `content` is packed by the counters. */
export type CountedReport = { id: string; campaignId: string | null; content: Buffer }

/** Keeps what reports were counted as, in the transaction that counts them. */
export async function insertCountedReports(
  tx: Db,
  reports: readonly CountedReport[],
): Promise<void> {
  if (reports.length === 0) return
  const { text, params } = values(reports.map((one) => [one.id, one.campaignId, one.content]))
  await tx.query(`insert into counted_reports (id, campaign_id, content) values ${text}`, params)
}

/**
 * Takes away what reports were counted as and gives it, in the transaction that counts the
 * opposite. Those that are not counted, or not any more, are absent.
 */
export async function takeCountedReports(tx: Db, ids: readonly string[]): Promise<CountedReport[]> {
  const { rows } = await tx.query<CountedReport>(
    `delete from counted_reports where id = any($1::uuid[])
     returning id, campaign_id as "campaignId", content`,
    [ids],
  )
  return rows
}

/** Reports older than the id `before` that are retracted and still counted, oldest first. */
export async function listUnredeemed(db: Db, before: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from reports where state = 'retracted' and id < $1
       and exists (select from counted_reports where counted_reports.id = reports.id)
     order by id limit $2`,
    [before, limit],
  )
  return rows.map(({ id }) => id)
}
