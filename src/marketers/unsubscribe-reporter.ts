import type { App } from '../app.ts'
import {
  beginUnsubscribe,
  endUnsubscribe,
  findUnsubscribe,
  insertUnsubscribe,
  listStuckUnsubscribes,
} from '../db/advices.ts'
import { findAnalysis } from '../db/analyses.ts'
import { inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { holdReport, type Report } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { findAdvice } from '../letters/advice-letters.ts'
import type { OneClickOutcome, PostOneClick } from '../mail/list-unsubscribe.ts'
import { phrase } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import { failureOf, type JobOutcome } from '../queue/work.ts'
import { oneClickLink } from '../verdict/advice.ts'
import { unsubscribe } from './queues.ts'

type Needs = Pick<App, 'pool' | 'clock'>

/**
 * Time in milliseconds after which a request under way is considered ended, with an unknown
 * outcome.
 */
const UNDER_WAY_MS = 120_000
/** Time in milliseconds after which the job of an unfinished request is considered lost. */
const STUCK_MS = DAY_MS
const STUCK_MAX = 1_000

const lost: OneClickOutcome = { state: 'unknown', outcome: phrase('unsubscribe-unknown') }

/**
 * Queues the one unsubscribe request of a report, unless it is not allowed or was already queued.
 */
export async function requestUnsubscribe(
  app: Needs & Pick<App, 'boss'>,
  report: Report,
): Promise<void> {
  const analysis = await findAnalysis(app.pool, report.id)
  if (!analysis) return
  const { advice } = await findAdvice(app.pool, report, analysis.details)
  const now = app.clock()
  const age = { receivedAt: report.receivedAt, now }
  const link = oneClickLink(analysis.details, advice, age)
  if (link === undefined) return
  const { id: reportId, reporterId } = report
  const { hostname: host } = new URL(link)
  await inTransaction(app.pool, async (tx) => {
    if ((await holdReport(tx, reportId)) === 'retracted') return
    if (!(await insertUnsubscribe(tx, { reportId, reporterId, host, askedAt: now }))) return
    const phrases = [phrase('unsubscribe-asked', { host })]
    await insertEvents(tx, [{ reportId, at: now, event: 'unsubscribing', phrases }])
    await send(app.boss, unsubscribe, [{ reportId }], tx)
  })
}

/**
 * Sends one-click unsubscribe requests to senders for reporters. Each request is marked before its
 * POST is sent, so it is sent at most once: an interrupted request ends as unknown and is not
 * repeated.
 */
export async function runUnsubscribe(
  payloads: readonly { reportId: string }[],
  app: Needs & { postOneClick: PostOneClick },
): Promise<JobOutcome[]> {
  return Promise.all(payloads.map(({ reportId }) => unsubscribeOne(reportId, app).catch(failureOf)))
}

async function unsubscribeOne(
  reportId: string,
  app: Needs & { postOneClick: PostOneClick },
): Promise<JobOutcome> {
  const request = await findUnsubscribe(app.pool, reportId)
  if (request?.state === 'under-way') {
    const begunAt = request.begunAt?.getTime() ?? 0
    if (app.clock().getTime() - begunAt < UNDER_WAY_MS) return { retry: 'It is under way.' }
    return end(reportId, lost, app)
  }
  if (request?.state !== 'queued') return 'done'
  const url = (await findAnalysis(app.pool, reportId))?.details.unsubscribe?.https
  if (!url) {
    return end(reportId, { state: 'refused', outcome: phrase('link-deleted') }, app)
  }
  if (!(await beginUnsubscribe(app.pool, reportId, app.clock()))) return 'done'
  return end(reportId, await app.postOneClick(url), app)
}

/** Ends requests whose job was lost. They may have been sent, so they are not sent again. */
export async function endStuckUnsubscribes(app: Needs): Promise<void> {
  const before = new Date(app.clock().getTime() - STUCK_MS)
  const stuck = await listStuckUnsubscribes(app.pool, before, STUCK_MAX)
  for (const reportId of stuck) await end(reportId, lost, app)
}

async function end(reportId: string, outcome: OneClickOutcome, app: Needs): Promise<'done'> {
  const at = app.clock()
  await inTransaction(app.pool, async (tx) => {
    if (!(await endUnsubscribe(tx, reportId, { state: outcome.state, at }))) return
    await insertEvents(tx, [{ reportId, at, event: 'unsubscribed', phrases: [outcome.outcome] }])
  })
  return 'done'
}
