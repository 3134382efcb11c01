import { takeBackEvidence } from '../counting/evidence.ts'
import { removeAnalyses } from '../db/analyses.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { listMailboxUsers, listReportersAt } from '../db/receiving-hosts.ts'
import { insertEvents, listReportsWith } from '../db/report-events.ts'
import {
  listAskedReports,
  listReportsFrom,
  listWithMessages,
  markReports,
  type ReportState,
} from '../db/reports.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { takeBackOutdated } from '../feedback/take-back-complaints.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { type Boss, send } from '../queue/boss.ts'
import { uuidFloor } from '../world.ts'
import { analyzeReport, decideAgain } from './queues.ts'

/** New knowledge about a reporter's relays, and the report that led to it. */
export type RelayNews = {
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
  const asked = await listWithMessages(tx, await listAskedReports(tx, reporterId, page))
  const reopened = await markReports(tx, asked, ['kept'], 'received')
  if (reopened.length === 0) return []
  await removeAnalyses(tx, reopened)
  await requeueReports(tx, boss, { ids: reopened, answeredId, now })
  return reopened
}

/**
 * Decides reports again whose origin turned out to be of the reporter's side: the latest 200 of the
 * last 30 days. Unsent feedback is withdrawn, who was notified gets a correction, and what counted
 * against the machine is taken back. The new analysis notifies the network of the true origin; it
 * needs the message, so reports without it are not analyzed again. What others reported about the
 * machine stays.
 */
export async function correctOrigins(
  tx: Db,
  boss: Boss,
  { reporterId, blocks, answeredId, now }: RelayNews & { blocks: readonly string[] },
): Promise<void> {
  if (blocks.length === 0) return
  const from = uuidFloor(new Date(now.getTime() - REOPENED_AGE_MS_MAX))
  const found = await listReportsFrom(tx, reporterId, { blocks, from, limit: REOPENED_MAX })
  if (found.length === 0) return
  const readable = new Set(await listWithMessages(tx, found))
  const ids = found.toSorted()
  const again = await markReports(
    tx,
    ids.filter((id) => readable.has(id)),
    judgedStates,
    'received',
  )
  const why = phrase('origin-corrected')
  await requeueReports(tx, boss, { ids: again, answeredId, now, why })
  const others = ids.filter((id) => !readable.has(id))
  await insertEvents(
    tx,
    others.map((reportId) => ({ reportId, at: now, event: 'reopened', phrases: [why] })),
  )
  for (const id of ids) await withdrawFeedback(tx, id, now)
  await takeBackOutdated(tx, ids, { boss }, now)
  await takeBackEvidence(tx, ids, 'new-analysis', now)
  await removeAnalyses(tx, again)
}

/** Maximum number of reporters whose reports are decided again for one reason. */
const REPORTERS_MAX = 10_000

/**
 * Queues the reports of all reporters with an address at a domain, to be
 * decided again: of the latest 10,000. Returns their number.
 */
export async function decideDomainAgain(tx: Db, boss: Boss, domain: string): Promise<number> {
  return decideAllAgain(tx, boss, await listReportersAt(tx, domain, REPORTERS_MAX))
}

/** Does the same for the mailbox users of a provider, whose relays changed. */
export async function decideUsersAgain(tx: Db, boss: Boss, providerId: string): Promise<number> {
  return decideAllAgain(tx, boss, await listMailboxUsers(tx, providerId, REPORTERS_MAX))
}

async function decideAllAgain(tx: Db, boss: Boss, ids: readonly string[]): Promise<number> {
  const jobs = ids.map((reporterId) => ({ reporterId }))
  await send(boss, decideAgain, jobs, tx)
  return jobs.length
}

/** The states of a report whose origin is stored. */
const judgedStates: readonly ReportState[] = ['analyzed', 'forwarded', 'kept', 'failed']

/**
 * Minimum time in milliseconds between two repeated analyses of a report, because each costs a
 * complete analysis and a reporter may change answers often.
 */
const REOPENING_MS = HOUR_MS

type Requeued = {
  ids: readonly string[]
  answeredId?: string | undefined
  now: Date
  why?: Phrase
}

/**
 * Queues reports for another analysis because of new knowledge about relays. A report that was
 * queued for this reason within the last hour starts an hour later, unless it is the one whose
 * question was answered.
 */
export async function requeueReports(
  tx: Db,
  boss: Boss,
  { ids, answeredId, now, why = phrase('machines-learned') }: Requeued,
): Promise<void> {
  if (ids.length === 0) return
  const pausedSince = new Date(now.getTime() - REOPENING_MS)
  const recent = new Set(await listReportsWith(tx, 'reopened', ids, pausedSince))
  const isLater = (id: string) => recent.has(id) && id !== answeredId
  await insertEvents(
    tx,
    ids.map((reportId) => ({ reportId, at: now, event: 'reopened', phrases: [why] })),
  )
  const jobs = (some: readonly string[]) => some.map((reportId) => ({ reportId }))
  await send(boss, analyzeReport, jobs(ids.filter((id) => !isLater(id))), tx)
  const startAfter = new Date(now.getTime() + REOPENING_MS)
  await send(boss, analyzeReport, jobs(ids.filter(isLater)), tx, { startAfter })
}
