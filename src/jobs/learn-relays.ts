import type { Analysis } from '../analysis/analyze.ts'
import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { unpack } from '../db/packed.ts'
import { inTransaction } from '../db/pool.ts'
import {
  findLastTaught,
  listLessons,
  listRelays,
  markLesson,
  replaceFoundRelays,
  type ReporterRelay,
} from '../db/reporter-relays.ts'
import { holdReporters } from '../db/reporters.ts'
import { listActiveReporters, listAnalyzedReports } from '../db/reports.ts'
import { networkSet, parseIp } from '../mail/ip.ts'
import { blockOfAddress } from '../mail/relay-block.ts'
import { reopenAskedReports } from '../queue/reopen-reports.ts'
import { learnRelays, type PastReport, pastReport } from '../verdict/learn-relays.ts'
import { uuidFloor, uuidTime } from '../world.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

const ACTIVE_MS = 86_400_000
/** How many reporters one run looks at, and how many of them it teaches. */
const usualLimits = { seen: 5_000, taught: 500 }
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const FIRST_UUID = '00000000-0000-0000-0000-000000000000'
const REPORTS_READ = 50

/**
 * Looks through the latest reports of reporters who reported something since their last lesson, at
 * most 500 of them, and keeps which relays their mail comes through. Returns how many it looked
 * at. Reporters take turns in the order of their ids: a run goes on where the last one stopped.
 */
export async function learnAllRelays(app: Needs, limits = usualLimits): Promise<number> {
  const active = await listNextReporters(app, limits.seen)
  const lessons = await listLessons(
    app.pool,
    active.map(({ reporterId }) => reporterId),
  )
  const due = active.filter(({ reporterId, lastId }, at) => {
    const lesson = lessons.get(reporterId)?.getTime() ?? 0
    // The last one of a full page is taught in any case: there the next run goes on.
    return lesson < uuidTime(lastId).getTime() || at === limits.seen - 1
  })
  const taught = due.slice(0, limits.taught)
  for (const { reporterId } of taught) await learnRelaysOf(app, reporterId)
  return taught.length
}

async function listNextReporters(app: Needs, limit: number) {
  const since = uuidFloor(new Date(app.clock().getTime() - ACTIVE_MS))
  const last = (await findLastTaught(app.pool)) ?? FIRST_UUID
  const page = { after: last, to: LAST_UUID, limit }
  const later = await listActiveReporters(app.pool, since, page)
  if (later.length === limit) return later
  const around = { after: FIRST_UUID, to: last, limit: limit - later.length }
  return [...later, ...(await listActiveReporters(app.pool, since, around))]
}

/** The lesson of one reporter. */
async function learnRelaysOf(app: Needs, reporterId: string): Promise<void> {
  const now = app.clock()
  const [relays, history] = await Promise.all([
    listRelays(app.pool, reporterId),
    readHistory(app, reporterId),
  ])
  const lesson = learnRelays(history, {
    learnedIps: relays.filter(({ how }) => how === 'learned').map(addressOf),
  })
  const isOpen = unspokenOf(relays)
  const rows = (found: typeof lesson.learned) => found.filter(({ ip }) => isOpen(ip)).flatMap(rowOf)
  await inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    await markLesson(tx, reporterId, now)
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
