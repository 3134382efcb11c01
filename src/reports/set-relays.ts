import type { App } from '../app.ts'
import { findAnalysis, type KeptAnalysis } from '../db/analyses.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listExchangers } from '../db/mail-exchangers.ts'
import { insertEvents, listEvents, type ReportEvent } from '../db/report-events.ts'
import {
  countDeniers,
  listRelays,
  putRelays,
  removeRelay,
  trimRelays,
} from '../db/reporter-relays.ts'
import { holdReporters } from '../db/reporters.ts'
import type { Report } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import { networkSet } from '../mail/ip.ts'
import { storableText } from '../mail/text.ts'
import { looksLikeCustomer } from '../origin/borders.ts'
import { providerOfHost } from '../origin/providers.ts'
import { phrase } from '../phrase.ts'
import { openCandidates, type RelayCandidate, relayCandidates } from '../verdict/relays.ts'
import {
  correctOrigins,
  decideUsersAgain,
  type RelayNews,
  reopenAskedReports,
} from './reopen-reports.ts'

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
  if (blocks.length > 0) await decideUsersAgain(tx, app.boss, reporterId)
  return 'done'
}

/** The age of MX records that show a relay. */
const MX_AGE_MS_MAX = 30 * DAY_MS
/** How many others must deny a machine before the word of one reporter does not suffice. */
const DENIERS_MIN = 2

/**
 * Whether others deny a relay that is neither named in the domain of the reporter's address nor in
 * its MX records. A name that a network gives to a customer, or a name of a known provider, says
 * nothing.
 */
async function isDisputed(
  tx: Db,
  { id, email }: { id: string; email: string },
  wanted: readonly RelayStatement[],
  now: Date,
): Promise<boolean> {
  const domain = domainOf(email.toLowerCase())
  const organization = registrableDomainOf(domain)
  const since = new Date(now.getTime() - MX_AGE_MS_MAX)
  for (const { cidr, name } of wanted) {
    if ((await countDeniers(tx, id, cidr)) < DENIERS_MIN) continue
    const hosts = domain === undefined ? [] : await listExchangers(tx, domain, since)
    const isNamed =
      name !== null &&
      organization !== undefined &&
      registrableDomainOf(name) === organization &&
      !looksLikeCustomer(name) &&
      !providerOfHost(name)
    if (!isNamed && !hosts.includes(name ?? '') && !hosts.includes(cidr.split('/', 1)[0] ?? '')) {
      return true
    }
  }
  return false
}

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
