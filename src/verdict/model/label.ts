import type { VerdictClass } from '../verdict.ts'
import type { RowKind } from './training-row.ts'

/** What is known of a report that a model might learn from. */
export type ReportedRow = {
  kind: 'spam' | 'phishing' | 'not-spam'
  isRetracted: boolean
  verdict: VerdictClass
  /** How far its reporter was believed, 0 to 1. */
  karma: number
  /** How many proven others reported the same campaign, by what they say of it. */
  others: { unwanted: number; wanted: number }
}

/** Whoever is believed less is believed only with others who are believed so much. */
export const LABEL_KARMA_MIN = 0.5
const OTHERS_MIN = 2

/**
 * As what a report is learned from; undefined of those that prove nothing. A single word is taken
 * only of a reporter who earned it, the word of a newcomer only when two of those say the same, and
 * none of a campaign about which they disagree. The verdict never makes a label by itself, or
 * a model would learn the rules by heart; but it can take one away. What was taken back was a
 * mistake: it is learned from neither as unwanted nor, since nobody looked again, as wanted.
 */
export function labelOf({ kind, isRetracted, verdict, karma, others }: ReportedRow) {
  if (isRetracted) return undefined
  const isUnwanted = kind !== 'not-spam'
  const against = isUnwanted ? others.wanted : others.unwanted
  const along = isUnwanted ? others.unwanted : others.wanted
  if (against > 0 || (karma < LABEL_KARMA_MIN && along < OTHERS_MIN)) return undefined
  if (isOpposed(verdict, isUnwanted)) return undefined
  const label: RowKind = kind === 'not-spam' ? 'ham' : kind
  return label
}

function isOpposed(verdict: VerdictClass, isUnwanted: boolean): boolean {
  if (isUnwanted) return verdict === 'legitimate'
  return verdict === 'spam' || verdict === 'phishing' || verdict === 'malware'
}
