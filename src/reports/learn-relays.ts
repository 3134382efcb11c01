import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { inTransaction } from '../db/pool.ts'
import {
  findLastExaminedReporter,
  listLastExaminations,
  listRelays,
  markReporterExamined,
  replaceFoundRelays,
  type ReporterRelay,
} from '../db/reporter-relays.ts'
import { holdReporters } from '../db/reporters.ts'
import { listActiveReporters, listAnalyzedReports } from '../db/reports.ts'
import { unpack } from '../db/rows.ts'
import { DAY_MS } from '../durations.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import { networkSet, parseIp } from '../mail/ip.ts'
import type { Analysis } from '../pieces/analyze.ts'
import { relaysFromHistory, pastReport, type PastReport } from '../verdict/relays.ts'
import { uuidFloor, uuidTime } from '../world.ts'
import { reopenAskedReports } from './reopen-reports.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

const ACTIVE_MS = DAY_MS
/** Maximum numbers of reporters per run: examined, and learned from. */
const usualLimits = { seen: 5_000, taught: 500 }
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const FIRST_UUID = '00000000-0000-0000-0000-000000000000'
const REPORTS_READ = 50

/**
 * Examines the reporters active since they were last examined, reads up to 50 recent reports of
 * each of at most 500 reporters, and stores the relays that their mail passes through. Returns the
 * number of reporters it learned from. Takes reporters in the order of their ids, and each run
 * continues after the last one.
 */
export async function runLearnRelays(app: Needs, limits = usualLimits): Promise<number> {
  const active = await listNextReporters(app, limits.seen)
  const lessons = await listLastExaminations(
    app.pool,
    active.map(({ reporterId }) => reporterId),
  )
  const due = active.filter(({ reporterId, lastId }, at) => {
    const lesson = lessons.get(reporterId)?.getTime() ?? 0
    // The last reporter of a full page is always included, because the next run continues there.
    return lesson < uuidTime(lastId).getTime() || at === limits.seen - 1
  })
  const taught = due.slice(0, limits.taught)
  for (const { reporterId } of taught) await learnRelaysOf(app, reporterId)
  return taught.length
}

async function listNextReporters(app: Needs, limit: number) {
  const since = uuidFloor(new Date(app.clock().getTime() - ACTIVE_MS))
  const last = (await findLastExaminedReporter(app.pool)) ?? FIRST_UUID
  const page = { after: last, to: LAST_UUID, limit }
  const later = await listActiveReporters(app.pool, since, page)
  if (later.length === limit) return later
  const around = { after: FIRST_UUID, to: last, limit: limit - later.length }
  return [...later, ...(await listActiveReporters(app.pool, since, around))]
}

async function learnRelaysOf(app: Needs, reporterId: string): Promise<void> {
  const now = app.clock()
  const [relays, history] = await Promise.all([
    listRelays(app.pool, reporterId),
    readHistory(app, reporterId),
  ])
  const lesson = relaysFromHistory(history, {
    learnedIps: relays.filter(({ how }) => how === 'learned').map(addressOf),
  })
  const isOpen = isWithoutStatement(relays)
  const rows = (found: typeof lesson.learned) => found.filter(({ ip }) => isOpen(ip)).flatMap(rowOf)
  await inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    await markReporterExamined(tx, reporterId, now)
    const found = { learned: rows(lesson.learned), proposed: rows(lesson.proposed) }
    const blocks = await replaceFoundRelays(tx, reporterId, found, now)
    await reopenAskedReports(tx, app.boss, { reporterId, blocks, now })
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
    const analysis = JSON.parse(json) as Analysis
    if (report) history.push(pastReport({ ...report, at: report.receivedAt }, analysis))
  }
  return history
}

/**
 * Returns a function that tells whether the reporter has made no statement about an address. Relays
 * found in reports must not contradict a statement.
 */
function isWithoutStatement(relays: readonly ReporterRelay[]): (ip: string) => boolean {
  const stated = networkSet(
    relays.filter(({ how }) => how === 'set' || how === 'refused').map(({ cidr }) => cidr),
  )
  return (ip) => {
    const address = parseIp(ip)
    return address !== undefined && !stated.has(address)
  }
}

function addressOf({ cidr }: ReporterRelay): string {
  return cidr.split('/')[0] ?? cidr
}

function rowOf({ ip, name, evidence }: { ip: string; name: string | null; evidence: number }) {
  const cidr = blockOfAddress(ip)
  return cidr === undefined ? [] : [{ cidr, name, evidence }]
}
