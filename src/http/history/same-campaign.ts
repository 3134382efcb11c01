import { createHash } from 'node:crypto'
import { sumCampaignDays } from '../../db/campaign-days.ts'
import { countOtherReporters, findCampaignOf, listMemberIds } from '../../db/campaign-members.ts'
import type { Db } from '../../db/pool.ts'
import type { Report } from '../../db/reports.ts'

/**
 * What a reporter may know of others who reported the same. A spammer may be a reporter too, and
 * send in each copy of a mail to learn whose reader complained: so nothing is told of few, and of
 * many only a round number that seldom changes.
 */
export type SameReports = {
  /** Stands for the campaign. Its id will not do: that tells the moment of the first report. */
  mark: string
  /** So many different other people at least, a round number; undefined when they are few. */
  othersMin: number | undefined
  /** Days in UTC, as `2026-11-20`; told where `othersMin` is. */
  firstDay: string
  lastDay: string
}

const LOOKED_AT = 2_000
/** Fewer are not told. */
const OTHERS_TOLD = [1_000, 500, 200, 100, 50, 20, 10, 5] as const

/** What is known of others who reported the same; undefined when the report is of no campaign. */
export async function describeSame(
  db: Db,
  { id, reporterId }: Pick<Report, 'id' | 'reporterId'>,
): Promise<SameReports | undefined> {
  const campaignId = await findCampaignOf(db, id)
  if (campaignId === undefined) return undefined
  const [[total], newest] = await Promise.all([
    sumCampaignDays(db, [campaignId]),
    listMemberIds(db, campaignId, { from: 'newest', limit: LOOKED_AT }),
  ])
  if (!total) return undefined
  const others = await countOtherReporters(db, newest, reporterId)
  const othersMin = OTHERS_TOLD.find((told) => others >= told)
  return { mark: markOf(campaignId), othersMin, firstDay: total.firstDay, lastDay: total.lastDay }
}

/** The id holds 74 bits of chance: too many to find it by trying. */
function markOf(campaignId: string): string {
  return createHash('sha256').update(campaignId).digest('hex').slice(0, 32)
}
