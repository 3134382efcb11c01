import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import {
  findLastTaught,
  listLessons,
  listRelays,
  listRelaysOf,
  markLesson,
  putRelays,
  removeRelay,
  replaceFoundRelays,
  type ReporterRelay,
  trimRelays,
} from '../db/reporter-relays.ts'
import { holdReporters, listReporterEmails } from '../db/reporters.ts'
import { listActiveReporters, listAnalyzedReports, type Report } from '../db/reports.ts'
import { unpack } from '../db/rows.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import { networkSet, type NetworkSet, parseIp } from '../mail/ip.ts'
import type { Analysis, AnalysisOptions } from '../pieces/analyze.ts'
import type { Boss } from '../queue/boss.ts'
import { type RelayNews, reopenAskedReports } from '../queue/redrive.ts'
import { relaysFromHistory, pastReport, type PastReport } from '../verdict/relays.ts'
import { type Clock, uuidFloor, uuidTime } from '../world.ts'

/** The known relays of a report. */
export type ReportRelays = {
  /**
   * CIDR blocks named in the report or earlier by its reporter, and those learned from its history.
   */
  options: Required<Pick<AnalysisOptions, 'trustedRelays' | 'learnedRelays' | 'reporterAddresses'>>
  /** The machines that the reporter confirmed or denied as the provider's. */
  said: { mine: NetworkSet; notMine: NetworkSet }
  /** Everything known about an address, as a comparable string. */
  knownOf: (ip: string) => string
}

/** Returns the relays of reports, by report id. */
export async function findRelays(
  db: Db,
  reports: readonly Pick<Report, 'id' | 'reporterId' | 'receivedVia'>[],
): Promise<(id: string) => ReportRelays> {
  const reporterIds = [...new Set(reports.map(({ reporterId }) => reporterId))]
  const [relays, addresses] = await Promise.all([
    listRelaysOf(db, reporterIds),
    listReporterEmails(db, reporterIds),
  ])
  const found = new Map(
    reports.map(({ id, reporterId, receivedVia }) => {
      const known = (how: string) =>
        relays.flatMap((relay) =>
          relay.reporterId === reporterId && relay.how === how ? [relay.cidr] : [],
        )
      const set = known('set')
      const address = addresses.get(reporterId)
      return [
        id,
        {
          options: {
            trustedRelays: [...receivedVia, ...set],
            learnedRelays: known('learned'),
            reporterAddresses: address === undefined ? [] : [address.toLowerCase()],
          },
          said: { mine: networkSet(set), notMine: networkSet(known('refused')) },
          knownOf: knower((['set', 'learned', 'refused'] as const).map((how) => [how, known(how)])),
        },
      ] as const
    }),
  )
  const nothing = networkSet([])
  const none: ReportRelays = {
    options: { trustedRelays: [], learnedRelays: [], reporterAddresses: [] },
    said: { mine: nothing, notMine: nothing },
    knownOf: () => '',
  }
  return (id) => found.get(id) ?? none
}

function knower(said: readonly (readonly [how: string, cidrs: readonly string[]])[]) {
  const sets = said.map(([how, cidrs]) => ({ how, set: networkSet(cidrs) }))
  return (ip: string): string => {
    const address = parseIp(ip)
    return sets.flatMap(({ how, set }) => (address && set.has(address) ? [how] : [])).join(' ')
  }
}

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
