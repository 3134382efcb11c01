import type { App } from '../app.ts'
import { removeExpiredLinks } from '../db/account-links.ts'
import { removeAdvices } from '../db/advices.ts'
import { dropCounterPartitions, ensureCounterPartitions } from '../db/counter-partitions.ts'
import { removeUntold } from '../db/consumer-list.ts'
import { listDeadIds } from '../db/dead-letters.ts'
import { listFeedback } from '../db/feedback-reports.ts'
import { removeEndedCorrections } from '../db/contact-corrections.ts'
import { removeErasures } from '../db/erasures.ts'
import { removeEnrollments } from '../db/enrollment-requests.ts'
import { removeIdempotencyKeys } from '../db/idempotency-keys.ts'
import { removeInboundKeys } from '../db/inbound-keys.ts'
import { dropPartitions, ensurePartitions } from '../db/partitions.ts'
import { inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { removeDeliveries } from '../db/webhook-deliveries.ts'
import { removeEndedSuppressions } from '../db/suppressions.ts'
import { removeReporterDays } from '../db/reporter-days.ts'
import { removeIdleCounts } from '../db/rate-limits.ts'
import { removeRegistryRows } from '../db/registry-answers.ts'
import { findOldestKey, removeReportKeys } from '../db/report-keys.ts'
import { markReports, type ReportState } from '../db/reports.ts'
import { analyzeReport, findContact } from '../queue/queues.ts'
import { forgetReputations } from '../judging/reputations/forget-reputations.ts'
import { endStuckUnsubscribes } from './marketers/unsubscribe-reporter.ts'
import { uuidFloor, uuidTime } from '../world.ts'
import { markDeadMails } from './inbound/tend-mails.ts'
import { requeueOrphans } from './requeue-orphans.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'>

const DAY_MS = 86_400_000
const WEEKS_AHEAD = 12
const GENERATIONS_AHEAD = 6
const IDEMPOTENCY_MS = 2 * DAY_MS
/** Longer than mail servers try. */
const INBOUND_MS = 10 * DAY_MS
/** Kept a while after they grew old, for who wonders what was known. */
const ANSWERS_MS = 30 * DAY_MS
/** Longer than the week for which a letter counts. */
const ADVICES_MS = 60 * DAY_MS
const DELIVERIES_MS = 7 * DAY_MS
const UNTOLD_AT_ONCE = 500
const KEYS_AT_ONCE = 5_000
/** The first UUID. */
const NO_KEY = '00000000-0000-0000-0000-000000000000'

/**
 * The hourly chores: partitions for the weeks to come, those past retention dropped, keys of
 * dropped reports, old Idempotency-Keys, idle keys of limits, answers of registries, reputations,
 * links, ended suppressions and addresses that are not told forgotten, what waits without a job
 * given one.
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
  await removeInboundKeys(app.pool, new Date(now.getTime() - INBOUND_MS))
  await removeRegistryRows(app.pool, new Date(now.getTime() - ANSWERS_MS))
  await removeEndedCorrections(app.pool, new Date(now.getTime() - ANSWERS_MS))
  await removeEnrollments(app.pool, oldest)
  await removeReporterDays(app.pool, oldest)
  await removeEndedSuppressions(app.pool, oldest)
  await forgetUntold(app, oldest)
  await forgetReputations(app.pool, now, app.config.retentionDays)
  await forgetIdleKeys(app)
  await removeAdvices(app.pool, new Date(now.getTime() - ADVICES_MS))
  await removeDeliveries(app.pool, uuidFloor(new Date(now.getTime() - DELIVERIES_MS)))
  await removeExpiredLinks(app.pool, new Date(now.getTime() - DAY_MS))
  await removeErasures(app.pool, new Date(now.getTime() - ANSWERS_MS))
  await endStuckUnsubscribes(app)
  await requeueOrphans(app)
}

/**
 * Marks reports as failed whose analysis or whose look-up of a contact has died: seen here rather
 * than by the worker, which may have died with it.
 */
export async function markDeadReports(app: Needs): Promise<void> {
  const since = new Date(app.clock().getTime() - DAY_MS)
  const analysis = await listDeadIds(app.pool, 'reportId', [analyzeReport.name], since)
  await markDead(app, analysis, 'received', 'The analysis failed for good.')
  const lookUps = await listDeadIds(app.pool, 'reportId', [findContact.name], since)
  await markDead(app, lookUps, 'analyzed', 'Looking for a contact failed for good.')
  await markDeadMails(app, since)
}

async function markDead(
  app: Needs,
  dead: readonly string[],
  from: ReportState,
  what: string,
): Promise<void> {
  if (dead.length === 0) return
  await inTransaction(app.pool, async (tx) => {
    const failed = await markReports(tx, dead, [from], 'failed')
    // Looked at once the rows are locked: another run may have found the contact meanwhile.
    const told = (await listFeedback(tx, failed)).map(({ reportId }) => reportId)
    await markReports(tx, told, ['failed'], from)
    const marked = failed.filter((id) => !told.includes(id))
    const detail = `${what} Operators find it among the dead letters.`
    const at = app.clock()
    await insertEvents(
      tx,
      marked.map((reportId) => ({ reportId, at, event: 'failed', detail })),
    )
  })
}

/** Addresses that were named by messages, and are told no more. */
async function forgetUntold({ pool }: Needs, oldest: Date): Promise<void> {
  for (;;) {
    const removed = await inTransaction(pool, (tx) => removeUntold(tx, oldest, UNTOLD_AT_ONCE))
    if (removed < UNTOLD_AT_ONCE) return
  }
}

/** Those under whom nothing counts any more. */
async function forgetIdleKeys({ pool }: Needs): Promise<void> {
  let after: string | undefined = NO_KEY
  while (after !== undefined) {
    after = await removeIdleCounts(pool, { after, limit: KEYS_AT_ONCE })
  }
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
