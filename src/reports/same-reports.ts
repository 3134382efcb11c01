import { createHash } from 'node:crypto'
import {
  countOtherReporters,
  listCampaignsOf,
  listMemberIds,
  sumCampaignDays,
} from '../db/campaigns.ts'
import type { Db } from '../db/pool.ts'
import type { Report } from '../db/reports.ts'
import { dateOf } from '../durations.ts'

/**
 * What a reporter may know about others who reported the same campaign. A spammer may also be a
 * reporter, and submit each copy of a mail to find out which recipient complained. So small numbers
 * are not shown, larger ones are shown only as a rounded minimum of other people, and days only in
 * UTC, such as `2026-11-20`.
 */
export type SameReports = {
  /**
   * Identifies the campaign. Its id is not used, because it contains the time of the first report.
   */
  mark: string
  /** Undefined if there are too few. */
  others: { min: number; firstDay: string; lastDay: string } | undefined
}

const LOOKED_AT = 2_000
/** The shown minimums; smaller numbers are not shown. */
const OTHERS_SHOWN = [1_000, 500, 200, 100, 50, 20, 10, 5] as const

/**
 * Describes the other reporters of a campaign. Undefined if the report has no campaign, is not
 * analyzed yet, or is retracted. The days always include that of the report itself.
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
  const min = OTHERS_SHOWN.find((bound) => others >= bound)
  if (!total || min === undefined) return { mark, others: undefined }
  const day = dateOf(receivedAt)
  const firstDay = day < total.firstDay ? day : total.firstDay
  const lastDay = day > total.lastDay ? day : total.lastDay
  return { mark, others: { min, firstDay, lastDay } }
}

/** Returns a hash from which the id cannot be guessed, because the id contains 74 random bits. */
function markOf(campaignId: string): string {
  return createHash('sha256').update(campaignId).digest('hex').slice(0, 32)
}
