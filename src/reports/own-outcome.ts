import type { FeedbackState } from '../db/feedback-reports.ts'
import type { OwnOutcome } from '../db/own-reports.ts'
import type { Report } from '../db/reports.ts'
import { type Phrase, type PhraseCode, phrase } from '../phrase.ts'
import { isDangerous, isUnwanted } from '../verdict/verdict.ts'

/** What became of a report: one word for lists, pages, statistics, letters and the API. */
export const reportOutcomes = [
  ...(['waiting', 'failed', 'looking-up', 'queued', 'held', 'told'] as const),
  ...(['answered-resolved', 'answered-not-ours', 'answered-wrong', 'answered-stop'] as const),
  ...(['bounced', 'refused', 'withdrawn', 'asking', 'unconfirmed', 'newsletter'] as const),
  ...(['thanks', 'simulation', 'simulation-missed', 'kept', 'retracted'] as const),
] as const

export type ReportOutcome = (typeof reportOutcomes)[number]

type Source = Pick<Report, 'state' | 'kind'> & Omit<OwnOutcome, 'notified' | 'why'>

/** The states of feedback; the first that occurs decides the outcome of a report. */
export const feedbackRanks: readonly FeedbackState[] = [
  ...(['sent', 'merged', 'queued', 'waiting', 'held', 'refused', 'bounced', 'withdrawn'] as const),
]

const ofFeedback: Record<FeedbackState, ReportOutcome> = {
  ...{ sent: 'told', merged: 'told', queued: 'queued', waiting: 'queued', held: 'held' },
  ...{ refused: 'refused', bounced: 'bounced', withdrawn: 'withdrawn' },
}

export function outcomeOf(source: Source): ReportOutcome {
  const { state, kind, action, answer, feedback } = source
  if (state === 'retracted' || state === 'failed') return state
  if (action === undefined && (state === 'received' || state === 'analyzed')) return 'waiting'
  if (action === 'ask') return 'asking'
  if (action === 'confirm') return 'unconfirmed'
  if (answer) return `answered-${answer}`
  const lead = feedbackRanks.find((one) => feedback.includes(one))
  if (lead) return ofFeedback[lead]
  if (action === 'look-up' || action === 'forward') return 'looking-up'
  if (action === 'simulation') return kind === 'not-spam' ? 'simulation-missed' : 'simulation'
  if (action === 'advise' && !isDangerous(source.verdict ?? '')) return 'newsletter'
  return kind === 'not-spam' ? 'thanks' : 'kept'
}

/** Reasons that contradict a verdict against the message. */
const forMessage: ReadonlySet<PhraseCode> = new Set([
  ...(['looks-wanted', 'looks-like-reply', 'looks-like-receipt'] as const),
  ...(['looks-like-list', 'bulk-with-unsubscribe', 'no-complaint'] as const),
])
/** How a sender was recognized; the advice says it. */
const proofs: ReadonlySet<PhraseCode> = new Set([
  ...(['marketer-signature', 'marketer-range', 'marketer-list-id', 'marketer-author'] as const),
  'service-signature',
])
const questions: ReadonlySet<PhraseCode> = new Set(['question-asked', 'confirmation-asked'])

/**
 * Why no one was notified, for the reporter: empty for other outcomes, and if the reasons are not
 * stored. Leaves out questions that are not asked any more, and what contradicts the verdict.
 */
export function reasonsOf(
  outcome: ReportOutcome,
  { verdict, why }: Pick<OwnOutcome, 'verdict' | 'why'>,
): readonly Phrase[] {
  const isUntold = outcome === 'kept' || outcome === 'newsletter'
  if (!isUntold || why.length === 0) return []
  const isAgainst = outcome === 'kept' && isUnwanted({ class: verdict ?? 'undecided' })
  const unsaid = isAgainst ? forMessage : proofs
  const reasons = why.filter(({ code }) => !questions.has(code) && !unsaid.has(code))
  return reasons.length > 0 ? reasons : [phrase('others-needed')]
}

const open: ReadonlySet<ReportOutcome> = new Set(['waiting', 'looking-up', 'queued'] as const)

/** Whether an outcome changes soon without the reporter. */
export function isOpenOutcome(outcome: ReportOutcome): boolean {
  return open.has(outcome)
}

/** How good an outcome is for its reporter: `wait` is not finished, `warn` needs the reporter. */
export type OutcomeTone = 'good' | 'warn' | 'bad' | 'wait' | 'info'

/** The other outcomes are good. */
const tones: Partial<Record<ReportOutcome, OutcomeTone>> = {
  ...{ waiting: 'wait', 'looking-up': 'wait', queued: 'wait', held: 'wait', refused: 'wait' },
  ...{ asking: 'warn', unconfirmed: 'warn', bounced: 'warn', failed: 'bad' },
  ...{ kept: 'info', withdrawn: 'info', newsletter: 'info', retracted: 'info' },
  'simulation-missed': 'info',
  ...{ 'answered-not-ours': 'info', 'answered-wrong': 'info', 'answered-stop': 'info' },
}

export function toneOf(outcome: ReportOutcome): OutcomeTone {
  return tones[outcome] ?? 'good'
}
