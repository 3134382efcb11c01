import { decayed, type Detail, FAST_DAYS, SLOW_DAYS } from './detail.ts'
import { effectiveAt } from './fold.ts'

/** What a message can be blamed on, or praised for; numbers are stored. */
export const subjectKinds = {
  address: 1,
  network: 2,
  'autonomous-system': 3,
  author: 4,
  'author-domain': 5,
  signer: 6,
  'return-path-domain': 7,
  'link-host': 8,
  'link-domain': 9,
  link: 10,
  file: 11,
  phone: 12,
  'claimed-author': 13,
  'claimed-author-domain': 14,
  campaign: 15,
} as const

/** One of them. */
export type SubjectKind = keyof typeof subjectKinds

/**
 * One thing that has a reputation. `name` is its normal form: an address without brackets, a
 * network as CIDR, a number of an AS in decimal, a domain in lower-case ASCII, the SHA-256 of a
 * file in hexadecimal, the id of a campaign. An author whose domain does not stand behind the
 * message is only claimed: what is known of a claimed one says nothing of who has the address.
 */
export type Subject = { kind: SubjectKind; name: string }

const names = new Map(Object.entries(subjectKinds).map(([name, number]) => [number, name]))

/** The kind of a stored number; undefined for one that there is not. */
export function subjectKindOf(number: number): SubjectKind | undefined {
  return names.get(number as never) as SubjectKind | undefined
}

/** Whether a text is the name of a kind. */
export function isSubjectKind(text: string): text is SubjectKind {
  return Object.hasOwn(subjectKinds, text)
}

/**
 * What is certain of a subject, or striking. `listed`: surely bad; `welcome`: surely good; `awake`:
 * was silent for long and now bursts; `jumped`: its share of complaints is another than it was;
 * `new`: first seen within a week; `exempt`: an administrator keeps it from being accused.
 */
const reputationFlags = ['listed', 'welcome', 'awake', 'jumped', 'new', 'exempt'] as const

/** One of them. */
type ReputationFlag = (typeof reputationFlags)[number]

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
const PRIOR = 3
const DAY_MS = 86_400_000
const NEW_DAYS = 7
/** How long a change of behavior is told. */
const CHANGE_DAYS = 3
/** From this score on, or below its opposite, somebody is surely good or bad … */
const SURE_SCORE_MIN = 0.65
/** … if so many reporters who are believed in full say so … */
const SURE_REPORTERS_MIN = 6
/** … and for so many days after they did: their evidence decays from the first moment on. */
const SURE_DAYS = 3
/** The evidence that is left of them then; five who say it once are less from the beginning. */
const SURE_WEIGHT_MIN = decayed(SURE_REPORTERS_MIN, SURE_DAYS, SLOW_DAYS)

/**
 * Kinds that stand for one source. Others are shared by many, who are not to answer for one; and
 * links and telephones anybody may write into his message: those of the bank he plays, too.
 */
const flaggedKinds: ReadonlySet<SubjectKind> = new Set(['address', 'author', 'file'])

/** Of whom nothing is known. */
const unknownReputation: Reputation = {
  score: 0,
  weight: 0,
  recentScore: 0,
  recentWeight: 0,
  flags: [],
  firstSeenAt: null,
  lastSeenAt: null,
}

/** A shrunken estimate of −1 to +1: the share of good less that of bad, drawn towards 0. */
export function reputationScore(good: number, bad: number): number {
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

const flagWords: Record<ReputationFlag, string> = {
  listed: 'It is listed: surely bad.',
  welcome: 'It is welcome: surely good.',
  awake: 'It woke up: it was silent for two weeks or more, and now several report it at once.',
  jumped: 'It changed: its share of complaints is another than in the weeks before.',
  new: 'It was first seen within a week.',
  exempt: 'An administrator exempted it: it is not accused of itself.',
}

/** Why the reputation of a subject is what it is, as sentences; the score first. */
export function explainReputation(
  reputation: Reputation,
  detail: Detail | undefined,
  now: Date,
): string[] {
  if (!detail) {
    const flags = reputation.flags.map((flag) => flagWords[flag])
    return ['Nothing was reported of it, or it was forgotten since.', ...flags]
  }
  const { all } = effectiveAt(detail, now)
  const crowd = detail.newcomers.good + detail.newcomers.bad > 0
  const { sources } = detail
  const speaking = { good: 0, bad: 0 }
  for (const { good, bad } of sources) {
    if (bad > 0) speaking.bad++
    if (good > 0) speaking.good++
  }
  return [
    `Score ${shown(reputation.score)} = (${shown(all.good)} for it − ${shown(all.bad)} against ` +
      `it) ÷ (both + ${PRIOR}, so that little evidence means little).`,
    `${people(speaking.bad)} against it, ${people(speaking.good)} for it. One reporter counts ` +
      `once, and never more than one and a half times.`,
    ...(crowd
      ? ['Reporters who are not proven spoke too: all of them together count 0.3 at most.']
      : []),
    `Of the last days alone: score ${shown(reputation.recentScore)}, from evidence of ` +
      `${shown(reputation.recentWeight)}.`,
    ...reputation.flags.map((flag) => flagWords[flag]),
    `Evidence loses half its weight in ${SLOW_DAYS} days, for the last days in ${FAST_DAYS} day.`,
    `From ${SURE_SCORE_MIN} on, with evidence of ${shown(SURE_WEIGHT_MIN)}, what stands for one ` +
      `source is listed or welcome of itself: that is what is left after ${SURE_DAYS} days of ` +
      `${SURE_REPORTERS_MIN} reporters who are believed in full. What many share never is.`,
  ]
}

function shown(value: number): string {
  const rounded = Math.round(value * 100) / 100
  return `${rounded < 0 ? '−' : ''}${Math.abs(rounded)}`
}

function people(count: number): string {
  return count === 1 ? '1 proven reporter speaks' : `${count} proven reporters speak`
}
