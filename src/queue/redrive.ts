import { removeAnalyses } from '../db/analyses.ts'
import { insertAudit } from '../db/audit-log.ts'
import { restartRetries } from '../db/dead-letters.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { insertEvents, listReportsWith } from '../db/report-events.ts'
import { listAskedReports, markReports } from '../db/reports.ts'
import { type Clock, uuidFloor } from '../world.ts'
import { type Boss, bossDb, send } from './boss.ts'
import { analyzeReport, deadLetterQueue } from './queues.ts'

/** New knowledge about a reporter's relays, and the report that led to it. */
export type RelayNews = {
  reporterId: string
  /** The CIDR blocks about which the knowledge changed. */
  blocks: readonly string[]
  /** The report whose question was answered; it is analyzed again at once. */
  answeredId?: string | undefined
  now: Date
}

const REPORTS_MAX = 200
const AGE_MS_MAX = 30 * 86_400_000
/**
 * Minimum time in milliseconds between two repeated analyses of a report, because each costs a
 * complete analysis and a reporter may change answers often.
 */
const PAUSE_MS = 3_600_000

/**
 * Queues the reports again whose reporter was asked about one of the blocks: the latest 200 of the
 * last 30 days. They return to `received` and lose their analysis, in the transaction `tx` that
 * stores the new knowledge. Reports with feedback are excluded, so nothing is sent twice. A report
 * that was analyzed again within the last hour waits for another hour. Returns their ids.
 */
export async function reopenAskedReports(
  tx: Db,
  boss: Boss,
  { reporterId, blocks, answeredId, now }: RelayNews,
): Promise<string[]> {
  if (blocks.length === 0) return []
  const from = uuidFloor(new Date(now.getTime() - AGE_MS_MAX))
  const page = { about: blocks, from, limit: REPORTS_MAX }
  const asked = await listAskedReports(tx, reporterId, page)
  const reopened = await markReports(tx, asked, ['kept'], 'received')
  if (reopened.length === 0) return []
  await removeAnalyses(tx, reopened)
  await requeueReports(tx, boss, { ids: reopened, answeredId, now })
  return reopened
}

/**
 * Queues reports for another analysis because of new knowledge about relays. Those that were queued
 * for this reason within the last hour start an hour later, unless their own question was answered.
 */
export async function requeueReports(
  tx: Db,
  boss: Boss,
  { ids, answeredId, now }: Pick<RelayNews, 'answeredId' | 'now'> & { ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return
  const pausedSince = new Date(now.getTime() - PAUSE_MS)
  const recent = new Set(await listReportsWith(tx, 'reopened', ids, pausedSince))
  const isLater = (id: string) => recent.has(id) && id !== answeredId
  const detail = 'More is known of the reporter’s mail servers: it is looked at again.'
  await insertEvents(
    tx,
    ids.map((reportId) => ({ reportId, at: now, event: 'reopened', detail })),
  )
  const jobs = (some: readonly string[]) => some.map((reportId) => ({ reportId }))
  await send(boss, analyzeReport, jobs(ids.filter((id) => !isLater(id))), tx)
  const startAfter = new Date(now.getTime() + PAUSE_MS)
  await send(boss, analyzeReport, jobs(ids.filter(isLater)), tx, { startAfter })
}

const REDRIVEN_AT_ONCE = 1_000

/** Selects dead letters: by id, of one source queue, or all that exist now. */
export type WhichDeadLetters = readonly string[] | { source: string } | 'all'

/**
 * Moves dead letters back to their own queues, and adds an audit entry in the same transaction; the
 * administrator is null at the command line. Returns the number moved.
 */
export async function redriveDeadLetters(
  app: { pool: Pool; boss: Boss; clock: Clock },
  which: WhichDeadLetters,
  administratorId: string | null,
): Promise<number> {
  const now = app.clock()
  const filter = filterOf(which, now)
  if ('ids' in filter && filter.ids.length === 0) return 0
  return inTransaction(app.pool, async (tx) => {
    await restartRetries(tx, filter)
    let moved = 0
    for (;;) {
      const limit = REDRIVEN_AT_ONCE
      const step = await app.boss.redrive(deadLetterQueue, { ...filter, limit, db: bossDb(tx) })
      moved += step
      if (step < REDRIVEN_AT_ONCE) break
    }
    if (moved === 0) return 0
    const detail = `${moved} dead letters were returned to their queues (${wordsOf(which)}).`
    await insertAudit(tx, { at: now, reporterId: administratorId, action: 'redrive', detail })
    return moved
  })
}

function filterOf(which: WhichDeadLetters, createdBefore: Date) {
  if (which === 'all') return { createdBefore }
  if ('source' in which) return { sourceName: which.source, createdBefore }
  return { ids: [...which] }
}

function wordsOf(which: WhichDeadLetters): string {
  if (which === 'all') return 'all'
  return 'source' in which ? `of ${which.source}` : 'chosen'
}
