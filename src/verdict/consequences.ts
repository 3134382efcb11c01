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
import {
  type Complaint,
  CONFIRMATION_WEIGHT,
  doubtOf,
  isContinued,
  missingScore,
} from './complaint.ts'
import type { Facts } from './facts/fact.ts'
import type { Manner } from './manner.ts'
import { placeInScope, type SiteScope } from './site-scope.ts'
import { isProvenUnwanted, isUnwanted, type Verdict } from './verdict.ts'

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

export function isAsking(action: Consequence['action'] | undefined): boolean {
  return action === 'ask' || action === 'confirm'
}

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
  /** The networks to which the site forwards; undefined: all. */
  forwardScope: SiteScope | undefined
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
  const place = placeOf(judged)
  if (place === 'outside') return keep(phrase('outside-scope'))
  // The answer of a registry contains the country.
  if (place === 'unknown') {
    return judged.registry === 'unasked' ? withoutContact(judged) : keep(phrase('scope-unknown'))
  }
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
  // Outside of its scope, a site writes only to senders who enrolled for their own mail.
  const forwardTo = placeOf(judged) === 'inside' ? judged.forwardTo : 'enrolled'
  const others = otherRecipients({ ...judged, forwardTo }, topic, [...to, ...distinct.keys()])
  return [...distinct.values(), ...others]
}

function placeOf({ origin, network, forwardScope }: Judged): 'inside' | 'outside' | 'unknown' {
  if (forwardScope === undefined || origin === undefined) return 'inside'
  return placeInScope(origin.ip, network, forwardScope)
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
