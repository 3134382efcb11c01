import { growth } from './decay.ts'
import { PROVEN_KARMA_MIN } from './source-weight.ts'

/** What makes the karma of a reporter rise or fall. */
export const karmaEvents = [
  'agreement',
  'retraction',
  'wanted-mail',
  'contradiction',
  'overruling',
] as const

/** One of them. */
export type KarmaEvent = (typeof karmaEvents)[number]

/** What is known of a reporter; sums grow as of `KARMA_EPOCH`, counts do not decay. */
export type KarmaState = {
  /** Whether an operator made the account: such reporters are believed from the first report. */
  isVouched: boolean
  agreed: number
  disagreed: number
  counts: Readonly<Record<KarmaEvent, number>>
  /** The day (`2026-11-20`, UTC) of the last agreement: there is one a day at most. */
  agreedOn: string | null
}

/** Half-life of what a reporter did, in days. */
export const KARMA_DAYS = 180
/** 1 January 2026. Doubles last until the year 2500. */
const KARMA_EPOCH = 20_454
const DAY_MS = 86_400_000

/**
 * Agreements and disagreements that are made up before there are any. A newcomer is proven after
 * six days in a row, and stays so for a week more; the prior is a little below 2 and 8 because
 * the first of the six has decayed by then.
 */
const priors = { vouched: { good: 10, bad: 0 }, newcomer: { good: 1.92, bad: 7.68 } }

/** What an event weighs against a reporter; everybody errs, and to take back is honest. */
const losses: Record<Exclude<KarmaEvent, 'agreement'>, number> = {
  retraction: 1,
  'wanted-mail': 3,
  contradiction: 3,
  overruling: 4,
}

const words: Record<KarmaEvent, readonly [one: string, many: string]> = {
  agreement: ['day on which a proven reporter agreed', 'days on which proven reporters agreed'],
  retraction: ['report taken back', 'reports taken back'],
  'wanted-mail': ['complaint about wanted mail', 'complaints about wanted mail'],
  contradiction: ['contradiction by several proven reporters', 'contradictions by several others'],
  overruling: ['report overruled by an administrator', 'reports overruled by administrators'],
}

/** A reporter of whom nothing is known yet. */
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
 * How far a reporter is believed, 0 to 1: the share of agreements in all that he did, shrunken
 * towards where he began; a newcomer is at 0.2, who is vouched for at 1. What he did loses half
 * its weight in 180 days.
 */
export function karmaOf(state: KarmaState | undefined, now: Date): number {
  const { isVouched, agreed, disagreed } = state ?? freshKarma(false)
  const scale = growthAt(now)
  const prior = isVouched ? priors.vouched : priors.newcomer
  const good = prior.good + Math.max(0, agreed) / scale
  const bad = prior.bad + Math.max(0, disagreed) / scale
  return good / (good + bad)
}

/** The same reporter after an event. A second agreement of a day changes nothing. */
export function withEvent(state: KarmaState, event: KarmaEvent, at: Date): KarmaState {
  const day = at.toISOString().slice(0, 10)
  if (event === 'agreement' && state.agreedOn !== null && state.agreedOn >= day) return state
  const counts = { ...state.counts, [event]: state.counts[event] + 1 }
  if (event === 'agreement') {
    return { ...state, counts, agreed: state.agreed + growthAt(at), agreedOn: day }
  }
  return { ...state, counts, disagreed: state.disagreed + losses[event] * growthAt(at) }
}

/** Takes back that a reporter complained about wanted mail: the message was judged again. */
export function withoutWantedMail(state: KarmaState, at: Date): KarmaState {
  const counts = { ...state.counts, 'wanted-mail': Math.max(0, state.counts['wanted-mail'] - 1) }
  return { ...state, counts, disagreed: state.disagreed - losses['wanted-mail'] * growthAt(at) }
}

/** Why the karma of a reporter is what it is, as sentences. */
export function explainKarma(state: KarmaState | undefined, now: Date): string[] {
  const known = state ?? freshKarma(false)
  const karma = karmaOf(known, now)
  const begun = known.isVouched
    ? 'An operator made this account, so its reports counted in full from the first.'
    : 'Nobody vouches for this account: it began with 0.2.'
  const events = karmaEvents.flatMap((event) => {
    const count = known.counts[event]
    if (count === 0) return []
    const does = event === 'agreement' ? 'raises it' : `lowers it (weight ${losses[event]})`
    return [`${count} ${words[event][count === 1 ? 0 : 1]}: ${does}.`]
  })
  const bound = PROVEN_KARMA_MIN.toFixed(1)
  const stands =
    karma >= PROVEN_KARMA_MIN
      ? `From ${bound} on a reporter is proven: what he says counts as a source of its own.`
      : `Below ${bound} a reporter is not proven: all such reporters count as one source at most.`
  return [begun, ...events, stands, `What was done loses half its weight in ${KARMA_DAYS} days.`]
}

function growthAt(at: Date): number {
  return growth(at.getTime() / DAY_MS, KARMA_EPOCH, KARMA_DAYS)
}
