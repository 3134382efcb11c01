import type { Network } from '../origin/networks.ts'
import type { TracedHop } from '../origin/trace.ts'
import type { Analysis } from '../pieces/analyze.ts'
import type { RecognizedMarketer } from '../pieces/marketer.ts'
import {
  type AlsoTold,
  chooseContact,
  enrolledDesks,
  type ScopeMatch,
  type ToldOf,
  topicOf,
  whoElse,
} from './choose-contact.ts'
import { hasEvidence, type Verdict } from './verdict.ts'

const HOUR_MS = 3_600_000
/** A clock may be wrong by its time zone. */
const AHEAD_MS_MAX = 24 * HOUR_MS

/**
 * When the message was handed over, by the clocks of the machines we trust: first the one that saw
 * the stranger, then those above it, up to the mailbox. Null where a line tells no time. What the
 * author or a stranger wrote, a `Date` field too, does not count. Empty when there is no such line.
 */
export function trustedTimes(hops: readonly TracedHop[]): (string | null)[] {
  return hops
    .filter(({ trust }) => trust === 'trusted' || trust === 'injection')
    .map(({ at }) => at)
    .toReversed()
}

/**
 * Why a message is too old for its report to have an effect, as a sentence; undefined when it is
 * not. `hoursMax` of 0 is no limit. A time more than a day after the report is not believed; the
 * next line is asked. Where trusted lines exist and none tells a believable time, the age is
 * unknown, and nobody is accused.
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
 * What is done about a report, and why, in a sentence a person can read. `look-up`: the registries
 * are asked for a contact, then the consequence is drawn again.
 */
export type Consequence =
  | { action: 'forward'; to: string; why: string }
  | { action: 'look-up'; why: string }
  | { action: 'keep'; why: string }
  /** Kept as well: the reporter learns how to unsubscribe. */
  | { action: 'advise'; why: string }
  /** Kept as well, until the reporter says which machines are theirs; `about` holds addresses. */
  | { action: 'ask'; why: string; about: readonly string[] }

/**
 * What the registry of the origin has to say: `off` is not asked at all (switched off, no public
 * address, an operator decided), `unasked` may be, `asked` has answered, `away` could not be asked.
 */
export type RegistryState = 'off' | 'unasked' | 'asked' | 'away'

/** What is known when the consequence is drawn. */
export type Judged = ToldOf & {
  verdict: Verdict
  reportedAs: 'spam' | 'phishing' | 'not-spam'
  /** Whether a mail server taught us this one: then nobody reported it to be told on. */
  isLearned: boolean
  messageKind: Analysis['kind']
  /** Why the message is too old for anything to be done, as a sentence. */
  ageObstacle?: string | undefined
  origin: { ip: string; confidence: number } | undefined
  /** Below this confidence an origin is shown, not written to: `ORIGIN_CONFIDENCE_MIN`. */
  originConfidenceMin: number
  /** Addresses the reporter could tell us more about; empty when they have spoken of them all. */
  askable: readonly string[]
  /** Whose mail in bulk it is, where that is proven. */
  marketer?: RecognizedMarketer | null
  network: Network | undefined
  registry: RegistryState
}

/**
 * Decides whether anybody is told. Every doubt keeps the report: an accusation of the wrong
 * network is worse than none. Content alone never sends anything.
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
 * Who is told besides, with what is done about the network: all others that enrolled for it, and
 * who sent the message, if they asked for complaints. Nobody while the reporter is asked, because
 * a report of which anybody was told is not looked at again; nobody without a sure origin.
 */
export function alsoToldOf(judged: Judged, consequence: Consequence): AlsoTold[] {
  const { verdict, origin, reportedAs, messageKind, isLearned } = judged
  const isComplaint = reportedAs !== 'not-spam' && messageKind === 'message' && !isLearned
  if (judged.ageObstacle !== undefined) return []
  if (!isComplaint || verdict.class === 'legitimate' || consequence.action === 'ask') return []
  if (!origin || origin.confidence < judged.originConfidenceMin) return []
  const isForwarded = consequence.action === 'forward'
  const topic = topicOf(verdict.class)
  const [, ...more] = isForwarded ? enrolledDesks(judged, topic).desks : []
  const desks = more.flatMap((match): AlsoTold[] => {
    const how = { format: 'arf', keepsTokens: false, source: 'enrollment' } as const
    return [{ address: match.address, toldAs: 'network', ...how, why: whyOf(match) }]
  })
  const to = isForwarded ? [consequence.to] : []
  const distinct = new Map(desks.map((desk) => [desk.address, desk]))
  for (const address of to) distinct.delete(address)
  return [...distinct.values(), ...whoElse(judged, verdict.class, [...to, ...distinct.keys()])]
}

function whyOf({ kind, value }: ScopeMatch): string {
  const what = kind === 'as' ? `AS${value}` : value
  return `An abuse desk enrolled for ${what}, where the origin is.`
}

/** Whether a marketer stands behind it, and nothing says that it is worse than unwelcome. */
function isMarketers(judged: Judged): judged is Judged & { marketer: RecognizedMarketer } {
  const { marketer, verdict, reportedAs, isLearned, messageKind } = judged
  if (!marketer || reportedAs !== 'spam' || isLearned || messageKind !== 'message') return false
  return verdict.class === 'undecided' || verdict.class === 'marketing'
}

/** Why nobody is to be told, whatever is known of the origin. */
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
