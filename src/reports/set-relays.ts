import type { App } from '../app.ts'
import { findAnalysis, type KeptAnalysis, removeAnalyses } from '../db/analyses.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listExchangers } from '../db/mail-exchangers.ts'
import { insertEvents, listEvents, listReportsWith, type ReportEvent } from '../db/report-events.ts'
import {
  listDenied,
  listRelays,
  putRelays,
  removeRelay,
  trimRelays,
} from '../db/reporter-relays.ts'
import { holdReporters } from '../db/reporters.ts'
import { listAskedReports, listReportsFrom, markReports, type Report } from '../db/reports.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { takeBackComplaints } from '../feedback/take-back-complaints.ts'
import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import { networkSet } from '../mail/ip.ts'
import { storableText } from '../mail/text.ts'
import { phrase } from '../phrase.ts'
import { type Boss, send } from '../queue/boss.ts'
import { openCandidates, type RelayCandidate, relayCandidates } from '../verdict/relays.ts'
import { uuidFloor } from '../world.ts'
import { analyzeReport } from './queues.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

/** A statement whether a machine belongs to the reporter or to the reporter's provider. */
export type RelayStatement = { cidr: string; name: string | null; how: 'set' | 'refused' }

/**
 * `full`: the limit of named relays is reached; `disputed`: others deny a relay, and nothing else
 * shows that it is the reporter's. In both cases nothing was changed.
 */
type StatementResult = 'done' | 'full' | 'disputed'

/** Maximum number of relays that a reporter may name. */
export const SET_RELAYS_MAX = 50
const REFUSED_RELAYS_MAX = 200

/**
 * Stores a reporter's statements about relays and reanalyzes the reports that waited for them, or
 * that took such a relay for their origin.
 */
export async function setRelays(
  app: Needs,
  reporterId: string,
  statements: readonly RelayStatement[],
): Promise<StatementResult> {
  return inTransaction(app.pool, (tx) =>
    store(tx, app, { reporterId, now: app.clock() }, statements),
  )
}

/** Deletes a relay, however it became known. Returns false if it does not exist. */
export async function forgetRelay(app: Needs, reporterId: string, cidr: string): Promise<boolean> {
  return inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    return removeRelay(tx, reporterId, cidr)
  })
}

async function store(
  tx: Db,
  app: Pick<Needs, 'boss'>,
  news: Omit<RelayNews, 'blocks'>,
  statements: readonly RelayStatement[],
): Promise<StatementResult> {
  const { reporterId, now } = news
  const emails = await holdReporters(tx, [reporterId], 'change')
  const stated = new Map(statements.map((statement) => [statement.cidr, statement]))
  const known = await listRelays(tx, reporterId)
  const isSet = (cidr: string) => known.some((one) => one.cidr === cidr && one.how === 'set')
  const wanted = [...stated.values()].filter(({ how, cidr }) => how === 'set' && !isSet(cidr))
  const named = known.filter(({ how }) => how === 'set').length
  if (wanted.length > 0 && named + wanted.length > SET_RELAYS_MAX) return 'full'
  const owner = { id: reporterId, email: emails.get(reporterId) ?? '' }
  if (wanted.length > 0 && (await isDisputed(tx, owner, wanted, now))) return 'disputed'
  const blocks = await putRelays(tx, reporterId, [...stated.values()], now)
  await trimRelays(tx, reporterId, 'refused', REFUSED_RELAYS_MAX)
  await reopenAskedReports(tx, app.boss, { ...news, blocks })
  const ours = blocks.filter((cidr) => stated.get(cidr)?.how === 'set')
  await correctOrigins(tx, app.boss, { ...news, blocks: ours })
  return 'done'
}

/** How many others must deny a machine before the word of one reporter does not suffice. */
const DENIERS_MIN = 2

/**
 * Whether others deny a relay that is neither named in the domain of the reporter's address nor in
 * its MX records.
 */
async function isDisputed(
  tx: Db,
  { id, email }: { id: string; email: string },
  wanted: readonly RelayStatement[],
  now: Date,
): Promise<boolean> {
  const cidrs = wanted.map(({ cidr }) => cidr)
  const denied = new Set(await listDenied(tx, id, cidrs, DENIERS_MIN))
  if (denied.size === 0) return false
  const domain = domainOf(email.toLowerCase())
  const since = new Date(now.getTime() - REOPENED_AGE_MS_MAX)
  const hosts = new Set(domain === undefined ? [] : await listExchangers(tx, domain, since))
  return wanted.some(({ cidr, name }) => {
    if (!denied.has(cidr)) return false
    const isNamed = name !== null && registrableDomainOf(name) === registrableDomainOf(domain)
    return !isNamed && !hosts.has(name ?? '') && !hosts.has(cidr.split('/', 1)[0] ?? '')
  })
}

/** New knowledge about a reporter's relays, and the report that led to it. */
type RelayNews = {
  reporterId: string
  /** The CIDR blocks about which the knowledge changed; it may also change the whole way. */
  blocks: readonly string[] | 'all'
  /** The report whose question was answered; it is analyzed again immediately. */
  answeredId?: string | undefined
  now: Date
}

const REOPENED_MAX = 200
const REOPENED_AGE_MS_MAX = 30 * DAY_MS
/**
 * Queues reports for another analysis if their reporter was asked about one of the blocks: the
 * latest 200 of the last 30 days. They return to `received` and lose their analysis, in the
 * transaction `tx` that stores the new knowledge. Reports with feedback are excluded, so nothing is
 * sent twice. A report that was analyzed again within the last hour waits for another hour. Returns
 * the ids of the queued reports.
 */
export async function reopenAskedReports(
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

/**
 * Decides reports again whose origin turned out to be of the reporter's side: the latest 200 of the
 * last 30 days. Unsent feedback is withdrawn, and who was notified gets a correction. The new
 * analysis takes back what counted against the machine, and notifies the network of the true
 * origin. What others reported about the machine stays.
 */
export async function correctOrigins(
  tx: Db,
  boss: Boss,
  { reporterId, blocks, answeredId, now }: RelayNews & { blocks: readonly string[] },
): Promise<void> {
  if (blocks.length === 0) return
  const from = uuidFloor(new Date(now.getTime() - REOPENED_AGE_MS_MAX))
  const found = await listReportsFrom(tx, reporterId, { blocks, from, limit: REOPENED_MAX })
  const ids = await markReports(tx, found.toSorted(), ['analyzed', 'forwarded', 'kept'], 'received')
  if (ids.length === 0) return
  for (const id of ids.toSorted()) await withdrawFeedback(tx, id, now)
  await takeBackComplaints(tx, ids, { boss }, now)
  await removeAnalyses(tx, ids)
  await requeueReports(tx, boss, { ids, answeredId, now })
}

/** The question that a report asks its reporter. */
export type ReportQuestion = {
  candidates: RelayCandidate[]
  /** Whether the reporter answered "I do not know" since the question was asked. */
  isAnswered: boolean
}

/**
 * Returns the machines to ask the reporter about: only while the report is kept because its origin
 * is uncertain, and only machines without a statement by the reporter.
 */
export async function findQuestion(
  db: Db,
  report: Report,
  analysis: KeptAnalysis | undefined,
  events: readonly ReportEvent[],
): Promise<ReportQuestion | undefined> {
  if (report.state !== 'kept' || analysis?.details.consequence.action !== 'ask') return undefined
  const relays = await listRelays(db, report.reporterId)
  const statedAs = (how: string) =>
    networkSet(relays.flatMap((relay) => (relay.how === how ? [relay.cidr] : [])))
  const candidates = openCandidates(relayCandidates(analysis.details.hops), {
    mine: statedAs('set'),
    notMine: statedAs('refused'),
  })
  if (candidates.length === 0) return undefined
  const isAnswered = events.some(
    ({ event, at }) => event === 'answered' && at > analysis.analyzedAt,
  )
  return { candidates, isAnswered }
}

/** The answer about one machine: whether it belongs to the reporter's provider, or unknown. */
export type GivenAnswer = 'unknown' | { ip: string; isMine: boolean }

/** Why an answer is refused; `stale`: it is not about the machine that is asked about. */
export type AnswerRefusal = 'stale' | Exclude<StatementResult, 'done'>

/**
 * Stores the answer to a report's question, which is about the first of its candidates. Does
 * nothing when the question is no longer open. With the answer `unknown`, only an event is added to
 * the report's story, once.
 */
export async function answerQuestion(
  app: Needs,
  report: Report,
  given: GivenAnswer,
): Promise<'done' | AnswerRefusal> {
  const [analysis, events] = await Promise.all([
    findAnalysis(app.pool, report.id),
    listEvents(app.pool, report.id),
  ])
  const question = await findQuestion(app.pool, report, analysis, events)
  const candidate = question?.candidates[0]
  if (!candidate) return 'done'
  if (given === 'unknown') {
    return question.isAnswered ? 'done' : storeAnswer(app, report, undefined)
  }
  if (given.ip !== candidate.ip) return 'stale'
  return storeAnswer(app, report, statementsOf([candidate], given.isMine ? 'set' : 'refused'))
}

function statementsOf(
  candidates: readonly RelayCandidate[],
  how: RelayStatement['how'],
): RelayStatement[] {
  return candidates.flatMap(({ ip, name }) => {
    const cidr = blockOfAddress(ip)
    return cidr === undefined ? [] : [{ cidr, name: name && storableText(name, 255), how }]
  })
}

/**
 * Stores the answer to a report's question. `statements` is undefined when the reporter does not
 * know the answer: then only an event is added to the report's story.
 */
async function storeAnswer(
  app: Needs,
  report: { id: string; reporterId: string },
  statements: readonly RelayStatement[] | undefined,
): Promise<StatementResult> {
  const now = app.clock()
  const mine = statements?.filter(({ how }) => how === 'set').length ?? 0
  const said = !statements
    ? phrase('machines-unknown')
    : mine > 0
      ? phrase('machines-named', { count: mine })
      : phrase('machines-foreign')
  return inTransaction(app.pool, async (tx) => {
    // The story must show the answer before its effects.
    const later = new Date(now.getTime() + 1)
    const news = { reporterId: report.reporterId, answeredId: report.id, now: later }
    const result = statements ? await store(tx, app, news, statements) : 'done'
    if (result !== 'done') return result
    await insertEvents(tx, [{ reportId: report.id, at: now, event: 'answered', phrases: [said] }])
    return result
  })
}

/**
 * Minimum time in milliseconds between two repeated analyses of a report, because each costs a
 * complete analysis and a reporter may change answers often.
 */
const REOPENING_MS = HOUR_MS

/**
 * Queues reports for another analysis because of new knowledge about relays. A report that was
 * queued for this reason within the last hour starts an hour later, unless it is the one whose
 * question was answered.
 */
export async function requeueReports(
  tx: Db,
  boss: Boss,
  { ids, answeredId, now }: { ids: readonly string[]; answeredId?: string | undefined; now: Date },
): Promise<void> {
  if (ids.length === 0) return
  const pausedSince = new Date(now.getTime() - REOPENING_MS)
  const recent = new Set(await listReportsWith(tx, 'reopened', ids, pausedSince))
  const isLater = (id: string) => recent.has(id) && id !== answeredId
  const phrases = [phrase('machines-learned')]
  await insertEvents(
    tx,
    ids.map((reportId) => ({ reportId, at: now, event: 'reopened', phrases })),
  )
  const jobs = (some: readonly string[]) => some.map((reportId) => ({ reportId }))
  await send(boss, analyzeReport, jobs(ids.filter((id) => !isLater(id))), tx)
  const startAfter = new Date(now.getTime() + REOPENING_MS)
  await send(boss, analyzeReport, jobs(ids.filter(isLater)), tx, { startAfter })
}
