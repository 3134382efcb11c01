import sql from 'sql-template-tag'
import { committedBefore } from './nodes.ts'
import type { Db } from './pool.ts'
import { rowOf, valuesOf } from './rows.ts'

/**
 * Notes that more is known about campaigns, in the transaction that stores it: a second or third
 * independent reporter complains, an operator decided, or an abuse desk acted. A campaign has one
 * row: an event before the end of the work of another starts the work again.
 */
export async function noteCampaignEvents(
  tx: Db,
  campaignIds: readonly string[],
  now: Date,
): Promise<void> {
  for (const campaignId of campaignIds.toSorted()) {
    await committedBefore(tx).query(sql`
      insert into campaign_events (campaign_id, noted_at) values (${campaignId}, ${now})
      on conflict (campaign_id)
        do update set noted_at = excluded.noted_at, until_id = null, after_id = null`)
  }
}

/** An event, and how far the reports of its campaign were reopened. */
export type CampaignEvent = {
  /** The id below which reports are reopened; null before the first step. */
  untilId: string | null
  /** The last report that was looked at. */
  afterId: string | null
}

/** Returns the campaigns with an event before an instant, the oldest event first. */
export function listCampaignEvents(db: Db, before: Date, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select campaign_id as id from campaign_events where noted_at < ${before}
    order by noted_at limit ${limit}`
}

/** Returns the event of a campaign, and locks it; undefined if it is over. */
export function claimCampaignEvent(tx: Db, campaignId: string): Promise<CampaignEvent | undefined> {
  return rowOf(tx)`
    update campaign_events set noted_at = noted_at where campaign_id = ${campaignId}
    returning until_id as "untilId", after_id as "afterId"`
}

/** Stores how far the reports of a campaign were reopened. */
export async function advanceCampaignEvent(
  tx: Db,
  campaignId: string,
  { untilId, afterId }: CampaignEvent,
): Promise<void> {
  await tx.query(sql`update campaign_events set until_id = ${untilId}, after_id = ${afterId}
    where campaign_id = ${campaignId}`)
}

export async function endCampaignEvent(tx: Db, campaignId: string): Promise<void> {
  await tx.query(sql`delete from campaign_events where campaign_id = ${campaignId}`)
}
