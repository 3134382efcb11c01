import type { z } from 'zod'
import type { App } from '../app.ts'
import {
  type AdvisedReporter,
  findAdvisedReporter,
  findUnsubscribe,
  insertAdvice,
} from '../db/advices.ts'
import { type AnalysisDetails, findAnalysis } from '../db/analyses.ts'
import { type Feedback, type FeedbackState, listFeedback } from '../db/feedback-reports.ts'
import { weekOf } from '../db/partitions.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { mayAppear } from '../db/prepared.ts'
import { insertEvents } from '../db/report-events.ts'
import { findReport, holdReport, type Report } from '../db/reports.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { lettersOffLink } from '../mail/verp.ts'
import { phrase } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import { failureOf, type JobOutcome } from '../queue/work.ts'
import { type Advice, type AdviceCase, adviceOf, oneClickLink } from '../verdict/advice.ts'
import type { Marketer } from '../verdict/marketers/marketer.ts'
import { composeAdvice, findAdvice, unsubscribeWays } from './advice-letters.ts'
import { adviseReporter } from './queues.ts'
import { queueLetter } from './send-letter.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>
type Payload = z.infer<typeof adviseReporter.payload>

/** Queues advice on the reports for which there is any, in the transaction that stores them. */
export async function queueAdvice(
  tx: Db,
  cases: readonly (AdviceCase & { reportId: string })[],
  app: Pick<App, 'boss'>,
): Promise<void> {
  const due = cases.filter((one) => adviceOf(one) !== undefined)
  const jobs = due.map(({ reportId }) => ({ reportId }))
  await send(app.boss, adviseReporter, jobs, tx)
}

/**
 * Sends reporters advice on how to unsubscribe from bulk mail whose sender is certain: at most one
 * letter a week about each marketer or signer. Skips messages without advice since their marketer
 * was removed from the registry. The page of a report shows the advice too, so it counts as given
 * although the reporter wants no letters or has a suppressed address.
 */
export async function runAdviseReporter(
  payloads: readonly Payload[],
  app: Needs,
): Promise<JobOutcome[]> {
  return Promise.all(payloads.map((payload) => adviseOn(payload, app).catch(failureOf)))
}

/** Time in milliseconds to wait for an analysis whose job is visible before it. */
const EARLY_MS = 1_000

async function adviseOn({ reportId, waitsSince }: Payload, app: Needs): Promise<JobOutcome> {
  const now = app.clock()
  const report = await findReport(app.pool, reportId)
  if (!report || report.state === 'retracted') return 'done'
  const analysis = report.state === 'received' ? undefined : await findAnalysis(app.pool, reportId)
  if (!analysis) {
    const since = waitsSince ?? now.toISOString()
    if (!mayAppear(new Date(since), now)) return 'done'
    const postponedTo = new Date(now.getTime() + EARLY_MS)
    return { postponedTo, payload: { reportId, waitsSince: since } }
  }
  const { advice, marketer } = await findAdvice(app.pool, report, analysis.details)
  const reporter = await findAdvisedReporter(app.pool, report.reporterId)
  if (!advice || !reporter) return 'done'
  const suppressed = await listSuppressed(app.pool, [reporter.email], now)
  const mayWrite = reporter.wantsAdvice && suppressed.size === 0
  const letter = mayWrite
    ? await write({ report, details: analysis.details, advice, marketer, reporter }, app)
    : undefined
  await inTransaction(app.pool, async (tx) => {
    const state = await holdReport(tx, reportId)
    if (state === undefined || state === 'received' || state === 'retracted') return
    const { reporterId } = report
    const given = { reporterId, about: advice.about, week: weekOf(now), reportId, at: now }
    if (!(await insertAdvice(tx, given)) || !letter) return
    await queueLetter(tx, letter, app, now)
    const phrases = [phrase('advice-sent')]
    await insertEvents(tx, [{ reportId, at: now, event: 'advised', phrases }])
  })
  return 'done'
}

const leaving: readonly FeedbackState[] = ['queued', 'waiting', 'sent', 'merged']

/**
 * Returns who receives a feedback report; undefined while that is open, because a registry is being
 * queried or the report is held.
 */
function notifiedOf(
  feedback: readonly Feedback[],
  { action }: Pick<AnalysisDetails['consequence'], 'action'>,
): { network: boolean; sender: boolean } | undefined {
  const notified = feedback.filter(
    ({ kind, state }) => kind === 'complaint' && leaving.includes(state),
  )
  const isOpen = action === 'look-up' || feedback.some(({ state }) => state === 'held')
  if (notified.length === 0 && isOpen) return undefined
  const isNetwork = ({ recipientRole }: Feedback) => recipientRole === 'network'
  return { network: notified.some(isNetwork), sender: !notified.every(isNetwork) }
}

type Writing = {
  report: Report
  details: AnalysisDetails
  advice: Advice
  marketer: Marketer | undefined
  reporter: AdvisedReporter
}

async function write(
  { report, details, advice, marketer, reporter }: Writing,
  { pool, config, clock }: Needs,
): Promise<Parameters<typeof queueLetter>[1]> {
  const { publicUrl, secret } = config
  const language = reporter.language ?? 'en'
  const age = { receivedAt: report.receivedAt, now: clock() }
  const isAsked = (await findUnsubscribe(pool, report.id)) !== undefined
  const offUrl = lettersOffLink(report.reporterId, 'advice', { publicUrl, secret })
  const { by, proof } =
    advice.kind === 'known' ? advice.marketer : { by: 'signature' as const, proof: advice.signer }
  const letter = composeAdvice({
    language,
    subject: report.subject,
    reportedAt: report.receivedAt,
    sender: marketer
      ? { is: 'known', name: marketer.name, by, proof }
      : { is: 'cautious', domain: proof },
    declared: marketer?.advice ?? {},
    website: marketer?.website ?? null,
    ways: unsubscribeWays(details.unsubscribe),
    canClick: !isAsked && oneClickLink(details, advice, age) !== undefined,
    notified: notifiedOf(await listFeedback(pool, [report.id]), details.consequence),
    pageUrl: `${publicUrl}/reports/${report.id}`,
    offUrl,
  })
  return {
    kind: 'advice',
    reporterId: report.reporterId,
    reportId: report.id,
    to: reporter.email,
    ...letter,
    language,
    autoSubmitted: 'generated',
    unsubscribe: offUrl,
  }
}
