import type { Counted, RateLimit } from '../../db/rate-limits.ts'

/** What a client may know of one limit. */
export type LimitState = {
  /** The name of the policy. */
  name: string
  attemptsMax: number
  windowSeconds: number
  /** How many attempts more would be admitted now. */
  remaining: number
  /** After how many seconds, if nothing else comes, there is more again. */
  resetSeconds: number
}

/** What one limit says to one attempt, and after how many seconds it would be admitted. */
export type Ruling = { isAdmitted: boolean; waitSeconds: number; state: LimitState }

/** Into how many parts a window is cut. */
export const SUB_WINDOWS = 60

/**
 * Decides on one attempt of `cost`, from what was counted up to it and all that came with it.
 * `later`: how much of the total came after it. The sub-window that the edge of the window cuts
 * counts whole, so a limit is at most 1/60 too strict and never lenient.
 */
export function rule(
  limit: RateLimit,
  { total, counts, overMs }: Counted,
  { cost, later }: { cost: number; later: number },
): Ruling {
  const { name, attemptsMax, windowMs } = limit
  const used = total - later
  const isAdmitted = used <= attemptsMax
  const after = (excess: number) => secondsUntilLess(counts, excess, { windowMs, overMs })
  return {
    isAdmitted,
    waitSeconds: isAdmitted ? 0 : after(total - Math.max(0, attemptsMax - cost)),
    state: {
      name,
      attemptsMax,
      windowSeconds: Math.ceil(windowMs / 1_000),
      remaining: Math.max(0, attemptsMax - used),
      resetSeconds: after(Math.max(1, total - attemptsMax + 1)),
    },
  }
}

/**
 * In how many seconds, rounded up, `excess` of what was counted will have left the window. All of
 * it has when the present sub-window leaves, whatever is asked for.
 */
function secondsUntilLess(
  counts: readonly number[],
  excess: number,
  { windowMs, overMs }: { windowMs: number; overMs: number },
): number {
  let left = 0
  const at = counts.findIndex((count) => (left += count) >= excess)
  const age = at < 0 ? 0 : counts.length - 1 - at
  // What lies 61 sub-windows back counts no more.
  const waitMs = (SUB_WINDOWS + 1 - age) * (windowMs / SUB_WINDOWS) - overMs
  return Math.max(1, Math.ceil(waitMs / 1_000))
}
