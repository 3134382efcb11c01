import type { ListCategory, Listing } from './list.ts'

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
