import { dateOf, DAY_MS } from '../../durations.ts'
import { type Danger, decayed, SLOW_DAYS } from '../reputation/detail.ts'
import {
  isLive,
  type ListCandidate,
  listCategories,
  type ListCategory,
  listCodes,
  type ListEdition,
  type Listing,
  type ListName,
  listForSubject,
  type PublicListing,
} from './list.ts'
import { type OwnNames, type Spared, whySpared } from './spare.ts'

/**
 * Public numbers of reporters are rounded down to these steps, so that the owner of a listed name
 * cannot detect single complaints by counting. The smallest step is the minimum for a listing.
 */
const steps = [1_000, 500, 200, 100, 50, 20, 10, 6] as const

/** Rounds down to the largest step reached; 0 below all steps. */
export function roundedReporters(reporters: number): number {
  return steps.find((step) => reporters >= step) ?? 0
}

/**
 * The public reasons for an entry. They reveal nothing about individual reports, reporters or
 * subjects.
 */
export type PublicReasons = {
  category: ListCategory
  reportersAtLeast: number
  /** Days in UTC, as `2026-11-20`. */
  since: string
  lastDay: string
  until: string
  times: number
}

export function publicReasons(listing: Omit<Listing, 'list'>): PublicReasons {
  return {
    category: listing.category,
    reportersAtLeast: listing.reportersAtLeast,
    since: dateOf(listing.since),
    lastDay: dateOf(listing.lastSeen),
    until: dateOf(listing.until),
    times: listing.times,
  }
}

const categories: Readonly<Record<ListCategory, string>> = {
  spam: 'It was reported for spam',
  phishing: 'It was reported for phishing',
  malware: 'It was reported for spreading malware',
}

/** Returns the reasons for an entry as sentences in English. */
export function englishReasons(reasons: PublicReasons): string[] {
  const { category, reportersAtLeast, lastDay, until, times } = reasons
  return [
    `${categories[category]} by at least ${reportersAtLeast} independent reporters.`,
    `The last report came on ${lastDay}.`,
    ...(times > 1 ? [`This is its ${ordinal(times)} listing.`] : []),
    `It stays listed until ${until} if there are no new reports.`,
  ]
}

function ordinal(times: number): string {
  const end = times % 10 === 1 ? 'st' : times % 10 === 2 ? 'nd' : times % 10 === 3 ? 'rd' : 'th'
  const isTeenth = times % 100 >= 11 && times % 100 <= 13
  return `${times}${isTeenth ? 'th' : end}`
}

/** Why a name is not listed: it is always spared, or there is too little evidence. */
export type Unlisted =
  | Spared
  | 'no list for it'
  | 'exempt'
  | 'few reporters'
  | 'little weight'
  | 'low score'
  | 'nothing new'
  | 'delisted'

/** What a judgment of a candidate depends on besides its evidence. */
export type ListingContext = {
  now: Date
  own: OwnNames
  /** Whether an administrator exempted this name or its domain. */
  isExempted: boolean
}

/**
 * Minimum evidence for a listing: several independent reporters and almost no good reports. Six
 * reporters with four reports each reach all three values; nine reporters with one report each
 * reach them for four days. Five reporters never do, however often they report (see `saturated`).
 */
export const evidenceMin = { score: 0.73, weight: 8.1, reporters: 6 } as const
/**
 * Minimum evidence for an entry to stay. It is lower than for a listing, so that entries do not
 * flap.
 */
const evidenceKept = { score: 0.6, weight: 4 } as const
/**
 * Minimum numbers of independent reporters of messages that are phishing or malware: for the
 * category of an entry, and for the entry to keep it. One reporter alone never reaches either, nor
 * do accounts from sign-up reach the first.
 */
const DANGER_REPORTERS_MIN = 3
const DANGER_REPORTERS_KEPT = 2
/**
 * Minimum number of reporters who must complain after a delisting before the name is listed again.
 */
const NEW_REPORTERS_MIN = 3

const FIRST_DAYS = 7
const DAYS_MAX = 90

/**
 * Returns the number of days after the last complaint at which an entry expires: 7, doubled with
 * each new listing, at most 90.
 */
export function lifetimeDays(times: number): number {
  return Math.min(DAYS_MAX, FIRST_DAYS * 2 ** Math.min(times - 1, 10))
}

/**
 * Returns the entry for a candidate, or why there is none. `former` is the current or an earlier
 * entry of the same name. Returns `former` itself when nothing has changed.
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
  if (former && former.until >= lastSeen) return former.delistedAt ? 'delisted' : 'nothing new'
  if (former && !hasNewReporters(former, candidate, now)) return 'delisted'
  const times = (former?.times ?? 0) + 1
  const entry = {
    list,
    name,
    category: categoryOf(candidate, undefined),
    since: now,
    until: untilOf(lastSeen, times),
    times,
    reportersAtLeast: roundedReporters(candidate.independentReporters),
    lastSeen: startOfDay(lastSeen),
    delistedAt: former?.delistedAt ?? null,
    delistedReporters: former?.delistedReporters ?? null,
  }
  return isLive(entry, now) ? entry : 'nothing new'
}

/**
 * Returns why an entry must be removed early: an exemption, a newer rule, or evidence that has
 * decayed, changed or disappeared (`candidate` is undefined). Undefined when the entry stays.
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
    category: categoryOf(candidate, former),
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

/** Whether enough new reporters have complained since the delisting. */
function hasNewReporters(
  { delistedAt, delistedReporters }: Listing,
  { independentReporters }: ListCandidate,
  now: Date,
): boolean {
  if (!delistedAt) return true
  const days = (now.getTime() - delistedAt.getTime()) / DAY_MS
  const left = decayed(delistedReporters ?? 0, days, SLOW_DAYS)
  return independentReporters >= left + NEW_REPORTERS_MIN
}

/** Returns the gravest category for which there is enough evidence, less if it was listed so. */
export function categoryOf(
  { dangers }: Pick<ListCandidate, 'dangers'>,
  former: Pick<Listing, 'category'> | undefined,
): ListCategory {
  const isAtLeast = (category: Danger) => {
    const was = listCategories.indexOf(former?.category ?? 'spam')
    const isKept = was >= listCategories.indexOf(category)
    return (dangers?.[category] ?? 0) >= (isKept ? DANGER_REPORTERS_KEPT : DANGER_REPORTERS_MIN)
  }
  return listCategories.toReversed().find((one) => one === 'spam' || isAtLeast(one)) ?? 'spam'
}

/**
 * The end of an entry, rounded to whole UTC days. Only days are published and stored, so an entry
 * changes at most once a day.
 */
function untilOf(lastSeen: Date, times: number): Date {
  return new Date(startOfDay(lastSeen).getTime() + lifetimeDays(times) * DAY_MS)
}

function startOfDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS)
}

/** Formats the public part of an entry. */
export function listedJson(listing: PublicListing) {
  const reasons = publicReasons(listing)
  const { list, name, category, times } = listing
  return {
    list,
    name,
    category,
    code: listCodes[category],
    /** Days in UTC; `until` is the first day on which the name is no longer listed. */
    ...{ since: reasons.since, until: reasons.until },
    times,
    reasons: englishReasons(reasons),
  }
}

/**
 * The start of a JSON list, up to its entries. The entries are one per line, separated by commas.
 */
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

export const jsonFooter = '\n]}\n'
