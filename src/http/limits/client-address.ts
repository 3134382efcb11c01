import type { IncomingMessage } from 'node:http'
import { networkSet, type NetworkSet, parseIp, parseIpAndPort } from '../../mail/ip.ts'

/**
 * The address of the client: the other end of the connection, or, where that is a proxy of ours,
 * the last address in X-Forwarded-For or Forwarded (RFC 7239) that is none. What stands before it
 * was written by strangers. Undefined for a connection without an address.
 */
export function clientAddress(req: IncomingMessage, proxies: NetworkSet): string | undefined {
  let client = parseIp(req.socket.remoteAddress ?? '')
  if (!client || !proxies.has(client)) return client?.text
  for (const text of forwardedFor(req).reverse()) {
    const before = parseIpAndPort(text)
    // A hidden or misspelled name: who stands behind it cannot be told.
    if (!before) break
    client = before
    if (!proxies.has(client)) break
  }
  return client.text
}

const known = new WeakMap<readonly string[], NetworkSet>()

/** The proxies of the settings as a set; read once for each list. */
export function proxiesOf(cidrs: readonly string[]): NetworkSet {
  const set = known.get(cidrs) ?? networkSet(cidrs)
  known.set(cidrs, set)
  return set
}

/** The nearest proxy's entry last. */
function forwardedFor(req: IncomingMessage): string[] {
  const old = listOf(req.headers['x-forwarded-for'])
  if (old.length > 0) return old
  return listOf(req.headers.forwarded).map((element) => {
    const [, quoted, bare] = /(?:^|;)\s*for=(?:"([^"]*)"|([^;\s]*))/i.exec(element) ?? []
    return quoted ?? bare ?? ''
  })
}

function listOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '')
  return text === '' ? [] : text.split(',').map((entry) => entry.trim())
}
