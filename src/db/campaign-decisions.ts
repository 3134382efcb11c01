import type { CorrectedClass } from '../verdict/verdict.ts'
import type { Db } from './pool.ts'
import { isOneOf, preparedRowsOf } from './prepared.ts'
import { changesAny } from './rows.ts'

/**
 * What is decided about a campaign, for all its reports: an operator says what it is; an abuse desk
 * resolved a report about it, in the network block `about`.
 */
export type CampaignDecision = {
  campaignId: string
  says: CorrectedClass | 'resolved'
  /** A CIDR block, or empty for the whole campaign. */
  about: string
  reason: string
  decidedAt: Date
  /** Null for an abuse desk, and for an operator at the command line. */
  decidedBy: string | null
}

/** Returns the decisions about campaigns, unordered. */
export async function listCampaignDecisions(
  db: Db,
  campaignIds: readonly string[],
): Promise<CampaignDecision[]> {
  if (campaignIds.length === 0) return []
  return preparedRowsOf(db)`
    select campaign_id as "campaignId", says, about, reason, decided_at as "decidedAt",
      decided_by as "decidedBy"
    from campaign_decisions where ${isOneOf('campaign_id', campaignIds, 'uuid[]')}`
}

/** Stores a decision; false if the same is decided already. */
export function putCampaignDecision(tx: Db, decision: CampaignDecision): Promise<boolean> {
  const { campaignId, about, says, reason, decidedAt, decidedBy } = decision
  return changesAny(tx)`
    insert into campaign_decisions (campaign_id, about, says, reason, decided_at, decided_by)
    values (${campaignId}, ${about}, ${says}, ${reason}, ${decidedAt}, ${decidedBy})
    on conflict (campaign_id, about) do update set says = excluded.says, reason = excluded.reason,
      decided_at = excluded.decided_at, decided_by = excluded.decided_by
    where campaign_decisions.says <> excluded.says`
}

/** Removes the decision of an operator; false if there is none. */
export function removeCampaignDecision(tx: Db, campaignId: string): Promise<boolean> {
  return changesAny(tx)`
    delete from campaign_decisions where campaign_id = ${campaignId} and about = ''`
}
