import { LRUCache } from 'lru-cache'
import type { App } from '../app.ts'
import { listExchangers, noteExchangers } from '../db/mail-exchangers.ts'
import { inTransaction } from '../db/pool.ts'
import { type Packed, unpack } from '../db/rows.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { reasonOf } from '../errors.ts'
import { domainOf } from '../mail/address.ts'
import { parseHeader } from '../mail/header.ts'
import { parseIp } from '../mail/ip.ts'
import { findExchangers, withDelivering } from '../origin/find-exchangers.ts'
import { gatewayOfHost } from '../origin/gateways.ts'
import { readHops } from '../origin/hop.ts'
import type { ExchangerHosts } from '../origin/origin.ts'
import { inTime, type Resolve } from '../world.ts'
import { decideDomainAgain } from './reopen-reports.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'> & { resolve: Resolve }

/**
 * Returns the hosts that receive mail for the domain of an address, and those that delivered this
 * message for them; undefined when unknown.
 */
export type KnownExchangers = (address: string, raw: Packed) => Promise<ExchangerHosts | undefined>

const DOMAINS_MAX = 10_000
/** How long an answer is used, in milliseconds. */
const FRESH_MS = 10 * MINUTE_MS
/** How long nothing is asked again after a missing answer, in milliseconds. */
const UNKNOWN_MS = MINUTE_MS
const WAIT_MS_MAX = 3_000
const HEADER_BYTES_MAX = 256 * 1024
/** Time that a reported message may have taken to arrive, in milliseconds. */
const MARGIN_MS = 5 * DAY_MS

/**
 * Creates a memory of the hosts that receive mail for domains of reporters. The hosts that the MX
 * records named within the age that a reported message may have are included, because the message
 * may be older than a change of the records. If they name a new host, the reports of all
 * reporters of the domain are decided again. Without an answer of the DNS, these are used alone.
 * Never rejects, and answers in bounded time.
 */
export function createKnownExchangers(app: Needs): KnownExchangers {
  const known = new LRUCache<string, Promise<Known>>({
    max: DOMAINS_MAX,
    perf: { now: () => app.clock().getTime() },
  })
  return async (address, raw) => {
    const domain = domainOf(address)
    if (domain === undefined) return undefined
    const finding = known.get(domain) ?? findKnown(domain, app)
    if (!known.has(domain)) {
      known.set(domain, finding, { ttl: FRESH_MS })
      const { isAnswered } = await finding
      if (!isAnswered) known.set(domain, finding, { ttl: UNKNOWN_MS })
    }
    const { hosts } = await finding
    if (!hosts?.names.some((name) => gatewayOfHost(name))) return hosts
    const hops = readHops(parseHeader((await unpack(raw)).subarray(0, HEADER_BYTES_MAX)).fields)
    const delivering = withDelivering(hosts, hops, app.resolve).catch(() => hosts)
    return inTime(delivering, WAIT_MS_MAX, hosts)
  }
}

/** `isAnswered`: whether the DNS answered; otherwise these are the hosts of earlier records. */
type Known = { hosts: ExchangerHosts | undefined; isAnswered: boolean }

async function findKnown(domain: string, app: Needs): Promise<Known> {
  const asked = findExchangers(domain, app.resolve).catch(() => undefined)
  const found = await inTime(asked, WAIT_MS_MAX, undefined)
  const hosts = found ? [...new Set([...found.names, ...found.addresses])] : []
  const isAnswered = found !== undefined
  try {
    const earlier = await listExchangers(app.pool, domain, oldestNamed(app))
    const named = hosts.map((host) => ({ domain, host }))
    await inTransaction(app.pool, async (tx) => {
      await noteExchangers(tx, named, app.clock())
      if (hosts.some((host) => !earlier.includes(host)))
        await decideDomainAgain(tx, app.boss, domain)
    })
    return { hosts: fromHosts(domain, [...hosts, ...earlier]), isAnswered }
  } catch (error) {
    app.log.warn({ reason: reasonOf(error) }, 'The earlier MX records are not known.')
    return { hosts: found, isAnswered }
  }
}

/** The oldest day on which records must have named a host for it to be used. */
export function oldestNamed({ clock, config }: Pick<App, 'clock' | 'config'>): Date {
  return new Date(clock().getTime() - config.messageAgeMax * HOUR_MS - MARGIN_MS)
}

function fromHosts(domain: string, hosts: readonly string[]): ExchangerHosts | undefined {
  const all = [...new Set(hosts)]
  if (all.length === 0) return undefined
  const isAddress = (host: string) => parseIp(host) !== undefined
  return { domain, names: all.filter((host) => !isAddress(host)), addresses: all.filter(isAddress) }
}
