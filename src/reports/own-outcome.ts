import type { FeedbackState } from '../db/feedback-reports.ts'
import type { OwnOutcome } from '../db/own-reports.ts'
import type { Report } from '../db/reports.ts'
import type { ResultKind } from '../mail/verp.ts'

/** What became of a report, in the words of every page that its reporter sees. */
export type ReportOutcome =
  | 'waiting'
  | 'failed'
  | 'lookingUp'
  | 'queued'
  | 'held'
  | 'told'
  | `answered.${ResultKind}`
  | 'bounced'
  | 'refused'
  | 'withdrawn'
  | 'asking'
  | 'unconfirmed'
  | 'advise'
  | 'thanks'
  | 'simulation'
  | 'simulationMissed'
  | 'kept'
  | 'retracted'

type Source = Pick<Report, 'state' | 'kind'> &
  Omit<OwnOutcome, 'notified'> & {
    /** Whether there is safe advice how to unsubscribe. */
    hasAdvice: boolean
  }

/** The states of feedback; the first that occurs decides the outcome of a report. */
export const feedbackRanks: readonly FeedbackState[] = [
  ...(['sent', 'merged', 'queued', 'waiting', 'held', 'refused', 'bounced', 'withdrawn'] as const),
]

const ofFeedback: Record<FeedbackState, ReportOutcome> = {
  ...{ sent: 'told', merged: 'told', queued: 'queued', waiting: 'queued', held: 'held' },
  ...{ refused: 'refused', bounced: 'bounced', withdrawn: 'withdrawn' },
}

/** Returns the outcome of a report. */
export function outcomeOf({
  state,
  kind,
  action,
  answer,
  feedback,
  hasAdvice,
}: Source): ReportOutcome {
  if (state === 'retracted' || state === 'failed') return state
  if (action === undefined && (state === 'received' || state === 'analyzed')) return 'waiting'
  if (action === 'ask') return 'asking'
  if (action === 'confirm') return 'unconfirmed'
  if (answer) return `answered.${answer}`
  const lead = feedbackRanks.find((one) => feedback.includes(one))
  if (lead) return ofFeedback[lead]
  if (action === 'look-up' || action === 'forward') return 'lookingUp'
  if (action === 'simulation') return kind === 'not-spam' ? 'simulationMissed' : 'simulation'
  // Without a verified sender there is no advice, and unsubscribing would be dangerous.
  if (action === 'advise' && hasAdvice) return 'advise'
  return kind === 'not-spam' ? 'thanks' : 'kept'
}

const open: ReadonlySet<ReportOutcome> = new Set(['waiting', 'lookingUp', 'queued'] as const)

/** Whether an outcome changes soon without the reporter. */
export function isOpenOutcome(outcome: ReportOutcome): boolean {
  return open.has(outcome)
}

/** How good an outcome is for its reporter: `wait` is not finished, `warn` needs the reporter. */
export type OutcomeTone = 'good' | 'warn' | 'bad' | 'wait' | 'info'

/** The other outcomes are good. */
const tones: Partial<Record<ReportOutcome, OutcomeTone>> = {
  ...{ waiting: 'wait', lookingUp: 'wait', queued: 'wait', held: 'wait', refused: 'wait' },
  ...{ asking: 'warn', unconfirmed: 'warn', bounced: 'warn', failed: 'bad' },
  ...{ kept: 'info', withdrawn: 'info', advise: 'info', retracted: 'info' },
  simulationMissed: 'info',
  ...{ 'answered.not-ours': 'info', 'answered.wrong': 'info', 'answered.stop': 'info' },
}

/** Returns the tone of an outcome. */
export function toneOf(outcome: ReportOutcome): OutcomeTone {
  return tones[outcome] ?? 'good'
}
