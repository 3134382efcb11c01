import type { Db } from '../db/pool.ts'
import { removeReportedOrigins } from '../db/reported-origins.ts'
import { listReportersAt } from '../db/reporters.ts'
import { hasReportsOfOthers } from '../db/reports.ts'
import { removeEmptyCampaigns, removeUnusedDesks } from '../db/sample-traces.ts'
import { ownDomain, SAMPLE_DOMAIN } from './queues.ts'
import { removeSampleDelistings } from './sample-delistings.ts'

/**
 * After the last sample account was erased, removes what its reports left: campaigns, requests to
 * delist, and abuse desks and origins unless other people reported meanwhile, because theirs could
 * be among them.
 */
export async function removeSampleTraces(tx: Db): Promise<void> {
  if ((await listReportersAt(tx, SAMPLE_DOMAIN)).length > 0) return
  await removeEmptyCampaigns(tx)
  await removeSampleDelistings(tx)
  if (await hasReportsOfOthers(tx, ownDomain)) return
  await removeUnusedDesks(tx)
  await removeReportedOrigins(tx)
}
