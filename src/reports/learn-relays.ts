import { z } from 'zod'
import type { App } from '../app.ts'
import { listPackedAnalyses, removeAnalyses } from '../db/analyses.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import {
  findLastTaught,
  listLessons,
  listRelays,
  markLesson,
  putRelays,
  removeRelay,
  replaceFoundRelays,
  type ReporterRelay,
  trimRelays,
} from '../db/reporter-relays.ts'
import { holdReporters } from '../db/reporters.ts'
import {
  listActiveReporters,
  listAnalyzedReports,
  listAskedReports,
  markReports,
} from '../db/reports.ts'
import { unpack } from '../db/rows.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import { networkSet, parseIp } from '../mail/ip.ts'
import type { Analysis } from '../pieces/analyze.ts'
import type { Boss } from '../queue/boss.ts'
import { defineQueue } from '../queue/define-queue.ts'
import { relaysFromHistory, pastReport, type PastReport } from '../verdict/relays.ts'
import { type Clock, uuidFloor, uuidTime } from '../world.ts'
import { requeueReports } from './analyze-report.ts'

/** Searches reports for the relays of the reporters' mail. */
export const learnRelays = defineQueue({
  name: 'learn-relays',
  payload: z.object({}),
  ...{ retryLimit: 1, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 900 },
  cron: '41 * * * *',
})

type RelaysNeeds = { pool: Pool; boss: Boss; clock: Clock }

/** A reporter's statement that a machine belongs to them or to their provider, or does not. */
export type RelayStatement = { cidr: string; name: string | null; how: 'set' | 'refused' }

/** Maximum number of relays that a reporter may name. */
export const SET_RELAYS_MAX = 50
const REFUSED_RELAYS_MAX = 200

/**
 * Stores a reporter's statements about relays and reanalyzes the reports that waited for them.
 * `full`: the limit of named relays is reached and nothing was changed.
 */
export async function setRelays(
  app: RelaysNeeds,
  reporterId: string,
  statements: readonly RelayStatement[],
): Promise<'done' | 'full'> {
  return inTransaction(app.pool, (tx) =>
    tell(tx, app, { reporterId, now: app.clock() }, statements),
  )
}

/** Deletes a relay from any source. Returns false if it does not exist. */
export async function forgetRelay(
  app: RelaysNeeds,
  reporterId: string,
  cidr: string,
): Promise<boolean> {
  return inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    return removeRelay(tx, reporterId, cidr)
  })
}

/**
 * Stores the answer to a report's question. With `undefined` statements the reporter does not know;
 * only an event is added to the report's story.
 */
export async function answerQuestion(
  app: RelaysNeeds,
  report: { id: string; reporterId: string },
  statements: readonly RelayStatement[] | undefined,
): Promise<'done' | 'full'> {
  const now = app.clock()
  const mine = statements?.filter(({ how }) => how === 'set').length ?? 0
  const detail = !statements
    ? 'The reporter does not know which of the machines belong to the mail provider.'
    : mine > 0
      ? `The reporter says of ${mine} of the machines that they belong to the mail provider.`
      : 'The reporter says that none of the machines belongs to the mail provider.'
  return inTransaction(app.pool, async (tx) => {
    // The story must show the answer before its effects.
    const later = new Date(now.getTime() + 1)
    const news = { reporterId: report.reporterId, answeredId: report.id, now: later }
    const told = statements ? await tell(tx, app, news, statements) : 'done'
    if (told === 'full') return told
    await insertEvents(tx, [{ reportId: report.id, at: now, event: 'answered', detail }])
    return told
  })
}

async function tell(
  tx: Db,
  app: Pick<RelaysNeeds, 'boss'>,
  news: Omit<RelayNews, 'blocks'>,
  statements: readonly RelayStatement[],
): Promise<'done' | 'full'> {
  const { reporterId, now } = news
  await holdReporters(tx, [reporterId], 'change')
  const said = new Map(statements.map((statement) => [statement.cidr, statement]))
  const known = await listRelays(tx, reporterId)
  const isSet = (cidr: string) => known.some((one) => one.cidr === cidr && one.how === 'set')
  const wanted = [...said.values()].filter(({ how, cidr }) => how === 'set' && !isSet(cidr))
  const named = known.filter(({ how }) => how === 'set').length
  if (wanted.length > 0 && named + wanted.length > SET_RELAYS_MAX) return 'full'
  const blocks = await putRelays(tx, reporterId, [...said.values()], now)
  await trimRelays(tx, reporterId, 'refused', REFUSED_RELAYS_MAX)
  await reopenAskedReports(tx, app.boss, { ...news, blocks })
  return 'done'
}

/** New knowledge about a reporter's relays, and the report that led to it. */
type RelayNews = {
  reporterId: string
  /** The CIDR blocks about which the knowledge changed. */
  blocks: readonly string[]
  /** The report whose question was answered; it is analyzed again at once. */
  answeredId?: string | undefined
  now: Date
}

const REOPENED_MAX = 200
const REOPENED_AGE_MS_MAX = 30 * 86_400_000
/**
 * Queues the reports again whose reporter was asked about one of the blocks: the latest 200 of the
 * last 30 days. They return to `received` and lose their analysis, in the transaction `tx` that
 * stores the new knowledge. Reports with feedback are excluded, so nothing is sent twice. A report
 * that was analyzed again within the last hour waits for another hour. Returns their ids.
 */
async function reopenAskedReports(
  tx: Db,
  boss: Boss,
  { reporterId, blocks, answeredId, now }: RelayNews,
): Promise<string[]> {
  if (blocks.length === 0) return []
  const from = uuidFloor(new Date(now.getTime() - REOPENED_AGE_MS_MAX))
  const page = { about: blocks, from, limit: REOPENED_MAX }
  const asked = await listAskedReports(tx, reporterId, page)
  const reopened = await markReports(tx, asked, ['kept'], 'received')
  if (reopened.length === 0) return []
  await removeAnalyses(tx, reopened)
  await requeueReports(tx, boss, { ids: reopened, answeredId, now })
  return reopened
}

type LearnRelaysNeeds = Pick<App, 'pool' | 'boss' | 'clock'>

const ACTIVE_MS = 86_400_000
/** Maximum number of reporters that one run examines, and that it learns from. */
const usualLimits = { seen: 5_000, taught: 500 }
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const FIRST_UUID = '00000000-0000-0000-0000-000000000000'
const REPORTS_READ = 50

/**
 * Examines the reporters active since their last lesson, reads up to 50 recent reports of each of
 * at most 500 reporters, and stores the relays that their mail passes through. Returns the number
 * of reporters it learned from. Takes reporters in the order of their ids, and each run continues
 * after the last one.
 */
export async function runLearnRelays(app: LearnRelaysNeeds, limits = usualLimits): Promise<number> {
  const active = await listNextReporters(app, limits.seen)
  const lessons = await listLessons(
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

async function listNextReporters(app: LearnRelaysNeeds, limit: number) {
  const since = uuidFloor(new Date(app.clock().getTime() - ACTIVE_MS))
  const last = (await findLastTaught(app.pool)) ?? FIRST_UUID
  const page = { after: last, to: LAST_UUID, limit }
  const later = await listActiveReporters(app.pool, since, page)
  if (later.length === limit) return later
  const around = { after: FIRST_UUID, to: last, limit: limit - later.length }
  return [...later, ...(await listActiveReporters(app.pool, since, around))]
}

/** Learns the relays of one reporter. */
async function learnRelaysOf(app: LearnRelaysNeeds, reporterId: string): Promise<void> {
  const now = app.clock()
  const [relays, history] = await Promise.all([
    listRelays(app.pool, reporterId),
    readHistory(app, reporterId),
  ])
  const lesson = relaysFromHistory(history, {
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

async function readHistory(app: LearnRelaysNeeds, reporterId: string): Promise<PastReport[]> {
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

/** Whether the reporter has made no statement about an address; statements take precedence. */
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
