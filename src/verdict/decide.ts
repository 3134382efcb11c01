import type { Facts } from './facts/fact.ts'
import { scoreOf, type Verdict, type VerdictClass, type VerdictSymbol } from './verdict.ts'

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
  const score = scoreOf(symbols)
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
