import type { App } from '../app.ts'
import { dropCounterPartitions, ensureCounterPartitions } from '../db/counter-partitions.ts'
import { listDeadReportIds } from '../db/dead-letters.ts'
import { removeIdempotencyKeys } from '../db/idempotency-keys.ts'
import { dropPartitions, ensurePartitions } from '../db/partitions.ts'
import { inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { removeRegistryRows } from '../db/registry-answers.ts'
import { findOldestKey, removeReportKeys } from '../db/report-keys.ts'
import { listReceivedReports, markReports } from '../db/reports.ts'
import { listBacklogs } from '../db/queue-health.ts'
import { analyzeReport } from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import { uuidFloor, uuidTime } from '../world.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'>

const DAY_MS = 86_400_000
const WEEKS_AHEAD = 12
const GENERATIONS_AHEAD = 6
const IDEMPOTENCY_MS = 2 * DAY_MS
/** Kept a while after they grew old, for who wonders what was known. */
const ANSWERS_MS = 30 * DAY_MS
const ORPHAN_MS = 10 * 60_000
const ORPHANS_MAX = 1_000

/**
 * The hourly chores: partitions for the weeks to come, those past retention dropped, keys of
 * dropped reports, old Idempotency-Keys and old answers of registries forgotten, reports without
 * a job given one.
 */
export async function keepHouse(app: Needs): Promise<void> {
  const now = app.clock()
  await ensurePartitions(app.pool, now, WEEKS_AHEAD)
  await ensureCounterPartitions(app.pool, now, GENERATIONS_AHEAD)
  const oldest = new Date(now.getTime() - app.config.retentionDays * DAY_MS)
  const dropped = [
    ...(await dropPartitions(app.pool, oldest)),
    ...(await dropCounterPartitions(app.pool, now)),
  ]
  if (dropped.length > 0) app.log.info({ partitions: dropped.length }, 'Dropped old partitions.')
  await forgetKeys(app, oldest)
  await removeIdempotencyKeys(app.pool, new Date(now.getTime() - IDEMPOTENCY_MS))
  await removeRegistryRows(app.pool, new Date(now.getTime() - ANSWERS_MS))
  await requeueOrphans(app)
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
    const detail = 'The analysis failed for good. Operators find it among the dead letters.'
    const at = app.clock()
    await insertEvents(
      tx,
      marked.map((reportId) => ({ reportId, at, event: 'failed', detail })),
    )
  })
}

/** In steps of a day, so that each is short. */
async function forgetKeys({ pool }: Needs, oldest: Date): Promise<void> {
  const first = await findOldestKey(pool)
  if (first === undefined) return
  for (let from = uuidTime(first); from < oldest; from = new Date(from.getTime() + DAY_MS)) {
    const to = new Date(Math.min(from.getTime() + DAY_MS, oldest.getTime()))
    await removeReportKeys(pool, uuidFloor(from), uuidFloor(to))
  }
}

/**
 * Gives a job to reports that wait without one: their jobs were purged, or lost with a restored
 * backup. Only while nothing waits in the queue, so that a backlog is never doubled.
 */
async function requeueOrphans(app: Needs): Promise<void> {
  const now = app.clock()
  const [backlog] = await listBacklogs(app.pool, [analyzeReport.name], now)
  if (!backlog || backlog.ready + backlog.deferred > 0) return
  const before = uuidFloor(new Date(now.getTime() - ORPHAN_MS))
  const orphans = await listReceivedReports(app.pool, before, ORPHANS_MAX)
  if (orphans.length === 0) return
  app.log.warn({ reports: orphans.length }, 'Reports without a job were put in line again.')
  await inTransaction(app.pool, (tx) =>
    send(
      app.boss,
      analyzeReport,
      orphans.map((reportId) => ({ reportId })),
      tx,
    ),
  )
}
