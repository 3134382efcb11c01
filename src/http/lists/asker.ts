import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { addressScope, isRoutable, parseIp } from '../../mail/ip.ts'

/**
 * Where a request comes from: the other end, or who that forwards for when it is a proxy of ours,
 * as its address inside says. IPv6 hosts change their addresses, so their network stands for them.
 */
export function askerOf(req: IncomingMessage): string {
  const peer = parseIp(req.socket.remoteAddress ?? '')
  if (!peer) return 'unknown'
  const scope = addressScope(peer)
  const isProxy = scope === 'loopback' || scope === 'private'
  const forwarded = isProxy ? lastForwarded(req.headers['x-forwarded-for']) : undefined
  const asker = forwarded && isRoutable(forwarded) ? forwarded : peer
  return asker.family === 4 ? asker.text : `${asker.groups.slice(0, 4).join(':')}/64`
}

/** The same as a hash that nobody can turn back without the secret. */
export function askerHash(req: IncomingMessage, secret: string): Buffer {
  return createHmac('sha256', secret)
    .update(`asker ${askerOf(req)}`)
    .digest()
}

/** The last entry is the one that the proxy itself wrote. */
function lastForwarded(header: string | string[] | undefined) {
  const last = String(header ?? '')
    .split(',')
    .at(-1)
  return parseIp(last?.trim() ?? '')
}
