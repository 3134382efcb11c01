/** What a message can be. `undecided` accuses nobody. */
export const verdictClasses = [
  'spam',
  'phishing',
  'malware',
  'marketing',
  'legitimate',
  'undecided',
] as const

/** One of them. */
export type VerdictClass = (typeof verdictClasses)[number]

/**
 * What a symbol rests on: what stands in the message, whence it came and who vouches for it, the
 * reporter's word, what others reported of it, or the model.
 */
export type SymbolBasis = 'content' | 'way' | 'word' | 'known' | 'model'

/** A fact named by a rule, with its weight: above 0 speaks for spam, below 0 against. */
export type VerdictSymbol = {
  name: string
  weight: number
  meaning: string
  /** Absent in verdicts of before there was a basis. */
  basis?: SymbolBasis
}

/** What we make of a message. */
export type Verdict = {
  class: VerdictClass
  /** How sure we are of the class, 0 to 1; absent in verdicts of before there was one. */
  confidence?: number
  /** The sum of the weights of all symbols; from `SPAM_SCORE_MIN` on it is unwanted. */
  score: number
  symbols: readonly VerdictSymbol[]
  /** What the model says of it, 0 (wanted) to 1 (unwanted); absent when none acts. */
  probability?: number
}

const unwanted: readonly VerdictClass[] = ['spam', 'phishing', 'malware']

/** Whether a message is one that nobody wants. */
export function isUnwanted(verdict: Pick<Verdict, 'class'>): boolean {
  return unwanted.includes(verdict.class)
}

/** Groups of facts that say what is known of the past, and so perhaps who reported. */
const knownGroups: readonly string[] = ['reputation', 'seen']
const wordGroups: readonly string[] = ['report']
const wayGroups: readonly string[] = [
  'authentication',
  'blacklists',
  'envelope',
  'network',
  'origin',
]

/** What a rule rests on that looks at facts of these groups: what tells most of others counts. */
export function basisOf(groups: Iterable<string>): SymbolBasis {
  const its = [...groups]
  if (its.some((group) => knownGroups.includes(group))) return 'known'
  if (its.some((group) => wordGroups.includes(group))) return 'word'
  return its.some((group) => wayGroups.includes(group)) ? 'way' : 'content'
}

const hiddenBases: readonly (SymbolBasis | undefined)[] = ['known', 'model', 'word']

/**
 * The symbols a reporter may see. A reporter may be a spammer who listens: what others reported,
 * what the model thinks and how far the reporter is believed is not for them.
 */
export function symbolsForReporters(symbols: readonly VerdictSymbol[]): VerdictSymbol[] {
  return symbols.filter(({ basis }) => !hiddenBases.includes(basis))
}

/** Least weight of what is not content: one newcomer's word is less. */
const EVIDENCE_MIN = 2.5

/**
 * Whether more than its content and the model speaks against a message: words, ways and what others
 * reported. Without it nobody is told, and nothing is refused.
 */
export function hasEvidence({ symbols }: Pick<Verdict, 'symbols'>): boolean {
  const evidence = symbols
    .filter(({ weight, basis }) => weight > 0 && basis !== 'content' && basis !== 'model')
    .reduce((sum, { weight }) => sum + weight, 0)
  return evidence >= EVIDENCE_MIN
}

/** The sum of the weights, to two digits. */
export function scoreOf(symbols: readonly VerdictSymbol[]): number {
  return Math.round(symbols.reduce((sum, { weight }) => sum + weight, 0) * 100) / 100
}
