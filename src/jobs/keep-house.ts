import type { App } from '../app.ts'
import { listDeadReportIds } from '../db/dead-reports.ts'
import { removeIdempotencyKeys } from '../db/idempotency-keys.ts'
import { dropPartitions, ensurePartitions } from '../db/partitions.ts'
import { inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { removeReportKeys } from '../db/report-keys.ts'
import { markReports } from '../db/reports.ts'
import { uuidFloor } from '../world.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

const DAY_MS = 86_400_000
const WEEKS_AHEAD = 12
const IDEMPOTENCY_MS = 2 * DAY_MS

/**
 * The hourly chores: partitions for the weeks to come, those past retention dropped, keys of
 * dropped reports and old Idempotency-Keys forgotten.
 */
export async function keepHouse(app: Needs): Promise<void> {
  const now = app.clock()
  await ensurePartitions(app.pool, now, WEEKS_AHEAD)
  const oldest = new Date(now.getTime() - app.config.retentionDays * DAY_MS)
  const dropped = await dropPartitions(app.pool, oldest)
  if (dropped.length > 0) app.log.info({ partitions: dropped.length }, 'Dropped old partitions.')
  await forgetKeys(app, oldest)
  await removeIdempotencyKeys(app.pool, new Date(now.getTime() - IDEMPOTENCY_MS))
}

/**
 * Marks reports as failed whose analysis has died: seen here rather than by the worker, which may
 * have died with it.
 */
export async function markDeadReports(app: Needs): Promise<void> {
  const dead = await listDeadReportIds(app.pool, new Date(app.clock().getTime() - DAY_MS))
  if (dead.length === 0) return
  await inTransaction(app.pool, async (tx) => {
    const marked = await markReports(tx, dead, ['received'], 'failed')
    const detail = 'The analysis failed for good; an operator has been told.'
    const at = app.clock()
    await insertEvents(
      tx,
      marked.map((reportId) => ({ reportId, at, event: 'failed', detail })),
    )
  })
}

/** In steps of a day from a month before retention ends, so that each is short. */
async function forgetKeys({ pool }: Needs, oldest: Date): Promise<void> {
  for (let day = 30; day > 0; day--) {
    const from = new Date(oldest.getTime() - day * DAY_MS)
    const to = new Date(from.getTime() + DAY_MS)
    await removeReportKeys(pool, uuidFloor(from), uuidFloor(to))
  }
}
