import { domainOf } from '../mail/address.ts'
import { registrableDomain } from '../mail/domain.ts'
import { authorAddress } from '../mail/extract-fields.ts'
import { fieldValue } from '../mail/header.ts'
import type { HeaderField } from '../mail/header.ts'
import { isRoutable } from '../mail/ip.ts'
import type { Hop } from './hops.ts'
import type { Walk } from './injection-point.ts'
import { isBorder, isWrittenBy, senderProfile } from './providers.ts'
import type { ProviderProfile } from './providers.ts'

const filterCertainty = 0.85

/**
 * Follows a message through a hosted filter. An organization may let a large provider take its
 * mail and hand it on to its own machines; then the stranger is the one that provider saw. Done
 * only where it proves itself: the receiver is no large provider, the address is one the filter
 * sends from, its lines below are whole down to its border, and it names as its customer neither
 * the author's domain nor that of the return path. Otherwise the walk stays as it is.
 */
export function followFilter(
  walk: Walk,
  hops: readonly Hop[],
  fields: readonly HeaderField[],
): Walk {
  const { entry, provider } = walk
  const filter = entry?.fromIp && !provider ? senderProfile(entry.fromIp) : undefined
  if (!entry || !filter || !handsOnForReceiver(filter, fields)) return walk
  const border = borderBelow(entry, filter, hops)
  if (!border) return walk
  const crossed = border.index - entry.index
  const because = `${filter.name} took the message for the receiving organization and handed it on.`
  return {
    ...walk,
    passed: [...walk.passed, ...Array<string>(crossed).fill(because)],
    certainty: Math.min(walk.certainty, filterCertainty),
    entry: border,
  }
}

function handsOnForReceiver(filter: ProviderProfile, fields: readonly HeaderField[]): boolean {
  if (filter.tenantField === undefined) return false
  const tenant = houseOf(fieldValue(fields, filter.tenantField))
  if (tenant === undefined) return false
  const authors = ['from', 'sender', 'return-path'].map((key) => {
    const address = authorAddress(fieldValue(fields, key) ?? '')
    return houseOf(address === null ? undefined : domainOf(address))
  })
  return authors.some((house) => house !== undefined) && !authors.includes(tenant)
}

/** The line, below an unbroken run of the filter's own, where it saw a stranger. */
function borderBelow(entry: Hop, filter: ProviderProfile, hops: readonly Hop[]): Hop | undefined {
  for (const hop of hops.slice(entry.index + 1)) {
    if (!isWrittenBy(filter, hop) || !hop.fromIp) return undefined
    if (filter.relays.has(hop.fromIp) || !isRoutable(hop.fromIp)) continue
    return isBorder(filter, hop) ? hop : undefined
  }
  return undefined
}

function houseOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : registrableDomain(host.trim().toLowerCase())
}
