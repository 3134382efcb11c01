import type { Db } from './pool.ts'

/** How many of the latest reports of a reporter belong to campaigns that were much reported. */
export async function countInLargeCampaigns(
  db: Db,
  reporterId: string,
  { latest, reportsMin }: { latest: number; reportsMin: number },
): Promise<{ latest: number; large: number }> {
  const { rows } = await db.query<{ id: string; campaignId: string | null }>(
    `select own.id, campaign_id as "campaignId"
     from (
       select id from reports where reporter_id = $1 and state <> 'retracted'
       order by reporter_id desc, id desc limit $2) as own
     left join counted_reports on counted_reports.id = own.id`,
    [reporterId, latest],
  )
  const campaignIds = rows.flatMap(({ campaignId }) => campaignId ?? [])
  const large = await db.query<{ id: string }>(
    `select campaign_id as id from campaign_days where campaign_id = any($1::uuid[])
     group by campaign_id having sum(reports) >= $2`,
    [[...new Set(campaignIds)], reportsMin],
  )
  const ids = new Set(large.rows.map(({ id }) => id))
  return { latest: rows.length, large: campaignIds.filter((id) => ids.has(id)).length }
}
