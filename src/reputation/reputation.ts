import { decayed, FAST_DAYS, SLOW_DAYS } from './decay.ts'
import type { SubjectKind } from './subject.ts'

/**
 * What is certain of a subject, or striking. `listed`: surely bad; `welcome`: surely good; `awake`:
 * was silent for long and now bursts; `jumped`: its share of complaints is another than it was;
 * `new`: first seen within a week; `exempt`: an administrator keeps it from being accused.
 */
export const reputationFlags = ['listed', 'welcome', 'awake', 'jumped', 'new', 'exempt'] as const

/** One of them. */
export type ReputationFlag = (typeof reputationFlags)[number]

/** The base part: what most questions need of a subject. */
export type Reputation = {
  /** From −1, surely bad, to +1, surely good; near 0 where little is known. */
  score: number
  /** How much independent evidence is behind it: about as many as there are proven reporters. */
  weight: number
  /** The score of the last days alone, and the evidence behind that. */
  recentScore: number
  recentWeight: number
  /** In the order of `reputationFlags`. */
  flags: readonly ReputationFlag[]
  /** Null when nothing is known. */
  firstSeenAt: Date | null
  lastSeenAt: Date | null
}

/** The base part as it is stored: effective evidence, as it was at `foldedAt`. */
export type StoredReputation = {
  kind: SubjectKind
  name: string
  good: number
  bad: number
  recentGood: number
  recentBad: number
  firstSeenAt: Date
  lastSeenAt: Date
  /** When it was last found to have woken up, or to be another than before. */
  wokeAt: Date | null
  jumpedAt: Date | null
  foldedAt: Date
}

/** What an administrator says of a subject by hand. */
export type Mark = 'listed' | 'welcome' | 'exempt'

/** Evidence that is made up before any comes, half good and half bad: little of it says little. */
export const PRIOR = 3
const DAY_MS = 86_400_000
const NEW_DAYS = 7
/** How long a change of behavior is told. */
const CHANGE_DAYS = 3
/** From this score on, or below its opposite, somebody is surely good or bad … */
export const SURE_SCORE_MIN = 0.65
/** … if so many reporters who are believed in full say so … */
export const SURE_REPORTERS_MIN = 6
/** … and for so many days after they did: their evidence decays from the first moment on. */
export const SURE_DAYS = 3
/** The evidence that is left of them then; five who say it once are less from the beginning. */
export const SURE_WEIGHT_MIN = decayed(SURE_REPORTERS_MIN, SURE_DAYS, SLOW_DAYS)

/**
 * Kinds that stand for one source. Others are shared by many, who are not to answer for one; and
 * links and telephones anybody may write into his message: those of the bank he plays, too.
 */
const flaggedKinds: ReadonlySet<SubjectKind> = new Set(['address', 'author', 'file'])

/** Of whom nothing is known. */
export const unknownReputation: Reputation = {
  score: 0,
  weight: 0,
  recentScore: 0,
  recentWeight: 0,
  flags: [],
  firstSeenAt: null,
  lastSeenAt: null,
}

/** A shrunken estimate of −1 to +1: the share of good less that of bad, drawn towards 0. */
export function scoreOf(good: number, bad: number): number {
  return (good - bad) / (good + bad + PRIOR)
}

/** The base part as it stands now; `mark` is what an administrator says of it, while it holds. */
export function reputationAt(
  stored: StoredReputation | undefined,
  now: Date,
  mark?: Mark,
): Reputation {
  if (!stored) return mark ? { ...unknownReputation, flags: [mark] } : unknownReputation
  const days = (now.getTime() - stored.foldedAt.getTime()) / DAY_MS
  const slow = (amount: number) => decayed(amount, days, SLOW_DAYS)
  const fast = (amount: number) => decayed(amount, days, FAST_DAYS)
  const [good, bad] = [slow(stored.good), slow(stored.bad)]
  const [recentGood, recentBad] = [fast(stored.recentGood), fast(stored.recentBad)]
  const score = scoreOf(good, bad)
  const weight = good + bad
  const isSure = flaggedKinds.has(stored.kind) && weight >= SURE_WEIGHT_MIN
  const isWithin = (at: Date | null, spanDays: number) =>
    at !== null && now.getTime() - at.getTime() < spanDays * DAY_MS
  const holds: Record<ReputationFlag, boolean> = {
    listed: mark === 'listed' || (!mark && isSure && score <= -SURE_SCORE_MIN),
    welcome: mark === 'welcome' || (!mark && isSure && score >= SURE_SCORE_MIN),
    awake: isWithin(stored.wokeAt, CHANGE_DAYS),
    jumped: isWithin(stored.jumpedAt, CHANGE_DAYS),
    new: isWithin(stored.firstSeenAt, NEW_DAYS),
    exempt: mark === 'exempt',
  }
  return {
    score,
    weight,
    recentScore: scoreOf(recentGood, recentBad),
    recentWeight: recentGood + recentBad,
    flags: reputationFlags.filter((flag) => holds[flag]),
    firstSeenAt: stored.firstSeenAt,
    lastSeenAt: stored.lastSeenAt,
  }
}
