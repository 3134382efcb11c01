import { decayed, FAST_DAYS } from './decay.ts'
import type { StoredReputation } from './reputation.ts'
import { PROVEN_KARMA_MIN, saturatedCrowd } from './source-weight.ts'

const DAY_MS = 86_400_000
/** What all newcomers together can add, however much they say. */
const CROWD_MAX = saturatedCrowd(Number.POSITIVE_INFINITY)
/** What a single proven reporter adds at least, beyond what newcomers could. */
const SURE = PROVEN_KARMA_MIN - CROWD_MAX

/**
 * When a proven reporter complained last, as far as the base part tells. It tells only when the
 * subject was last seen, by anybody who says anything; but recent evidence halves every day, so
 * where little is left of it the last sure complaint is so many days older. After a burst of many
 * the answer may be too young by as many days as that takes to fade, a week at most.
 */
export function lastComplaintAt({
  recentBad,
  firstSeenAt,
  lastSeenAt,
  foldedAt,
}: Pick<StoredReputation, 'recentBad' | 'firstSeenAt' | 'lastSeenAt' | 'foldedAt'>): Date {
  const days = Math.max(0, (foldedAt.getTime() - lastSeenAt.getTime()) / DAY_MS)
  const then = recentBad / decayed(1, days, FAST_DAYS) - CROWD_MAX
  if (then >= SURE) return lastSeenAt
  const daysBefore = then > 0 ? FAST_DAYS * Math.log2(SURE / then) : Number.POSITIVE_INFINITY
  const at = lastSeenAt.getTime() - daysBefore * DAY_MS
  return at > firstSeenAt.getTime() ? new Date(at) : firstSeenAt
}
