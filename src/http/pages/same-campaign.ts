import { sumCampaignDays } from '../../db/campaign-days.ts'
import { countOtherReporters, findCampaignOf, listMemberIds } from '../../db/campaign-members.ts'
import type { Db } from '../../db/pool.ts'
import type { Report } from '../../db/reports.ts'

/** What a reporter may know of others who reported the same: how many, and on which days. */
export type SameReports = {
  campaignId: string
  /** All reports, this one among them. */
  reports: number
  /** Different people, without the one who asks. */
  others: number
  /** Whether there may be more: only the newest reports were looked at. */
  isMore: boolean
  /** In UTC, as `2026-11-20`. */
  firstDay: string
  lastDay: string
}

const LOOKED_AT = 2_000

/** What is known of others who reported the same; undefined when the report is of no campaign. */
export async function describeSame(
  db: Db,
  { id, reporterId }: Pick<Report, 'id' | 'reporterId'>,
): Promise<SameReports | undefined> {
  const campaignId = await findCampaignOf(db, id)
  if (campaignId === undefined) return undefined
  const [[total], newest] = await Promise.all([
    sumCampaignDays(db, [campaignId]),
    listMemberIds(db, campaignId, { from: 'newest', limit: LOOKED_AT + 1 }),
  ])
  if (!total) return undefined
  const others = await countOtherReporters(db, newest.slice(0, LOOKED_AT), reporterId)
  return { ...total, others, isMore: newest.length > LOOKED_AT }
}
