import { decayed, SLOW_DAYS } from '../reputation/detail.ts'
import {
  isLive,
  type ListCandidate,
  type ListCategory,
  listCodes,
  type ListEdition,
  type Listing,
  type ListName,
  listForSubject,
} from './list.ts'
import { type OwnNames, type Spared, whySpared } from './spare.ts'

/**
 * The steps in which reporters are told: who is listed must not learn, by counting, when one more
 * complained. The first is what it takes to be listed.
 */
const steps = [1_000, 500, 200, 100, 50, 20, 10, 6] as const

/** The largest step that so many reporters reach; 0 below all. */
export function roundedReporters(reporters: number): number {
  return steps.find((step) => reporters >= step) ?? 0
}

/** What is told of an entry, to anybody: nothing of a report, a reporter or a subject. */
export type PublicReasons = {
  category: ListCategory
  reportersAtLeast: number
  /** Days in UTC, as `2026-11-20`. */
  since: string
  lastDay: string
  until: string
  times: number
}

/** What may be told of an entry. */
export function publicReasons(listing: Listing): PublicReasons {
  return {
    category: listing.category,
    reportersAtLeast: listing.reportersAtLeast,
    since: dayOf(listing.since),
    lastDay: dayOf(listing.lastSeen),
    until: dayOf(listing.until),
    times: listing.times,
  }
}

const categories: Readonly<Record<ListCategory, string>> = {
  spam: 'It was reported for spam',
  phishing: 'It was reported for phishing',
  malware: 'It was reported for spreading malware',
}

/** The reasons of an entry as sentences, in English. */
export function englishReasons(reasons: PublicReasons): string[] {
  const { category, reportersAtLeast, lastDay, until, times } = reasons
  return [
    `${categories[category]} by at least ${reportersAtLeast} people, independently.`,
    `The last report came on ${lastDay}.`,
    ...(times > 1 ? [`It is listed for the ${ordinal(times)} time.`] : []),
    `It is listed until ${until}, if nothing more is reported.`,
  ]
}

function ordinal(times: number): string {
  const end = times % 10 === 1 ? 'st' : times % 10 === 2 ? 'nd' : times % 10 === 3 ? 'rd' : 'th'
  const isTeen = times % 100 >= 11 && times % 100 <= 13
  return `${times}${isTeen ? 'th' : end}`
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}

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
export type ListingContext = {
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
const evidenceKept = { score: 0.6, weight: 4 } as const
/** Who was pardoned is listed again only when so many more reporters complained afterwards. */
const NEW_REPORTERS_MIN = 3

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
  circumstances: ListingContext,
): Listing | Unlisted {
  const { kind, name, lastSeen } = candidate
  const list = listForSubject(kind)
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
  circumstances: ListingContext,
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
  { own, isExempted }: ListingContext,
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

/** An entry as programs get it. */
export type ListedJson = {
  list: string
  name: string
  category: string
  code: string
  /** Days in UTC; `until` is the first on which it is not listed any more. */
  since: string
  until: string
  times: number
  reasons: string[]
}

/** All that is told of an entry. */
export function listedJson(listing: Listing): ListedJson {
  const reasons = publicReasons(listing)
  const { list, name, category, times } = listing
  return {
    list,
    name,
    category,
    code: listCodes[category],
    since: reasons.since,
    until: reasons.until,
    times,
    reasons: englishReasons(reasons),
  }
}

/** The beginning of a list as JSON, up to its entries: one to a line, commas between. */
export function jsonHeader({ list, zone, publicUrl, madeAt, expiresAt }: ListEdition): string {
  const head = {
    list,
    zone,
    generated_at: madeAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    lookup_url: `${publicUrl}/lookup`,
    codes: listCodes,
  }
  return `${JSON.stringify(head).slice(0, -1)},"entries":[`
}

/** Its end. */
export const jsonFooter = '\n]}\n'
