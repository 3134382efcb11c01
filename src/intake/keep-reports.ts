import type { Packed } from '../db/packed.ts'
import { inTransaction, type Db, type Pool } from '../db/pool.ts'
import { insertRawMessages } from '../db/raw-messages.ts'
import type { KindChange } from '../db/report-changes.ts'
import { claimReportKeys } from '../db/report-keys.ts'
import { insertReports, type NewReport } from '../db/reports.ts'
import type { Boss } from '../queue/boss.ts'
import { analyzeReport } from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import type { Clock } from '../world.ts'
import { changeReports } from './change-report.ts'

/** A report with all that is stored of it; `key` names its reporter and its content. */
export type Prepared = {
  report: NewReport
  packed: Packed
  contentHash: Buffer
  key: string
}

/**
 * What became of a submission: a `new` report; the earlier one of the same bytes, `changed` to what
 * its reporter says now; or that one as it was, `repeated`.
 */
export type Became = { id: string; is: 'new' | 'changed' | 'repeated' }

/** Some of a batch had been reported before: what was written for it must not stay. */
class Repeated extends Error {}

/**
 * Keeps reports, their raw messages and their jobs in one transaction, and returns what became of
 * each, by its key. Where a message was reported before, the earlier report is changed to what its
 * reporter says now. Keys must differ.
 *
 * Tried first as if all were new, all statements in one journey; where some are not, that is
 * rolled back and done in two steps. Repeats are rare, and a journey costs as much as ten rows.
 */
export async function keepReports(
  app: { pool: Pool; boss: Boss; clock: Clock },
  reports: readonly Prepared[],
): Promise<Map<string, Became>> {
  try {
    return await inTransaction(app.pool, async (tx) => {
      const claiming = claim(tx, reports)
      const [owners] = await Promise.all([claiming, insertWithJobs(tx, app.boss, reports)])
      if (newOnes(reports, owners).length < reports.length) throw new Repeated()
      return new Map(reports.map(({ key, report: { id } }) => [key, { id, is: 'new' }]))
    })
  } catch (error) {
    if (!(error instanceof Repeated)) throw error
  }
  return inTransaction(app.pool, async (tx) => {
    const owners = await claim(tx, reports)
    await insertWithJobs(tx, app.boss, newOnes(reports, owners))
    const changed = await changeReports(tx, app, changesOf(reports, owners), app.clock())
    return new Map(
      reports.map(({ key, report }) => {
        const id = owners.get(key) ?? report.id
        const is = id === report.id ? 'new' : changed.has(id) ? 'changed' : 'repeated'
        return [key, { id, is }]
      }),
    )
  })
}

/** What is said of messages that were reported before. */
function changesOf(
  reports: readonly Prepared[],
  owners: ReadonlyMap<string, string>,
): KindChange[] {
  return reports.flatMap(({ key, report: { id, kind, comment, shadow } }) => {
    const reportId = owners.get(key)
    if (reportId === undefined || reportId === id) return []
    return [{ reportId, kind, comment, isShadowed: shadow === 'held' }]
  })
}

async function claim(tx: Db, reports: readonly Prepared[]): Promise<Map<string, string>> {
  const owners = await claimReportKeys(
    tx,
    reports.map(({ contentHash, report: { reporterId, id } }) => ({
      contentHash,
      reporterId,
      reportId: id,
    })),
  )
  return new Map(reports.map(({ key, report }, index) => [key, owners[index] ?? report.id]))
}

function newOnes(reports: readonly Prepared[], owners: ReadonlyMap<string, string>): Prepared[] {
  return reports.filter(({ key, report }) => owners.get(key) === report.id)
}

/** Writes reports, their raw messages and their jobs; their keys are the caller's. */
async function insertWithJobs(tx: Db, boss: Boss, reports: readonly Prepared[]): Promise<void> {
  if (reports.length === 0) return
  await Promise.all([
    insertReports(tx, reports.map(reportOf)),
    insertRawMessages(tx, reports.map(messageOf)),
    send(boss, analyzeReport, reports.map(jobOf), tx),
  ])
}

const reportOf = ({ report }: Prepared) => report
const messageOf = ({ report, packed }: Prepared) => ({ id: report.id, ...packed })
const jobOf = ({ report }: Prepared) => ({ reportId: report.id })
