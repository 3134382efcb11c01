import { insertAudit } from '../../db/audit-log.ts'
import { inTransaction, type Pool } from '../../db/pool.ts'
import { type LimitChange, listRateLimits, updateRateLimit } from '../../db/rate-limits.ts'

/** Who changes something, and when; null at the command line. */
export type Deed = { at: Date; reporterId: string | null }

/** The longest window, and the most attempts that can be counted. */
export const WINDOW_SECONDS_MAX = 86_400
const ATTEMPTS_MAX = 1_000_000_000

/** What is wrong with a change, as sentences. */
export function faultsOfChange(change: LimitChange, attempt: string): string[] {
  const { windowMs, attemptsMax, behavior } = change
  const isCount = Number.isSafeInteger(attemptsMax) && attemptsMax >= 1
  const isWindow = Number.isSafeInteger(windowMs) && windowMs >= 1_000
  return [
    ...(isCount && attemptsMax <= ATTEMPTS_MAX
      ? []
      : [`The number of attempts must be from 1 to ${ATTEMPTS_MAX}.`]),
    ...(isWindow && windowMs <= WINDOW_SECONDS_MAX * 1_000 && windowMs % 60 === 0
      ? []
      : [`The window must be from 1 to ${WINDOW_SECONDS_MAX} seconds, by whole 60 ms.`]),
    ...(behavior === 'shadow' && attempt !== 'report' && attempt !== 'mail-in'
      ? ['Only reports can be held: this limit can refuse or be off.']
      : []),
  ]
}

/**
 * Changes a limit, which acts in all processes a moment later; with another window it counts anew.
 * Answers what is wrong, as sentences; none when it was done.
 */
export async function changeLimit(
  pool: Pool,
  name: string,
  change: Partial<LimitChange>,
  deed: Deed,
): Promise<string[]> {
  return inTransaction(pool, async (tx) => {
    const limit = (await listRateLimits(tx)).find((one) => one.name === name)
    if (!limit) return ['There is no such limit.']
    const { windowMs, attemptsMax, behavior } = { ...limit, ...change }
    const next = { windowMs, attemptsMax, behavior }
    const faults = faultsOfChange(next, limit.attempt)
    if (faults.length > 0) return faults
    await updateRateLimit(tx, name, next, deed.at)
    const detail = `${name}: ${attemptsMax} in ${windowMs / 1_000} s, ${behavior}`
    await insertAudit(tx, { at: deed.at, reporterId: deed.reporterId, action: 'set limit', detail })
    return []
  })
}
