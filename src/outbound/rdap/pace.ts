import type { Clock } from '../../world.ts'

/** Whether a server may be asked now; `retryAt` is when it may be again. */
export type Leave = { ok: true } | { ok: false; retryAt: Date; why: string }

/** Keeps to the pace of each server, known by its origin (`https://host`). */
export type Pace = {
  /** Waits for the server's turn; refuses at once when it would not come before `deadline`. */
  admit: (origin: string, deadline: Date) => Promise<Leave>
  /** The server answered: what failed before is forgotten. */
  answered: (origin: string) => void
  /** It did not, or it asked to be left alone for a while. Returns when it may be asked again. */
  failed: (origin: string, retryAfterMs: number | undefined) => Date
}

type Rate = { perSecond: number; burst: number }
type Server = { tokens: number; countedAt: number; restsUntil: number; failures: number }

const usualRate: Rate = { perSecond: 1, burst: 5 }

/** LACNIC takes ten a minute from one address (its notices, and LACNIC at GTER 41, 2016). */
const rates: Readonly<Record<string, Rate>> = {
  'https://rdap.lacnic.net': { perSecond: 0.15, burst: 1 },
}

const REST_MS = 30_000
const REST_MS_MAX = 3_600_000
const SERVERS_MAX = 100

/**
 * A pace: a token bucket for each server, and a rest that doubles with each failure in a row, from
 * half a minute to an hour. After a rest one question is a trial: when it fails too, the next rest
 * is longer.
 */
export function createPace(clock: Clock, wait: (ms: number) => Promise<void>): Pace {
  const servers = new Map<string, Server>()
  const serverOf = (origin: string): Server => {
    const known = servers.get(origin)
    if (known) return known
    const oldest = servers.keys().next()
    if (servers.size >= SERVERS_MAX && !oldest.done) servers.delete(oldest.value)
    const { burst } = rates[origin] ?? usualRate
    const made = { tokens: burst, countedAt: clock().getTime(), restsUntil: 0, failures: 0 }
    servers.set(origin, made)
    return made
  }
  return {
    async admit(origin, deadline) {
      const server = serverOf(origin)
      const now = clock().getTime()
      if (server.restsUntil > now) {
        const retryAt = new Date(server.restsUntil)
        return { ok: false, retryAt, why: 'it asked for a pause or does not answer' }
      }
      const waitMs = reserve(server, rates[origin] ?? usualRate, now, deadline.getTime() - now)
      if (waitMs === undefined) {
        const retryAt = new Date(deadline.getTime() + 1_000)
        return { ok: false, retryAt, why: 'too many questions wait for it' }
      }
      if (waitMs > 0) await wait(waitMs)
      return { ok: true }
    },
    answered(origin) {
      serverOf(origin).failures = 0
    },
    failed(origin, retryAfterMs) {
      const server = serverOf(origin)
      const restMs = retryAfterMs ?? Math.min(REST_MS * 2 ** server.failures, REST_MS_MAX)
      server.failures++
      server.restsUntil = clock().getTime() + restMs
      return new Date(server.restsUntil)
    },
  }
}

/** Takes a token, of the future if need be, and says how long that is; undefined if too long. */
function reserve(server: Server, rate: Rate, now: number, msMax: number): number | undefined {
  const earned = ((now - server.countedAt) / 1_000) * rate.perSecond
  server.tokens = Math.min(rate.burst, server.tokens + Math.max(0, earned))
  server.countedAt = now
  const waitMs = Math.max(0, ((1 - server.tokens) / rate.perSecond) * 1_000)
  if (waitMs > msMax) return undefined
  server.tokens--
  return waitMs
}
