import type { KeptAnalysis } from '../../db/analyses.ts'
import type { Feedback } from '../../db/feedback-reports.ts'
import type { Report } from '../../db/reports.ts'
import type { ShownAnswer } from '../../feedback/take-answer.ts'
import { domainOf, registrableDomain } from '../../mail/address.ts'
import {
  feedbackRanks,
  isOpenOutcome,
  outcomeOf,
  type OutcomeTone,
  type ReportOutcome,
  toneOf,
} from '../../reports/own-outcome.ts'
import type { VerdictClass } from '../../verdict/verdict.ts'
import type { WalkPicture } from '../../verdict/walk-picture.ts'

type StageState = 'done' | 'now' | 'open' | 'failed' | 'skipped' | 'asking'

/** One of the four steps of a report; `at` is when it was done. */
type Stage = { state: StageState; at: Date | undefined }

/** What a reporter wants to know first about a report. */
export type Summary = {
  outcome: ReportOutcome
  /**
   * The verdict as the page says it. `newsletter`: it looks like one, but there is no safe advice
   * how to unsubscribe, so the page does not say that one can.
   */
  verdict: VerdictClass | 'newsletter'
  /** The name of the company that is notified; undefined if none is. */
  desk: string | undefined
  tone: OutcomeTone
  stages: Record<'arrived' | 'analyzed' | 'told' | 'answered', Stage>
  todo:
    | 'wait'
    | 'nothing'
    | 'answer'
    | 'spam'
    | 'phishing'
    | 'malware'
    | 'newsletter'
    | 'unsubscribe'
  danger: 'waiting' | 'phishing' | 'malware' | 'spam' | 'none' | 'undecided'
  /** Whether the page changes soon without the reporter. */
  isOpen: boolean
}

export type SummarySource = {
  report: Pick<Report, 'state' | 'kind' | 'receivedAt'>
  analysis: KeptAnalysis | undefined
  /** The complaints about the report. */
  complaints: readonly Feedback[]
  answers: readonly ShownAnswer[]
  isAsking: boolean
  isUnconfirmed: boolean
  hasAdvice: boolean
}

/** Sums up a report for its reporter. */
export function summarize(source: SummarySource): Summary {
  const { report, analysis, complaints, answers } = source
  const outcome = outcomeOf({
    ...report,
    ...source,
    action: shownAction(source),
    answer: resultsOf(answers).at(-1)?.answer ?? null,
    feedback: complaints.map(({ state }) => state),
  })
  const lead = complaints.toSorted((one, other) => rankOf(one) - rankOf(other))[0]
  const desk = lead && deskOf(lead, analysis)
  const verdict = shownVerdict(source)
  return {
    outcome,
    verdict,
    desk,
    tone: toneOf(outcome),
    stages: {
      arrived: { state: 'done', at: report.receivedAt },
      analyzed: { state: analyzedState(source), at: analysis?.analyzedAt },
      told: {
        state: isNotified(lead) ? 'done' : (notifiedStates[outcome] ?? 'done'),
        at: notifiedAt(lead),
      },
      answered: answeredStage(outcome, answers),
    },
    todo: todoOf(source, outcome),
    danger: dangerOf(source, verdict),
    isOpen: isOpenOutcome(outcome),
  }
}

const rankOf = ({ state }: Feedback) => feedbackRanks.indexOf(state)

/** A question that is answered or out of date is no longer asked. */
function shownAction({ analysis, isAsking, isUnconfirmed }: SummarySource) {
  const action = analysis?.details.consequence.action
  if (isAsking || isUnconfirmed) return isAsking ? 'ask' : 'confirm'
  return action === 'ask' || action === 'confirm' ? 'keep' : action
}

/** The answers of desks; a request for the original is none. */
function resultsOf(answers: readonly ShownAnswer[]) {
  return answers.flatMap(({ answer, at }) => (answer === 'original' ? [] : [{ answer, at }]))
}

function analyzedState({ report, analysis }: SummarySource): StageState {
  if (analysis) return 'done'
  if (report.state === 'failed') return 'failed'
  return report.state === 'retracted' ? 'skipped' : 'now'
}

/** States of the notice by outcome; for the other outcomes it is done. */
const notifiedStates: Partial<Record<ReportOutcome, StageState>> = {
  ...{ waiting: 'open', failed: 'open', 'looking-up': 'now', queued: 'now', held: 'now' },
  ...{ bounced: 'failed', refused: 'failed', asking: 'asking', unconfirmed: 'asking' },
  ...{ withdrawn: 'skipped', newsletter: 'skipped', thanks: 'skipped', kept: 'skipped' },
  ...{ retracted: 'skipped', simulation: 'skipped', 'simulation-missed': 'skipped' },
}

/** Also of a report that is retracted later. */
function isNotified(lead: Feedback | undefined): boolean {
  return lead?.state === 'sent' || lead?.state === 'merged'
}

function notifiedAt(lead: Feedback | undefined): Date | undefined {
  return lead?.state === 'sent' ? (lead.finishedAt ?? undefined) : undefined
}

function answeredStage(outcome: ReportOutcome, answers: readonly ShownAnswer[]): Stage {
  const at = resultsOf(answers).at(-1)?.at
  if (at) return { state: 'done', at }
  const isComing = outcome === 'told' || notifiedStates[outcome] !== 'skipped'
  return { state: isComing ? 'open' : 'skipped', at: undefined }
}

function deskOf({ recipientRole, address }: Feedback, analysis: KeptAnalysis | undefined): string {
  const network = recipientRole === 'network' ? analysis?.network?.name : undefined
  return network ?? domainOf(address) ?? address
}

function todoOf(source: SummarySource, outcome: ReportOutcome) {
  const { report, analysis, hasAdvice } = source
  if (outcome === 'asking' || outcome === 'unconfirmed') return 'answer'
  if (outcome === 'simulation') return 'nothing'
  const found = analysis?.details.verdict.class
  const isDangerous = found === 'malware' || found === 'phishing'
  // A report that was taken back does not make its message less dangerous.
  if (isDangerous && report.kind !== 'not-spam') return found
  if (outcome === 'retracted' || report.kind === 'not-spam') return 'nothing'
  if (hasAdvice) return 'unsubscribe'
  if (found === undefined) return 'wait'
  if (isLikeNewsletter(source)) return 'newsletter'
  return found === 'legitimate' ? 'nothing' : 'spam'
}

function shownVerdict(source: SummarySource): Summary['verdict'] {
  const { report, analysis, hasAdvice } = source
  const isNewsletter = report.kind !== 'not-spam' && !hasAdvice && isLikeNewsletter(source)
  return isNewsletter ? 'newsletter' : (analysis?.details.verdict.class ?? 'undecided')
}

/**
 * Whether a message is bulk mail, or may be: nothing else is known about it, no one is notified,
 * and it tells how to unsubscribe or comes from a list. Spammers write that too, so it is no advice
 * to unsubscribe.
 */
function isLikeNewsletter({ report, analysis }: SummarySource): boolean {
  if (!analysis) return false
  const { verdict, consequence, unsubscribe } = analysis.details
  if (verdict.class !== 'undecided' || report.kind !== 'spam') return verdict.class === 'marketing'
  const { action } = consequence
  if (action === 'forward' || action === 'look-up') return false
  return action === 'advise' || Boolean(unsubscribe)
}

function dangerOf({ analysis }: SummarySource, verdict: Summary['verdict']): Summary['danger'] {
  if (!analysis) return 'waiting'
  if (verdict === 'malware' || verdict === 'phishing' || verdict === 'spam') return verdict
  return verdict === 'undecided' || verdict === 'newsletter' ? 'undecided' : 'none'
}

/** The reporter's provider, and whether more machines are behind the origin. */
export type ShortRoute = { isLonger: boolean; provider: string | undefined }

/** Shortens a route to what a layperson can follow; machines are named by their owners. */
export function shortRoute({ stations }: WalkPicture): ShortRoute {
  const origin = stations.findIndex(({ role }) => role === 'origin')
  const named = stations.find(({ role, name }) => role === 'ours' && name !== null)
  return {
    isLonger: origin >= 0 && origin < stations.length - 1,
    provider: named?.name ? (registrableDomain(named.name) ?? undefined) : undefined,
  }
}
