import { createHash } from 'node:crypto'
import { sumCampaignDays } from '../../db/campaign-days.ts'
import { countOtherReporters, listCampaignsOf, listMemberIds } from '../../db/campaign-members.ts'
import type { Db } from '../../db/pool.ts'
import type { Report } from '../../db/reports.ts'

/**
 * What a reporter may know of others who reported the same. A spammer may be a reporter too, and
 * send in each copy of a mail to learn whose reader complained: so nothing is told of few, and of
 * many only a round number (so many different other people at least) that seldom changes, and days
 * in UTC, as `2026-11-20`.
 */
export type SameReports = {
  /** Stands for the campaign. Its id will not do: that tells the moment of the first report. */
  mark: string
  /** Undefined when they are few. */
  others: { min: number; firstDay: string; lastDay: string } | undefined
}

const LOOKED_AT = 2_000
/** Fewer are not told. */
const OTHERS_TOLD = [1_000, 500, 200, 100, 50, 20, 10, 5] as const

/**
 * What is known of others who reported the same; undefined when the report is of no campaign, is
 * not analyzed yet, or is retracted. The report itself is always within the days, counted or not.
 */
export async function describeSame(
  db: Db,
  { id, reporterId, receivedAt }: Pick<Report, 'id' | 'reporterId' | 'receivedAt'>,
): Promise<SameReports | undefined> {
  const [own] = await listCampaignsOf(db, [id])
  if (!own) return undefined
  const mark = markOf(own.campaignId)
  const [[total], newest] = await Promise.all([
    sumCampaignDays(db, [own.campaignId]),
    listMemberIds(db, own.campaignId, { from: 'newest', limit: LOOKED_AT }),
  ])
  const others = await countOtherReporters(db, newest, reporterId)
  const min = OTHERS_TOLD.find((told) => others >= told)
  if (!total || min === undefined) return { mark, others: undefined }
  const day = receivedAt.toISOString().slice(0, 10)
  const firstDay = day < total.firstDay ? day : total.firstDay
  const lastDay = day > total.lastDay ? day : total.lastDay
  return { mark, others: { min, firstDay, lastDay } }
}

/** The id holds 74 bits of chance: too many to find it by trying. */
function markOf(campaignId: string): string {
  return createHash('sha256').update(campaignId).digest('hex').slice(0, 32)
}
