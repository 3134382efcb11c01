import { reasonOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Clock } from '../world.ts'

/** Work that goes on in rounds until it is closed. */
export type Rounds = { close: () => Promise<void> }

/** So often the same failure is told. */
const COMPLAINT_MS = 60_000
const REASONS_MAX = 100

/**
 * Does one round after another until closed; each says how long to wait before the next, in
 * milliseconds. A round must not reject; within a long one it may ask whether it is to stop.
 */
export function runRounds(round: (isClosed: () => boolean) => Promise<number>): Rounds {
  let isClosed = false
  let wake: () => void = () => undefined
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const run = async () => {
    while (!isClosed) {
      const pauseMs = await round(() => isClosed)
      if (pauseMs > 0 && !isClosed) await pause(pauseMs)
    }
  }
  const running = run()
  return {
    async close() {
      isClosed = true
      wake()
      await running
    },
  }
}

/** Tells why something failed: a new reason at once, the same again only after a while. */
export function complainer(
  { clock, log }: { clock: Clock; log: Logger },
  sentence: string,
): (error: unknown) => void {
  const saidAt = new Map<string, number>()
  return (error) => {
    const reason = reasonOf(error)
    const now = clock().getTime()
    if (now - (saidAt.get(reason) ?? -Infinity) < COMPLAINT_MS) return
    if (saidAt.size >= REASONS_MAX) saidAt.clear()
    saidAt.set(reason, now)
    log.warn({ reason }, sentence)
  }
}
