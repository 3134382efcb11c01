import type { Clock } from '../world.ts'

/** Knows whether anybody answers at all, so that a dead service costs only the first questions. */
export type CircuitBreaker = {
  /** Whether nobody is to be asked now. Looks again, in the background, when it is time. */
  isOpen: () => boolean
  /** To be called before each question: a mark for `unanswered`. */
  mark: () => number
  answered: () => void
  /** A question of that mark stayed unanswered. */
  unanswered: (mark: number) => void
}

/**
 * Opens when a question stays unanswered while no other was answered, and a probe is not answered
 * either: single questions may well stay unanswered, because the servers of a stranger are dead.
 * After `awayMs` one more probe decides.
 */
export function createCircuitBreaker(options: {
  clock: Clock
  probe: () => Promise<boolean>
  awayMs: number
}): CircuitBreaker {
  const { clock, probe, awayMs } = options
  let answers = 0
  let awayUntil: number | undefined
  let isProbing = false

  function answered(): void {
    answers += 1
    awayUntil = undefined
  }

  async function look(): Promise<void> {
    isProbing = true
    const before = answers
    const isThere = await probe()
    isProbing = false
    if (isThere) answered()
    else if (answers === before) awayUntil = clock().getTime() + awayMs
  }

  return {
    isOpen() {
      if (awayUntil === undefined) return false
      if (clock().getTime() >= awayUntil && !isProbing) void look()
      return true
    },
    mark: () => answers,
    answered,
    unanswered(mark) {
      if (mark === answers && awayUntil === undefined && !isProbing) void look()
    },
  }
}
