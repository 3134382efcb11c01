import { registrableDomainOf } from '../mail/address.ts'
import { isRoutable, parseIp } from '../mail/ip.ts'
import type { Resolve } from '../world.ts'
import { gatewayOfHost } from './gateways.ts'
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

async function hostsOf(domain: string, resolve: Resolve): Promise<string[] | undefined> {
  if (registrableDomainOf(domain) === undefined) return undefined
  const answer = await resolve(domain, 'MX')
  if (answer.is === 'none') return [domain]
  if (answer.is === 'unknown') return undefined
  return answer.records.slice(0, HOSTS_MAX).map((host) => host.toLowerCase().replace(/\.$/, ''))
}

async function addressesOf(name: string, type: 'A' | 'AAAA', resolve: Resolve): Promise<string[]> {
  const answer = await resolve(name, type)
  if (answer.is !== 'found') return []
  return answer.records.slice(0, ADDRESSES_MAX).flatMap((text) => {
    const address = parseIp(text)
    return address && isRoutable(address) ? [address.text] : []
  })
}
