import type { KeptAnalysis } from '../../db/analyses.ts'
import type { Feedback } from '../../db/feedback-reports.ts'
import type { Report } from '../../db/reports.ts'
import type { ShownAnswer } from '../../feedback/take-answer.ts'
import { domainOf, registrableDomain } from '../../mail/address.ts'
import type { Phrase } from '../../phrase.ts'
import {
  feedbackRanks,
  isOpenOutcome,
  outcomeOf,
  type OutcomeTone,
  reasonsOf,
  type ReportOutcome,
  toneOf,
} from '../../reports/own-outcome.ts'
import { isDangerous, type VerdictClass } from '../../verdict/verdict.ts'
import type { WalkPicture } from '../../verdict/walk-picture.ts'

type StageState = 'done' | 'now' | 'open' | 'failed' | 'skipped' | 'asking'

/** One of the four steps of a report; `at` is when it was done. */
type Stage = { state: StageState; at: Date | undefined }

/** What a reporter wants to know first about a report. */
export type Summary = {
  outcome: ReportOutcome
  /**
   * What the page says of the message before the outcome. `unwanted`: that the reporter does not
   * want it, where it looks wanted and somebody is notified all the same.
   */
  verdict: Finding | 'unwanted' | undefined
  /** The class whose signs explain what the page says of the message; undefined without any. */
  because: VerdictClass | undefined
  /** Why no one was notified. */
  reasons: readonly Phrase[]
  /** The name of the company that is notified; undefined if none is. */
  desk: string | undefined
  tone: OutcomeTone
  stages: Record<'arrived' | 'analyzed' | 'told' | 'answered', Stage>
  /** Whether the desk is notified, or somebody will be. */
  notified: 'done' | 'open' | 'nobody'
  todo: Todo
  danger: Danger
  /** Whether the page changes soon without the reporter. */
  isOpen: boolean
}

/**
 * What a message is for its reporter: the class whose signs explain it, its danger, and what to do.
 * `newsletter`: it looks like one, but there is no safe advice how to unsubscribe, so the page does
 * not say that one can. `disputed`: we think it is spam, and its reporter does not.
 */
const meanings = {
  spam: { because: 'spam', danger: 'spam', todo: 'spam' },
  phishing: { because: 'phishing', danger: 'phishing', todo: 'phishing' },
  malware: { because: 'malware', danger: 'malware', todo: 'malware' },
  disputed: { because: 'spam', danger: 'disputed', todo: 'check' },
  marketing: { because: 'marketing', danger: 'none', todo: 'unsubscribe' },
  newsletter: { because: 'marketing', danger: 'undecided', todo: 'newsletter' },
  legitimate: { because: 'legitimate', danger: 'none', todo: 'nothing' },
  undecided: { because: 'undecided', danger: 'undecided', todo: 'spam' },
  waiting: { because: undefined, danger: 'waiting', todo: 'wait' },
} as const
type Finding = keyof typeof meanings

type Danger = (typeof meanings)[Finding]['danger']
type Todo = (typeof meanings)[Finding]['todo'] | 'answer'

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
  const verdict = analysis?.details.verdict.class
  const outcome = outcomeOf({
    ...report,
    verdict,
    action: shownAction(source),
    answer: resultsOf(answers).at(-1)?.answer ?? null,
    feedback: complaints.map(({ state }) => state),
  })
  const lead = complaints.toSorted((one, other) => rankOf(one) - rankOf(other))[0]
  const desk = lead && deskOf(lead, analysis)
  const finding = findingOf(source, outcome)
  const said = analysis && saidOf(finding, outcome, report)
  const told = toldStage(outcome, lead)
  return {
    outcome,
    verdict: isUnsaid.has(outcome) ? undefined : said,
    because: said && said !== 'unwanted' ? meanings[said].because : undefined,
    reasons: reasonsOf(outcome, { verdict, why: analysis?.details.consequence.why ?? [] }),
    desk,
    tone: toneOf(outcome),
    stages: {
      arrived: { state: 'done', at: report.receivedAt },
      analyzed: { state: analyzedState(source), at: analysis?.analyzedAt },
      told,
      answered: answeredStage(outcome, answers),
    },
    notified: notifiedOf(outcome, told),
    todo: todoOf(source, outcome, finding),
    danger: meanings[finding].danger,
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
function toldStage(outcome: ReportOutcome, lead: Feedback | undefined): Stage {
  const isNotified = lead?.state === 'sent' || lead?.state === 'merged'
  const at = lead?.state === 'sent' ? (lead.finishedAt ?? undefined) : undefined
  return { state: isNotified ? 'done' : (notifiedStates[outcome] ?? 'done'), at }
}

function notifiedOf(outcome: ReportOutcome, { state }: Stage): Summary['notified'] {
  if (state === 'done') return 'done'
  const isComing = state !== 'skipped' && outcome !== 'bounced'
  return isComing ? 'open' : 'nobody'
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

function findingOf(
  { report, analysis, ...source }: SummarySource,
  outcome: ReportOutcome,
): Finding {
  if (outcome === 'simulation' || outcome === 'simulation-missed') return 'legitimate'
  if (!analysis) return outcome === 'waiting' || outcome === 'failed' ? 'waiting' : 'undecided'
  const found = analysis.details.verdict.class
  if (isDangerous(found)) return found
  if (isUncomplained(report)) {
    if (found === 'spam') return 'disputed'
    return found === 'undecided' ? 'undecided' : 'legitimate'
  }
  if (source.hasAdvice) return 'marketing'
  return isLikeNewsletter(report, analysis) ? 'newsletter' : found
}

/** Whether its reporter does not complain about the message, or not any more. */
function isUncomplained({ kind, state }: SummarySource['report']): boolean {
  return kind === 'not-spam' || state === 'retracted'
}

/** Outcomes whose sentence is not about the message. */
const isUnsaid: ReadonlySet<ReportOutcome> = new Set([
  ...(['waiting', 'failed', 'retracted', 'simulation', 'simulation-missed'] as const),
])

/** Outcomes that agree with a message that looks wanted. */
const isMild: ReadonlySet<ReportOutcome> = new Set([
  ...(['kept', 'withdrawn', 'thanks', 'unconfirmed', 'retracted'] as const),
  ...(['simulation', 'simulation-missed'] as const),
])

function saidOf(finding: Finding, outcome: ReportOutcome, report: SummarySource['report']) {
  if (finding !== 'legitimate' || isMild.has(outcome)) return finding
  return isUncomplained(report) ? undefined : 'unwanted'
}

/** What keeps a reporter from harm comes before our question. */
function todoOf(
  { report, analysis }: SummarySource,
  outcome: ReportOutcome,
  finding: Finding,
): Todo {
  const isAsked = outcome === 'asking' || outcome === 'unconfirmed'
  if (isAsked && !isDangerous(finding)) return 'answer'
  const isOpen = finding === 'undecided' && (!analysis || isUncomplained(report))
  return isOpen ? 'check' : meanings[finding].todo
}

/**
 * Whether a message is bulk mail, or may be: nobody is notified of it for that reason, or nothing
 * else is known about it, no one is notified, and it tells how to unsubscribe or comes from a list.
 * Spammers write that too, so it is no advice to unsubscribe.
 */
function isLikeNewsletter({ kind }: SummarySource['report'], { details }: KeptAnalysis): boolean {
  const { verdict, consequence, unsubscribe } = details
  const { action } = consequence
  if (verdict.class === 'marketing' || action === 'advise') return true
  if (verdict.class !== 'undecided' || kind !== 'spam') return false
  return action !== 'forward' && action !== 'look-up' && Boolean(unsubscribe)
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
