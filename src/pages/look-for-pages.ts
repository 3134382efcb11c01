import { listMemberIds } from '../db/campaigns.ts'
import { listReportsWithPages } from '../db/pages.ts'
import type { Db } from '../db/pool.ts'
import { type Boss, send } from '../queue/boss.ts'
import { FIND_PAGES_AFTER, findPages } from './queues.ts'

/** Maximum number of reports of a campaign, the latest, that are looked at after a decision. */
const MEMBERS_MAX = 50

/** Queues that reports take back what they said about pages, if they no longer count. */
export async function reconsiderPages(
  tx: Db,
  boss: Boss,
  reportIds: readonly string[],
): Promise<void> {
  const ids = reportIds.length === 0 ? [] : await listReportsWithPages(tx, reportIds)
  await lookForPages(tx, boss, ids)
}

/** Queues a search for the pages of a campaign, because an operator decided what it is. */
export async function reconsiderCampaign(tx: Db, boss: Boss, campaignId: string): Promise<void> {
  const which = { from: 'newest', limit: MEMBERS_MAX } as const
  await lookForPages(tx, boss, await listMemberIds(tx, campaignId, which))
}

/** Queues a search for the pages to which reports lead. */
export function lookForPages(tx: Db, boss: Boss, reportIds: readonly string[]): Promise<void> {
  const jobs = reportIds.map((reportId) => ({ reportId }))
  return send(boss, findPages, jobs, tx, { seconds: FIND_PAGES_AFTER })
}
