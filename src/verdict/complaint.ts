import type { ComplaintDoubt } from './reputation/evidence.ts'
import type { Facts } from './facts/fact.ts'
import { type Manner, mannerOf } from './manner.ts'
import {
  COMPLAINT_WEIGHT_MAX,
  limitedComplaint,
  symbolScore,
  type Verdict,
  type VerdictSymbol,
} from './verdict.ts'

/** What a reporter states about a message, and how much the message supports it. */
export type Complaint = {
  kind: 'spam' | 'phishing' | 'not-spam'
  manner: Manner
  /** Whether the origin is a list relay or a forwarder, and the author is another. */
  isRelayed: boolean
  /**
   * The score of the verdict, in which the reporter's statement counts 2.5 at most, plus the weight
   * of other complaints about the campaign.
   */
  score: number
  /** Minimum score at which the network is notified although the message may be wanted. */
  scoreMin: number
  /**
   * What must still be added to the statement of a new reporter, although the score suffices:
   * absent when nothing is missing, or three reporters agree.
   */
  lacking?: number | undefined
  /** Whether the reporter confirmed it after being asked, or the network's desk (`isResolved`). */
  isConfirmed: boolean
  isResolved?: boolean | undefined
  /**
   * How many other reporters complained about the campaign independently, at most three. Counters
   * count reporters by day, so they alone would let a person agree with themselves.
   */
  others?: number | undefined
  /**
   * What was done against mail of this sender before: the reporter was advised how to unsubscribe,
   * or the sender accepted our request to unsubscribe the reporter. Absent if neither was done, or
   * if the sender had less than `UNSUBSCRIBE_DAYS` until it sent this message.
   */
  before?: EarlierAdvice | undefined
  /** Whether the reporter called mail of this verified author wanted before. */
  isCorrespondent?: boolean | undefined
}

export type EarlierAdvice = 'advised' | 'unsubscribed'

/**
 * The time in days in which a sender must honor a request to unsubscribe: ten business days (15
 * U.S.C. § 7704(a)(4)(A), CAN-SPAM), and one more for a public holiday.
 */
export const UNSUBSCRIBE_DAYS = 15

/**
 * Minimum scores for a notice: with an active model, and without one, when plain messages get the
 * benefit of less doubt, because rules alone recognize few unwanted messages. A newcomer's
 * statement weighs 1.5 of it. That of bulk mail holds if reporters here wanted mail of its author;
 * otherwise `SUPPORT_MIN` decides.
 */
const NOTICE_SCORE_MIN = 3.5
const NOTICE_SCORE_MIN_WITHOUT_MODEL: Record<Manner, number> = {
  ...{ list: 5, bulk: 5, reply: 3, receipt: 3 },
  plain: 1,
}
/**
 * What must speak against a message besides a new reporter's statement, and besides any statement
 * about bulk mail: content, route, reputations, a model and other reporters. With a model, more,
 * because a model knows more of a message than rules.
 */
const SUPPORT_MIN = { withModel: 2, withoutModel: 1.2 }
/**
 * Minimum score if two other independent reporters complained and the statement has some weight:
 * three people cannot have the same private mail, and only a model that is sure, or a good
 * reputation, outweighs them; of bulk mail, only a good reputation. Not of what a relay passed on.
 */
const AGREED_SCORE_MIN = 0
/** Added for list relays and forwarders, which only pass on the mail of others. */
const RELAYED_EXTRA = 2.5
/** What is added for authors whose mail the reporter wanted before. */
const CORRESPONDENT_EXTRA = 2.5

/**
 * Weight of the reporter's confirmation: as much as of the largest complaint. People who report
 * carelessly also confirm carelessly, so it does not outweigh all signs of wanted mail.
 */
export const CONFIRMATION_WEIGHT = 2.5

/** Weight of each other reporter who complained about the campaign, and of all of them. */
const AGREEMENT_WEIGHT = 0.75
const AGREEMENT_WEIGHT_MAX = 1.5
/** Minimum number of complaints about a campaign for each report that it is wanted. */
const COMPLAINTS_PER_PRAISE_MIN = 3

/**
 * Returns the weight of other complaints about the campaign or text. Accounts are free, so it is
 * small, and does not depend on karma. It is 0 for list mail, and for bulk mail whose author
 * reporters here wanted: some recipients of every newsletter call it spam instead of unsubscribing.
 */
function agreementOf({ kind, others }: Statement, manner: Manner, facts: Facts): number {
  if (!takesAgreement(kind, manner, facts)) return 0
  const { seen } = facts
  const counts = (['campaign', 'text'] as const).map((part) => {
    const complaints = Number(seen?.[`${part}_reporters_weeks`] ?? 0)
    const praise = Number(seen?.[`${part}_ham_weeks`] ?? 0)
    return complaints >= praise * COMPLAINTS_PER_PRAISE_MIN ? complaints : 0
  })
  const agreeing = Math.min(others ?? Infinity, Math.max(...counts))
  return Math.min(AGREEMENT_WEIGHT_MAX, AGREEMENT_WEIGHT * agreeing)
}

function takesAgreement(kind: Complaint['kind'], manner: Manner, facts: Facts): boolean {
  return kind !== 'spam' || (manner !== 'list' && !isWelcomeBulk(manner, facts))
}

/** Minimum reputation of the author's domain, for which one proven reporter's word suffices. */
const WELCOME_MIN = { score: 0.2, weight: 0.9 }

/** Whether bulk mail is of a verified author whose mail proven reporters here wanted. */
function isWelcomeBulk(manner: Manner, { reputation }: Facts): boolean {
  const score = Number(reputation?.author_domain_score ?? 0)
  const weight = Number(reputation?.author_domain_weight ?? 0)
  return manner === 'bulk' && score >= WELCOME_MIN.score && weight >= WELCOME_MIN.weight
}

/** Words that an operator looks for can spare a network, but never accuse one. */
function isNoWordAgainst({ basis, weight }: VerdictSymbol): boolean {
  return basis !== 'words' || weight <= 0
}

/** What people say about a message. */
type Statement = Pick<Complaint, 'kind' | 'isConfirmed' | 'isResolved' | 'others'>

/** Returns the complaint of a report, from its verdict and the facts that the verdict rests on. */
export function complaintOf(
  statement: Statement,
  { verdict, facts, isRelayed }: { verdict: Verdict; facts: Facts; isRelayed: boolean },
): Complaint {
  const { kind, isConfirmed, isResolved, others: complainants } = statement
  const manner = mannerOf(facts)
  const agreement = { name: 'AGREEMENT', weight: agreementOf(statement, manner, facts) }
  const symbols = verdict.symbols.filter(isNoWordAgainst).map(limitedComplaint)
  const words = symbols.filter(({ basis }) => basis === 'word')
  const others = symbols.filter(({ basis }) => basis !== 'word')
  const word = symbolScore(words)
  const support = symbolScore([...others.filter(countsForSupport), agreement])
  const hasModel = verdict.estimate !== undefined
  const supportMin = hasModel ? SUPPORT_MIN.withModel : SUPPORT_MIN.withoutModel
  const extra = isRelayed ? RELAYED_EXTRA : 0
  const isAgreed = agreement.weight >= AGREEMENT_WEIGHT_MAX && word > AGREEMENT_WEIGHT && !isRelayed
  const said = { kind, isConfirmed, isResolved, others: complainants }
  const known = { ...said, manner, isRelayed }
  if (manner === 'bulk' && !isWelcomeBulk(manner, facts)) {
    const score = symbolScore([...words, { name: 'SUPPORT', weight: support }])
    return { ...known, score, scoreMin: extra + (isAgreed ? AGREED_SCORE_MIN : word + supportMin) }
  }
  const score = symbolScore([...symbols, agreement])
  const usual = hasModel ? NOTICE_SCORE_MIN : NOTICE_SCORE_MIN_WITHOUT_MODEL[manner]
  const scoreMin = extra + (isAgreed ? Math.min(usual, AGREED_SCORE_MIN) : usual)
  const isEnough = word >= COMPLAINT_WEIGHT_MAX || isAgreed || isResolved === true
  const lacking = isEnough ? 0 : rounded(SUPPORT_MIN.withoutModel - support)
  return { ...known, score, scoreMin, lacking: lacking > 0 ? lacking : undefined }
}

/**
 * Whether a symbol speaks against a message, or rests on what others said about it. Signs of wanted
 * mail that every sender can give do not count: a signature, links to the own domain, usual words
 * of wanted mail, an address for unsubscribing.
 */
function countsForSupport({ weight, basis }: VerdictSymbol): boolean {
  return weight > 0 || basis === 'known' || basis === 'operator' || basis === 'words'
}

/** Whether a sender continued although the reporter is unsubscribed, or says so. */
export function isContinued({ before, isConfirmed }: Complaint): boolean {
  return before === 'unsubscribed' || (before === 'advised' && isConfirmed)
}

/**
 * Returns why a complaint is not taken at its word; undefined if it is. `bulk`, `list`: its
 * recipient may have subscribed to the message; `unconfirmed`: the message may be wanted, or its
 * recipient may not have followed the advice to unsubscribe, and the reporter has not confirmed the
 * complaint, or the signs of wanted mail outweigh the confirmation; `unsupported`: nothing but the
 * statement of a new reporter speaks against the message.
 */
export function doubtOf(complaint: Complaint): ComplaintDoubt | undefined {
  const { kind, manner, isConfirmed, before, isCorrespondent, lacking } = complaint
  const missing = missingScore(complaint)
  if (kind === 'not-spam' || isContinued(complaint)) return undefined
  const isOfList = (manner === 'bulk' || manner === 'list') && !isCorrespondent
  if (missing > 0 && kind === 'spam' && isOfList && before === undefined) return manner
  if (missing > (isConfirmed ? CONFIRMATION_WEIGHT : 0)) return 'unconfirmed'
  return lacking === undefined ? undefined : 'unsupported'
}

/** The score that is missing for a notice; 0 or less if it suffices. */
export function missingScore({ score, scoreMin, isCorrespondent }: Complaint): number {
  return scoreMin + (isCorrespondent ? CORRESPONDENT_EXTRA : 0) - score
}

/** What a complaint lacks to be forwarded, and what would suffice. */
export type Shortfall = {
  score: number
  /** Whether the reporter's confirmation would suffice. */
  isEnoughConfirmed: boolean
  /** The number of other reporters of the campaign that would suffice; 0 if no number would. */
  reporters: number
}

/** Returns what a complaint lacks to be forwarded; undefined if its score suffices. */
export function shortfallOf(
  complaint: Complaint,
  { verdict, facts }: { verdict: Verdict; facts: Facts },
): Shortfall | undefined {
  if (doubtOf(complaint) === undefined) return undefined
  const { isRelayed, lacking = 0 } = complaint
  const isEnoughWith = (reporters: number) => {
    const seen = { ...facts.seen, campaign_reporters_weeks: reporters }
    const said = { ...complaint, others: reporters }
    const its = complaintOf(said, { verdict, facts: { ...facts, seen }, isRelayed })
    return doubtOf({ ...complaint, ...its }) === undefined
  }
  const known = complaint.others ?? 0
  return {
    score: rounded(Math.max(missingScore(complaint), lacking)),
    isEnoughConfirmed: doubtOf({ ...complaint, isConfirmed: true }) === undefined,
    reporters: [1, 2].find((more) => isEnoughWith(known + more)) ?? 0,
  }
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100
}
