import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemElapsed } from '../../world.ts'

/** Work on bodies in one turn of the event loop, in milliseconds. */
const TURN_MS = 10

let workedMs = 0
let isResetting = false
let turns: Promise<void> = Promise.resolve()

/**
 * Does a piece of work of a few milliseconds on a body. All bodies of the process share a small
 * budget for each turn of the event loop. Above it, each piece waits for a turn of its own, so that
 * many large bodies do not delay the answers to other clients.
 */
export async function inSlices<T>(work: () => T | Promise<T>): Promise<T> {
  if (workedMs > TURN_MS) await (turns = turns.then(() => nextTurn()))
  const startedAt = systemElapsed()
  try {
    return await work()
  } finally {
    workedMs += systemElapsed() - startedAt
    if (!isResetting) {
      isResetting = true
      setImmediate(() => {
        workedMs = 0
        isResetting = false
      })
    }
  }
}
