import { promises as dns } from 'node:dns'
import { setTimeout as wait } from 'node:timers/promises'
import { domainToASCII } from 'node:url'
import { reasonOf } from '../errors.ts'
import type { Clock, DnsAnswer, DnsType, Resolve } from '../world.ts'

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

/** Knows whether anybody answers at all, so that a dead service costs only the first questions. */
type CircuitBreaker = {
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

/** Answers of the DNS, kept for a time; what was not asked for longest goes first. */
type AnswerCache = {
  get: (question: string) => DnsAnswer | undefined
  put: (question: string, answer: DnsAnswer, lifeMs: number) => void
}

type Kept = { answer: DnsAnswer; until: number; bytes: number }

/** What an entry costs besides its text, roughly as V8 lays it out. */
const ENTRY_BYTES = 200

/** A cache that holds at most so many answers, and about so many bytes. */
function createAnswerCache(
  clock: Clock,
  limits: { entriesMax: number; bytesMax: number },
): AnswerCache {
  const kept = new Map<string, Kept>()
  let held = 0

  function drop(question: string): void {
    held -= kept.get(question)?.bytes ?? 0
    kept.delete(question)
  }

  return {
    get(question) {
      const found = kept.get(question)
      if (!found) return undefined
      kept.delete(question)
      if (found.until > clock().getTime()) {
        // A Map keeps the order of insertion: the most recent stands last.
        kept.set(question, found)
        return found.answer
      }
      held -= found.bytes
      return undefined
    },
    put(question, answer, lifeMs) {
      drop(question)
      const bytes = ENTRY_BYTES + question.length + bytesOf(answer)
      if (bytes > limits.bytesMax) return
      kept.set(question, { answer, until: clock().getTime() + lifeMs, bytes })
      held += bytes
      for (const oldest of kept.keys()) {
        if (kept.size <= limits.entriesMax && held <= limits.bytesMax) break
        drop(oldest)
      }
    },
  }
}

function bytesOf(answer: DnsAnswer): number {
  if (answer.is === 'unknown') return answer.why.length
  if (answer.is === 'none') return 0
  return answer.records.reduce((sum, record) => sum + ENTRY_BYTES / 4 + record.length, 0)
}

/** What came of one question: `isSilent` when no server said anything at all. */
type Reply = { answer: DnsAnswer; ttlSeconds: number | undefined; isSilent: boolean }

/** The servers that are asked, each question anew. */
type NameServers = {
  /** Never rejects. */
  ask: (name: string, type: DnsType) => Promise<Reply>
  /** Whether a server answers, whatever it says. */
  probe: () => Promise<boolean>
  /** Ends all that is being asked. */
  cancel: () => void
}

type Found = { records: string[]; ttlSeconds: number | undefined }

const TRIES = 3

/** A DNS message has 64 KB at most, so an answer is bounded in characters too. */
const RECORDS_MAX = 64

/** Nobody can be asked by such a name, so it has no records. */
const noSuchName = ['ENOTFOUND', 'ENODATA', 'EBADNAME']
const silence = ['ETIMEOUT', 'ECONNREFUSED']

const reasons: Readonly<Record<string, string>> = {
  ESERVFAIL: 'The name server failed (SERVFAIL).',
  EREFUSED: 'The name server refused the question.',
  ETIMEOUT: 'No name server answered in time.',
  ECONNREFUSED: 'No name server could be reached.',
  ECANCELLED: 'The question was given up.',
}

/**
 * Opens a channel to these servers, `ip` or `ip:port`; to those of the machine when undefined. A
 * server has `tryMs` milliseconds to answer.
 */
function openNameServers(servers: readonly string[] | undefined, tryMs: number): NameServers {
  const count = servers?.length ?? dns.getServers().length
  // Every try asks every server, so that all of it takes about tryMs * TRIES.
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
        const why = reasons[code] ?? `The question failed (${code}).`
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
      // The root as a host says that no mail is taken (RFC 7505).
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

/** Asks the DNS for a whole process. */
export type Resolver = {
  resolve: Resolve
  stats: () => ResolverStats
  /** Gives up what is being asked: it is answered `unknown`, and so is what comes later. */
  close: () => void
}

/** Since the process began. */
type ResolverStats = {
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
