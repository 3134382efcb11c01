import { hasEvidence, isUnwanted, type Verdict, type VerdictClass } from './verdict.ts'

/** What a mail server is advised to do, in the words of rspamd's protocol. */
export const checkActions = [
  'no action',
  'greylist',
  'add header',
  'rewrite subject',
  'soft reject',
  'reject',
] as const

/** One of them. */
export type CheckAction = (typeof checkActions)[number]

/** From which scores on more is advised than a header. */
export type CheckScores = {
  reject: number
  /** Undefined: nothing is greylisted. */
  greylist: number | undefined
}

const dangerous: readonly VerdictClass[] = ['phishing', 'malware']
/** Of phishing and malware, which harm whoever opens them, so sure is sure enough. */
const DANGEROUS_CONFIDENCE_MIN = 0.95

/** The only symbol of a message that was not read: who hands it over is listed. */
export const FIRST_FILTER = 'FIRST_FILTER'

function isUnread({ symbols }: Verdict): boolean {
  return symbols.some(({ name }) => name === FIRST_FILTER)
}

/**
 * The advice that follows from a verdict. Rejected is only what was read, and is both unwanted and
 * far beyond doubt, by more than its content; what is undecided is delivered, or greylisted where
 * that is wished.
 */
export function checkActionOf(verdict: Verdict, scores: CheckScores): CheckAction {
  const isSure = (verdict.confidence ?? 0) >= DANGEROUS_CONFIDENCE_MIN
  if (isUnwanted(verdict)) {
    if (isUnread(verdict) || !hasEvidence(verdict)) return 'add header'
    if (verdict.score >= scores.reject) return 'reject'
    return dangerous.includes(verdict.class) && isSure ? 'reject' : 'add header'
  }
  const { greylist } = scores
  const isGreylisted = greylist !== undefined && verdict.score >= greylist
  return verdict.class === 'undecided' && isGreylisted ? 'greylist' : 'no action'
}
