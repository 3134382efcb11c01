import type { App } from '../app.ts'
import { takeBackEvidence } from '../counting/evidence.ts'
import { listPackedAnalyses, removeAnalyses } from '../db/analyses.ts'
import {
  advanceCampaignEvent,
  claimCampaignEvent,
  endCampaignEvent,
} from '../db/campaign-events.ts'
import { listMembersBetween } from '../db/campaigns.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { unpack } from '../db/rows.ts'
import { listShadowedMembers } from '../db/shadow-bans.ts'
import { listMailboxUsers, listReportersAt } from '../db/receiving-hosts.ts'
import { insertEvents, listReportsWith } from '../db/report-events.ts'
import {
  listAskedReports,
  listKeptComplaints,
  listReportsFrom,
  listWithMessages,
  markReports,
  type ReportState,
} from '../db/reports.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { takeBackOutdated } from '../feedback/take-back-complaints.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { PlainAnalysis } from '../pieces/analyze.ts'
import { type Boss, send } from '../queue/boss.ts'
import { ageObstacle, trustedTimes } from '../verdict/consequences.ts'
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

/** The reports of a campaign that are looked at in one step. */
const MEMBERS_AT_ONCE = 200

/**
 * Does the next step of judging the kept reports of a campaign again, because more is known about
 * it: reports that were kept or asked about return to `received` without their analysis, the oldest
 * first, if their messages are not older than those that may be forwarded. The step and how far it
 * went are stored together, so that an event reopens each report once. Returns the number of
 * reopened reports, and whether the event is over.
 */
export async function reopenMembers(
  tx: Db,
  campaignId: string,
  app: Pick<App, 'boss' | 'clock' | 'config'>,
  limit = MEMBERS_AT_ONCE,
): Promise<{ reopened: number; isOver: boolean }> {
  const event = await claimCampaignEvent(tx, campaignId)
  if (!event) return { reopened: 0, isOver: true }
  const now = app.clock()
  const oldest = new Date(now.getTime() - oldestAgeMs(app))
  const afterId = event.afterId ?? uuidFloor(oldest)
  const untilId = event.untilId ?? uuidFloor(now)
  const members = await listMembersBetween(tx, campaignId, { afterId, untilId, limit })
  const shadowed = event.untilId
    ? []
    : await listShadowedMembers(tx, campaignId, { from: uuidFloor(oldest), to: untilId })
  const ids = await listReopenable(tx, [...members, ...shadowed], now, app)
  const reopened = await markReports(tx, ids, ['kept'], 'received')
  if (reopened.length > 0) {
    await removeAnalyses(tx, reopened)
    await queueReopened(tx, app.boss, reopened, now)
  }
  const isOver = members.length < limit
  if (isOver) await endCampaignEvent(tx, campaignId)
  else await advanceCampaignEvent(tx, campaignId, { untilId, afterId: members.at(-1) ?? afterId })
  return { reopened: reopened.length, isOver }
}

/**
 * Returns the maximum age of kept reports that are judged again, in milliseconds: that of messages
 * that may be forwarded, and at most 30 days.
 */
export function oldestAgeMs({ config: { messageAgeMax } }: Pick<App, 'config'>): number {
  const ageMs = messageAgeMax * HOUR_MS
  return ageMs === 0 ? REOPENED_AGE_MS_MAX : Math.min(ageMs, REOPENED_AGE_MS_MAX)
}

/** Returns the kept complaints whose messages are stored and may still be forwarded. */
export async function listReopenable(
  db: Db,
  ids: readonly string[],
  now: Date,
  { config: { messageAgeMax } }: Pick<App, 'config'>,
): Promise<string[]> {
  const kept = await listWithMessages(db, await listKeptComplaints(db, ids))
  if (kept.length === 0) return []
  const timely: string[] = []
  for (const { id, ...packed } of await listPackedAnalyses(db, kept)) {
    const { hops } = JSON.parse((await unpack(packed)).toString()) as PlainAnalysis
    if (ageObstacle(trustedTimes(hops), now, messageAgeMax) === undefined) timely.push(id)
  }
  return timely.toSorted()
}

/**
 * Adds the reason to the histories of reports that returned to `received`, and queues their
 * analysis. It starts when no process remembers older counts.
 */
async function queueReopened(tx: Db, boss: Boss, ids: readonly string[], now: Date): Promise<void> {
  // Says no more: a reporter may be a spammer who wants to know whether anybody else complained.
  const phrases = [phrase('more-known')]
  await insertEvents(
    tx,
    ids.map((reportId) => ({ reportId, at: now, event: 'reopened', phrases })),
  )
  await send(
    boss,
    analyzeReport,
    ids.map((reportId) => ({ reportId })),
    tx,
    { seconds: COUNTS_FRESH_MS / 1_000 },
  )
}

/** The time in milliseconds for which workers remember counts (10 s), and some more. */
const COUNTS_FRESH_MS = 12_000

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
  const later = jobs(ids.filter(isLater))
  await send(boss, analyzeReport, later, tx, { seconds: REOPENING_MS / 1_000 })
}
