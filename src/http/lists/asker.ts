import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { actorKey } from '../../intake/limits/actor.ts'
import { clientAddress, proxiesOf } from '../limits/client-address.ts'

/**
 * Who sends a request: the other end, or who stands before our proxies. IPv6 hosts change their
 * addresses, so their network stands for them.
 */
export function askerOf(
  req: IncomingMessage,
  { trustedProxies }: { trustedProxies: readonly string[] },
): string {
  const address = clientAddress(req, proxiesOf(trustedProxies))
  return actorKey('address', { address }) ?? 'unknown'
}

/** The same as a hash that nobody can turn back without the secret. */
export function askerHash(
  req: IncomingMessage,
  config: { trustedProxies: readonly string[]; secret: string },
): Buffer {
  return createHmac('sha256', config.secret)
    .update(`asker ${askerOf(req, config)}`)
    .digest()
}
