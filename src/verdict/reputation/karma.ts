import { dateOf, DAY_MS } from '../../durations.ts'
import { type Phrase, phrase } from '../../phrase.ts'
import { growth, NEWCOMER_KARMA, PROVEN_KARMA_MIN } from './detail.ts'

/**
 * Direction of a statement about a campaign. `withdrawn`: retracted. `doubted`: a complaint that is
 * not taken at its word; it is counted by `countComplainants`, and changes no karma.
 */
export type Side = 'good' | 'bad' | 'withdrawn' | 'doubted'

/** A reporter of a campaign, and whether their karma has already changed because of it. */
export type Witness = {
  reporterId: string
  side: Side
  isProven: boolean
  /** Whether an operator created the account. Such accounts are always independent. */
  isVouched: boolean
  /** Whether the message itself supports the statement: see `isSupported`. */
  isSupported: boolean
  /** Day of the sign-up since 1970; its lowest 16 bits are stored. */
  signUpDay: number
  /** Groups accounts at one mail domain: see `circleOf`. */
  circle: number
  /** Whether the account signed up on the day of the report. */
  isYoung: boolean
  isSettled: boolean
}

/** A reporter's statement about a campaign. */
export type Testimony = Omit<Witness, 'isSettled'>

/** The witnesses of a campaign after a testimony, and the reporters whose karma changes. */
export type Settled = { witnesses: Witness[]; agreed: string[]; contradicted: string[] }

/**
 * Maximum number of witnesses stored. The first ones are kept, because later ones agree or disagree
 * with them.
 */
export const WITNESSES_MAX = 32
/**
 * Numbers of proven reporters required to contradict or confirm a report. A single reporter may be
 * mistaken, or may have been bribed to confirm a group of newcomers.
 */
const CONTRADICTORS_MIN = 2
const AGREEING_MIN = { proven: 1, newcomer: 2 }
/** Number of other independent newcomers required, if the message supports what they say. */
const CROWD_MIN = 3
const NO_CIRCLE = 0
const CIRCLES = 0xffff

/**
 * Returns the circle of an account from a hash of its mail domain: accounts in one circle are not
 * independent. Accounts at a provider of free mailboxes, and accounts without a known address, are
 * in none (`domainHash` undefined).
 */
export function circleOf(domainHash: number | undefined): number {
  return domainHash === undefined ? NO_CIRCLE : 1 + (domainHash % CIRCLES)
}

/**
 * Adds a testimony. Karma changes once for each reporter and campaign.
 *
 * - It rises when another proven reporter (for newcomers: two) agrees, or when three other
 *   independent accounts do and the message itself supports them; and no proven reporter disagrees.
 * - It falls when two proven reporters disagree and none agrees, or when a message that is said to
 *   be wanted supports four independent complaints.
 *
 * Only independent accounts count: see `countIndependent`. So a crowd that signed up together gains
 * nothing by agreeing with each other, or with a single proven accomplice.
 */
export function testify(before: readonly Witness[], testimony: Testimony): Settled {
  const { reporterId } = testimony
  const old = before.find((one) => one.reporterId === reporterId)
  const witness: Witness = { ...testimony, isSettled: old?.isSettled ?? false }
  const witnesses = before.filter((one) => one !== old).map((one) => ({ ...one }))
  witnesses.push(witness)
  const present = witnesses.filter(({ side }) => side === 'good' || side === 'bad')
  const agreed: string[] = []
  const contradicted: string[] = []
  for (const one of present) {
    if (one.isSettled) continue
    const others = present.filter((other) => other !== one)
    if (isAgreed(one, others)) agreed.push(one.reporterId)
    else if (isContradicted(one, others)) contradicted.push(one.reporterId)
    else continue
    one.isSettled = true
  }
  return { witnesses: roomFor(witnesses), agreed, contradicted }
}

function isAgreed(one: Witness, others: readonly Witness[]): boolean {
  if (others.some(({ isProven, side }) => isProven && side !== one.side)) return false
  const same = others.filter(({ side }) => side === one.side)
  const proven = same.filter(({ isProven }) => isProven)
  const enough = one.isProven ? AGREEING_MIN.proven : AGREEING_MIN.newcomer
  if (countIndependent(proven, one) >= enough) return true
  return one.isSupported && countIndependent(same.filter(isVoice), one) >= CROWD_MIN
}

function isContradicted(one: Witness, others: readonly Witness[]): boolean {
  const opposite = others.filter(({ side }) => side !== one.side)
  const proven = opposite.filter(({ isProven }) => isProven)
  const isDefended = others.some(({ isProven, side }) => isProven && side === one.side)
  if (!isDefended && countIndependent(proven, one) >= CONTRADICTORS_MIN) return true
  // Nobody is wrong to dislike what others want, so newcomers only contradict praise.
  const isPraise = one.side === 'good' && !isVoice(one)
  return isPraise && !isDefended && countIndependent(opposite.filter(isVoice)) > CROWD_MIN
}

const isVoice = ({ isProven, isSupported }: Witness) => isProven || isSupported

type Account = Pick<Witness, 'isVouched' | 'signUpDay' | 'circle'>

/**
 * Returns the number of witnesses who are independent of each other, and of `from` if given: each
 * signed up on another day, and is in another circle. Accounts of operators are always independent.
 */
export function countIndependent(witnesses: readonly Account[], from?: Account): number {
  const days = new Set<number>()
  const circles = new Set<number>()
  const add = ({ isVouched, signUpDay, circle }: Account): boolean => {
    if (isVouched) return true
    if (days.has(signUpDay) || circles.has(circle)) return false
    days.add(signUpDay)
    if (circle !== NO_CIRCLE) circles.add(circle)
    return true
  }
  if (from) add(from)
  return witnesses.filter(add).length
}

/** The number of independent complainants up to which a campaign is judged again. */
const COMPLAINANTS_MAX = 3

/**
 * Returns the number of independent reporters who complain about a campaign, at most three; with
 * `from`, of those who are independent of this reporter, without the reporter. An account that an
 * operator did not create counts from the day after its sign-up, so that nobody can have a campaign
 * judged again by accounts that were made for it.
 */
export function countComplainants(
  witnesses: readonly Witness[],
  from?: Pick<Witness, 'reporterId' | 'signUpDay'>,
): number {
  const complaining = witnesses.filter(
    ({ reporterId, side, isVouched, isYoung }) =>
      (side === 'bad' || side === 'doubted') &&
      (isVouched || !isYoung) &&
      reporterId !== from?.reporterId,
  )
  const own = from && {
    ...{ isVouched: false, circle: NO_CIRCLE, signUpDay: from.signUpDay & 0xffff },
    ...witnesses.find(({ reporterId }) => reporterId === from.reporterId),
  }
  return Math.min(COMPLAINANTS_MAX, countIndependent(complaining, own))
}

/**
 * Removes one witness: a withdrawn one, else the last doubted one, else the last one that is not
 * proven, else the last.
 */
function roomFor(witnesses: Witness[]): Witness[] {
  if (witnesses.length <= WITNESSES_MAX) return witnesses
  const withdrawn = witnesses.findIndex(({ side }) => side === 'withdrawn')
  const doubted = witnesses.findLastIndex(({ side }) => side === 'doubted')
  const unproven = witnesses.findLastIndex(({ isProven }) => !isProven)
  const gone = [withdrawn, doubted, unproven, witnesses.length - 1].find((index) => index >= 0)
  return witnesses.filter((_, index) => index !== gone)
}

const sides: readonly Side[] = ['good', 'bad', 'withdrawn', 'doubted']
const WITNESS_BYTES = 21
const flags = { isProven: 4, isSettled: 8, isSupported: 16, isVouched: 32, isYoung: 64 } as const
const flagNames = Object.keys(flags) as (keyof typeof flags)[]

/** Packs witnesses, 21 bytes each. */
export function packWitnesses(witnesses: readonly Witness[]): Buffer {
  const bytes = Buffer.alloc(witnesses.length * WITNESS_BYTES)
  for (const [index, witness] of witnesses.entries()) {
    const at = index * WITNESS_BYTES
    bytes.write(witness.reporterId.replaceAll('-', ''), at, 'hex')
    const set = flagNames.reduce((sum, name) => sum | (witness[name] ? flags[name] : 0), 0)
    bytes.writeUInt8(sides.indexOf(witness.side) | set, at + 16)
    bytes.writeUInt16BE(witness.signUpDay & 0xffff, at + 17)
    bytes.writeUInt16BE(witness.circle, at + 19)
  }
  return bytes
}

/** Unpacks the output of `packWitnesses`. */
export function unpackWitnesses(bytes: Buffer): Witness[] {
  return Array.from({ length: Math.floor(bytes.length / WITNESS_BYTES) }, (_, index) => {
    const at = index * WITNESS_BYTES
    const byte = bytes.readUInt8(at + 16)
    const has = (name: keyof typeof flags) => (byte & flags[name]) !== 0
    return {
      reporterId: uuidAt(bytes, at),
      side: sides[byte & 3] ?? 'withdrawn',
      isProven: has('isProven'),
      isVouched: has('isVouched'),
      isSupported: has('isSupported'),
      signUpDay: bytes.readUInt16BE(at + 17),
      circle: bytes.readUInt16BE(at + 19),
      isYoung: has('isYoung'),
      isSettled: has('isSettled'),
    }
  })
}

/** Reads 16 bytes as a UUID. */
export function uuidAt(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + 16)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Events that change the karma of a reporter. */
const karmaEvents = [
  'agreement',
  'retraction',
  'wanted-mail',
  'contradiction',
  'overruling',
] as const

export type KarmaEvent = (typeof karmaEvents)[number]

/** Stored karma of a reporter. Sums are as of `KARMA_EPOCH`; counts do not decay. */
export type KarmaState = {
  /** Whether an operator created the account: such reporters are trusted from the first report. */
  isVouched: boolean
  agreed: number
  disagreed: number
  counts: Readonly<Record<KarmaEvent, number>>
  /** The day (`2026-11-20`, UTC) of the last agreement; at most one agreement counts per day. */
  agreedOn: string | null
}

/** Half-life of a reporter's agreements and disagreements, in days. */
const KARMA_DAYS = 180
/** Days from 1970 to 1 January 2026. The sums fit in a double until the year 2500. */
const KARMA_EPOCH = 20_454

/**
 * Prior agreements and disagreements. A newcomer is proven after agreements on six consecutive
 * days, and stays proven for a week. The newcomer's prior is slightly below 2 and 8, because the
 * first of the six has decayed by then.
 */
const priors = { vouched: { good: 10, bad: 0 }, newcomer: { good: 1.92, bad: 7.68 } }

/** Weight of an event against a reporter. Everybody makes mistakes, and a retraction is honest. */
const losses: Record<Exclude<KarmaEvent, 'agreement'>, number> = {
  retraction: 1,
  'wanted-mail': 3,
  contradiction: 3,
  overruling: 4,
}

const lossCodes = {
  retraction: 'karma-retraction',
  'wanted-mail': 'karma-wanted-mail',
  contradiction: 'karma-contradiction',
  overruling: 'karma-overruling',
} as const

/** Returns the karma state of a new reporter. */
export function freshKarma(isVouched: boolean): KarmaState {
  const counts = Object.fromEntries(karmaEvents.map((event) => [event, 0]))
  return {
    isVouched,
    agreed: 0,
    disagreed: 0,
    counts: counts as KarmaState['counts'],
    agreedOn: null,
  }
}

/**
 * Returns the karma of a reporter, 0 to 1: the share of agreements, shrunken towards the initial
 * value of 0.2 for a newcomer and 1 for a vouched reporter. Agreements and disagreements lose half
 * of their weight in 180 days.
 */
export function karmaOf(state: KarmaState | undefined, now: Date): number {
  const { isVouched, agreed, disagreed } = state ?? freshKarma(false)
  const scale = growthAt(now)
  const prior = isVouched ? priors.vouched : priors.newcomer
  const good = prior.good + Math.max(0, agreed) / scale
  const bad = prior.bad + Math.max(0, disagreed) / scale
  return good / (good + bad)
}

/** Number of reports a day that are forwarded for a newcomer. */
const NEWCOMER_FORWARDED = 20
/** The rise of karma that doubles this number. */
const DOUBLING_KARMA = 0.1

/**
 * Returns how many reports a day are forwarded for a reporter: 20 for a newcomer, more after
 * agreements (160 for a reporter who is just proven), fewer after mistakes, and at least 5.
 * Undefined without a limit: for proven reporters with an account that an operator created.
 */
export function forwardedADay(karma: number, isVouched: boolean): number | undefined {
  if (isVouched && karma >= PROVEN_KARMA_MIN) return undefined
  return Math.round(NEWCOMER_FORWARDED * 2 ** ((karma - NEWCOMER_KARMA) / DOUBLING_KARMA))
}

/** Returns the state after an event. A second agreement on the same day changes nothing. */
export function withEvent(state: KarmaState, event: KarmaEvent, at: Date): KarmaState {
  const day = dateOf(at)
  if (event === 'agreement' && state.agreedOn !== null && state.agreedOn >= day) return state
  const counts = { ...state.counts, [event]: state.counts[event] + 1 }
  if (event === 'agreement') {
    return { ...state, counts, agreed: state.agreed + growthAt(at), agreedOn: day }
  }
  return { ...state, counts, disagreed: state.disagreed + losses[event] * growthAt(at) }
}

/** Reverts a complaint about wanted mail, after the message was judged again. */
export function withoutWantedMail(state: KarmaState, at: Date): KarmaState {
  const counts = { ...state.counts, 'wanted-mail': Math.max(0, state.counts['wanted-mail'] - 1) }
  return { ...state, counts, disagreed: state.disagreed - losses['wanted-mail'] * growthAt(at) }
}

/**
 * Returns the reasons for the karma of a reporter: the kind of account, the events that changed the
 * karma, whether the reporter is proven, and how many reports a day are forwarded.
 */
export function explainKarma(state: KarmaState | undefined, now: Date): Phrase[] {
  const known = state ?? freshKarma(false)
  const karma = karmaOf(known, now)
  const isProven = karma >= PROVEN_KARMA_MIN
  const count = forwardedADay(karma, known.isVouched)
  const events = karmaEvents.flatMap((event) => {
    const count = known.counts[event]
    if (count === 0) return []
    if (event === 'agreement') return [phrase('karma-agreement', { count })]
    return [phrase(lossCodes[event], { count, weight: losses[event] })]
  })
  return [
    phrase(known.isVouched ? 'karma-vouched' : 'karma-registered'),
    ...events,
    phrase(isProven ? 'karma-proven' : 'karma-unproven', { min: PROVEN_KARMA_MIN }),
    ...(known.isVouched ? [] : [phrase('karma-independence')]),
    ...(count === undefined ? [] : [phrase('karma-paced', { count })]),
    phrase('karma-decay', { days: KARMA_DAYS }),
  ]
}

function growthAt(at: Date): number {
  return growth(at.getTime() / DAY_MS, KARMA_EPOCH, KARMA_DAYS)
}
