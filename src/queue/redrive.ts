import { removeAnalyses } from '../db/analyses.ts'
import { insertAudit } from '../db/audit-log.ts'
import { renewPatience } from '../db/dead-letters.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { insertEvents, listReportsWith } from '../db/report-events.ts'
import { listAskedReports, markReports } from '../db/reports.ts'
import { type Clock, uuidFloor } from '../world.ts'
import { type Boss, bossDb, send } from './boss.ts'
import { analyzeReport, deadLetterQueue } from './queues.ts'

/** What became known of a reporter's relays, and by which report. */
export type RelayNews = {
  reporterId: string
  /** CIDR blocks of which something else was known before. */
  blocks: readonly string[]
  /** The report whose question was answered, which is looked at again at once. */
  answeredId?: string | undefined
  now: Date
}

const REPORTS_MAX = 200
const AGE_MS_MAX = 30 * 86_400_000
/** A report costs a whole analysis each time: who changes his mind does not get it for nothing. */
const PAUSE_MS = 3_600_000

/**
 * Puts the reports in line again of which their reporter was asked something about the blocks of
 * which more is known now: the latest 200 of the last 30 days. They go back to `received`, without
 * their analysis, in the transaction `tx` that writes down what is known; what anybody was told of
 * is left alone, so nothing is ever sent twice. Who was looked at again within the last hour waits
 * for an hour more. Returns their ids.
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
  await putInLineAgain(tx, boss, { ids: reopened, answeredId, now })
  return reopened
}

/**
 * Puts reports in line once more because of news of relays: those that were so within the last
 * hour for an hour later, unless it was their own question that was answered.
 */
export async function putInLineAgain(
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

/** Which dead letters: those named, those that one queue gave up, or all there are by now. */
export type WhichDeadLetters = readonly string[] | { source: string } | 'all'

/**
 * Puts dead letters back to work in their own queues. What is done, and by whom (null: at the
 * command line), is written down in the same transaction. Returns how many were moved.
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
    await renewPatience(tx, filter)
    let moved = 0
    for (;;) {
      const limit = REDRIVEN_AT_ONCE
      const step = await app.boss.redrive(deadLetterQueue, { ...filter, limit, db: bossDb(tx) })
      moved += step
      if (step < REDRIVEN_AT_ONCE) break
    }
    if (moved === 0) return 0
    const detail = `${moved} dead letters were put back to work (${wordsOf(which)}).`
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
