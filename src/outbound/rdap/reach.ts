import { addressScope, type IpAddress, parseIp } from '../../mail/ip.ts'

/** How far the registry client may go: which addresses it may ask about, and which URLs open. */
export type Reach = {
  mayAsk: (address: IpAddress) => boolean
  mayOpen: (url: URL) => boolean
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
  }
}

/** Whether it is an http or https URL of this very machine. */
export function isLoopbackUrl(url: URL): boolean {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false
  const address = parseIp(url.hostname)
  return address ? addressScope(address) === 'loopback' : url.hostname === 'localhost'
}

/** Endings of names that mean something inside of a network only (RFC 6761, RFC 6762, RFC 8375). */
const inwardNames =
  /\.(?:local|localhost|localdomain|internal|intranet|lan|home|corp|test|invalid)$/

/** Names only: a registry is never found at a bare address, a machine inside a network may be. */
function isPublicUrl(url: URL): boolean {
  const host = url.hostname.replace(/\.$/, '')
  return (
    url.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    (url.port === '' || url.port === '443') &&
    parseIp(host) === undefined &&
    host.includes('.') &&
    !host.endsWith('.arpa') &&
    !inwardNames.test(host)
  )
}
