import { decayed, SLOW_DAYS } from '../../reputation/decay.ts'
import { roundedReporters } from './reasons.ts'
import {
  isLive,
  type ListCandidate,
  type ListCategory,
  type Listing,
  type ListName,
  listOf,
} from './list.ts'
import { type OwnNames, type Spared, whySpared } from './spare.ts'

/** Why something is not listed: it is spared whatever is said of it, or too little is said. */
export type Unlisted =
  | Spared
  | 'no list for it'
  | 'exempt'
  | 'few reporters'
  | 'little weight'
  | 'low score'
  | 'nothing new'
  | 'pardoned'

/** What a candidate is judged against. */
export type Circumstances = {
  now: Date
  own: OwnNames
  /** Whether an administrator exempted this name, or the domain it belongs to. */
  isExempted: boolean
}

/**
 * What it takes to be listed: several who do not depend on each other, and hardly a good word. Six
 * reporters who each say it four times reach all three, nine who say it once do for four days; five
 * never do, however often they say it (see `saturated`).
 */
export const evidenceMin = { score: 0.73, weight: 8.1, reporters: 6 } as const
/** What it takes to remain: less, so that nothing goes on and off. */
export const evidenceKept = { score: 0.6, weight: 4 } as const
/** Who was pardoned is listed again only when so many more reporters complained afterwards. */
export const NEW_REPORTERS_MIN = 3

const DAY_MS = 86_400_000
const FIRST_DAYS = 7
const DAYS_MAX = 90

/**
 * How long after the last complaint an entry stays: a week, and twice as long each time that it is
 * listed again, up to 90 days.
 */
export function lifetimeDays(times: number): number {
  return Math.min(DAYS_MAX, FIRST_DAYS * 2 ** Math.min(times - 1, 10))
}

/**
 * The entry that a candidate deserves, or why it deserves none. `former` is what the list has or
 * had of the same name. The entry is `former` itself when nothing has changed.
 */
export function judgeCandidate(
  candidate: ListCandidate,
  former: Listing | undefined,
  circumstances: Circumstances,
): Listing | Unlisted {
  const { kind, name, lastSeen } = candidate
  const list = listOf(kind)
  if (list === undefined) return 'no list for it'
  const spared = whyUnlisted(list, candidate, circumstances)
  if (spared !== undefined) return spared
  if (candidate.independentReporters < evidenceMin.reporters) return 'few reporters'
  if (candidate.weight < evidenceMin.weight) return 'little weight'
  if (candidate.score < evidenceMin.score) return 'low score'
  const { now } = circumstances
  if (former && isLive(former, now)) return renewed(former, candidate)
  if (former && former.until >= lastSeen) return former.pardonedAt ? 'pardoned' : 'nothing new'
  if (former && !hasNewReporters(former, candidate, now)) return 'pardoned'
  const times = (former?.times ?? 0) + 1
  const entry = {
    list,
    name,
    category: categoryOf(candidate),
    since: now,
    until: untilOf(lastSeen, times),
    times,
    reportersAtLeast: roundedReporters(candidate.independentReporters),
    lastSeen: startOfDay(lastSeen),
    pardonedAt: former?.pardonedAt ?? null,
    pardonedReporters: former?.pardonedReporters ?? null,
  }
  return isLive(entry, now) ? entry : 'nothing new'
}

/**
 * Why an entry has to go before its time: an exemption, a rule that came since, or evidence that
 * faded, turned or is gone (`candidate` is undefined). Undefined when it stays.
 */
export function whyEnded(
  { list }: Pick<Listing, 'list'>,
  candidate: ListCandidate | undefined,
  circumstances: Circumstances,
): Unlisted | undefined {
  if (!candidate) return 'little weight'
  const spared = whyUnlisted(list, candidate, circumstances)
  if (spared !== undefined) return spared
  if (candidate.weight < evidenceKept.weight) return 'little weight'
  return candidate.score < evidenceKept.score ? 'low score' : undefined
}

function whyUnlisted(
  list: ListName,
  { name, flags }: ListCandidate,
  { own, isExempted }: Circumstances,
): Unlisted | undefined {
  if (isExempted || flags.includes('exempt') || flags.includes('welcome')) return 'exempt'
  return whySpared(list, name, own)
}

function renewed(former: Listing, candidate: ListCandidate): Listing {
  const lastSeen = startOfDay(candidate.lastSeen)
  const until = untilOf(candidate.lastSeen, former.times)
  const renewal = {
    category: categoryOf(candidate),
    until: until > former.until ? until : former.until,
    reportersAtLeast: roundedReporters(candidate.independentReporters),
    lastSeen: lastSeen > former.lastSeen ? lastSeen : former.lastSeen,
  }
  const isSame =
    renewal.category === former.category &&
    renewal.until.getTime() === former.until.getTime() &&
    renewal.reportersAtLeast === former.reportersAtLeast &&
    renewal.lastSeen.getTime() === former.lastSeen.getTime()
  return isSame ? former : { ...former, ...renewal }
}

/** More than is left of what was known when it was pardoned. */
function hasNewReporters(
  { pardonedAt, pardonedReporters }: Listing,
  { independentReporters }: ListCandidate,
  now: Date,
): boolean {
  if (!pardonedAt) return true
  const days = (now.getTime() - pardonedAt.getTime()) / DAY_MS
  const left = decayed(pardonedReporters ?? 0, days, SLOW_DAYS)
  return independentReporters >= left + NEW_REPORTERS_MIN
}

function categoryOf({ flags }: ListCandidate): ListCategory {
  if (flags.includes('malware')) return 'malware'
  return flags.includes('phishing') ? 'phishing' : 'spam'
}

/** Days alone are told, and days alone are kept: an entry changes once a day at most. */
function untilOf(lastSeen: Date, times: number): Date {
  return new Date(startOfDay(lastSeen).getTime() + lifetimeDays(times) * DAY_MS)
}

function startOfDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS)
}
