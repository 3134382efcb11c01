import type { Feedback } from '../db/feedback-reports.ts'
import type { LoadedFeedback } from './load-content.ts'

/** Who a feedback report is for, in the words of a report's story: without an address. */
export function consumerWords({ feedback, parts }: Pick<LoadedFeedback, 'feedback' | 'parts'>) {
  const network = parts[0]?.content.network
  switch (feedback.toldAs) {
    case 'network':
      return `the abuse desk of ${network?.name ?? network?.cidr ?? 'the network'}`
    case 'cfbl':
      return 'the address that its author takes complaints at'
    case 'marketer':
      return 'the marketer'
    case 'domain':
      return 'the desk of the domain that signed it'
  }
}

/** Who answers a feedback report, at the beginning of a sentence. */
export function speakerOf({ toldAs }: Pick<Feedback, 'toldAs'>): string {
  if (toldAs === 'network') return 'The abuse desk'
  if (toldAs === 'marketer') return 'The marketer'
  return toldAs === 'domain' ? 'The desk of its domain' : 'Who takes complaints for its author'
}

/** What a report's story says of the end of a feedback report. */
export function outcomeWords(
  state: 'held' | 'sent' | 'refused',
  loaded: Pick<LoadedFeedback, 'feedback' | 'parts'>,
): string {
  const whom = consumerWords(loaded)
  if (loaded.feedback.kind === 'redeemed') {
    if (state === 'sent') return `A report that takes the complaint back was sent to ${whom}.`
    return state === 'held'
      ? `A report that takes the complaint back for ${whom} is written and held: sending is ` +
          'switched off.'
      : `Our mail server refused a report that takes the complaint back for ${whom}.`
  }
  if (state === 'sent') return `A feedback report was sent to ${whom}.`
  return state === 'held'
    ? `A feedback report for ${whom} is written and held: sending is switched off.`
    : `Our mail server refused the feedback report for ${whom}.`
}
