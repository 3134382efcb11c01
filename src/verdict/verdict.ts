import type { Facts } from './facts/fact.ts'

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
export function symbolScore(symbols: readonly VerdictSymbol[]): number {
  return Math.round(symbols.reduce((sum, { weight }) => sum + weight, 0) * 100) / 100
}

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

/** All that is known when it is decided. */
export type Judging = {
  facts: Facts
  /** What the rules raised. */
  symbols: readonly VerdictSymbol[]
  /** What the acting model says, 0 (wanted) to 1 (unwanted); absent when none acts. */
  probability?: number | undefined
}

/** From this score on a message is unwanted. */
export const SPAM_SCORE_MIN = 5
/** Up to this score a message that nobody reported is wanted. */
const WANTED_SCORE_MAX = -2
/** The score at which wanted and unwanted are as likely: scores are read as log-odds from here. */
const EVEN_SCORE = 2.5
/** The model alone carries nothing over the threshold: it looks at little more than content. */
const MODEL_WEIGHT_MAX = 4
/** From this karma on the word "not spam" settles it. */
const SURE_KARMA_MIN = 0.5

/**
 * Concludes what a message is from the symbols and the model, which speaks last: as one symbol more
 * whose weight is its log-odds, bounded. Doubt ends as `undecided`, which accuses nobody.
 */
export function decide({ facts, symbols: raised, ...judging }: Judging): Verdict {
  // A model whose sums overflow says nothing; a score that is no number would say less.
  const probability = Number.isNaN(judging.probability) ? undefined : judging.probability
  const symbols = probability === undefined ? raised : [...raised, modelSymbol(probability)]
  const score = symbolScore(symbols)
  const its = classOf(score, facts)
  const verdict = { class: its, confidence: confidenceOf(its, score), score, symbols }
  return probability === undefined ? verdict : { ...verdict, probability }
}

function modelSymbol(probability: number): VerdictSymbol {
  const inside = Math.min(Math.max(probability, 1e-6), 1 - 1e-6)
  const odds = Math.log(inside / (1 - inside))
  const weight = Math.min(Math.max(odds, -MODEL_WEIGHT_MAX), MODEL_WEIGHT_MAX)
  return {
    name: 'MODEL',
    weight: Math.round(weight * 100) / 100,
    meaning: `The model gives it ${Math.round(inside * 100)} % to be unwanted.`,
    basis: 'model',
  }
}

function classOf(score: number, facts: Facts): VerdictClass {
  const reportedAs = facts.report?.kind
  if (reportedAs === 'not-spam') return defended(score, facts)
  const isMachineMail = facts.message?.kind !== 'message'
  if (score >= SPAM_SCORE_MIN) return unwantedClass(facts)
  if (isMachineMail) return 'undecided'
  if (isHonestBulk(facts)) return 'marketing'
  return score <= WANTED_SCORE_MAX ? 'legitimate' : 'undecided'
}

/** What one reporter wants accuses nobody, whatever others say; but not each word is believed. */
function defended(score: number, { report }: Facts): VerdictClass {
  const isSure = Number(report?.karma ?? 0) >= SURE_KARMA_MIN
  return isSure || score < SPAM_SCORE_MIN ? 'legitimate' : 'undecided'
}

function unwantedClass({ report, blacklists }: Facts): VerdictClass {
  if (blacklists?.has_malware === true) return 'malware'
  const isPhishing = report?.kind === 'phishing' || blacklists?.has_phishing === true
  return isPhishing ? 'phishing' : 'spam'
}

/**
 * Mail in bulk whose author stands behind it, by a signature, and says how to be rid of it. Where
 * nobody looked up the signature, it is enough that one unsubscribes at the author's.
 */
function isHonestBulk({ authentication, bulk, message, origin }: Facts): boolean {
  const isAuthors =
    authentication?.checked === true
      ? authentication.dkim_aligned === true
      : bulk?.unsubscribe_of_author === true
  return isAuthors && message?.has_list_unsubscribe === true && origin?.has_forged_hop !== true
}

function confidenceOf(its: VerdictClass, score: number): number {
  const unwanted = 1 / (1 + Math.exp(EVEN_SCORE - score))
  const sure = {
    spam: unwanted,
    phishing: unwanted,
    malware: unwanted,
    marketing: 1 - unwanted,
    legitimate: 1 - unwanted,
    undecided: 1 - Math.abs(2 * unwanted - 1),
  }[its]
  return Math.round(sure * 1000) / 1000
}
