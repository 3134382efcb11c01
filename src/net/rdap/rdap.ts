import { LRUCache } from 'lru-cache'
import { DAY_MS, HOUR_MS } from '../../durations.ts'
import { type IpAddress, networkSet, type NetworkSet, parseIp } from '../../mail/ip.ts'
import type { Clock } from '../../world.ts'
import { publicDomain } from '../../mail/address.ts'
import {
  askDomainRegistry,
  type DomainServices,
  findDomainService,
  readDomainServices,
} from './ask-domain.ts'
import {
  askRegistry,
  findService,
  type Followed,
  followUrl,
  readServices,
  type RegistryPace,
} from './ask-registry.ts'
import type { DomainAnswer } from './domain-answer.ts'
import type { Fetch } from '../guarded-http.ts'
import { type Reach, reachOf, type RequestLimits } from './get-json.ts'
import { type RegistryAnswer, unknownNetwork } from './registry-answer.ts'

/** A cache of recent answers, by the networks they are about. */
type Memory = {
  /** `asn` is the AS that announces the address; null when none is known. */
  find: (address: IpAddress, asn: number | null) => RegistryAnswer | undefined
  add: (address: IpAddress, asn: number | null, answer: RegistryAnswer) => void
}

type Remembered = {
  answer: RegistryAnswer
  asked: string
  asn: number | null
  about: NetworkSet
  until: number
}

const REMEMBERED_MS = 10 * 60_000
const REMEMBERED_MAX = 500

/**
 * Creates a cache of the last 500 answers, for ten minutes. A `later` answer is cached only for its
 * own address, and only until the next attempt is allowed. Any other answer is reused for another
 * address only if both addresses belong to the same AS, or if the AS of the other address is
 * unknown.
 */
function createMemory(clock: Clock): Memory {
  let kept: Remembered[] = []
  return {
    find(address, asn) {
      const now = clock().getTime()
      return kept.find(
        (one) =>
          one.until > now &&
          one.about.has(address) &&
          (one.asked === address.text || asn === null || one.asn === asn),
      )?.answer
    },
    add(address, asn, answer) {
      const now = clock().getTime()
      const isLater = answer.is === 'later'
      const until = isLater
        ? Math.min(answer.retryAt.getTime(), now + REMEMBERED_MS)
        : now + REMEMBERED_MS
      const about = networkSet(isLater ? [address.text] : answer.network.holdsFor)
      const alive = kept.filter((one) => one.until > now)
      kept = [{ answer, asked: address.text, asn, about, until }, ...alive].slice(0, REMEMBERED_MAX)
    },
  }
}

/** Returns a function that runs work with the same key sequentially, in the order of arrival. */
function createLines(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work)
    const settled = mine.catch(() => undefined)
    last.set(key, settled)
    try {
      return await mine
    } finally {
      if (last.get(key) === settled) last.delete(key)
    }
  }
}

type Rate = { perSecond: number; burst: number }
type Server = { tokens: number; countedAt: number; restsUntil: number; failures: number }

const usualRate: Rate = { perSecond: 1, burst: 5 }

/**
 * LACNIC allows ten requests per minute from one address (its notices, and LACNIC at GTER 41,
 * 2016).
 */
const rates: Readonly<Record<string, Rate>> = {
  'https://rdap.lacnic.net': { perSecond: 0.15, burst: 1 },
}

const REST_MS = 30_000
const REST_MS_MAX = HOUR_MS
const SERVERS_MAX = 100

/**
 * Creates a rate limiter: a token bucket for each server, and a pause that doubles with each
 * consecutive failure, from half a minute to an hour. After a pause one request is a trial: if it
 * fails too, the next pause is longer.
 */
export function createPace(clock: Clock, wait: (ms: number) => Promise<void>): RegistryPace {
  const servers = new LRUCache<string, Server>({ max: SERVERS_MAX })
  const serverOf = (origin: string): Server => {
    const known = servers.get(origin)
    if (known) return known
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
        return { ok: false, retryAt, why: 'too many queries are waiting for it' }
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

/**
 * Takes a token, if necessary a future one, and returns the time in milliseconds until it is valid;
 * undefined when that is more than `msMax`.
 */
function reserve(server: Server, rate: Rate, now: number, msMax: number): number | undefined {
  const earned = ((now - server.countedAt) / 1_000) * rate.perSecond
  server.tokens = Math.min(rate.burst, server.tokens + Math.max(0, earned))
  server.countedAt = now
  const waitMs = Math.max(0, ((1 - server.tokens) / rate.perSecond) * 1_000)
  if (waitMs > msMax) return undefined
  server.tokens--
  return waitMs
}

/** Queries the Internet registries for the contact of an address (RFC 9082, RFC 9083). */
export type Rdap = {
  /** Whether an address can be queried: registries know public ones only. */
  mayAsk: (ip: string) => boolean
  /**
   * Answers within half a minute. Never throws for failures of registries. `asn` is the AS that
   * announces the address, if known: cached answers about networks of another AS are not used for
   * it.
   */
  ask: (ip: string, asn?: number | null) => Promise<RegistryAnswer>
  /**
   * Queries the registry of a registrable domain, in lower case and ASCII, for its registrar.
   * Answers and fails like `ask`.
   */
  askDomain: (domain: string) => Promise<DomainAnswer>
}

/** External dependencies of the client. */
export type RdapWorld = {
  clock: Clock
  fetch: Fetch
  wait: (ms: number) => Promise<void>
}

const usualLimits: RequestLimits = { timeoutMs: 10_000, bodyBytesMax: 512 * 1024 }

/** Maximum time in milliseconds that a query waits for its slot. */
const PATIENCE_MS = 20_000
const SERVICES_MS = DAY_MS
const UNREADABLE_MS = HOUR_MS

type Tools = { reach: Reach; follow: (url: URL, deadline: Date) => Promise<Followed>; clock: Clock }

/**
 * Creates a client that finds the registries through IANA's bootstrap files below `bootstrapUrl`
 * (RFC 9224). It respects the rate of each server and sends one query at a time to a server: a
 * waiting query first checks whether the previous answer covers its address.
 */
export function createRdap(
  bootstrapUrl: string,
  world: RdapWorld,
  limits: RequestLimits = usualLimits,
): Rdap {
  const { clock } = world
  const reach = reachOf(bootstrapUrl)
  const pace = createPace(clock, world.wait)
  const follow = (url: URL, deadline: Date) =>
    followUrl(url, deadline, { ...world, limits, pace, mayOpen: reach.mayOpen })
  const tools = { reach, follow, clock }
  const readBlocks = (json: unknown) => {
    const services = readServices(json, reach.mayOpen)
    return services && services.length > 0 ? services : undefined
  }
  const readDomains = (json: unknown) => {
    const services = readDomainServices(json, reach.mayOpen)
    return services && services.size > 0 ? services : undefined
  }
  const services = {
    4: keptServices('ipv4', readBlocks, bootstrapUrl, tools),
    6: keptServices('ipv6', readBlocks, bootstrapUrl, tools),
    dns: keptServices('dns', readDomains, bootstrapUrl, tools),
  }
  const memory = createMemory(clock)
  const inLine = createLines()
  return {
    mayAsk(ip) {
      const address = parseIp(ip)
      return address !== undefined && reach.mayAsk(address)
    },
    async ask(ip, asn = null) {
      const address = parseIp(ip)
      if (!address || !reach.mayAsk(address)) {
        return unknownNetwork(ip, null, 'This address is not looked up in registries.')
      }
      const deadline = new Date(clock().getTime() + PATIENCE_MS)
      const known = await services[address.family](deadline)
      if ('is' in known) return known
      const base = findService(known, address)
      if (!base) return unknownNetwork(ip, null, 'No registry is responsible for the address.')
      return inLine(base.origin, async () => {
        const remembered = memory.find(address, asn)
        if (remembered) return remembered
        const answer = await askRegistry(address, base, deadline, tools)
        memory.add(address, asn, answer)
        return answer
      })
    },
    askDomain: createDomainQueries(services.dns, inLine, tools),
  }
}

/** Creates the queries about domains, with a cache of the last 500 answers, for ten minutes. */
function createDomainQueries(
  services: (deadline: Date) => Promise<DomainServices | Later>,
  inLine: ReturnType<typeof createLines>,
  tools: Tools,
): Rdap['askDomain'] {
  const cache = new LRUCache<string, { answer: DomainAnswer; until: number }>({
    max: REMEMBERED_MAX,
  })
  const now = () => tools.clock().getTime()
  return async (domain) => {
    if (publicDomain(domain) !== domain) {
      return { is: 'silent', why: 'This is not a domain that can be registered.' }
    }
    const deadline = new Date(now() + PATIENCE_MS)
    const known = await services(deadline)
    if ('is' in known) return known
    const base = findDomainService(known, domain)
    if (!base) {
      return { is: 'silent', why: 'The registry of the top-level domain does not use RDAP.' }
    }
    return inLine(base.origin, async () => {
      const remembered = cache.get(domain)
      if (remembered && remembered.until > now()) return remembered.answer
      const answer = await askDomainRegistry(domain, base, deadline, tools)
      const soon = now() + REMEMBERED_MS
      const until = answer.is === 'later' ? Math.min(answer.retryAt.getTime(), soon) : soon
      cache.set(domain, { answer, until })
      return answer
    })
  }
}

type Later = { is: 'later'; retryAt: Date; why: string }

/**
 * Returns the services of a bootstrap file, fetched once a day; the old ones stay in use when
 * fetching fails. `read` returns undefined for a file without services, which is treated as an
 * error: it would name no registry for anything.
 */
function keptServices<Services extends object>(
  file: string,
  read: (json: unknown) => Services | undefined,
  bootstrapUrl: string,
  { follow, clock }: Tools,
): (deadline: Date) => Promise<Services | Later> {
  const url = new URL(`${bootstrapUrl.replace(/\/+$/, '')}/${file}.json`)
  let kept: { services: Services; until: number } | undefined
  let fetching: Promise<Services | Later> | undefined
  async function fetchServices(deadline: Date) {
    const answer = await follow(url, deadline)
    const now = clock().getTime()
    const services = answer.is === 'json' ? read(answer.json) : undefined
    if (services) kept = { services, until: now + SERVICES_MS }
    if (kept) return kept.services
    const why = 'The list of registries cannot be read.'
    const retryAt = answer.is === 'later' ? answer.retryAt : new Date(now + UNREADABLE_MS)
    return { is: 'later' as const, why, retryAt }
  }
  return async (deadline) => {
    if (kept && kept.until > clock().getTime()) return kept.services
    fetching ??= fetchServices(deadline).finally(() => (fetching = undefined))
    return fetching
  }
}
