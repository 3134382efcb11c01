import type { Packed } from '../db/packed.ts'
import { inTransaction, type Db, type Pool } from '../db/pool.ts'
import { insertRawMessages } from '../db/raw-messages.ts'
import { claimReportKeys } from '../db/report-keys.ts'
import { insertReports, type NewReport } from '../db/reports.ts'
import type { Boss } from '../queue/boss.ts'
import { analyzeReport, settleShadowed } from '../queue/queues.ts'
import { send } from '../queue/send.ts'

/** A report with all that is stored of it; `key` names its reporter and its content. */
export type Prepared = {
  report: NewReport
  packed: Packed
  contentHash: Buffer
  key: string
  isShadowed: boolean
}

/** Some of a batch had been reported before: what was written for it must not stay. */
class Repeated extends Error {}

/**
 * Keeps reports, their raw messages and their jobs in one transaction, and returns the id that
 * each key belongs to now: that of the earlier report where there is one. Keys must differ.
 *
 * Tried first as if all were new, all statements in one journey; where some are not, that is
 * rolled back and done in two steps. Repeats are rare, and a journey costs as much as ten rows.
 */
export async function keepReports(
  app: { pool: Pool; boss: Boss },
  reports: readonly Prepared[],
): Promise<Map<string, string>> {
  try {
    return await inTransaction(app.pool, async (tx) => {
      const claiming = claim(tx, reports)
      const [owners] = await Promise.all([claiming, insertWithJobs(tx, app.boss, reports)])
      if (newOnes(reports, owners).length < reports.length) throw new Repeated()
      return owners
    })
  } catch (error) {
    if (!(error instanceof Repeated)) throw error
  }
  return inTransaction(app.pool, async (tx) => {
    const owners = await claim(tx, reports)
    await insertWithJobs(tx, app.boss, newOnes(reports, owners))
    return owners
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

/**
 * Writes reports, their raw messages and their jobs; their keys are the caller's. Those to be put
 * aside go another way of the same length, so that nobody can tell by the time it takes.
 */
export async function insertWithJobs(
  tx: Db,
  boss: Boss,
  reports: readonly Prepared[],
): Promise<void> {
  const aside = reports.filter(({ isShadowed }) => isShadowed)
  const others = aside.length > 0 ? reports.filter(({ isShadowed }) => !isShadowed) : reports
  await Promise.all([...insertOneWay(tx, boss, others), ...insertAside(tx, boss, aside)])
}

function insertOneWay(tx: Db, boss: Boss, reports: readonly Prepared[]): Promise<void>[] {
  if (reports.length === 0) return []
  return [
    insertReports(tx, reports.map(reportOf)),
    insertRawMessages(tx, reports.map(messageOf)),
    send(boss, analyzeReport, reports.map(jobOf), tx),
  ]
}

function insertAside(tx: Db, boss: Boss, reports: readonly Prepared[]): Promise<void>[] {
  if (reports.length === 0) return []
  return [
    insertReports(tx, reports.map(reportOf), 'shadowed_reports'),
    insertRawMessages(tx, reports.map(messageOf), 'shadowed_messages'),
    send(boss, settleShadowed, reports.map(jobOf), tx),
  ]
}

const reportOf = ({ report }: Prepared) => report
const messageOf = ({ report, packed }: Prepared) => ({ id: report.id, ...packed })
const jobOf = ({ report }: Prepared) => ({ reportId: report.id })
