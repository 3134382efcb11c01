import { domainToASCII } from 'node:url'
import type { Clock, DnsAnswer, DnsType, Resolve } from '../world.ts'
import { createAnswerCache } from './answer-cache.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { inTime } from './in-time.ts'
import { openNameServers, type NameServers, type Reply } from './name-servers.ts'

/** Asks the DNS for a whole process. */
export type Resolver = {
  resolve: Resolve
  stats: () => ResolverStats
  /** Gives up what is being asked: it is answered `unknown`, and so is what comes later. */
  close: () => void
}

/** Since the process began. */
export type ResolverStats = {
  /** Questions that came in, and those of them that left the machine. */
  questions: number
  asked: number
  unknown: number
  /** Whether no server answers at all. */
  isAway: boolean
}

/** Bounds on what a resolver holds and how long it takes. */
export type ResolverLimits = {
  /** For one question, waiting included. */
  answerMsMax: number
  /** For one try at one server. */
  tryMs: number
  /** Questions at the servers at once, and those that wait for their turn. */
  inFlightMax: number
  waitingMax: number
  entriesMax: number
  bytesMax: number
}

const usual: ResolverLimits = {
  answerMsMax: 2_000,
  tryMs: 600,
  inFlightMax: 200,
  waitingMax: 2_000,
  entriesMax: 20_000,
  bytesMax: 8_000_000,
}

const minute = 60_000
/** Where the time to live is not told (all but A and AAAA), `found` is kept for a quarter hour. */
const lives = { least: minute, most: 30 * minute, found: 15 * minute, none: 5 * minute }
const UNKNOWN_MS = 30_000
const AWAY_MS = 30_000

const nobody: DnsAnswer = { is: 'unknown', why: 'Nobody is to be asked (DNS_SERVERS=none).' }
const away: DnsAnswer = { is: 'unknown', why: 'No name server answers at present.' }
const late: DnsAnswer = { is: 'unknown', why: 'The answer took too long.' }
const crowded: DnsAnswer = { is: 'unknown', why: 'Too many questions are being asked.' }

/**
 * A resolver on these servers (`ip` or `ip:port`), on those of the machine, or on none. It never
 * rejects and answers within two seconds. Answers are kept by their time to live; the same
 * question, asked twice at once, is one. A dead DNS costs the first four seconds, then nothing.
 */
export function createResolver(options: {
  servers: 'system' | 'none' | readonly string[]
  clock: Clock
  limits?: Partial<ResolverLimits>
}): Resolver {
  const { servers, clock } = options
  if (servers === 'none') return askNobody()
  const stats = { questions: 0, asked: 0, unknown: 0 }
  const limits = { ...usual, ...options.limits }
  const channel = openNameServers(servers === 'system' ? undefined : servers, limits.tryMs)
  const cache = createAnswerCache(clock, limits)
  const { probe } = channel
  const breaker = createCircuitBreaker({ clock, probe, awayMs: AWAY_MS })
  const queue = createQueue(channel, limits, () => {
    stats.asked += 1
  })
  const underway = new Map<string, Promise<DnsAnswer>>()
  let isClosed = false

  async function ask(question: string, name: string, type: DnsType): Promise<DnsAnswer> {
    const mark = breaker.mark()
    const reply = await queue(name, type)
    if (reply === 'crowded') return crowded
    if (reply === 'late') return late
    if (reply.isSilent) breaker.unanswered(mark)
    else breaker.answered()
    cache.put(question, reply.answer, lifeOf(reply))
    return reply.answer
  }

  async function answer(name: string, type: DnsType): Promise<DnsAnswer> {
    const canonical = canonicalName(name)
    if (canonical === undefined) return { is: 'none' }
    const question = `${type} ${canonical}`
    const known = cache.get(question)
    if (known) return known
    if (isClosed || breaker.isOpen()) return away
    const asking = underway.get(question) ?? ask(question, canonical, type)
    if (!underway.has(question)) {
      underway.set(question, asking)
      void asking.finally(() => underway.delete(question))
    }
    return inTime(asking, limits.answerMsMax, late)
  }

  return {
    async resolve(name, type) {
      stats.questions += 1
      const given = await answer(name, type)
      if (given.is === 'unknown') stats.unknown += 1
      return given
    },
    stats: () => ({ ...stats, isAway: breaker.isOpen() }),
    close() {
      isClosed = true
      channel.cancel()
    },
  }
}

function askNobody(): Resolver {
  return {
    resolve: () => Promise.resolve(nobody),
    stats: () => ({ questions: 0, asked: 0, unknown: 0, isAway: false }),
    close: () => undefined,
  }
}

/**
 * The name as it is asked: ASCII (RFC 5891), lower case, no final dot. Undefined when no such name
 * can exist: RFC 1035 §2.3.4 bounds it; spaces, control characters and backslashes would not be on
 * the wire what they are here.
 */
export function canonicalName(name: string): string | undefined {
  // Without this, line breaks would be left out on the way to ASCII.
  if (name.length > 1_000 || !/^[!-\u{10ffff}]*$/u.test(name)) return undefined
  const ascii = /^[!-~]*$/.test(name) ? name.toLowerCase() : domainToASCII(name)
  const bare = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii
  if (bare.length > 253 || !/^[!-[\]-~]+$/.test(bare)) return undefined
  const fits = bare.split('.').every((label) => label.length > 0 && label.length <= 63)
  return fits ? bare : undefined
}

function lifeOf({ answer, ttlSeconds }: Reply): number {
  if (answer.is === 'unknown') return UNKNOWN_MS
  if (answer.is === 'none') return lives.none
  if (ttlSeconds === undefined) return lives.found
  return Math.min(Math.max(ttlSeconds * 1_000, lives.least), lives.most)
}

/** Asks at most so many questions at once; the others wait their turn. */
function createQueue(
  channel: NameServers,
  { inFlightMax, waitingMax, answerMsMax }: ResolverLimits,
  onAsk: () => void,
) {
  const waiting: (() => void)[] = []
  let inFlight = 0

  function leave(): void {
    const next = waiting.shift()
    // Who waits takes over the place, so nobody can slip in between.
    if (next) next()
    else inFlight -= 1
  }

  return async (name: string, type: DnsType): Promise<Reply | 'crowded' | 'late'> => {
    if (inFlight >= inFlightMax) {
      if (waiting.length >= waitingMax) return 'crowded'
      const since = performance.now()
      await new Promise<void>((resolve) => waiting.push(resolve))
      if (performance.now() - since >= answerMsMax) {
        leave()
        return 'late'
      }
    } else inFlight += 1
    onAsk()
    try {
      return await channel.ask(name, type)
    } finally {
      leave()
    }
  }
}
