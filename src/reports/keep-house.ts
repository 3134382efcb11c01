import type { App } from '../app.ts'
import { forgetReputations } from '../counting/fold-evidence.ts'
import { deleteUnusedConsumers } from '../db/consumers.ts'
import { listUnredeemed } from '../db/counter-rows.ts'
import { deleteOvertaken, listDeadIds } from '../db/dead-letters.ts'
import { type JobKey, listIdsWithJobs } from '../db/jobs.ts'
import { listOpenErasures } from '../db/erasures.ts'
import { deleteExpiredRows, type Expiry } from '../db/expired-rows.ts'
import { listFeedback, listQueuedFeedback } from '../db/feedback-reports.ts'
import { findOldestKey, removeReportKeys } from '../db/idempotency-keys.ts'
import { listWaitingMails, markMailsFailed } from '../db/inbox.ts'
import { listQueuedLetters, removeExpiredKeys } from '../db/letters.ts'
import { removeIdleCounts } from '../db/limits.ts'
import { listUncounted } from '../db/shadow-bans.ts'
import {
  dropCounterPartitions,
  dropPartitions,
  ensureCounterPartitions,
  ensurePartitions,
} from '../db/partitions.ts'
import { inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listLookUps, listReceivedReports, markReports, type ReportState } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { followedSince } from '../feedback/did-it-stop.ts'
import { findContact, handleInbound, queueOf } from '../feedback/queues.ts'
import { maskStoredMail } from '../feedback/mask-stored-mail.ts'
import { sendLetter } from '../letters/queues.ts'
import { endStuckUnsubscribes } from '../marketers/unsubscribe-reporter.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import { idsIn, type Queue } from '../queue/define-queue.ts'
import { uuidFloor, uuidTime } from '../world.ts'
import {
  analyzeReport,
  eraseAccount,
  redeemReport,
  takeComplaint,
  takeMailed,
  takeTrapped,
} from './queues.ts'
import { oldestHandOver } from './find-crowds.ts'
import { oldestNamed } from './known-exchangers.ts'
import { oldestLinkParts } from './share-links.ts'
import { mailQueueOf } from './take-mailed.ts'

type JobNeeds = Pick<App, 'pool' | 'boss' | 'clock' | 'log'>

const mailQueues = [handleInbound, takeMailed, takeTrapped, takeComplaint]
const mailQueueNames = mailQueues.map(({ name }) => name)

const WITHOUT_JOB_MS = 10 * 60_000
/** Maximum number of waiting rows checked per run, oldest first; later runs reach the rest. */
const WAITING_MAX = 1_000
/** Maximum number of these rows named in the log. */
const LOGGED_MAX = 20

/**
 * Creates jobs for rows that wait without one, because jobs were purged or lost with a restored
 * backup. Rows whose job is a dead letter are skipped.
 */
async function createMissingJobs(app: JobNeeds): Promise<void> {
  const { pool } = app
  const before = uuidFloor(new Date(app.clock().getTime() - WITHOUT_JOB_MS))
  const reports = (ids: readonly string[]) => ids.map((reportId) => ({ reportId }))
  const received = await listReceivedReports(pool, before, WAITING_MAX)
  const uncounted = await listUncounted(pool, before, WAITING_MAX)
  await createJobs(app, analyzeReport, 'reportId', reports([...received, ...uncounted]))
  const lookUps = await listLookUps(pool, before, WAITING_MAX)
  await createJobs(app, findContact, 'reportId', reports(lookUps))
  const unredeemed = await listUnredeemed(pool, before, WAITING_MAX)
  await createJobs(app, redeemReport, 'reportId', reports(unredeemed))
  const erasures = (await listOpenErasures(pool)).map((erasureId) => ({ erasureId }))
  await createJobs(app, eraseAccount, 'erasureId', erasures)
  await createFeedbackJobs(app, before)
  await createMailJobs(app, before)
}

/**
 * Creates jobs for queued feedback reports that have neither a job nor a dead letter. A report may
 * have several feedback reports.
 */
async function createFeedbackJobs(app: JobNeeds, before: string): Promise<void> {
  for (const isShadowed of [false, true]) {
    const queue = queueOf({ isShadowed })
    const which = { queue: queue.name, isShadowed }
    const queued = await listQueuedFeedback(app.pool, before, which, WAITING_MAX)
    await insertJobs(app, queue, queued)
  }
}

async function createMailJobs(app: JobNeeds, before: string): Promise<void> {
  const { pool } = app
  const deadLetters = await listDeadIds(pool, 'letterId', [sendLetter.name], new Date(0))
  const letters = await listQueuedLetters(pool, before, deadLetters, WAITING_MAX)
  const ofLetters = letters.map((letterId) => ({ letterId }))
  await createJobs(app, sendLetter, 'letterId', ofLetters)
  const deadMails = await listDeadIds(pool, 'mailId', mailQueueNames, new Date(0))
  const mails = await listWaitingMails(pool, before, deadMails, WAITING_MAX)
  for (const queue of mailQueues) {
    const its = mails.filter(({ purpose }) => mailQueueOf(purpose) === queue)
    const ofMails = its.map(({ mailId }) => ({ mailId }))
    await createJobs(app, queue, 'mailId', ofMails)
  }
}

async function createJobs<Key extends JobKey, Payload extends Record<Key, string>>(
  { pool, boss, log }: Pick<JobNeeds, 'pool' | 'boss' | 'log'>,
  queue: Queue<Payload>,
  key: Key,
  waiting: readonly Payload[],
): Promise<void> {
  if (waiting.length === 0) return
  const ids = waiting.map((payload) => payload[key])
  const busy = await listIdsWithJobs(pool, queue.name, key, ids)
  const missing = waiting.filter((payload) => !busy.has(payload[key]))
  await insertJobs({ pool, boss, log }, queue, missing)
}

async function insertJobs<Payload extends object>(
  { pool, boss, log }: Pick<JobNeeds, 'pool' | 'boss' | 'log'>,
  queue: Queue<Payload>,
  missing: readonly Payload[],
): Promise<void> {
  if (missing.length === 0) return
  const about = missing.slice(0, LOGGED_MAX).map(idsIn)
  const facts = { queue: queue.name, jobs: missing.length, about }
  log.warn(facts, 'Queued items that were waiting without a job.')
  await inTransaction(pool, (tx) => send(boss, queue, missing, tx))
}

type HouseNeeds = Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'>

const WEEKS_AHEAD = 4
const GENERATIONS_AHEAD = 2
const IDEMPOTENCY_MS = 2 * DAY_MS
/** Time in milliseconds to keep keys of inbound mail: longer than mail servers retry. */
const INBOUND_MS = 10 * DAY_MS
/** Time in milliseconds to keep expired registry answers and alerts, so that operators see them. */
const ANSWERS_MS = 30 * DAY_MS
/**
 * Time in milliseconds to keep the records of advice letters: longer than the week that each
 * covers.
 */
const ADVICES_MS = 60 * DAY_MS
/** Time in milliseconds to keep news for reporters: a monthly summary is about the month before. */
const NEWS_MS = 70 * DAY_MS
const DELIVERIES_MS = 7 * DAY_MS
/** Time to keep ended entries of our lists, so that a repeated listing lasts longer. */
const LISTINGS_MS = 180 * DAY_MS
/** Time in milliseconds to keep test letters that came back. */
const PROBES_MS = 365 * DAY_MS
const CONSUMERS_AT_ONCE = 500
const KEYS_AT_ONCE = 5_000
/** The smallest UUID. */
const NO_KEY = '00000000-0000-0000-0000-000000000000'

/**
 * The hourly housekeeping: creates partitions for the coming weeks and drops expired ones; deletes
 * expired report keys, Idempotency-Keys, keys of unused rate limits, registry answers, MX records,
 * reputations, alerts, links, keys of letters, suppressions and unused addresses; masks mail that
 * earlier versions stored; creates jobs for rows that wait without one.
 */
export async function runKeepHouse(app: HouseNeeds): Promise<void> {
  const now = app.clock()
  await ensurePartitions(app.pool, now, WEEKS_AHEAD)
  await ensureCounterPartitions(app.pool, now, GENERATIONS_AHEAD)
  const oldest = new Date(now.getTime() - app.config.retentionDays * DAY_MS)
  const dropped = [
    ...(await dropPartitions(app.pool, oldest)),
    ...(await dropCounterPartitions(app.pool, now)),
  ]
  if (dropped.length > 0) app.log.info({ partitions: dropped.length }, 'Deleted old partitions.')
  await deleteExpiredKeys(app, oldest)
  await deleteExpiredRows(app.pool, expiryOf(app, now, oldest))
  await deleteUnusedRecipients(app, oldest)
  await forgetReputations(app.pool, now, app.config.retentionDays)
  await deleteIdleKeys(app)
  await removeExpiredKeys(app.pool, now)
  await maskStoredMail(app)
  await endStuckUnsubscribes(app)
  await createMissingJobs(app)
}

function expiryOf(app: HouseNeeds, now: Date, oldest: Date): Expiry {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  return {
    account_links: ago(DAY_MS),
    advices: ago(ADVICES_MS),
    campaign_decisions: oldest,
    campaign_link_parts: oldestLinkParts(now),
    contact_corrections: ago(ANSWERS_MS),
    delisting_requests: oldest,
    enrollment_requests: oldest,
    erasures: ago(ANSWERS_MS),
    hand_overs: oldestHandOver(app),
    idempotency_keys: ago(IDEMPOTENCY_MS),
    inbound_keys: ago(INBOUND_MS),
    listings: ago(LISTINGS_MS),
    mail_exchangers: oldestNamed(app),
    mail_probes: ago(PROBES_MS),
    mail_source_campaigns: ago(DAY_MS),
    mail_source_days: ago(ANSWERS_MS),
    mass_actions: ago(ANSWERS_MS),
    networks: ago(ANSWERS_MS),
    original_requests: oldest,
    page_reports: oldest,
    pages: oldest,
    proposed_deletions: now,
    report_aliases: oldest,
    reported_origins: followedSince(app.config, now),
    reporter_days: oldest,
    reporter_news: ago(NEWS_MS),
    rule_list_entries: oldest,
    sender_alerts: ago(ANSWERS_MS),
    simulation_marks: ago(ANSWERS_MS),
    suppressions: oldest,
    webhook_deliveries: ago(DELIVERIES_MS),
  }
}

/**
 * Marks reports as failed if the job of their analysis or contact search became a dead letter, and
 * inbound mails if their job did; a retry of the job can still handle them. This runs here because
 * the worker may have died with the job. Also deletes the dead letters of scheduled jobs whose work
 * a later run has done.
 */
export async function runMarkDead(app: HouseNeeds): Promise<void> {
  const since = new Date(app.clock().getTime() - DAY_MS)
  const analysis = await listDeadIds(app.pool, 'reportId', [analyzeReport.name], since)
  await markFailed(app, analysis, 'received', phrase('analysis-failed'))
  const lookUps = await listDeadIds(app.pool, 'reportId', [findContact.name], since)
  await markFailed(app, lookUps, 'analyzed', phrase('look-up-failed'))
  const mails = await listDeadIds(app.pool, 'mailId', mailQueueNames, since)
  if (mails.length > 0) await markMailsFailed(app.pool, mails)
  await deleteOvertaken(app.pool)
}

async function markFailed(
  app: HouseNeeds,
  dead: readonly string[],
  from: ReportState,
  what: Phrase,
): Promise<void> {
  if (dead.length === 0) return
  await inTransaction(app.pool, async (tx) => {
    const failed = await markReports(tx, dead, [from], 'failed')
    // Checked after locking the rows, because another run may have found the contact.
    const forwarded = (await listFeedback(tx, failed)).map(({ reportId }) => reportId)
    await markReports(tx, forwarded, ['failed'], from)
    const marked = failed.filter((id) => !forwarded.includes(id))
    const phrases = [what, phrase('operators-can-retry')]
    const at = app.clock()
    await insertEvents(
      tx,
      marked.map((reportId) => ({ reportId, at, event: 'failed', phrases })),
    )
  })
}

/** Deletes consumers that were added because of a message and are no longer used. */
async function deleteUnusedRecipients({ pool }: HouseNeeds, oldest: Date): Promise<void> {
  let after: string | undefined = NO_KEY
  while (after !== undefined) {
    const page: { after: string; limit: number } = { after, limit: CONSUMERS_AT_ONCE }
    after = await inTransaction(pool, (tx) => deleteUnusedConsumers(tx, oldest, page))
  }
}

/** Deletes the keys of rate limits whose counts have all expired. */
async function deleteIdleKeys({ pool }: HouseNeeds): Promise<void> {
  let after: string | undefined = NO_KEY
  while (after !== undefined) {
    after = await removeIdleCounts(pool, { after, limit: KEYS_AT_ONCE })
  }
}

/** Deletes expired report keys, one day per statement to keep each short. */
async function deleteExpiredKeys({ pool }: HouseNeeds, oldest: Date): Promise<void> {
  const first = await findOldestKey(pool)
  if (first === undefined) return
  for (let from = uuidTime(first); from < oldest; from = new Date(from.getTime() + DAY_MS)) {
    const to = new Date(Math.min(from.getTime() + DAY_MS, oldest.getTime()))
    await removeReportKeys(pool, uuidFloor(from), uuidFloor(to))
  }
}
