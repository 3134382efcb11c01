import { DAY_MS } from '../../durations.ts'
import { type Phrase, phrase, type PhraseCode } from '../../phrase.ts'
import {
  type Danger,
  decayed,
  type Detail,
  FAST_DAYS,
  isSignedUp,
  SIGNED_UP_EFFECT_MAX,
  SLOW_DAYS,
  sourcesAtLeast,
} from './detail.ts'
import { effectiveAt } from './fold.ts'
import type { StoredReputation, Subject, SubjectKind } from './subject.ts'
import { blameShare, explainBlame, explainVolume, type SeenVolume, type Volume } from './volume.ts'

/**
 * Special properties of a subject. `listed`: certainly bad; `welcome`: certainly good; `awake`: a
 * burst after a long silence; `jumped`: its share of complaints has changed; `new`: first seen
 * within a week; `exempt`: protected from accusations by an administrator.
 */
const reputationFlags = ['listed', 'welcome', 'awake', 'jumped', 'new', 'exempt'] as const

type ReputationFlag = (typeof reputationFlags)[number]

/** The base part of a reputation, sufficient for most uses. */
export type Reputation = {
  /** From −1 (certainly bad) to +1 (certainly good); near 0 with little evidence. */
  score: number
  /** Amount of independent evidence: about the number of proven reporters. */
  weight: number
  /** Score of the last days only, and the amount of evidence for it. */
  recentScore: number
  recentWeight: number
  /** In the order of `reputationFlags`. */
  flags: readonly ReputationFlag[]
  /** Null when there is no evidence. */
  firstSeenAt: Date | null
  lastSeenAt: Date | null
}

/** A mark that an administrator sets on a subject. */
export type Mark = 'listed' | 'welcome' | 'exempt'

/** Prior evidence, half good and half bad, so that little evidence gives a score near 0. */
const PRIOR = 3
const NEW_DAYS = 7
/** Number of days for which a change of behavior is shown. */
const CHANGE_DAYS = 3
/**
 * Minimum score of a certainly good subject. A subject is certainly bad at the negative of this
 * score or below.
 */
const SURE_SCORE_MIN = 0.65
/** Minimum number of reporters with full karma for a score to count as certain. */
const SURE_REPORTERS_MIN = 6
/**
 * Number of days after the last report for which a certain score stays certain, although the
 * evidence decays.
 */
const SURE_DAYS = 3
/**
 * Minimum weight for a score to count as certain: what is left of the evidence of
 * `SURE_REPORTERS_MIN` reporters after `SURE_DAYS` days. Five reporters with one report each never
 * reach it.
 */
const SURE_WEIGHT_MIN = decayed(SURE_REPORTERS_MIN, SURE_DAYS, SLOW_DAYS)

/**
 * Kinds that identify a single source. Other kinds are shared by many people, and the mail of one
 * must not count against the others. Links and telephone numbers may be those of an impersonated
 * bank.
 */
const flaggedKinds: ReadonlySet<SubjectKind> = new Set(['address', 'author', 'file'])

/** The reputation of a subject without evidence. */
const unknownReputation: Reputation = {
  score: 0,
  weight: 0,
  recentScore: 0,
  recentWeight: 0,
  flags: [],
  firstSeenAt: null,
  lastSeenAt: null,
}

/**
 * Returns a shrunken estimate from −1 to +1: the share of good evidence minus that of bad, shrunken
 * towards 0.
 */
export function reputationScore(good: number, bad: number): number {
  return (good - bad) / (good + bad + PRIOR)
}

/** What is known of a subject besides its evidence. */
export type Standing = {
  /** An administrator's mark that is in force. */
  mark?: Mark | undefined
  /** How much mail of the subject was seen; undefined when this is unknown. */
  volume?: Volume | undefined
}

/** Returns the base part at a given time. */
export function reputationAt(
  stored: StoredReputation | undefined,
  now: Date,
  { mark, volume }: Standing = {},
): Reputation {
  if (!stored) return mark ? { ...unknownReputation, flags: [mark] } : unknownReputation
  const days = (now.getTime() - stored.foldedAt.getTime()) / DAY_MS
  const slow = (amount: number) => decayed(amount, days, SLOW_DAYS)
  const fast = (amount: number) => decayed(amount, days, FAST_DAYS)
  const blame = blameShare(stored.kind, volume, slow(stored.bad))
  const [good, bad] = [slow(stored.good), slow(stored.bad) * blame]
  const [recentGood, recentBad] = [fast(stored.recentGood), fast(stored.recentBad) * blame]
  const score = reputationScore(good, bad)
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
    recentScore: reputationScore(recentGood, recentBad),
    recentWeight: recentGood + recentBad,
    flags: reputationFlags.filter((flag) => holds[flag]),
    firstSeenAt: stored.firstSeenAt,
    lastSeenAt: stored.lastSeenAt,
  }
}

/**
 * Returns lower bounds for the numbers of independent reporters of phishing or malware, and of
 * malware, at a given time. `blame` is the share of the complaints that counts.
 */
export function dangerReporters(
  { phishing, malware, foldedAt }: StoredReputation,
  now: Date,
  blame: number,
): Record<Danger, number> {
  const days = (now.getTime() - foldedAt.getTime()) / DAY_MS
  const reporters = (part: number | null) => {
    return sourcesAtLeast(decayed(part ?? 0, days, SLOW_DAYS) * blame)
  }
  return { phishing: reporters(phishing), malware: reporters(malware) }
}

type Explained = {
  subject: Subject
  reputation: Reputation
  volume: SeenVolume | undefined
}

const flagCodes = {
  listed: 'reputation-listed',
  welcome: 'reputation-welcome',
  awake: 'reputation-awake',
  jumped: 'reputation-jumped',
  new: 'reputation-new',
  exempt: 'reputation-exempt',
} as const satisfies Record<ReputationFlag, PhraseCode>

/** Explains a reputation, the score first. */
export function explainReputation(
  { subject, reputation, volume }: Explained,
  detail: Detail | undefined,
  now: Date,
): Phrase[] {
  const flags = reputation.flags.map((flag) => phrase(flagCodes[flag]))
  const seen = volume ? explainVolume(subject, volume) : []
  if (!detail) return [phrase('reputation-none'), ...seen, ...flags]
  const { all } = effectiveAt(detail, now)
  const crowd = detail.newcomers.good + detail.newcomers.bad > 0
  const blame = blameShare(subject.kind, volume, all.bad)
  const counts = (danger: Danger) =>
    detail.sources.filter(({ dangers }) => dangers && dangers[danger] > 0).length
  const dangerous = { phishing: counts('phishing'), malware: counts('malware') }
  const isDangerous = dangerous.phishing + dangerous.malware > 0
  const [good, bad] = [rounded(all.good), rounded(all.bad * blame)]
  return [
    phrase('reputation-score', { score: rounded(reputation.score), good, bad, prior: PRIOR }),
    phrase('reputation-reporters', {
      bad: detail.sources.filter((source) => source.bad > 0).length,
      good: detail.sources.filter((source) => source.good > 0).length,
    }),
    ...(isDangerous ? [phrase('reputation-dangers', dangerous)] : []),
    ...(crowd ? [phrase('reputation-newcomers')] : []),
    ...seen,
    ...(blame < 1 ? [explainBlame(subject.kind, volume, blame)] : []),
    ...(detail.sources.some(isSignedUp)
      ? [phrase('reputation-signed-up', { max: SIGNED_UP_EFFECT_MAX })]
      : []),
    phrase('reputation-recent', {
      score: rounded(reputation.recentScore),
      weight: rounded(reputation.recentWeight),
    }),
    ...flags,
    phrase('reputation-decay', { days: SLOW_DAYS, recentDays: FAST_DAYS }),
    phrase('reputation-automatic', {
      score: SURE_SCORE_MIN,
      weight: rounded(SURE_WEIGHT_MIN),
      reporters: SURE_REPORTERS_MIN,
      days: SURE_DAYS,
    }),
  ]
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
