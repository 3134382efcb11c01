import { type Phrase, phrase } from '../phrase.ts'
import { CONTENT_GROUP, type Facts } from './facts/fact.ts'
import { isVerifiedBulk, mannerOf } from './manner.ts'
import type { Estimate } from './model/model.ts'

/** Classes of a verdict. `undecided` does not count as unwanted. */
export const verdictClasses = [
  'spam',
  'phishing',
  'malware',
  'marketing',
  'legitimate',
  'undecided',
] as const

export type VerdictClass = (typeof verdictClasses)[number]

/** A class to which an operator can correct a verdict. */
export type CorrectedClass = Exclude<VerdictClass, 'undecided'>

/**
 * The basis of a symbol: content of the message, route and authentication, the reporter's
 * statement, words and names that an operator looks for (`words`), other reports and reputations,
 * the user of the mail server who sends it, the model, or an operator who read the message.
 */
export type SymbolBasis =
  | 'content'
  | 'way'
  | 'word'
  | 'words'
  | 'known'
  | 'sender'
  | 'model'
  | 'operator'

/** A symbol raised by a rule, with its weight: positive for spam, negative against. */
export type VerdictSymbol = {
  name: string
  weight: number
  /**
   * What the symbol states about the message: the text of an operator's rule, or a phrase. Absent
   * in stored verdicts for symbols of shipped rules, whose meanings are looked up by name.
   */
  meaning?: string | Phrase
  /** Absent in verdicts stored before this field existed. */
  basis?: SymbolBasis
}

export type Verdict = {
  class: VerdictClass
  /** Confidence in the class, 0 to 1; absent in verdicts stored before this field existed. */
  confidence?: number
  /** Sum of the weights of all symbols; the message is unwanted from `SPAM_SCORE_MIN` on. */
  score: number
  symbols: readonly VerdictSymbol[]
  /** What the model said; absent without an active model. */
  estimate?: Estimate
}

const unwanted: readonly VerdictClass[] = ['spam', 'phishing', 'malware']

/** Whether a class is one of those that harm the recipient who opens the message. */
export function isDangerous(name: string): name is 'phishing' | 'malware' {
  return name === 'phishing' || name === 'malware'
}

/** Whether the class of a verdict is spam, phishing or malware. */
export function isUnwanted(verdict: Pick<Verdict, 'class'>): boolean {
  return unwanted.includes(verdict.class)
}

/**
 * Groups of facts for each basis. `knownGroups` reveal past reports, and thereby possibly the
 * reporters.
 */
const knownGroups: readonly string[] = ['reputation', 'seen']
const wordGroups: readonly string[] = ['report']
const wayGroups: readonly string[] = [
  'authentication',
  'blacklists',
  'envelope',
  'network',
  'origin',
]

/**
 * Returns the basis of a rule that uses facts of the given groups: the basis that reveals most. A
 * rule about words is one whatever else it uses, because the weight of words is limited.
 */
export function basisOf(groups: Iterable<string>): SymbolBasis {
  const its = [...groups]
  if (its.includes('sender')) return 'sender'
  if (its.includes(CONTENT_GROUP)) return 'words'
  if (its.some((group) => knownGroups.includes(group))) return 'known'
  if (its.some((group) => wordGroups.includes(group))) return 'word'
  return its.some((group) => wayGroups.includes(group)) ? 'way' : 'content'
}

const messageBases: readonly (SymbolBasis | undefined)[] = ['content', 'way', undefined]

/** Returns the symbols about the message itself: its content, route and authentication. */
export function symbolsOfMessage(symbols: readonly VerdictSymbol[]): VerdictSymbol[] {
  return symbols.filter(({ basis }) => messageBases.includes(basis))
}

/** Sums of hidden weights below it are not shown, and others only in steps of it. */
const HIDDEN_STEP = 2

/**
 * Returns the symbols that a reporter may see, which explain the verdict: those of the message, the
 * reporter's own statement, and one for everything else. A reporter may be a spammer, so other
 * reports, reputations, words and the model are only shown as one rounded sum.
 */
export function symbolsForReporters(symbols: readonly VerdictSymbol[]): VerdictSymbol[] {
  const sumOf = (...bases: SymbolBasis[]) =>
    symbolScore(symbols.filter(({ basis }) => basis !== undefined && bases.includes(basis)))
  const own = sumOf('word')
  const others =
    Math.round(sumOf('known', 'words', 'model', 'sender', 'operator') / HIDDEN_STEP) * HIDDEN_STEP
  const yours = { name: 'YOUR_REPORT', weight: own, meaning: phrase('your-report') }
  const what = phrase(others > 0 ? 'other-signs-against' : 'other-signs-for')
  const known = { name: 'OTHER_SIGNS', weight: others, meaning: what }
  return [...symbolsOfMessage(symbols), yours, known].filter(({ weight }) => weight !== 0)
}

/** Bases that are no evidence: everybody can write a message with or without such signs. */
const weakBases: readonly SymbolBasis[] = ['content', 'words', 'model']

/** Minimum sum of the weights that `hasEvidence` counts. A newcomer's report weighs less. */
const EVIDENCE_MIN = 2.5

/**
 * Whether there is evidence against a message besides its content, words and the model: reports,
 * route, authentication or reputations. Without it no message is rejected.
 */
function hasEvidence({ symbols }: Pick<Verdict, 'symbols'>): boolean {
  const evidence = symbols.filter(({ basis }) => basis === undefined || !weakBases.includes(basis))
  return weightAgainst(evidence) >= EVIDENCE_MIN
}

/**
 * Whether a message is unwanted by its route, authentication, a blacklist or an operator.
 * Complaints and reputations that rest on complaints do not count.
 */
export function isProvenUnwanted(verdict: Pick<Verdict, 'class' | 'symbols'>): boolean {
  const way = verdict.symbols.filter(({ basis }) => basis === 'way' || basis === 'operator')
  return isUnwanted(verdict) && weightAgainst(way) >= EVIDENCE_MIN
}

/** Returns the symbols with the largest positive weights, at most `max`. */
export function strongestAgainst(symbols: readonly VerdictSymbol[], max: number): VerdictSymbol[] {
  return symbols
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, max)
}

function weightAgainst(symbols: readonly VerdictSymbol[]): number {
  return symbols.reduce((sum, { weight }) => sum + Math.max(0, weight), 0)
}

/**
 * Whether a message is unwanted whoever sends it. A verdict based on the reputation of the user who
 * sends it must not become evidence about that user.
 */
export function isUnwantedFromAnyone(verdict: Pick<Verdict, 'class' | 'symbols'>): boolean {
  const others = verdict.symbols.filter(({ basis }) => basis !== 'sender')
  return isUnwanted(verdict) && symbolScore(others) >= SPAM_SCORE_MIN
}

/** Sums the weights, rounded to two digits. */
export function symbolScore(symbols: readonly VerdictSymbol[]): number {
  return Math.round(symbols.reduce((sum, { weight }) => sum + weight, 0) * 100) / 100
}

/** What can follow from a report: the actions of `Consequence`. */
export const consequenceActions = [
  'forward',
  'look-up',
  'keep',
  'advise',
  'confirm',
  'ask',
  'simulation',
] as const

/** Actions recommended to a mail server, as named in rspamd's protocol. */
export const checkActions = [
  'no action',
  'greylist',
  'add header',
  'rewrite subject',
  'soft reject',
  'reject',
] as const

export type CheckAction = (typeof checkActions)[number]

/** Minimum scores for actions beyond an added header. */
export type CheckScores = {
  reject: number
  /** Undefined: greylisting is off. */
  greylist: number | undefined
}

/**
 * Minimum confidence for rejecting phishing and malware, which harm the recipient who opens them.
 */
const DANGEROUS_CONFIDENCE_MIN = 0.95

/**
 * The only symbol of a message that was not read because its SMTP client or return path is listed.
 */
export const FIRST_FILTER = 'FIRST_FILTER'

function isUnread({ symbols }: Verdict): boolean {
  return symbols.some(({ name }) => name === FIRST_FILTER)
}

/**
 * Returns the action for a verdict. Only a message that was read, is unwanted and far above the
 * threshold, and has evidence besides its content is rejected. An undecided message is delivered,
 * or greylisted if that is configured.
 */
export function checkActionOf(verdict: Verdict, scores: CheckScores): CheckAction {
  const isSure = (verdict.confidence ?? 0) >= DANGEROUS_CONFIDENCE_MIN
  if (isUnwanted(verdict)) {
    if (isUnread(verdict) || !hasEvidence(verdict)) return 'add header'
    if (verdict.score >= scores.reject) return 'reject'
    return isDangerous(verdict.class) && isSure ? 'reject' : 'add header'
  }
  const { greylist } = scores
  const isGreylisted = greylist !== undefined && verdict.score >= greylist
  return verdict.class === 'undecided' && isGreylisted ? 'greylist' : 'no action'
}

/** Input of `decide`. */
export type Judging = {
  facts: Facts
  /** The symbols raised by the rules. */
  symbols: readonly VerdictSymbol[]
  /** What the active model says; absent when none is active. */
  estimate?: Estimate | undefined
}

/** Minimum score of an unwanted message. */
export const SPAM_SCORE_MIN = 5
/** Maximum score of a message that is wanted although no one reported it as such. */
const WANTED_SCORE_MAX = -2
/**
 * The score at which wanted and unwanted are equally likely. Scores are interpreted as log odds
 * relative to it.
 */
const EVEN_SCORE = 2.5
/** Maximum weight of a model that is not sure. */
const MODEL_WEIGHT_MAX = 4
/** Maximum weight of a model that is not sure together with content; below the threshold. */
const UNSURE_WEIGHT_MAX = 4.9
/**
 * Maximum weight of one person's complaint if the message carries marks of wanted mail. Any account
 * can be mistaken, so that a complaint about such a message does not decide. The statement of a new
 * reporter weighs less.
 */
export const COMPLAINT_WEIGHT_MAX = 2.5
/**
 * Maximum absolute sum of the weights of all symbols about words: half of the threshold. Words
 * alone never decide, because they also occur in mail that quotes or discusses them.
 */
const WORDS_WEIGHT_MAX = 2.5
/**
 * Weight of a model that is sure. It is above the threshold, so that content alone decides unless
 * something speaks for the message.
 */
const SURE_WEIGHT = 6
/** Minimum karma at which the statement "not spam" decides. */
const SURE_KARMA_MIN = 0.5

/**
 * Decides the class of a message from the symbols and the model. The model counts as one more
 * symbol, whose weight is its bounded log odds. In doubt the class is `undecided`, which does not
 * count as unwanted.
 */
export function decide({ facts, symbols: raised, ...judging }: Judging): Verdict {
  // NaN from a model whose sums overflow is ignored, because it would make the score NaN.
  const estimate = Number.isNaN(judging.estimate?.probability) ? undefined : judging.estimate
  const bounded = limitedWords(raised)
  const rules = mayBeWanted(facts) ? bounded.map(limitedComplaint) : bounded
  const symbols = estimate === undefined ? rules : [...rules, modelSymbol(estimate, rules)]
  const score = symbolScore(symbols)
  const its = classOf(score, facts, estimate)
  const verdict = { class: its, confidence: confidenceOf(its, score), score, symbols }
  return estimate === undefined ? verdict : { ...verdict, estimate }
}

/** Whether a message carries marks of a list, of bulk mail, of a reply or of a verified author. */
function mayBeWanted(facts: Facts): boolean {
  return facts.authentication?.author_stands_behind === true || mannerOf(facts) !== 'plain'
}

/** Limits the weight of a reporter's complaint to 2.5; returns other symbols unchanged. */
export function limitedComplaint(symbol: VerdictSymbol): VerdictSymbol {
  const { basis, weight } = symbol
  if (basis !== 'word' || weight <= COMPLAINT_WEIGHT_MAX) return symbol
  return { ...symbol, weight: COMPLAINT_WEIGHT_MAX }
}

/**
 * Limits the symbols about words: those with a positive weight, and those with a negative one,
 * weigh 2.5 at most together. The first ones keep their weights; the others get what is left, down
 * to 0.
 */
function limitedWords(symbols: readonly VerdictSymbol[]): readonly VerdictSymbol[] {
  if (!symbols.some(({ basis }) => basis === 'words')) return symbols
  let [against, inFavor] = [WORDS_WEIGHT_MAX, WORDS_WEIGHT_MAX]
  return symbols.map((symbol) => {
    if (symbol.basis !== 'words') return symbol
    const weight = Math.min(Math.max(symbol.weight, -inFavor), against)
    if (weight > 0) against -= weight
    else inFavor += weight
    return weight === symbol.weight ? symbol : { ...symbol, weight }
  })
}

function modelSymbol(
  { probability, isSure }: Estimate,
  rules: readonly VerdictSymbol[],
): VerdictSymbol {
  const inside = Math.min(Math.max(probability, 1e-6), 1 - 1e-6)
  const odds = Math.log(inside / (1 - inside))
  const content = symbolScore(rules.filter(({ basis }) => basis === 'content' || basis === 'words'))
  const most = Math.min(MODEL_WEIGHT_MAX, Math.max(0, UNSURE_WEIGHT_MAX - content))
  const bounded = Math.min(Math.max(odds, -MODEL_WEIGHT_MAX), most)
  const weight = isSure ? SURE_WEIGHT : bounded
  return {
    name: 'MODEL',
    weight: Math.round(weight * 100) / 100,
    meaning: phrase('model-estimate', { percent: Math.round(inside * 100) }),
    basis: 'model',
  }
}

function classOf(score: number, facts: Facts, estimate: Estimate | undefined): VerdictClass {
  const reportedAs = facts.report?.kind
  if (reportedAs === 'not-spam') return defended(score, facts)
  const isMachineMail = facts.message?.kind !== 'message'
  if (score >= SPAM_SCORE_MIN) return unwantedClass(facts, estimate)
  if (isMachineMail) return 'undecided'
  const isGiven = facts.report?.is_given === true
  const isBulk = !isGiven && score <= 0 && isUnverifiedBulk(facts)
  if (isBulk || isVerifiedBulk(facts)) return 'marketing'
  return score <= WANTED_SCORE_MAX ? 'legitimate' : 'undecided'
}

/**
 * Whether the address for unsubscribing is of the author's domain, and nobody verified signatures:
 * so mail servers see most newsletters. Counts only without a report, which it could prevent, and
 * if nothing else speaks against the message.
 */
function isUnverifiedBulk({ authentication, bulk, message, origin }: Facts): boolean {
  return (
    authentication?.checked !== true &&
    bulk?.unsubscribe_of_author === true &&
    message?.has_list_unsubscribe === true &&
    origin?.has_forged_hop !== true
  )
}

/**
 * Returns the class of a message that its reporter calls wanted: legitimate if the reporter has
 * enough karma or the score is below the spam threshold, otherwise undecided.
 */
function defended(score: number, { report }: Facts): VerdictClass {
  const isSure = Number(report?.karma ?? 0) >= SURE_KARMA_MIN
  return isSure || score < SPAM_SCORE_MIN ? 'legitimate' : 'undecided'
}

/** The model decides between spam and phishing only if no reporter said which it is. */
function unwantedClass(
  { report, blacklists, pages }: Facts,
  estimate: Estimate | undefined,
): VerdictClass {
  if (blacklists?.has_malware === true || pages?.has_malware === true) return 'malware'
  if (blacklists?.has_phishing === true || pages?.has_phishing === true) return 'phishing'
  const said = report?.kind
  const isPhishing = said ? said === 'phishing' : estimate?.isPhishing === true
  return isPhishing ? 'phishing' : 'spam'
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

const correction = {
  name: 'CORRECTED',
  meaning: phrase('judged-by-person'),
  basis: 'operator',
} as const
export const ourLetter = {
  name: 'OUR_LETTER',
  meaning: phrase('letter-of-ours'),
  basis: 'content',
} as const

export const simulationSymbol = {
  name: 'SIMULATION',
  meaning: phrase('message-of-simulation'),
  basis: 'content',
} as const

/** The score of a corrected verdict is at least this far from 0. */
const CORRECTED_SCORE = 15

/**
 * Returns a verdict as an operator corrected it, or on a letter or a simulation of ours: of the
 * given class, with full confidence, and with a symbol that brings the score to the right side of
 * the thresholds.
 */
export function correctedVerdict(
  verdict: Verdict,
  as: CorrectedClass,
  by: Omit<VerdictSymbol, 'weight'> = correction,
): Verdict {
  const { symbols, score } = verdict
  const its = isUnwanted({ class: as })
    ? Math.max(score, CORRECTED_SCORE)
    : Math.min(score, -CORRECTED_SCORE)
  const symbol: VerdictSymbol = {
    ...by,
    weight: symbolScore([{ name: '', weight: its - score }]),
  }
  return { ...verdict, class: as, confidence: 1, score: its, symbols: [...symbols, symbol] }
}
