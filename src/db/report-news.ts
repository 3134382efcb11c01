import { uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'

/** Says that something happened to reports: the days they came on are to be counted again. */
export async function insertNews(tx: Db, reportIds: readonly string[], at: Date): Promise<void> {
  if (reportIds.length === 0) return
  await tx.query(`insert into report_news (id, report_ids) values ($1, $2::uuid[])`, [
    uuidv7(at),
    [...new Set(reportIds)],
  ])
}

/** News that were taken: from so many rows, about these reports. */
export type TakenNews = { rows: number; ids: string[] }

/** Takes the oldest news away, in the transaction that heeds them. */
export async function takeNews(tx: Db, limit: number): Promise<TakenNews> {
  const { rows } = await tx.query<{ ids: string[] }>(
    `delete from report_news where id in (
       select id from report_news order by id limit $1)
     returning report_ids as ids`,
    [limit],
  )
  return { rows: rows.length, ids: [...new Set(rows.flatMap(({ ids }) => ids))] }
}
