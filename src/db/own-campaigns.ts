import type { Db } from './pool.ts'

/** How many of the latest reports of a reporter belong to campaigns that were much reported. */
export async function countInLargeCampaigns(
  db: Db,
  reporterId: string,
  { latest, reportsMin }: { latest: number; reportsMin: number },
): Promise<{ latest: number; large: number }> {
  const own = await db.query<{ id: string }>(
    `select id from reports where reporter_id = $1
     order by reporter_id desc, id desc limit $2`,
    [reporterId, latest],
  )
  // Asked by ids and not joined: so the server knows while it plans in which weeks they are.
  const counted = await db.query<{ campaignId: string }>(
    `select campaign_id as "campaignId" from counted_reports
     where id = any($1::uuid[]) and campaign_id is not null`,
    [own.rows.map(({ id }) => id)],
  )
  const campaignIds = counted.rows.map(({ campaignId }) => campaignId)
  const large = await db.query<{ id: string }>(
    `select campaign_id as id from campaign_days where campaign_id = any($1::uuid[])
     group by campaign_id having sum(reports) >= $2`,
    [[...new Set(campaignIds)], reportsMin],
  )
  const ids = new Set(large.rows.map(({ id }) => id))
  return { latest: own.rows.length, large: campaignIds.filter((id) => ids.has(id)).length }
}
