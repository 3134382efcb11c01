import { listCampaignsOf } from './campaign-members.ts'
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
  const campaigns = await listCampaignsOf(
    db,
    own.rows.map(({ id }) => id),
  )
  // Those that are not counted are to be large or not as if they were.
  const uncounted = new Map<string, number>()
  for (const { campaignId, isCounted } of campaigns) {
    uncounted.set(campaignId, (uncounted.get(campaignId) ?? 0) + (isCounted ? 0 : 1))
  }
  const sums = await db.query<{ id: string; reports: number }>(
    `select campaign_id as id, sum(reports)::float8 as reports from campaign_days
     where campaign_id = any($1::uuid[]) group by campaign_id`,
    [[...uncounted.keys()]],
  )
  const counted = new Map(sums.rows.map(({ id, reports }) => [id, reports]))
  const isLarge = ({ campaignId }: (typeof campaigns)[number]) =>
    (counted.get(campaignId) ?? 0) + (uncounted.get(campaignId) ?? 0) >= reportsMin
  return { latest: own.rows.length, large: campaigns.filter(isLarge).length }
}
