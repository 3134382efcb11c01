import { createHmac } from 'node:crypto'
import type { KeyKind } from '../../db/rate-limits.ts'
import { parseIp } from '../../mail/ip.ts'

/** Who attempts something, as far as it is known. */
export type Actor = {
  reporterId?: string | undefined
  tokenHash?: Buffer | undefined
  /** A browser that somebody signed in with before. */
  device?: string | undefined
  /** The IP address of the client. */
  address?: string | undefined
  /** What somebody signs in as. */
  name?: string | undefined
}

/**
 * What stands for an actor under limits of one kind; undefined when that is not known. IPv6 hosts
 * change their addresses, so a /64 is an address, a /48 a network and a /32 a wide network; of IPv4
 * /24 and /16.
 */
export function actorKey(kind: KeyKind, actor: Actor): string | undefined {
  const name = actor.name?.trim().toLowerCase()
  switch (kind) {
    case 'reporter':
      return actor.reporterId
    case 'token':
      return actor.tokenHash?.toString('base64')
    case 'device':
      return actor.device
    case 'address':
      return prefixOf(actor.address, { parts4: 4, groups6: 4 })
    case 'network':
      return prefixOf(actor.address, { parts4: 3, groups6: 3 })
    case 'wide-network':
      return prefixOf(actor.address, { parts4: 2, groups6: 2 })
    case 'name':
      return name
    case 'name-and-address':
      return both(actorKey('address', actor), name)
    case 'name-and-network':
      return both(actorKey('network', actor), name)
    case 'all':
      return 'all'
  }
}

/** A key as it is stored: nobody can turn it back without the secret. */
export function storedKey(secret: string, parts: readonly (string | number)[]): string {
  const hash = createHmac('sha256', secret).update(parts.join('\n')).digest('hex')
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function both(place: string | undefined, name: string | undefined): string | undefined {
  return place === undefined || name === undefined ? undefined : `${place} ${name}`
}

function prefixOf(
  address: string | undefined,
  { parts4, groups6 }: { parts4: number; groups6: number },
): string | undefined {
  const ip = parseIp(address ?? '')
  if (!ip) return undefined
  if (ip.family === 4) return ip.text.split('.').slice(0, parts4).join('.')
  return ip.groups
    .slice(0, groups6)
    .map((group) => group.toString(16))
    .join(':')
}
