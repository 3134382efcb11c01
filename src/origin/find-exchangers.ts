import { registrableDomainOf } from '../mail/address.ts'
import { isRoutable, parseIp } from '../mail/ip.ts'
import type { Resolve } from '../world.ts'
import { gatewayOfHost } from './gateways.ts'
import type { Hop } from './hop.ts'
import type { ExchangerHosts } from './origin.ts'
import { providerOfHost } from './providers.ts'

/** Limits of an answer; a domain seldom has more hosts. */
const HOSTS_MAX = 10
const ADDRESSES_MAX = 20

/**
 * Looks up the hosts that receive mail for a domain: those of its MX records, or the domain itself
 * without such records (RFC 5321 §5.1). Addresses of internal networks are left out. Undefined if
 * the answer is unknown, so that a missing answer makes no relay a stranger.
 */
export async function findExchangers(
  domain: string,
  resolve: Resolve,
): Promise<ExchangerHosts | undefined> {
  const names = await hostsOf(domain, resolve)
  if (!names) return undefined
  const own = names.filter((name) => !providerOfHost(name) && !gatewayOfHost(name))
  const answers = await Promise.all(
    own.flatMap((name) => [addressesOf(name, 'A', resolve), addressesOf(name, 'AAAA', resolve)]),
  )
  return { domain, names, addresses: [...new Set(answers.flat())] }
}

const DELIVERING_MAX = 4

/**
 * Adds the addresses of machines that deliver for a gateway in the MX records, if lines name them
 * only as they greeted: Exchange looks up no names. Only the gateway can make a name in its domain
 * resolve to an address.
 */
export async function withDelivering(
  exchangers: ExchangerHosts,
  hops: readonly Hop[],
  resolve: Resolve,
): Promise<ExchangerHosts> {
  const gateways = new Set(exchangers.names.flatMap((name) => gatewayOfHost(name) ?? []))
  const greeted = hops.flatMap(({ helo, rdns }) => {
    const gateway = rdns === undefined ? gatewayOfHost(helo) : undefined
    return helo !== undefined && gateway && gateways.has(gateway) ? [helo] : []
  })
  const names = [...new Set(greeted)].slice(0, DELIVERING_MAX)
  const answers = await Promise.all(
    names.flatMap((name) => [addressesOf(name, 'A', resolve), addressesOf(name, 'AAAA', resolve)]),
  )
  const addresses = [...new Set([...exchangers.addresses, ...answers.flat()])]
  return { ...exchangers, addresses }
}

async function hostsOf(domain: string, resolve: Resolve): Promise<string[] | undefined> {
  if (registrableDomainOf(domain) === undefined) return undefined
  const answer = await resolve(domain, 'MX')
  if (answer.is === 'none') return [domain]
  if (answer.is === 'unknown') return undefined
  // A domain with `.` as its only host receives no mail (RFC 7505).
  const names = answer.records.map((host) => host.toLowerCase().replace(/\.$/, '')).filter(Boolean)
  return names.length === 0 ? undefined : names.slice(0, HOSTS_MAX)
}

async function addressesOf(name: string, type: 'A' | 'AAAA', resolve: Resolve): Promise<string[]> {
  const answer = await resolve(name, type)
  if (answer.is !== 'found') return []
  return answer.records.slice(0, ADDRESSES_MAX).flatMap((text) => {
    const address = parseIp(text)
    return address && isRoutable(address) ? [address.text] : []
  })
}
