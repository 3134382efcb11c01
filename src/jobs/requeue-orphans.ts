import type { App } from '../app.ts'
import { listUnredeemed } from '../db/counted-reports.ts'
import { listDeadIds } from '../db/dead-letters.ts'
import { listQueuedFeedback } from '../db/feedback-reports.ts'
import { listWaitingMails } from '../db/inbound-mails.ts'
import { listQueuedLetters } from '../db/letters.ts'
import { listOpenErasures } from '../db/erasures.ts'
import { inTransaction } from '../db/pool.ts'
import { type JobKey, listIdsWithJobs } from '../db/queue-health.ts'
import { listLookUps, listReceivedReports } from '../db/reports.ts'
import { listUncounted } from '../db/shadowed-reports.ts'
import {
  analyzeReport,
  eraseAccount,
  findContact,
  forwardReport,
  handleInbound,
  type QueueDefinition,
  redeemReport,
  sendLetter,
  takeMailed,
} from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import { uuidFloor } from '../world.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'log'>

const ORPHAN_MS = 10 * 60_000
/** Of what waits the oldest are looked at; what has no job gets there sooner or later. */
const WAITING_MAX = 1_000

/**
 * Gives a job to what waits without one: jobs were purged, or lost with a restored backup. What
 * waits among the dead letters has its job there.
 */
export async function requeueOrphans(app: Needs): Promise<void> {
  const { pool } = app
  const before = uuidFloor(new Date(app.clock().getTime() - ORPHAN_MS))
  const reports = (ids: readonly string[]) => ids.map((reportId) => ({ reportId }))
  const received = await listReceivedReports(pool, before, WAITING_MAX)
  const uncounted = await listUncounted(pool, before, WAITING_MAX)
  await requeue(app, analyzeReport, 'reportId', reports([...received, ...uncounted]))
  const lookUps = await listLookUps(pool, before, WAITING_MAX)
  await requeue(app, findContact, 'reportId', reports(lookUps))
  const unredeemed = await listUnredeemed(pool, before, WAITING_MAX)
  await requeue(app, redeemReport, 'reportId', reports(unredeemed))
  const erasures = (await listOpenErasures(pool)).map((erasureId) => ({ erasureId }))
  await requeue(app, eraseAccount, 'erasureId', erasures)
  await requeueFeedback(app, before)
  await requeueMail(app, before)
}

/** One report may have several: each has a job of its own, or is a dead letter of its own. */
async function requeueFeedback(app: Needs, before: string): Promise<void> {
  const queued = await listQueuedFeedback(app.pool, before, forwardReport.name, WAITING_MAX)
  await putInLine(app, forwardReport, queued)
}

async function requeueMail(app: Needs, before: string): Promise<void> {
  const { pool } = app
  const deadLetters = await listDeadIds(pool, 'letterId', [sendLetter.name], new Date(0))
  const letters = await listQueuedLetters(pool, before, deadLetters, WAITING_MAX)
  const ofLetters = letters.map((letterId) => ({ letterId }))
  await requeue(app, sendLetter, 'letterId', ofLetters)
  const mailQueues = [handleInbound.name, takeMailed.name]
  const deadMails = await listDeadIds(pool, 'mailId', mailQueues, new Date(0))
  const mails = await listWaitingMails(pool, before, deadMails, WAITING_MAX)
  for (const queue of [handleInbound, takeMailed]) {
    const its = mails.filter(({ isMailIn }) => isMailIn === (queue === takeMailed))
    const ofMails = its.map(({ mailId }) => ({ mailId }))
    await requeue(app, queue, 'mailId', ofMails)
  }
}

async function requeue<Key extends JobKey, Payload extends Record<Key, string>>(
  { pool, boss, log }: Pick<Needs, 'pool' | 'boss' | 'log'>,
  queue: QueueDefinition<Payload>,
  key: Key,
  waiting: readonly Payload[],
): Promise<void> {
  if (waiting.length === 0) return
  const ids = waiting.map((payload) => payload[key])
  const busy = await listIdsWithJobs(pool, queue.name, key, ids)
  const orphans = waiting.filter((payload) => !busy.has(payload[key]))
  await putInLine({ pool, boss, log }, queue, orphans)
}

async function putInLine<Payload extends object>(
  { pool, boss, log }: Pick<Needs, 'pool' | 'boss' | 'log'>,
  queue: QueueDefinition<Payload>,
  orphans: readonly Payload[],
): Promise<void> {
  if (orphans.length === 0) return
  const facts = { queue: queue.name, jobs: orphans.length }
  log.warn(facts, 'What waited without a job was put in line again.')
  await inTransaction(pool, (tx) => send(boss, queue, orphans, tx))
}
