import { insertAudit, type OperatorAction } from '../db/audit-log.ts'
import { endHolding, listHeldReports, putShadowBan, removeShadowBan } from '../db/limits.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import { type Boss, send } from '../queue/boss.ts'
import { analyzeReport } from '../queue/queues.ts'

type Needs = { pool: Pool; boss: Boss }

/** Held reports are released or dropped so many in a transaction, and in one request at most. */
const AT_ONCE = 100
const IN_ONE_GO_MAX = 10_000

/**
 * From now on what this reporter reports is answered, analyzed and shown as usual, and has no
 * effect on others.
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
 * From now on what this reporter reports counts again; what is held stays held. False when there
 * was no ban.
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

/** Which of the held reports: one, or all of a reporter. */
export type Held = { reportId: string } | { reporterId: string }

/**
 * Lets held reports count as all others do. What their reporter was shown stays: a job adds what
 * was held back. Answers how many there were.
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

/** Decides that held reports never count; their reporters see no change. Answers how many. */
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
