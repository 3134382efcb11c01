import type { Network } from '../origin/networks.ts'
import type { TracedHop } from '../origin/trace.ts'
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
 * Maximum time in milliseconds by which a hop may be later than the report. A clock may be set to
 * the wrong time zone.
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
 * Returns a sentence that says why a message is too old for its report to have an effect; undefined
 * when it is not. `hoursMax` of 0 means no limit. Skips a time more than a day after the report and
 * uses the next field. If trusted fields exist but none has a plausible time, the age is unknown,
 * and the report has no effect.
 */
export function ageObstacle(
  times: readonly (string | null)[],
  receivedAt: Date,
  hoursMax: number,
): string | undefined {
  if (hoursMax === 0 || times.length === 0) return undefined
  const reported = receivedAt.getTime()
  const known = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]))
  const at = known.find((time) => time - reported <= AHEAD_MS_MAX)
  if (at === undefined) return 'No trusted line tells a believable time, so its age is unknown.'
  if (reported - at <= hoursMax * HOUR_MS) return undefined
  const day = new Date(at).toISOString().slice(0, 10)
  return `It was handed over on ${day}, more than ${hoursMax} hours before it was reported.`
}

/**
 * The action for a report, with the reason as a sentence for people. `look-up`: query the
 * registries for a contact, then decide again.
 */
export type Consequence =
  | { action: 'forward'; to: string; why: string }
  | { action: 'look-up'; why: string }
  | { action: 'keep'; why: string }
  /** The report is kept, and the reporter gets unsubscribe advice. */
  | { action: 'advise'; why: string }
  /**
   * The report is kept until the reporter says which machines are theirs; `about` holds IP
   * addresses.
   */
  | { action: 'ask'; why: string; about: readonly string[] }

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
  /** A sentence that says why the message is too old; undefined when it is not. */
  ageObstacle?: string | undefined
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
    return keep(`${judged.ageObstacle} Nobody is told, and it counts for nothing.`)
  }
  const obstacle = obstacleOf(judged)
  if (isMarketers(judged))
    return { action: 'advise', why: `${judged.marketer.why} Nobody is accused.` }
  if (obstacle !== undefined) return keep(obstacle)
  if (verdict.class === 'marketing') {
    return {
      action: 'advise',
      why: 'It is mail in bulk that says how to unsubscribe. Nobody is accused.',
    }
  }
  if (!origin) return keepOrAsk(judged, 'The origin could not be found.')
  if (origin.confidence < judged.originConfidenceMin) {
    return keepOrAsk(judged, 'The origin is too uncertain to tell its network.')
  }
  if (network?.isMuted) {
    return keep('An administrator said that nobody is to be written to for this network.')
  }
  const topic = topicOf(verdict.class)
  const { desks, silence } = enrolledDesks(judged, topic)
  if (desks[0]) return { action: 'forward', to: desks[0].address, why: whyOf(desks[0]) }
  if (silence !== undefined) return keep(silence)
  if (!network || network.contacts.length === 0) return withoutContact(judged)
  const { known, forwardTo, own } = judged
  const choice = chooseContact(network, known, forwardTo, own, topic)
  if ('nobody' in choice) return keep(choice.nobody)
  return {
    action: 'forward',
    to: choice.to,
    why: `${deskOf(network)} answers for the origin and has an abuse contact.`,
  }
}

/**
 * Returns the recipients in addition to the action for the network: the other consumers enrolled
 * for it, and recipients chosen by the sender of the message. Empty while a question to the
 * reporter is open, because a report is not decided again once a recipient was notified; also empty
 * without a certain origin.
 */
export function alsoToldOf(judged: Judged, consequence: Consequence): OtherRecipient[] {
  const { verdict, origin, reportedAs, messageKind, isLearned } = judged
  const isComplaint = reportedAs !== 'not-spam' && messageKind === 'message' && !isLearned
  if (judged.ageObstacle !== undefined) return []
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

function whyOf({ kind, value }: ScopeMatch): string {
  const what = kind === 'as' ? `AS${value}` : value
  return `An abuse desk enrolled for ${what}, where the origin is.`
}

/**
 * Whether the message is proven to be from a marketer, and nothing suggests that it is worse than
 * unwanted mail.
 */
function isMarketers(judged: Judged): judged is Judged & { marketer: RecognizedMarketer } {
  const { marketer, verdict, reportedAs, isLearned, messageKind } = judged
  if (!marketer || reportedAs !== 'spam' || isLearned || messageKind !== 'message') return false
  return verdict.class === 'undecided' || verdict.class === 'marketing'
}

/** The reason why no feedback report is sent, whatever the origin; undefined when there is none. */
function obstacleOf({ verdict, reportedAs, messageKind, isLearned }: Judged): string | undefined {
  if (reportedAs === 'not-spam') return 'The reporter says that this is not spam.'
  if (messageKind !== 'message') {
    return 'A mail system wrote this message: the spammer is not behind the relay that sent it.'
  }
  if (isLearned) return 'A mail server learned it; nobody reported it.'
  if (verdict.class === 'legitimate') return 'It looks like wanted mail.'
  if (verdict.class === 'undecided') return 'The verdict is undecided.'
  if (verdict.class !== 'marketing' && !hasEvidence(verdict)) {
    return 'Hardly more than its content speaks against it, and on that alone nobody is told.'
  }
  return undefined
}

function deskOf({ cidr, deskName }: Network): string {
  return deskName === undefined ? `The network ${cidr}` : `${deskName} (${cidr})`
}

function keepOrAsk({ askable }: Judged, why: string): Consequence {
  if (askable.length === 0) return keep(why)
  return { action: 'ask', why: `${why} The reporter is asked.`, about: askable }
}

function withoutContact({ network, registry }: Judged): Consequence {
  if (registry === 'unasked') {
    return { action: 'look-up', why: 'The registries are asked who answers for the origin.' }
  }
  if (registry === 'away') {
    return keep('No registry could be asked who answers for the origin.')
  }
  if (!network) return keep('No imported network table knows the origin.')
  if (registry === 'off') return keep('The network has no known abuse contact.')
  const name = network.name === null ? network.cidr : `${network.cidr} (${network.name})`
  return keep(`No abuse contact is registered for ${name}.`)
}

function keep(why: string): Consequence {
  return { action: 'keep', why }
}
