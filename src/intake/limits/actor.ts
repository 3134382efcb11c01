import { createHmac } from 'node:crypto'
import type { KeyKind } from '../../db/rate-limits.ts'
import { parseIp } from '../../mail/ip.ts'

/** Who attempts something, as far as it is known. */
export type Actor = {
  reporterId?: string | undefined
  tokenHash?: Buffer | undefined
  /** The IP address of the client. */
  address?: string | undefined
  /** What somebody signs in as. */
  name?: string | undefined
}

/**
 * What stands for an actor under limits of one kind; undefined when that is not known. IPv6 hosts
 * change their addresses, so a /64 is an address, and a /48 a network; of IPv4 /24.
 */
export function actorKey(kind: KeyKind, actor: Actor): string | undefined {
  const name = actor.name?.trim().toLowerCase()
  switch (kind) {
    case 'reporter':
      return actor.reporterId
    case 'token':
      return actor.tokenHash?.toString('base64')
    case 'address':
      return prefixOf(actor.address, { bits4: 32, groups6: 4 })
    case 'network':
      return prefixOf(actor.address, { bits4: 24, groups6: 3 })
    case 'name':
      return name
    case 'name-and-address': {
      const address = actorKey('address', actor)
      return name === undefined || address === undefined ? undefined : `${address} ${name}`
    }
  }
}

/** A key as it is stored: nobody can turn it back without the secret. */
export function storedKey(secret: string, parts: readonly (string | number)[]): string {
  const hash = createHmac('sha256', secret).update(parts.join('\n')).digest('hex')
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function prefixOf(
  address: string | undefined,
  { bits4, groups6 }: { bits4: 24 | 32; groups6: number },
): string | undefined {
  const ip = parseIp(address ?? '')
  if (!ip) return undefined
  if (ip.family === 4) return bits4 === 32 ? ip.text : ip.text.replace(/\.\d+$/, '.0/24')
  return ip.groups
    .slice(0, groups6)
    .map((group) => group.toString(16))
    .join(':')
}
