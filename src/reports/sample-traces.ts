import { levels } from '../activity/slots.ts'
import { deleteSlots } from '../db/activity.ts'
import type { Db } from '../db/pool.ts'
import { listReportersAt } from '../db/reporters.ts'
import { removeEmptyCampaigns, removeUnusedDesks } from '../db/sample-traces.ts'
import { SAMPLE_DOMAIN } from './queues.ts'

/**
 * After the last sample account was erased, removes what its reports left: campaigns, abuse desks,
 * and all graphs, which begin anew, because their figures do not tell whose reports they count.
 */
export async function removeSampleTraces(tx: Db, now: Date): Promise<void> {
  if ((await listReportersAt(tx, SAMPLE_DOMAIN)).length > 0) return
  await removeEmptyCampaigns(tx)
  await removeUnusedDesks(tx)
  await deleteSlots(
    tx,
    levels.map((_, level) => ({ level, before: now })),
  )
}
