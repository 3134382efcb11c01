import { parseIp } from '../mail/ip.ts'
import type { Clock } from '../world.ts'
import { askRegistry } from './rdap/ask-registry.ts'
import { findService, readServices, type Services } from './rdap/bootstrap.ts'
import { followUrl, type Followed } from './rdap/follow-url.ts'
import type { RequestLimits } from './rdap/get-json.ts'
import { createLines, createMemory } from './rdap/memory.ts'
import { createPace } from './rdap/pace.ts'
import { type Reach, reachOf } from './rdap/reach.ts'
import { type RegistryAnswer, unknownNetwork } from './rdap/registry-answer.ts'

/** Asks the Internet registries who answers for an address (RFC 9082, RFC 9083). */
export type Rdap = {
  /** Whether an address is one to ask about: registries know public ones only. */
  mayAsk: (ip: string) => boolean
  /** Never throws for what registries do. Answers within half a minute. */
  ask: (ip: string) => Promise<RegistryAnswer>
}

/** What the client needs of the world. */
export type RdapWorld = {
  clock: Clock
  fetch: typeof fetch
  wait: (ms: number) => Promise<void>
}

const usualLimits: RequestLimits = { timeoutMs: 10_000, bodyBytesMax: 512 * 1024 }

/** How long a question waits for its turn, at most. */
const PATIENCE_MS = 20_000
const SERVICES_MS = 24 * 3_600_000
const UNREADABLE_MS = 3_600_000

type Tools = { reach: Reach; follow: (url: URL, deadline: Date) => Promise<Followed>; clock: Clock }

/**
 * A client that finds the registries through IANA's bootstrap files below `bootstrapUrl` (RFC
 * 9224). It keeps to each server's pace, and asks a server one question at a time: who waits looks
 * first whether the answer before holds for him too.
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
  const services = {
    4: keptServices('ipv4', bootstrapUrl, tools),
    6: keptServices('ipv6', bootstrapUrl, tools),
  }
  const memory = createMemory(clock)
  const inLine = createLines()
  return {
    mayAsk(ip) {
      const address = parseIp(ip)
      return address !== undefined && reach.mayAsk(address)
    },
    async ask(ip) {
      const address = parseIp(ip)
      if (!address || !reach.mayAsk(address)) {
        return unknownNetwork(ip, null, 'No registry is asked about this address.')
      }
      const deadline = new Date(clock().getTime() + PATIENCE_MS)
      const known = await services[address.family](deadline)
      if ('is' in known) return known
      const base = findService(known, address)
      if (!base) return unknownNetwork(ip, null, 'No registry is in charge of the address.')
      return inLine(base.origin, async () => {
        const remembered = memory.find(address)
        if (remembered) return remembered
        const answer = await askRegistry(address, base, deadline, tools)
        memory.add(address, answer)
        return answer
      })
    },
  }
}

/** The services of a family, fetched once a day; old ones serve on when no new ones come. */
function keptServices(
  file: string,
  bootstrapUrl: string,
  { reach, follow, clock }: Tools,
): (deadline: Date) => Promise<Services | (RegistryAnswer & { is: 'later' })> {
  const url = new URL(`${bootstrapUrl.replace(/\/+$/, '')}/${file}.json`)
  let kept: { services: Services; until: number } | undefined
  let fetching: ReturnType<typeof fetchServices> | undefined
  async function fetchServices(deadline: Date) {
    const answer = await follow(url, deadline)
    const now = clock().getTime()
    const services = answer.is === 'json' ? readServices(answer.json, reach.mayOpen) : undefined
    // An empty list is a broken one: by it nobody would be in charge of anything.
    if (services && services.length > 0) kept = { services, until: now + SERVICES_MS }
    if (kept) return kept.services
    const why = 'The list of the registries cannot be read.'
    const retryAt = answer.is === 'later' ? answer.retryAt : new Date(now + UNREADABLE_MS)
    return { is: 'later' as const, why, retryAt }
  }
  return async (deadline) => {
    if (kept && kept.until > clock().getTime()) return kept.services
    fetching ??= fetchServices(deadline).finally(() => (fetching = undefined))
    return fetching
  }
}
