import { SOURCES_MAX } from './detail.ts'

/** From this karma on reporters are proven, and each is a source of his own. */
export const PROVEN_KARMA_MIN = 0.5
/** With this much reporters begin that nobody vouches for. */
export const NEWCOMER_KARMA = 0.2

/** What one source can say at most, however often he says it. */
const SAYINGS_MAX = 1.5

/**
 * How much a source counts who said something so many times: once is one, and all that he says ever
 * is one and a half. Sources who agree only with themselves weigh no more.
 */
export function saturated(sayings: number): number {
  if (sayings <= 0) return 0
  return sayings <= 1 ? sayings : SAYINGS_MAX - (SAYINGS_MAX - 1) / sayings
}

/**
 * How much all those together count who are not proven, from the sum of their karma for each thing
 * they said: together they are one source that is believed as little as a newcomer.
 */
export function saturatedCrowd(believed: number): number {
  return NEWCOMER_KARMA * saturated(believed / NEWCOMER_KARMA)
}

/** Sums are stored with seven digits: what is beyond a whole number by less is rounding. */
const ROUNDING = 1e-5

/**
 * How many different proven sources there are at least behind so much evidence, a whole number: a
 * source that repeats itself counts for one and a half at most, so evidence above five such sources
 * is that of six. How many there are beyond those that are told apart is not known.
 */
export function sourcesAtLeast(evidence: number): number {
  const crowd = NEWCOMER_KARMA * SAYINGS_MAX
  const sources = Math.max(0, evidence - crowd) / SAYINGS_MAX
  return Math.min(SOURCES_MAX, Math.ceil(Math.max(0, sources - ROUNDING)))
}
