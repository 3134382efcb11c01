import { isPublicName } from '../../mail/domain.ts'
import { addressScope, type IpAddress, parseIp } from '../../mail/ip.ts'

/**
 * How far the registry client may go: which addresses it may ask about, which URLs open, and which
 * addresses connect to, whatever name led there.
 */
export type Reach = {
  mayAsk: (address: IpAddress) => boolean
  mayOpen: (url: URL) => boolean
  mayConnect: (address: IpAddress) => boolean
}

/**
 * The reach that a bootstrap URL gives. One out in the world leads to public addresses and, by
 * https, to public names. One on this machine may lead to this machine as well, and answers for
 * documentation ranges.
 */
export function reachOf(bootstrapUrl: string): Reach {
  const isLocal = isLoopbackUrl(new URL(bootstrapUrl))
  return {
    mayAsk(address) {
      const scope = addressScope(address)
      return scope === 'public' || (isLocal && scope === 'documentation')
    },
    mayOpen: (url) => isPublicUrl(url) || (isLocal && isLoopbackUrl(url)),
    mayConnect(address) {
      const scope = addressScope(address)
      return scope === 'public' || (isLocal && scope === 'loopback')
    },
  }
}

/** Whether it is an http or https URL of this very machine. */
export function isLoopbackUrl(url: URL): boolean {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false
  const address = parseIp(url.hostname)
  return address ? addressScope(address) === 'loopback' : url.hostname === 'localhost'
}

/** Public top level domains below which nothing is reached by the DNS of the world (RFC 7686). */
const inwardNames = /\.(?:arpa|onion)$/

/** Names only: a registry is never found at a bare address, a machine inside a network may be. */
function isPublicUrl(url: URL): boolean {
  return (
    url.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    (url.port === '' || url.port === '443') &&
    isPublicName(url.hostname) &&
    !inwardNames.test(url.hostname)
  )
}
