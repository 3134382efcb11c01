import type { Analysis } from '../analysis/analyze.ts'
import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { unpack } from '../db/packed.ts'
import { inTransaction } from '../db/pool.ts'
import {
  listLessons,
  listRelays,
  markLesson,
  replaceFoundRelays,
  type ReporterRelay,
} from '../db/reporter-relays.ts'
import { findReporter } from '../db/reporters.ts'
import { listActiveReporters, listAnalyzedReports } from '../db/reports.ts'
import { networkSet, parseIp } from '../mail/ip.ts'
import { blockOfAddress } from '../mail/relay-block.ts'
import { reopenAskedReports } from '../queue/reopen-reports.ts'
import { learnRelays, type PastReport, pastReport } from '../verdict/learn-relays.ts'
import { uuidFloor, uuidTime } from '../world.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

const ACTIVE_MS = 86_400_000
const REPORTERS_MAX = 500
const REPORTS_READ = 50

/**
 * Looks through the latest reports of reporters who reported something since their last lesson, at
 * most 500 of them, and keeps which relays their mail comes through. Returns how many it looked
 * at; who has waited longest comes first.
 */
export async function learnAllRelays(app: Needs): Promise<number> {
  const since = uuidFloor(new Date(app.clock().getTime() - ACTIVE_MS))
  const active = await listActiveReporters(app.pool, since)
  const lessons = await listLessons(
    app.pool,
    active.map(({ reporterId }) => reporterId),
  )
  const lessonOf = (reporterId: string) => lessons.get(reporterId)?.getTime() ?? 0
  const due = active
    .filter(({ reporterId, lastId }) => lessonOf(reporterId) < uuidTime(lastId).getTime())
    .toSorted((a, b) => lessonOf(a.reporterId) - lessonOf(b.reporterId))
    .slice(0, REPORTERS_MAX)
  for (const { reporterId } of due) await learnRelaysOf(app, reporterId)
  return due.length
}

/** The lesson of one reporter. */
async function learnRelaysOf(app: Needs, reporterId: string): Promise<void> {
  const now = app.clock()
  const [relays, reporter, history] = await Promise.all([
    listRelays(app.pool, reporterId),
    findReporter(app.pool, reporterId),
    readHistory(app, reporterId),
  ])
  const lesson = learnRelays(history, {
    learnedIps: relays.filter(({ how }) => how === 'learned').map(addressOf),
    reporterDomain: reporter?.email.split('@').at(-1) ?? null,
  })
  const isOpen = unspokenOf(relays)
  const rows = (found: typeof lesson.learned) => found.filter(({ ip }) => isOpen(ip)).flatMap(rowOf)
  await inTransaction(app.pool, async (tx) => {
    await markLesson(tx, reporterId, now)
    const found = { learned: rows(lesson.learned), proposed: rows(lesson.proposed) }
    const isNew = await replaceFoundRelays(tx, reporterId, found, now)
    if (isNew) await reopenAskedReports(tx, app.boss, reporterId, now)
  })
}

async function readHistory(app: Needs, reporterId: string): Promise<PastReport[]> {
  const reports = await listAnalyzedReports(app.pool, reporterId, REPORTS_READ)
  const packed = await listPackedAnalyses(
    app.pool,
    reports.map(({ id }) => id),
  )
  const reportOf = new Map(reports.map((report) => [report.id, report]))
  const history: PastReport[] = []
  for (const { id, encoding, content } of packed) {
    const report = reportOf.get(id)
    const json = (await unpack({ encoding, content })).toString()
    const { hops } = JSON.parse(json) as Pick<Analysis, 'hops'>
    if (report) history.push(pastReport({ ...report, at: report.receivedAt }, hops))
  }
  return history
}

/** Whether the reporter has left open what an address is: what they said stands. */
function unspokenOf(relays: readonly ReporterRelay[]): (ip: string) => boolean {
  const said = networkSet(
    relays.filter(({ how }) => how === 'set' || how === 'refused').map(({ cidr }) => cidr),
  )
  return (ip) => {
    const address = parseIp(ip)
    return address !== undefined && !said.has(address)
  }
}

function addressOf({ cidr }: ReporterRelay): string {
  return cidr.split('/')[0] ?? cidr
}

function rowOf({ ip, name, evidence }: { ip: string; name: string | null; evidence: number }) {
  const cidr = blockOfAddress(ip)
  return cidr === undefined ? [] : [{ cidr, name, evidence }]
}
