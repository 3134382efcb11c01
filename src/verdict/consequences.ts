import { dateOf, HOUR_MS } from '../durations.ts'
import type { Network } from '../origin/networks.ts'
import type { TracedHop } from '../origin/trace.ts'
import { type Phrase, phrase, type PhraseCode } from '../phrase.ts'
import type { Analysis } from '../pieces/analyze.ts'
import type { RecognizedMarketer } from '../pieces/marketer.ts'
import { type MarkingVendor, markingVendors } from '../pieces/simulation-marks.ts'
import {
  type OtherRecipient,
  chooseContact,
  enrolledDesks,
  type ScopeMatch,
  type NotifiedRecipients,
  takesComplaints,
  topicOf,
  otherRecipients,
} from './choose-contact.ts'
import type { Facts } from './facts/fact.ts'
import type { ComplaintDoubt } from './reputation/evidence.ts'
import { type Manner, mannerOf } from './manner.ts'
import {
  COMPLAINT_WEIGHT_MAX,
  isProvenUnwanted,
  isUnwanted,
  limitedComplaint,
  symbolScore,
  type Verdict,
  type VerdictSymbol,
} from './verdict.ts'

/**
 * Maximum time in milliseconds by which the time in a hop may be later than the report. A clock may
 * be set to the wrong time zone.
 */
const AHEAD_MS_MAX = 24 * HOUR_MS

/**
 * The times at which trusted machines received the message: first the machine that saw the
 * untrusted client, then each one above it, up to the mailbox. Null for a field without a readable
 * time. Ignores times written by the author or by untrusted hosts, such as the `Date` field. Empty
 * when there is no trusted field.
 */
export function trustedTimes(hops: readonly TracedHop[]): (string | null)[] {
  return hops
    .filter(({ trust }) => trust === 'trusted' || trust === 'injection')
    .map(({ at }) => at)
    .toReversed()
}

/**
 * Returns why a message is too old for its report to have an effect; undefined when it is not.
 * `hoursMax` of 0 means no limit. Skips a time more than a day after the report and uses the next
 * field. If trusted fields exist but none has a plausible time, the age is unknown, and the report
 * has no effect.
 */
export function ageObstacle(
  times: readonly (string | null)[],
  receivedAt: Date,
  hoursMax: number,
): Phrase | undefined {
  if (hoursMax === 0 || times.length === 0) return undefined
  const at = deliveryTime(times, receivedAt)
  if (at === undefined) return phrase('age-unknown')
  if (receivedAt.getTime() - at <= hoursMax * HOUR_MS) return undefined
  const day = dateOf(new Date(at))
  return phrase('too-old', { day, hours: hoursMax })
}

/** Returns when a message was delivered, by the first of the trusted times that is plausible. */
export function deliveryTime(
  times: readonly (string | null)[],
  receivedAt: Date,
): number | undefined {
  const known = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]))
  return known.find((time) => time - receivedAt.getTime() <= AHEAD_MS_MAX)
}

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
   * What the message and others still have to add to the statement of a new reporter, although the
   * score suffices; absent when nothing is missing.
   */
  lacking?: number | undefined
  /** Whether the reporter confirmed the complaint after being asked. */
  isConfirmed: boolean
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
const CONFIRMATION_WEIGHT = 2.5

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
function agreementOf(kind: Complaint['kind'], manner: Manner, facts: Facts): number {
  if (!takesAgreement(kind, manner, facts)) return 0
  const { seen } = facts
  const others = (['campaign', 'text'] as const).map((part) => {
    const complaints = Number(seen?.[`${part}_reporters_weeks`] ?? 0)
    const praise = Number(seen?.[`${part}_ham_weeks`] ?? 0)
    return complaints >= praise * COMPLAINTS_PER_PRAISE_MIN ? complaints : 0
  })
  return Math.min(AGREEMENT_WEIGHT_MAX, AGREEMENT_WEIGHT * Math.max(...others))
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

/** Returns the complaint of a report, from its verdict and the facts that the verdict rests on. */
export function complaintOf(
  { kind, isConfirmed }: Pick<Complaint, 'kind' | 'isConfirmed'>,
  { verdict, facts, isRelayed }: { verdict: Verdict; facts: Facts; isRelayed: boolean },
): Complaint {
  const manner = mannerOf(facts)
  const agreement = { name: 'AGREEMENT', weight: agreementOf(kind, manner, facts) }
  const symbols = verdict.symbols.filter(isNoWordAgainst).map(limitedComplaint)
  const words = symbols.filter(({ basis }) => basis === 'word')
  const others = symbols.filter(({ basis }) => basis !== 'word')
  const word = symbolScore(words)
  const support = symbolScore([...others.filter(countsForSupport), agreement])
  const hasModel = verdict.estimate !== undefined
  const supportMin = hasModel ? SUPPORT_MIN.withModel : SUPPORT_MIN.withoutModel
  const extra = isRelayed ? RELAYED_EXTRA : 0
  const isAgreed = agreement.weight >= AGREEMENT_WEIGHT_MAX && word > AGREEMENT_WEIGHT && !isRelayed
  const known = { kind, manner, isRelayed, isConfirmed }
  if (manner === 'bulk' && !isWelcomeBulk(manner, facts)) {
    const score = symbolScore([...words, { name: 'SUPPORT', weight: support }])
    return { ...known, score, scoreMin: extra + (isAgreed ? AGREED_SCORE_MIN : word + supportMin) }
  }
  const score = symbolScore([...symbols, agreement])
  const usual = hasModel ? NOTICE_SCORE_MIN : NOTICE_SCORE_MIN_WITHOUT_MODEL[manner]
  const scoreMin = extra + (isAgreed ? Math.min(usual, AGREED_SCORE_MIN) : usual)
  const lacking = word < COMPLAINT_WEIGHT_MAX ? SUPPORT_MIN.withoutModel - support : 0
  return { ...known, score, scoreMin, ...(lacking > 0 && { lacking: rounded(lacking) }) }
}

/**
 * Whether a symbol speaks against a message, or rests on what others said about it. Signs of wanted
 * mail that every sender can give do not count: a signature, links to the own domain, usual words
 * of wanted mail, an address for unsubscribing.
 */
function countsForSupport({ weight, basis }: VerdictSymbol): boolean {
  return weight > 0 || basis === 'known' || basis === 'operator' || basis === 'words'
}

/**
 * The action for a report, with its reasons. `look-up`: query the registries for a contact, then
 * decide again.
 */
export type Consequence =
  | { action: 'forward'; to: string; why: readonly Phrase[] }
  | { action: 'look-up'; why: readonly Phrase[] }
  | { action: 'keep'; why: readonly Phrase[] }
  /** The report is kept, and the reporter gets unsubscribe advice. */
  | { action: 'advise'; why: readonly Phrase[] }
  /** The report is kept until the reporter confirms that the message is unwanted. */
  | { action: 'confirm'; why: readonly Phrase[] }
  /**
   * The report is kept until the reporter states which machines belong to their provider; `about`
   * contains IP addresses.
   */
  | { action: 'ask'; why: readonly Phrase[]; about: readonly string[] }
  /** The message belongs to a simulation of the organization; the reporter is thanked. */
  | { action: 'simulation'; why: readonly Phrase[] }

/**
 * State of the registry lookup for the origin. `off`: never queried (switched off, no public
 * address, or set by an operator); `unasked`: may be queried; `asked`: has answered; `away`:
 * unreachable.
 */
export type RegistryState = 'off' | 'unasked' | 'asked' | 'away'

/** Input of `consequenceOf`. */
export type Judged = NotifiedRecipients & {
  verdict: Verdict
  complaint: Complaint
  /**
   * Whether a mail server reported the message for learning. No feedback report is sent for such
   * messages.
   */
  isLearned: boolean
  messageKind: Analysis['kind']
  /** Why the report has no effect: the message is too old, a letter of ours, or a simulation. */
  effectObstacle?: Phrase | undefined
  /** Why the origin is doubtful although the lines show it; undefined when it is not. */
  crowd?: Phrase | undefined
  /** Why a new reporter's report is not forwarded; undefined when it may be. */
  paceObstacle?: Phrase | undefined
  origin: { ip: string; confidence: number } | undefined
  /**
   * Minimum confidence of an origin for a feedback report: `ORIGIN_CONFIDENCE_MIN`. An origin below
   * it is only displayed.
   */
  originConfidenceMin: number
  /**
   * Addresses about which the reporter can be asked; empty when the reporter has answered for all.
   */
  askable: readonly string[]
  /** The marketer that provably sent the message; null or undefined when there is none. */
  marketer?: RecognizedMarketer | null
  /** The mailing service that provably sent the message, for this marketer or an unknown one. */
  service?: RecognizedMarketer | null
  network: Network | undefined
  registry: RegistryState
  /** The vendor whose marks raise a question; see `markToAskAbout`. */
  simulationMark?: MarkingVendor | undefined
}

/**
 * Decides what to do with a report. A complaint is forwarded to the network of its origin if the
 * origin is sure, whatever the verdict, unless there is a better way: see `betterWay`. In doubt the
 * report is kept, because notifying the wrong network is worse than notifying none.
 */
export function consequenceOf(judged: Judged): Consequence {
  const { effectObstacle: idle } = judged
  if (idle?.code === 'simulation') return { action: 'simulation', why: [idle] }
  if (idle !== undefined) return keep(idle, phrase('no-effect'))
  const obstacle = obstacleOf(judged)
  if (obstacle !== undefined) return keep(obstacle)
  const consequence = betterWay(judged) ?? noticeOf(judged)
  return simulationDoubt(judged, consequence) ?? consequence
}

/**
 * Returns the vendor of simulated phishing whose marks raise a question to the reporter: if nobody
 * else complained about the message. Spammers can write such marks too, so they delay nothing
 * beyond the first report.
 */
export function markToAskAbout(
  vendor: MarkingVendor | undefined,
  { seen }: Facts,
): MarkingVendor | undefined {
  const others = ['campaign', 'text'].some((part) => Number(seen?.[`${part}_reporters_weeks`]) > 0)
  return others ? undefined : vendor
}

/** Returns the question whether a message with marks of a vendor is a simulation. */
function simulationDoubt(
  { simulationMark, complaint, verdict }: Judged,
  { action }: Consequence,
): Consequence | undefined {
  const isNotice = action === 'forward' || action === 'look-up'
  if (simulationMark === undefined || !isNotice) return undefined
  if (complaint.isConfirmed || isProvenUnwanted(verdict)) return undefined
  const marks = phrase('simulation-marks', { vendor: markingVendors[simulationMark] })
  return { action: 'confirm', why: [marks, phrase('confirmation-asked')] }
}

/**
 * Returns what helps more than a notice to the network: the marketer is notified instead; the
 * reporter is told how to leave a list or to unsubscribe; a forwarder is not accused; or the
 * reporter is asked whether a message that looks wanted is unwanted. Undefined if the message is
 * sufficiently unlike wanted mail. A marketer is never accused because of complaints alone, but
 * because it goes on after it accepted our request to unsubscribe the reporter.
 */
function betterWay(judged: Judged): Consequence | undefined {
  const { marketer, verdict, complaint } = judged
  if (marketer && !isProvenUnwanted(verdict) && complaint.before !== 'unsubscribed') {
    const why = [...marketer.why, phrase('no-complaint')]
    return complaint.kind === 'spam' ? { action: 'advise', why } : keep(...why)
  }
  const doubt = doubtOf(complaint)
  if (doubt === undefined) return throughService(judged)
  const isRepeated = complaint.before !== undefined
  const looksLike = phrase(looksOf(complaint))
  if (doubt === 'unsupported') {
    // A question about machines helps all later reports.
    return hasSureOrigin(judged) ? keep(looksLike, phrase('others-needed')) : undefined
  }
  if (doubt !== 'unconfirmed') return { action: 'advise', why: [looksLike, phrase('no-complaint')] }
  if (complaint.isRelayed && !isRepeated) return keepOrAsk(judged, phrase('looks-forwarded'))
  if (judged.paceObstacle !== undefined) return keep(judged.paceObstacle)
  const isConfirmable =
    missingScore(complaint) <= CONFIRMATION_WEIGHT && complaint.lacking === undefined
  if (!isRepeated && !isConfirmable) return keep(looksLike, phrase('others-needed'))
  return { action: 'confirm', why: [looksLike, phrase('confirmation-asked')] }
}

/**
 * Returns advice about bulk mail of a mailing service that takes complaints about its customers:
 * the service is notified instead of the network. Undefined for mail that is unwanted by its
 * verdict.
 */
function throughService(judged: Judged): Consequence | undefined {
  const { service, verdict, complaint } = judged
  const isBulk = complaint.kind === 'spam' && ['bulk', 'plain'].includes(complaint.manner)
  if (!service || !isBulk || isUnwanted(verdict) || isContinued(complaint)) return undefined
  const mayNotify = judged.paceObstacle === undefined && hasSureOrigin(judged)
  if (!mayNotify || !takesComplaints(judged, service)) return undefined
  return { action: 'advise', why: [...service.why, phrase('no-complaint')] }
}

function hasSureOrigin({ origin, originConfidenceMin }: Judged): boolean {
  return origin !== undefined && origin.confidence >= originConfidenceMin
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

/** Returns the score that is missing for a notice; 0 or less if it suffices. */
function missingScore({ score, scoreMin, isCorrespondent }: Complaint): number {
  return scoreMin + (isCorrespondent ? CORRESPONDENT_EXTRA : 0) - score
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100
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
export function shortfallOf(complaint: Complaint, facts: Facts): Shortfall | undefined {
  if (doubtOf(complaint) === undefined) return undefined
  const { kind, manner, lacking = 0 } = complaint
  const score = rounded(Math.max(missingScore(complaint), lacking))
  const room = takesAgreement(kind, manner, facts)
    ? AGREEMENT_WEIGHT_MAX - agreementOf(kind, manner, facts)
    : 0
  return {
    score,
    isEnoughConfirmed: doubtOf({ ...complaint, isConfirmed: true }) === undefined,
    reporters: score <= room ? Math.ceil(score / AGREEMENT_WEIGHT) : 0,
  }
}

function looksOf({ kind, before, isCorrespondent, manner }: Complaint) {
  if (before !== undefined) return 'advised-before'
  // A page about phishing does not mention unsubscribing.
  if (kind === 'phishing' && manner === 'bulk') return 'looks-wanted'
  return isCorrespondent ? 'author-wanted-before' : wantedLooks[manner]
}

const wantedLooks = {
  list: 'looks-like-list',
  bulk: 'bulk-with-unsubscribe',
  reply: 'looks-like-reply',
  receipt: 'looks-like-receipt',
  plain: 'looks-wanted',
} as const satisfies Record<Manner, PhraseCode>

function noticeOf(judged: Judged): Consequence {
  const { complaint, verdict, origin, network } = judged
  if (judged.paceObstacle !== undefined) return keep(judged.paceObstacle)
  if (!origin) return keepOrAsk(judged, phrase('origin-not-found'))
  if (!hasSureOrigin(judged)) {
    return keepOrAsk(judged, judged.crowd ?? phrase('origin-uncertain'))
  }
  if (network?.isMuted) return keep(phrase('network-muted'))
  const topic = topicOf(verdict.class, complaint.kind)
  const { desks, silence } = enrolledDesks(judged, topic)
  const continued = isContinued(complaint) ? [phrase('sender-continued')] : []
  if (desks[0]) {
    return { action: 'forward', to: desks[0].address, why: [...continued, whyOf(desks[0])] }
  }
  if (silence !== undefined) return keep(silence)
  if (!network || network.contacts.length === 0) return withoutContact(judged)
  const { known, forwardTo, own } = judged
  const choice = chooseContact(network, known, forwardTo, own, topic)
  if ('noContact' in choice) return keep(choice.noContact)
  const why = [...continued, phrase('network-has-contact', { network: networkWords(network) })]
  return { action: 'forward', to: choice.to, why }
}

/**
 * Returns the recipients besides that of the action for the network: the other consumers enrolled
 * for the network, and those of `otherRecipients`. Empty while a question to the reporter is open,
 * because a report is not decided again once a recipient was notified. Also empty if the confidence
 * of the origin is below the minimum.
 */
export function additionalRecipients(judged: Judged, consequence: Consequence): OtherRecipient[] {
  const { verdict, complaint } = judged
  if (judged.effectObstacle !== undefined || judged.paceObstacle !== undefined) return []
  if (obstacleOf(judged) !== undefined) return []
  if (consequence.action === 'ask' || consequence.action === 'confirm') return []
  if (!hasSureOrigin(judged)) return []
  const isForwarded = consequence.action === 'forward'
  const topic = topicOf(verdict.class, complaint.kind)
  const [, ...more] = isForwarded ? enrolledDesks(judged, topic).desks : []
  const desks = more.flatMap((match): OtherRecipient[] => {
    const how = { format: 'arf', keepsTokens: false, source: 'enrollment' } as const
    return [{ address: match.address, recipientRole: 'network', ...how, why: whyOf(match) }]
  })
  const to = isForwarded ? [consequence.to] : []
  const distinct = new Map(desks.map((desk) => [desk.address, desk]))
  for (const address of to) distinct.delete(address)
  return [...distinct.values(), ...otherRecipients(judged, topic, [...to, ...distinct.keys()])]
}

function whyOf({ kind, value }: ScopeMatch): Phrase {
  return phrase('desk-enrolled', { scope: kind === 'as' ? `AS${value}` : value })
}

/** The reason why a report is no complaint; undefined when it is one. */
function obstacleOf({ complaint, messageKind, isLearned }: Judged): Phrase | undefined {
  if (complaint.kind === 'not-spam') return phrase('said-not-spam')
  if (messageKind !== 'message') return phrase('automatic-mail')
  return isLearned ? phrase('learned-by-server') : undefined
}

function networkWords({ cidr, deskName }: Network): string {
  return deskName === undefined ? cidr : `${deskName} (${cidr})`
}

function keepOrAsk({ askable }: Judged, why: Phrase): Consequence {
  if (askable.length === 0) return keep(why)
  return { action: 'ask', why: [why, phrase('question-asked')], about: askable }
}

function withoutContact({ network, registry }: Judged): Consequence {
  if (registry === 'unasked') {
    return { action: 'look-up', why: [phrase('registry-asked')] }
  }
  if (registry === 'away') return keep(phrase('registry-unreachable'))
  if (!network) return keep(phrase('network-unknown'))
  if (registry === 'off') return keep(phrase('network-without-contact'))
  const name = network.name === null ? network.cidr : `${network.cidr} (${network.name})`
  return keep(phrase('network-unregistered', { network: name }))
}

function keep(...why: Phrase[]): Consequence {
  return { action: 'keep', why }
}
