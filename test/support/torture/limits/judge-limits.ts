import { type Plan, type Tried, turnAt } from './plan.ts'

/** The results of a run for the attacked keys. */
export type Judged = {
  faults: string[]
  admitted: number
  /** Number of attacks on one key with enough attempts to fill its limit. */
  filled: number
  /** The maximum number of attempts certainly accepted within one window. */
  mostInWindow: number
}

/**
 * Checks whether any window exceeds the limit, and whether each attack was accepted up to the
 * limit. An attempt was decided at some time between its request and its answer, so only attempts
 * with both inside a window count against it.
 */
export function judgeLimits(plan: Plan, tried: readonly Tried[]): Judged {
  const judged: Judged = { faults: [], admitted: 0, filled: 0, mostInWindow: 0 }
  for (const [key, ofKey] of Map.groupBy(tried, ({ key }) => key)) {
    const admitted = ofKey.filter(({ isAdmitted }) => isAdmitted)
    judged.admitted += admitted.length
    const most = mostWithin(admitted, plan.windowMs)
    judged.mostInWindow = Math.max(judged.mostInWindow, most)
    if (most > plan.attemptsMax) judged.faults.push(`key ${key}: ${most} in one window`)
    for (const [turn, ofTurn] of Map.groupBy(ofKey, ({ sentAt }) => turnAt(plan, sentAt).turn)) {
      const got = ofTurn.filter(({ isAdmitted }) => isAdmitted).length
      const due = Math.min(ofTurn.length, plan.attemptsMax)
      if (ofTurn.length >= plan.attemptsMax) judged.filled++
      const isTight = spanOf(ofTurn) < plan.windowMs
      if (isTight && got !== due) {
        judged.faults.push(`key ${key}, turn ${turn}: ${got} of ${ofTurn.length}, not ${due}`)
      }
    }
  }
  return judged
}

function spanOf(tried: readonly Tried[]): number {
  const ends = tried.map(({ toldAt }) => toldAt)
  return Math.max(...ends) - Math.min(...tried.map(({ sentAt }) => sentAt))
}

/** Returns the maximum number of attempts that begin and end within any one window. */
function mostWithin(tried: readonly Tried[], windowMs: number): number {
  const bySent = tried.toSorted((one, other) => one.sentAt - other.sentAt)
  return Math.max(
    0,
    ...bySent.map(({ sentAt }, first) => {
      const inside = bySent.slice(first).filter(({ toldAt }) => toldAt <= sentAt + windowMs)
      return inside.length
    }),
  )
}
