import { isLive, type Listing } from './list.ts'

/** What becomes of a wish to be taken off. */
export type DelistingCourse = 'at once' | 'to administrators' | 'not listed'

const DAY_MS = 86_400_000
/** Evidence that is so old or so little may be wiped off by who asks, once. */
const OLD_DAYS = 3
const FEW_REPORTERS = 20

/**
 * Who may take a name off a list: who asks, once in the memory of the list, when what is known is
 * old or little and is neither phishing nor malware; else an administrator. What was taken off at
 * once comes back only by what is reported afterwards.
 */
export function delistingCourse(listing: Listing | undefined, now: Date): DelistingCourse {
  if (!listing || !isLive(listing, now)) return 'not listed'
  if (listing.category !== 'spam' || listing.pardonedAt !== null) return 'to administrators'
  const isOld = now.getTime() - listing.lastSeen.getTime() >= OLD_DAYS * DAY_MS
  return isOld || listing.reportersAtLeast < FEW_REPORTERS ? 'at once' : 'to administrators'
}
