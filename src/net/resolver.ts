import { promises as dns } from 'node:dns'
import { domainToASCII } from 'node:url'
import { LRUCache } from 'lru-cache'
import { reasonOf } from '../errors.ts'
import { type Clock, type DnsAnswer, type DnsType, inTime, type Resolve } from '../world.ts'

/** Detects whether the service answers at all, so that an outage delays only the first queries. */
type CircuitBreaker = {
  /**
   * Whether the service must not be queried now. Starts a probe in the background when one is due.
   */
  isOpen: () => boolean
  /** Call this function before each query; returns a mark for `unanswered`. */
  mark: () => number
  answered: () => void
  /** Call this function when the query with that mark was not answered. */
  unanswered: (mark: number) => void
}

/**
 * Creates a circuit breaker. It opens when a query stays unanswered, no other query was answered
 * meanwhile, and a probe is not answered either: a single query may stay unanswered because the
 * name servers of its domain are down. After `awayMs` another probe decides.
 */
function createCircuitBreaker(options: {
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

/** Approximate overhead of a cached answer in bytes, besides its text, in V8. */
const ENTRY_BYTES = 200

function createAnswerCache(clock: Clock, { entriesMax, bytesMax }: ResolverLimits) {
  return new LRUCache<string, DnsAnswer>({
    max: entriesMax,
    maxSize: bytesMax,
    sizeCalculation: (answer, question) => ENTRY_BYTES + question.length + bytesOf(answer),
    perf: { now: () => clock().getTime() },
    ttlResolution: 0,
  })
}

function bytesOf(answer: DnsAnswer): number {
  if (answer.is === 'unknown') return answer.why.length
  if (answer.is === 'none') return 0
  return answer.records.reduce((sum, record) => sum + ENTRY_BYTES / 4 + record.length, 0)
}

/** The result of one query; `isSilent`: no server answered at all. */
type Reply = { answer: DnsAnswer; ttlSeconds: number | undefined; isSilent: boolean }

/** The name servers, queried without a cache. */
type NameServers = {
  /** Never rejects. */
  ask: (name: string, type: DnsType) => Promise<Reply>
  /** Whether a server answers, whatever the answer is. */
  probe: () => Promise<boolean>
  /** Cancels all queries in progress. */
  cancel: () => void
}

type Found = { records: string[]; ttlSeconds: number | undefined }

const TRIES = 3

/**
 * Maximum number of records used. A DNS message has at most 64 KB, which bounds the characters too.
 */
const RECORDS_MAX = 64

/** EBADNAME: the name cannot be queried, so it has no records. */
const noSuchName = ['ENOTFOUND', 'ENODATA', 'EBADNAME']
const silence = ['ETIMEOUT', 'ECONNREFUSED']

const reasons: Readonly<Record<string, string>> = {
  ESERVFAIL: 'The name server failed (SERVFAIL).',
  EREFUSED: 'The name server refused the query.',
  ETIMEOUT: 'No name server answered in time.',
  ECONNREFUSED: 'No name server could be reached.',
  ECANCELLED: 'The query was canceled.',
}

/**
 * Opens a channel to the given servers (`ip` or `ip:port`), or to those of the system when
 * `servers` is undefined. Each server has `tryMs` milliseconds to answer.
 */
function openNameServers(servers: readonly string[] | undefined, tryMs: number): NameServers {
  const count = servers?.length ?? dns.getServers().length
  // Each try queries every server; the number of tries is chosen so that all of them together take
  // about tryMs * TRIES.
  const tries = Math.max(1, Math.floor(TRIES / Math.max(1, count)))
  const channel = new dns.Resolver({ timeout: tryMs, maxTimeout: tryMs, tries })
  if (servers) channel.setServers([...servers])
  return {
    async ask(name, type) {
      try {
        const { records, ttlSeconds } = await lookUp(channel, name, type)
        const few = records.slice(0, RECORDS_MAX)
        const answer: DnsAnswer = few.length > 0 ? { is: 'found', records: few } : { is: 'none' }
        return { answer, ttlSeconds, isSilent: false }
      } catch (error) {
        const code = codeOf(error)
        if (noSuchName.includes(code)) {
          return { answer: { is: 'none' }, ttlSeconds: undefined, isSilent: false }
        }
        const why = reasons[code] ?? `The query failed (${code}).`
        const isSilent = silence.includes(code)
        return { answer: { is: 'unknown', why }, ttlSeconds: undefined, isSilent }
      }
    },
    async probe() {
      try {
        await channel.resolveNs('.')
        return true
      } catch (error) {
        return !silence.includes(codeOf(error))
      }
    },
    cancel: () => channel.cancel(),
  }
}

async function lookUp(channel: dns.Resolver, name: string, type: DnsType): Promise<Found> {
  switch (type) {
    case 'A':
    case 'AAAA': {
      const found = await (type === 'A'
        ? channel.resolve4(name, { ttl: true })
        : channel.resolve6(name, { ttl: true }))
      return {
        records: found.map(({ address }) => address),
        ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
      }
    }
    case 'MX': {
      const found = await channel.resolveMx(name)
      const sorted = found.toSorted((one, other) => one.priority - other.priority)
      // The root as a host means that the domain does not accept mail (RFC 7505).
      return withoutTtl(sorted.map(({ exchange }) => exchange).filter((host) => host !== ''))
    }
    case 'PTR':
      return withoutTtl(await channel.resolvePtr(name))
    case 'TXT':
      return withoutTtl((await channel.resolveTxt(name)).map((strings) => strings.join('')))
  }
}

function withoutTtl(records: string[]): Found {
  return { records, ttlSeconds: undefined }
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return reasonOf(error)
}

/** The DNS resolver of a process. */
export type Resolver = {
  resolve: Resolve
  stats: () => ResolverStats
  /** Cancels the queries in progress: these and all later ones are answered `unknown`. */
  close: () => void
}

/** Statistics since the process started. */
type ResolverStats = {
  /** Queries that the resolver received, and those that it sent to a server. */
  questions: number
  asked: number
  unknown: number
  /** Whether no server answers at present. */
  isAway: boolean
}

const usual = {
  /** Time for one query, including the wait. */
  answerMsMax: 2_000,
  /** Time for one try at one server. */
  tryMs: 600,
  /** Concurrent queries to the servers, and queries that wait. */
  inFlightMax: 200,
  waitingMax: 2_000,
  entriesMax: 20_000,
  bytesMax: 8_000_000,
}

export type ResolverLimits = typeof usual

const minute = 60_000
/**
 * Lifetimes in milliseconds. When the time to live is unknown (all types but A and AAAA), `found`
 * is cached for 15 minutes.
 */
const lives = { least: minute, most: 30 * minute, found: 15 * minute, none: 5 * minute }
const UNKNOWN_MS = 30_000
const AWAY_MS = 30_000

const switchedOff: DnsAnswer = {
  is: 'unknown',
  why: 'DNS look-ups are switched off (DNS_SERVERS=none).',
}
const noServer: DnsAnswer = { is: 'unknown', why: 'No name server is answering at the moment.' }
const timedOut: DnsAnswer = { is: 'unknown', why: 'The answer took too long.' }
const overloaded: DnsAnswer = {
  is: 'unknown',
  why: 'There are too many DNS queries at the moment.',
}

/**
 * Creates a resolver that uses the given servers (`ip` or `ip:port`), those of the system, or none.
 * It never rejects and answers within two seconds. It caches answers for their time to live, and
 * merges concurrent queries for the same name. An outage of the DNS delays queries only during its
 * first four seconds.
 */
export function createResolver(options: {
  servers: 'system' | 'none' | readonly string[]
  clock: Clock
  limits?: Partial<ResolverLimits>
}): Resolver {
  const { servers, clock } = options
  if (servers === 'none') return resolverWithoutServers()
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
    if (reply === 'crowded') return overloaded
    if (reply === 'late') return timedOut
    if (reply.isSilent) breaker.unanswered(mark)
    else breaker.answered()
    cache.set(question, reply.answer, { ttl: lifeOf(reply) })
    return reply.answer
  }

  async function answer(name: string, type: DnsType): Promise<DnsAnswer> {
    const canonical = canonicalName(name)
    if (canonical === undefined) return { is: 'none' }
    const question = `${type} ${canonical}`
    const known = cache.get(question)
    if (known) return known
    if (isClosed || breaker.isOpen()) return noServer
    const asking = underway.getOrInsertComputed(question, () =>
      ask(question, canonical, type).finally(() => underway.delete(question)),
    )
    return inTime(asking, limits.answerMsMax, timedOut)
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

function resolverWithoutServers(): Resolver {
  return {
    resolve: () => Promise.resolve(switchedOff),
    stats: () => ({ questions: 0, asked: 0, unknown: 0, isAway: false }),
    close: () => undefined,
  }
}

/**
 * Returns the name as queried: ASCII (RFC 5891), lower case, no final dot. Undefined when no such
 * name can exist: it exceeds the limits of RFC 1035 §2.3.4, or contains spaces, control characters
 * or backslashes, which are escaped in DNS text.
 */
export function canonicalName(name: string): string | undefined {
  // Otherwise the conversion to ASCII would drop line breaks.
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

/** Creates a queue that runs at most `inFlightMax` queries at once; the others wait. */
function createQueue(
  channel: NameServers,
  { inFlightMax, waitingMax, answerMsMax }: ResolverLimits,
  onAsk: () => void,
) {
  const waiting: (() => void)[] = []
  let inFlight = 0

  function leave(): void {
    const next = waiting.shift()
    // The waiting query takes over the place, so no other can take it in between.
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
