import { setTimeout as wait } from 'node:timers/promises'

/** What a promise gives, or `late` when it takes longer than `waitMs`. */
export async function inTime<T>(asking: Promise<T>, waitMs: number, late: T): Promise<T> {
  const settled = new AbortController()
  const tooLate = wait(waitMs, late, { signal: settled.signal }).catch(() => late)
  try {
    return await Promise.race([asking, tooLate])
  } finally {
    settled.abort()
  }
}
