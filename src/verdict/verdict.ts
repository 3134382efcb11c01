/** What a message can be. `undecided` accuses nobody. */
export const verdictClasses = [
  'spam',
  'phishing',
  'malware',
  'marketing',
  'legitimate',
  'undecided',
] as const

export type VerdictClass = (typeof verdictClasses)[number]

/** A fact named by a rule, with its weight: above 0 speaks for spam, below 0 against. */
export type VerdictSymbol = { name: string; weight: number; meaning: string }

/** What we make of a message. */
export type Verdict = {
  class: VerdictClass
  /** How sure we are of the class, 0 to 1. */
  confidence: number
  /** The sum of the weights of all symbols; from `SPAM_SCORE_MIN` on it is unwanted. */
  score: number
  symbols: readonly VerdictSymbol[]
  /** What the model says of it, 0 (wanted) to 1 (unwanted); absent when none acts. */
  probability?: number
}
