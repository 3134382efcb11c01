import { DAY_MS } from '../../durations.ts'
import {
  type Danger,
  DAYS_MAX,
  type Detail,
  epochOf,
  type EvidenceSums,
  FAST_DAYS,
  growth,
  isSignedUp,
  noSums,
  PROVEN_KARMA_MIN,
  saturated,
  crowdEffect,
  SIGNED_UP_EFFECT_MAX,
  SLOW_DAYS,
  type Source,
  SOURCES_MAX,
} from './detail.ts'
import type { StoredReputation, Subject } from './subject.ts'

/** Evidence of one report about one subject; negative amounts retract earlier evidence. */
export type Piece = {
  /** The reporter: see `sourceId`. */
  source: number
  karma: number
  good: number
  bad: number
  /** What the message is, if it is dangerous; absent when the report is doubted. */
  danger?: Danger | undefined
  /** Milliseconds since 1970. */
  at: number
}

/** Both parts of a reputation. */
export type Folded = { base: StoredReputation; detail: Detail }

/**
 * Time in milliseconds without proven statements after which a subject counts as silent, and the
 * time afterwards for which it counts as awakening.
 */
const SILENT_MS = 14 * DAY_MS
const AWAKENING_MS = 2 * DAY_MS
/**
 * Minimum recent evidence for a burst or for detecting a change: three proven reporters within half
 * a day, since recent evidence halves every day.
 */
const BURST_WEIGHT_MIN = 2
/** Minimum change of the share of complaints, from 0 to 1. */
const JUMP_MIN = 0.4
/** Evidence older than this many days is compared with recent evidence. */
const BEFORE_DAYS = 3
/** Smaller amounts are treated as 0. They remain after retractions or after years of decay. */
const LITTLE = 1e-4
/** Maximum effect of all proven sources that are not stored separately. */
const REST_MAX = 16

/**
 * Adds evidence to the reputation of a subject, whose base part is then computed for the time
 * `now`. The sums are linear: adding the opposite of a piece restores the previous sums up to
 * rounding, and the order of pieces does not matter. If there are more than 32 proven sources, the
 * smallest are merged, those from sign-up first, and this no longer holds for them.
 */
export function foldPieces(
  known: Folded | undefined,
  subject: Subject,
  pieces: readonly Piece[],
  now: Date,
): Folded {
  const latest = pieces.reduce((last, { at }) => Math.max(last, at), 0)
  const detail = rebased(known?.detail ?? emptyDetail(latest), latest)
  for (const piece of pieces) addPiece(detail, piece)
  trim(detail, latest)
  return { base: baseOf(known?.base, subject, { detail, pieces, now }), detail }
}

function emptyDetail(at: number): Detail {
  const epoch = epochOf(at / DAY_MS)
  const sums = { rest: noSums(), newcomers: noSums() }
  return { epoch, sources: [], ...sums, days: [], provenAt: 0, wokenAt: 0 }
}

/** Whether no evidence is left, because all of it was retracted. */
export function isEmptyDetail({ sources, rest, newcomers }: Detail): boolean {
  return (
    sources.length === 0 && [rest, newcomers].every((one) => sides.every((at) => one[at] === 0))
  )
}

/**
 * Returns a copy with the sums as of the epoch of a given time. The conversion is exact, because
 * its factors are powers of two.
 */
function rebased(detail: Detail, at: number): Detail {
  const epoch = Math.max(detail.epoch, epochOf(at / DAY_MS))
  const slow = growth(detail.epoch, epoch, SLOW_DAYS)
  const fast = growth(detail.epoch, epoch, FAST_DAYS)
  const scaled = <T extends EvidenceSums>(sums: T): T => ({
    ...sums,
    good: sums.good * slow,
    bad: sums.bad * slow,
    recentGood: sums.recentGood * fast,
    recentBad: sums.recentBad * fast,
  })
  return {
    ...detail,
    epoch,
    sources: detail.sources.map((source) => ({ ...scaled(source), ...dangersOf(source, slow) })),
    rest: scaled(detail.rest),
    newcomers: scaled(detail.newcomers),
    days: detail.days.map((day) => ({ ...day })),
  }
}

function dangersOf({ dangers }: Source, factor: number): Pick<Source, 'dangers'> {
  if (!dangers) return {}
  return { dangers: { phishing: dangers.phishing * factor, malware: dangers.malware * factor } }
}

function addPiece(detail: Detail, piece: Piece): void {
  const { karma, good, bad, danger, at } = piece
  const isProven = karma >= PROVEN_KARMA_MIN
  const source = isProven ? sourceOf(detail, piece.source) : undefined
  addTo(source ?? detail.newcomers, piece, detail.epoch)
  if (source && danger) {
    source.dangers ??= { phishing: 0, malware: 0 }
    source.dangers[danger] += bad * karma * growth(at / DAY_MS, detail.epoch, SLOW_DAYS)
  }
  const day = dayOf(detail, Math.floor(at / DAY_MS))
  if (isProven) {
    day.good += good * karma
    day.bad += bad * karma
  } else day.newcomers += Math.sign(good + bad)
  if (!isProven || good + bad <= 0) return
  const { provenAt } = detail
  if (provenAt > 0 && at - provenAt >= SILENT_MS) detail.wokenAt = at
  detail.provenAt = Math.max(provenAt, at)
}

function addTo(sums: EvidenceSums, { karma, good, bad, at }: Piece, epoch: number): void {
  const slow = karma * growth(at / DAY_MS, epoch, SLOW_DAYS)
  const fast = karma * growth(at / DAY_MS, epoch, FAST_DAYS)
  sums.good += good * slow
  sums.bad += bad * slow
  sums.recentGood += good * fast
  sums.recentBad += bad * fast
}

/**
 * Returns the sums of a source; adds the source if it is new. The number of sources may exceed the
 * stored maximum until `trim` runs.
 */
function sourceOf(detail: Detail, id: number): Source {
  const known = detail.sources.find((source) => source.id === id)
  if (known) return known
  const fresh: Source = { id, ...noSums() }
  detail.sources.push(fresh)
  return fresh
}

function dayOf(detail: Detail, number: number): Detail['days'][number] {
  const known = detail.days.find(({ day }) => day === number)
  if (known) return known
  const fresh = { day: number, good: 0, bad: 0, newcomers: 0 }
  detail.days.push(fresh)
  return fresh
}

/** Drops negligible sources, and merges the smallest of too many. */
function trim(detail: Detail, latest: number): void {
  const today = latest / DAY_MS
  const size = ({ good, bad, recentGood, recentBad }: EvidenceSums) =>
    (Math.abs(good) + Math.abs(bad)) / growth(today, detail.epoch, SLOW_DAYS) +
    (Math.abs(recentGood) + Math.abs(recentBad)) / growth(today, detail.epoch, FAST_DAYS)
  const sources = detail.sources.filter((source) => size(source) >= LITTLE)
  for (const source of sources) {
    const { phishing = 0, malware = 0 } = source.dangers ?? {}
    if (Math.max(Math.abs(phishing), Math.abs(malware)) < LITTLE) delete source.dangers
  }
  const rank = (source: Source) => (isSignedUp(source) ? 1 : 0)
  if (sources.length > SOURCES_MAX) {
    sources.sort((a, b) => rank(a) - rank(b) || size(b) - size(a))
  }
  for (const least of sources.splice(SOURCES_MAX)) {
    const sums = isSignedUp(least) ? detail.newcomers : detail.rest
    for (const side of sides) sums[side] += least[side]
  }
  detail.sources = sources
  for (const sums of [detail.rest, detail.newcomers]) {
    if (size(sums) < LITTLE) Object.assign(sums, noSums())
  }
  detail.days = detail.days
    .filter(({ good, bad, newcomers }) =>
      [good, bad, newcomers].some((amount) => Math.abs(amount) >= LITTLE),
    )
    .sort((a, b) => a.day - b.day)
    .filter(({ day }) => day > today - DAYS_MAX)
}

const sides = ['good', 'bad', 'recentGood', 'recentBad'] as const

/**
 * Returns the effective evidence at a given time: that of proven reporters, and that of all
 * reporters, to which the others add only little.
 */
export function effectiveAt(
  detail: Detail,
  now: Date,
): { proven: EvidenceSums; all: EvidenceSums } {
  const today = now.getTime() / DAY_MS
  const slow = 1 / growth(today, detail.epoch, SLOW_DAYS)
  const fast = 1 / growth(today, detail.epoch, FAST_DAYS)
  const proven = noSums()
  const all = noSums()
  for (const side of sides) {
    const scale = side === 'good' || side === 'bad' ? slow : fast
    let signedUp = 0
    for (const source of detail.sources) {
      const effect = saturated(source[side] * scale)
      if (isSignedUp(source)) signedUp += effect
      else proven[side] += effect
    }
    proven[side] += Math.min(SIGNED_UP_EFFECT_MAX, signedUp)
    proven[side] += Math.min(REST_MAX, Math.max(0, detail.rest[side] * scale))
    all[side] = proven[side] + crowdEffect(detail.newcomers[side] * scale)
  }
  return { proven, all }
}

/**
 * Returns the effective evidence at a given time that messages are phishing or malware, and that
 * they are malware. Only proven reporters count, each up to the same limit as for all evidence.
 */
function dangersAt({ sources, epoch }: Detail, now: Date): Record<Danger, number> {
  const scale = 1 / growth(now.getTime() / DAY_MS, epoch, SLOW_DAYS)
  const effectOf = (amountOf: (dangers: Record<Danger, number>) => number) => {
    const sums = { signedUp: 0, vouched: 0 }
    for (const source of sources) {
      const effect = source.dangers ? saturated(amountOf(source.dangers) * scale) : 0
      sums[isSignedUp(source) ? 'signedUp' : 'vouched'] += effect
    }
    return sums.vouched + Math.min(SIGNED_UP_EFFECT_MAX, sums.signedUp)
  }
  return {
    phishing: effectOf(({ phishing, malware }) => phishing + malware),
    malware: effectOf(({ malware }) => malware),
  }
}

type News = { detail: Detail; pieces: readonly Piece[]; now: Date }

function baseOf(
  known: StoredReputation | undefined,
  subject: Subject,
  { detail, pieces, now }: News,
): StoredReputation {
  const { proven, all } = effectiveAt(detail, now)
  const seen = pieces.filter(({ good, bad }) => good + bad > 0).map(({ at }) => at)
  const instants = [...seen, ...(known ? [] : pieces.map(({ at }) => at))]
  const first = Math.min(known?.firstSeenAt.getTime() ?? Infinity, ...instants)
  const last = Math.max(known?.lastSeenAt.getTime() ?? 0, ...instants)
  const recent = proven.recentGood + proven.recentBad
  const isFresh = now.getTime() - detail.wokenAt <= AWAKENING_MS
  const changedAt = (holds: boolean, before: Date | null | undefined) =>
    holds ? now : recent < BURST_WEIGHT_MIN / 2 ? null : (before ?? null)
  return {
    ...subject,
    ...all,
    ...dangersAt(detail, now),
    firstSeenAt: new Date(first),
    lastSeenAt: new Date(last),
    wokeAt: changedAt(recent >= BURST_WEIGHT_MIN && isFresh, known?.wokeAt),
    jumpedAt: changedAt(
      recent >= BURST_WEIGHT_MIN && hasJumped(proven, detail, now),
      known?.jumpedAt,
    ),
    foldedAt: now,
  }
}

/** Whether the share of complaints differs from that of the preceding weeks. */
function hasJumped({ recentGood, recentBad }: EvidenceSums, { days }: Detail, now: Date): boolean {
  const before = days.filter(({ day }) => day < now.getTime() / DAY_MS - BEFORE_DAYS)
  const good = before.reduce((sum, day) => sum + Math.max(0, day.good), 0)
  const bad = before.reduce((sum, day) => sum + Math.max(0, day.bad), 0)
  if (good + bad < BURST_WEIGHT_MIN) return false
  const share = recentBad / (recentGood + recentBad)
  return Math.abs(share - bad / (good + bad)) >= JUMP_MIN
}
