import type { WorkApp } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { listConsumersByIds } from '../db/consumers.ts'
import {
  type Feedback,
  type FeedbackKey,
  type FeedbackOutcome,
  insertFeedbackMessages,
  listFeedback,
  markFeedback,
} from '../db/feedback-reports.ts'
import type { Packed } from '../db/packed.ts'
import { inTransaction, type Db } from '../db/pool.ts'
import { listRawMessages } from '../db/raw-messages.ts'
import { insertEvents, type ReportEvent } from '../db/report-events.ts'
import { listReporterEmails } from '../db/reporters.ts'
import { listReportsByIds, markReports } from '../db/reports.ts'
import { PermanentError, reasonOf } from '../errors.ts'
import { redactionKey } from '../mail/address-redactor.ts'
import { answerLinks } from '../mail/answer-links.ts'
import { composeAnswerAddress, composeReturnPath } from '../mail/verp.ts'
import type { JobOutcome } from '../queue/work.ts'
import { type FeedbackContent, feedbackMessageId } from '../parsing/feedback-content.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import type { VerdictClass } from '../verdict/verdict.ts'

type Needs = Pick<WorkApp, 'pool' | 'clock' | 'config' | 'mailer'> & { parser: ParserPool }
type SendResult = Awaited<ReturnType<NonNullable<WorkApp['mailer']>['send']>>
type Loaded = { feedback: Feedback; content: FeedbackContent; packed: Packed; analysis: Packed }
type Sent = { outcome: FeedbackOutcome; copy: Packed; event: ReportEvent }

/**
 * Composes a batch of feedback reports and sends them, or holds them. What is composed is the same
 * at every run, so a run that was cut between sending and marking can only repeat the same mail
 * under the same Message-ID.
 */
export async function forwardReports(
  payloads: readonly FeedbackKey[],
  app: Needs,
): Promise<JobOutcome[]> {
  const loaded = await load(payloads, app)
  const results = await Promise.all(loaded.map((one) => deliver(one, app)))
  const sent = results.filter((result) => 'outcome' in result)
  if (sent.length > 0) await inTransaction(app.pool, (tx) => keep(tx, sent))
  const failures = new Map(
    results.flatMap((result) => ('failure' in result ? [[result.key, result.failure]] : [])),
  )
  return payloads.map((key) => failures.get(nameOf(key)) ?? 'done')
}

async function load(payloads: readonly FeedbackKey[], app: Needs): Promise<Loaded[]> {
  const wanted = new Set(payloads.map(nameOf))
  const ids = payloads.map(({ reportId }) => reportId)
  const waiting = (await listFeedback(app.pool, ids)).filter(
    (feedback) => feedback.state === 'queued' && wanted.has(nameOf(feedback)),
  )
  if (waiting.length === 0) return []
  const waitingIds = [...new Set(waiting.map(({ reportId }) => reportId))]
  const [reports, analyses, raws] = await Promise.all([
    listReportsByIds(app.pool, waitingIds),
    listPackedAnalyses(app.pool, waitingIds),
    listRawMessages(app.pool, waitingIds),
  ])
  const consumerIds = [...new Set(waiting.map(({ consumerId }) => consumerId))]
  const consumers = await listConsumersByIds(app.pool, consumerIds)
  const emails = await listReporterEmails(app.pool, [
    ...new Set(reports.map(({ reporterId }) => reporterId)),
  ])
  const byId = <T extends { id: string }>(rows: readonly T[]) =>
    new Map(rows.map((row) => [row.id, row]))
  const [reportOf, analysisOf, rawOf] = [byId(reports), byId(analyses), byId(raws)]
  const { returnPathDomain: domain, secret, publicUrl } = app.config
  return waiting.map((feedback) => {
    const report = reportOf.get(feedback.reportId)
    const analysis = analysisOf.get(feedback.reportId)
    const packed = rawOf.get(feedback.reportId)
    const reporterEmail = emails.get(report?.reporterId ?? '')
    const consumer = consumers.get(feedback.consumerId)
    if (!report || !analysis?.network || !packed || reporterEmail === undefined || !consumer) {
      throw new PermanentError('The report of this feedback is not complete any more.')
    }
    const content: FeedbackContent = {
      reportId: feedback.reportId,
      number: feedback.number,
      from: app.config.mailFrom,
      to: feedback.address,
      createdAt: feedback.createdAt,
      domain: app.config.returnPathDomain,
      service: app.config.publicUrl,
      feedbackType: feedbackTypeOf(feedback, analysis.judgment.verdict.class),
      format: consumer.format,
      form: consumer.form,
      incidents: feedback.incidents,
      answerAddress: composeAnswerAddress(feedback, { domain, secret }),
      answerLinks: answerLinks(feedback, { publicUrl, secret }),
      isUnsolicited: consumer.state === 'found',
      keepsTokens: false,
      network: analysis.network,
      reporterEmail,
      redactionKey: redactionKey(app.config.secret, feedback.consumerId),
    }
    return { feedback, content, packed, analysis }
  })
}

/** As the verdict has it, which is sure: else nobody would be told. */
function feedbackTypeOf({ kind }: Feedback, its: VerdictClass): FeedbackContent['feedbackType'] {
  if (kind === 'redeemed') return 'not-spam'
  if (its === 'phishing') return 'fraud'
  return its === 'malware' ? 'virus' : 'abuse'
}

async function deliver(
  { feedback, content, packed, analysis }: Loaded,
  app: Needs,
): Promise<Sent | { key: string; failure: JobOutcome }> {
  const key = nameOf(feedback)
  try {
    const composed = await app.parser.compose(packed, analysis, content)
    const result = await sendOrHold(composed.raw, feedback, app)
    if (result.outcome === 'later') return { key, failure: { retry: result.reason } }
    const state = stateOf[result.outcome]
    const at = app.clock()
    const messageId = feedbackMessageId(content)
    const { reportId, number } = feedback
    return {
      outcome: { reportId, number, state, at, messageId, reply: result.reply },
      copy: composed.packed,
      event: { reportId, at, event: state, detail: detailOf(result, content) },
    }
  } catch (error) {
    return { key, failure: { retry: reasonOf(error) } }
  }
}

type Result = SendResult | { outcome: 'held'; reply: null }

const stateOf = { accepted: 'sent', rejected: 'refused', held: 'held' } as const

async function sendOrHold(raw: Buffer, feedback: Feedback, app: Needs): Promise<Result> {
  if (!app.mailer) return { outcome: 'held', reply: null }
  const from = composeReturnPath(feedback, {
    domain: app.config.returnPathDomain,
    secret: app.config.secret,
  })
  return app.mailer.send({ envelope: { from, to: feedback.address }, raw })
}

function detailOf(result: Exclude<Result, { outcome: 'later' }>, content: FeedbackContent): string {
  const desk = `the abuse desk of ${content.network.name ?? content.network.cidr}`
  if (result.outcome === 'held') {
    return `A feedback report for ${desk} is written and held: sending is switched off.`
  }
  if (result.outcome === 'accepted') return `A feedback report was sent to ${desk}.`
  return `The mail server refused the feedback report for ${desk}.`
}

async function keep(tx: Db, sent: readonly Sent[]): Promise<void> {
  const marked = new Set(
    (
      await markFeedback(
        tx,
        sent.map(({ outcome }) => outcome),
      )
    ).map(nameOf),
  )
  const mine = sent.filter(({ outcome }) => marked.has(nameOf(outcome)))
  if (mine.length === 0) return
  const left = mine.filter(({ outcome }) => outcome.state === 'sent')
  await Promise.all([
    insertFeedbackMessages(
      tx,
      mine.map(({ outcome: { reportId, number }, copy }) => ({ reportId, number, ...copy })),
    ),
    insertEvents(
      tx,
      mine.map(({ event }) => event),
    ),
    markReports(
      tx,
      left.map(({ outcome }) => outcome.reportId),
      ['analyzed'],
      'forwarded',
    ),
  ])
}

function nameOf({ reportId, number }: FeedbackKey): string {
  return `${reportId} ${number}`
}
