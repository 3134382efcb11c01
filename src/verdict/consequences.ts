import type { Network } from '../origin/networks.ts'
import type { TracedHop } from '../origin/trace.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { Analysis } from '../pieces/analyze.ts'
import type { RecognizedMarketer } from '../pieces/marketer.ts'
import {
  type OtherRecipient,
  chooseContact,
  enrolledDesks,
  type ScopeMatch,
  type NotifiedRecipients,
  topicOf,
  otherRecipients,
} from './choose-contact.ts'
import { hasEvidence, type Verdict } from './verdict.ts'

const HOUR_MS = 3_600_000
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
  const reported = receivedAt.getTime()
  const known = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]))
  const at = known.find((time) => time - reported <= AHEAD_MS_MAX)
  if (at === undefined) return phrase('age-unknown')
  if (reported - at <= hoursMax * HOUR_MS) return undefined
  const day = new Date(at).toISOString().slice(0, 10)
  return phrase('too-old', { day, hours: hoursMax })
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
  /**
   * The report is kept until the reporter states which machines belong to their provider; `about`
   * contains IP addresses.
   */
  | { action: 'ask'; why: readonly Phrase[]; about: readonly string[] }

/**
 * State of the registry lookup for the origin. `off`: never queried (switched off, no public
 * address, or set by an operator); `unasked`: may be queried; `asked`: has answered; `away`:
 * unreachable.
 */
export type RegistryState = 'off' | 'unasked' | 'asked' | 'away'

/** Input of `consequenceOf`. */
export type Judged = NotifiedRecipients & {
  verdict: Verdict
  reportedAs: 'spam' | 'phishing' | 'not-spam'
  /**
   * Whether a mail server reported the message for learning. No feedback report is sent for such
   * messages.
   */
  isLearned: boolean
  messageKind: Analysis['kind']
  /** Why the message is too old; undefined when it is not. */
  ageObstacle?: Phrase | undefined
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
}

/**
 * Decides what to do with a report. In doubt the report is kept, because notifying the wrong
 * network is worse than notifying none. Content alone is never enough for a feedback report.
 */
export function consequenceOf(judged: Judged): Consequence {
  const { verdict, origin, network } = judged
  if (judged.ageObstacle !== undefined) {
    return keep(judged.ageObstacle, phrase('no-effect'))
  }
  const obstacle = obstacleOf(judged)
  if (isFromMarketer(judged)) {
    return { action: 'advise', why: [...judged.marketer.why, phrase('no-complaint')] }
  }
  if (obstacle !== undefined) return keep(obstacle)
  if (verdict.class === 'marketing') {
    return { action: 'advise', why: [phrase('bulk-with-unsubscribe'), phrase('no-complaint')] }
  }
  if (judged.paceObstacle !== undefined) return keep(judged.paceObstacle)
  if (!origin) return keepOrAsk(judged, phrase('origin-not-found'))
  if (origin.confidence < judged.originConfidenceMin) {
    return keepOrAsk(judged, phrase('origin-uncertain'))
  }
  if (network?.isMuted) return keep(phrase('network-muted'))
  const topic = topicOf(verdict.class)
  const { desks, silence } = enrolledDesks(judged, topic)
  if (desks[0]) return { action: 'forward', to: desks[0].address, why: [whyOf(desks[0])] }
  if (silence !== undefined) return keep(silence)
  if (!network || network.contacts.length === 0) return withoutContact(judged)
  const { known, forwardTo, own } = judged
  const choice = chooseContact(network, known, forwardTo, own, topic)
  if ('nobody' in choice) return keep(choice.nobody)
  const why = [phrase('network-has-contact', { network: networkWords(network) })]
  return { action: 'forward', to: choice.to, why }
}

/**
 * Returns the recipients besides that of the action for the network: the other consumers enrolled
 * for the network, and those of `otherRecipients`. Empty while a question to the reporter is open,
 * because a report is not decided again once a recipient was notified. Also empty if the confidence
 * of the origin is below the minimum.
 */
export function additionalRecipients(judged: Judged, consequence: Consequence): OtherRecipient[] {
  const { verdict, origin, reportedAs, messageKind, isLearned } = judged
  const isComplaint = reportedAs !== 'not-spam' && messageKind === 'message' && !isLearned
  if (judged.ageObstacle !== undefined || judged.paceObstacle !== undefined) return []
  if (!isComplaint || verdict.class === 'legitimate' || consequence.action === 'ask') return []
  if (!origin || origin.confidence < judged.originConfidenceMin) return []
  const isForwarded = consequence.action === 'forward'
  const topic = topicOf(verdict.class)
  const [, ...more] = isForwarded ? enrolledDesks(judged, topic).desks : []
  const desks = more.flatMap((match): OtherRecipient[] => {
    const how = { format: 'arf', keepsTokens: false, source: 'enrollment' } as const
    return [{ address: match.address, recipientRole: 'network', ...how, why: whyOf(match) }]
  })
  const to = isForwarded ? [consequence.to] : []
  const distinct = new Map(desks.map((desk) => [desk.address, desk]))
  for (const address of to) distinct.delete(address)
  return [
    ...distinct.values(),
    ...otherRecipients(judged, verdict.class, [...to, ...distinct.keys()]),
  ]
}

function whyOf({ kind, value }: ScopeMatch): Phrase {
  return phrase('desk-enrolled', { scope: kind === 'as' ? `AS${value}` : value })
}

/**
 * Whether the message is proven to be from a marketer, and nothing suggests that it is worse than
 * unwanted mail.
 */
function isFromMarketer(judged: Judged): judged is Judged & { marketer: RecognizedMarketer } {
  const { marketer, verdict, reportedAs, isLearned, messageKind } = judged
  if (!marketer || reportedAs !== 'spam' || isLearned || messageKind !== 'message') return false
  return verdict.class === 'undecided' || verdict.class === 'marketing'
}

/**
 * The reason why no feedback report is sent, regardless of the origin; undefined when there is
 * none.
 */
function obstacleOf({ verdict, reportedAs, messageKind, isLearned }: Judged): Phrase | undefined {
  if (reportedAs === 'not-spam') return phrase('said-not-spam')
  if (messageKind !== 'message') return phrase('automatic-mail')
  if (isLearned) return phrase('learned-by-server')
  if (verdict.class === 'legitimate') return phrase('looks-wanted')
  if (verdict.class === 'undecided') return phrase('verdict-undecided')
  if (verdict.class !== 'marketing' && !hasEvidence(verdict)) return phrase('content-only')
  return undefined
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
