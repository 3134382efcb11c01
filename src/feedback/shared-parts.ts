import { listCampaignsOf } from '../db/campaigns.ts'
import { type LinkPartsRow, listLinkParts } from '../db/link-parts.ts'
import type { Db } from '../db/pool.ts'
import { DAY_MS } from '../durations.ts'
import { sharedParts } from '../verdict/reputation/shared-parts.ts'
import { uuidTime } from '../world.ts'

export function asWitness<Row extends Pick<LinkPartsRow, 'reporterId'>>(row: Row) {
  return { ...row, signUpDay: Math.floor(uuidTime(row.reporterId).getTime() / DAY_MS) }
}

/**
 * Returns the parts of links that independent reporters of the campaigns of reports share now, as
 * hashes of 8 bytes each, by report.
 */
export async function findSharedParts(
  db: Db,
  reportIds: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  if (reportIds.length === 0) return new Map()
  const campaigns = await listCampaignsOf(db, reportIds)
  const rows = await listLinkParts(db, [...new Set(campaigns.map(({ campaignId }) => campaignId))])
  const shared = rows.filter(({ isBanned }) => !isBanned)
  const rowsOf = Map.groupBy(shared.map(asWitness), ({ campaignId }) => campaignId)
  return new Map(
    campaigns.map(({ id, campaignId }) => [id, sharedParts(rowsOf.get(campaignId) ?? [])]),
  )
}
