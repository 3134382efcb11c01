import { createHash } from 'node:crypto'
import { sumCampaignDays } from '../../db/campaign-days.ts'
import { countOtherReporters, findCampaignOf, listMemberIds } from '../../db/campaign-members.ts'
import type { Db } from '../../db/pool.ts'
import type { Report } from '../../db/reports.ts'

/** What a reporter may know of others who reported the same: how many, and on which days. */
export type SameReports = {
  /** Stands for the campaign. Its id will not do: that tells the moment of the first report. */
  mark: string
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
  const { reports, firstDay, lastDay } = total
  const isMore = newest.length > LOOKED_AT
  return { mark: markOf(campaignId), reports, others, isMore, firstDay, lastDay }
}

/** The id holds 74 bits of chance: too many to find it by trying. */
function markOf(campaignId: string): string {
  return createHash('sha256').update(campaignId).digest('hex').slice(0, 32)
}
