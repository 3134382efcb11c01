import { insertAudit, type OperatorAction } from '../db/audit-log.ts'
import { endHolding, listHeldReports, putShadowBan, removeShadowBan } from '../db/limits.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import { type Boss, send } from '../queue/boss.ts'
import { analyzeReport } from './analyze-report.ts'

type Needs = { pool: Pool; boss: Boss }

/** Maximum number of held reports released or dropped in a transaction, and in one request. */
const AT_ONCE = 100
const IN_ONE_GO_MAX = 10_000

/**
 * Bans a reporter: new reports are answered, analyzed and shown as usual, but have no effect on
 * others. Adds an audit entry.
 */
export async function imposeShadowBan(
  { pool }: Pick<Needs, 'pool'>,
  { reporterId, reason }: { reporterId: string; reason: string },
  deed: OperatorAction,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const ban = { reporterId, reason, imposedAt: deed.at, imposedBy: deed.reporterId }
    await putShadowBan(tx, ban)
    const detail = `${reporterId}: ${reason}`
    await insertAudit(tx, { ...deed, action: 'shadow ban', detail })
  })
}

/**
 * Lifts a ban: new reports count again; reports already held stay held. Adds an audit entry. False
 * when there was no ban.
 */
export async function liftShadowBan(
  { pool }: Pick<Needs, 'pool'>,
  reporterId: string,
  deed: OperatorAction,
): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const isLifted = await removeShadowBan(tx, reporterId)
    if (isLifted) await insertAudit(tx, { ...deed, action: 'lift shadow ban', detail: reporterId })
    return isLifted
  })
}

/** Selects held reports: one, or all of a reporter. */
export type Held = { reportId: string } | { reporterId: string }

/**
 * Releases held reports, so that they count. Their reporters see no change; a job adds the effects
 * that were held back. Returns the number released.
 */
export async function releaseHeldReports(
  app: Needs,
  which: Held,
  deed: OperatorAction,
): Promise<number> {
  return inBatches(app, which, async (ids) =>
    inTransaction(app.pool, async (tx) => {
      const released = await endHolding(tx, ids, 'released')
      if (released.length === 0) return 0
      const jobs = released.map((reportId) => ({ reportId }))
      await send(app.boss, analyzeReport, jobs, tx)
      const detail = detailOf(which, released)
      await insertAudit(tx, { ...deed, action: 'release reports', detail })
      return released.length
    }),
  )
}

/**
 * Drops held reports, so that they never count; their reporters see no change. Returns the number
 * dropped.
 */
export async function dropHeldReports(
  app: Needs,
  which: Held,
  deed: OperatorAction,
): Promise<number> {
  return inBatches(app, which, async (ids) =>
    inTransaction(app.pool, async (tx) => {
      const dropped = await endHolding(tx, ids, 'dropped')
      if (dropped.length === 0) return 0
      await insertAudit(tx, { ...deed, action: 'drop reports', detail: detailOf(which, dropped) })
      return dropped.length
    }),
  )
}

function detailOf(which: Held, done: readonly unknown[]): string {
  return 'reportId' in which ? which.reportId : `${done.length} of ${which.reporterId}`
}

async function inBatches(
  { pool }: Needs,
  which: Held,
  work: (ids: readonly string[]) => Promise<number>,
): Promise<number> {
  if ('reportId' in which) return work([which.reportId])
  const { reporterId } = which
  let done = 0
  let before: string | undefined
  while (done < IN_ONE_GO_MAX) {
    const held = await listHeldReports(pool, { reporterId, before, limit: AT_ONCE })
    if (held.length === 0) return done
    done += await work(held.map(({ id }) => id))
    before = held.at(-1)?.id
  }
  return done
}
