import { blockOfAddress, containsBlock } from '../mail/ip-blocks.ts'
import type { Network } from '../origin/networks.ts'

/** The networks to which a site forwards reports: `FORWARD_SCOPE`. */
export type SiteScope = {
  /** ISO 3166-1 alpha-2, in upper case. */
  countries: readonly string[]
  asns: readonly number[]
  /** CIDR blocks. */
  blocks: readonly string[]
}

/**
 * Whether an origin belongs to the networks to which a site forwards. `unknown`: only its country
 * could decide, and it is not known. Then nothing is forwarded either.
 */
export function placeInScope(
  ip: string,
  network: Pick<Network, 'asn' | 'country'> | undefined,
  { countries, asns, blocks }: SiteScope,
): 'inside' | 'outside' | 'unknown' {
  const address = blockOfAddress(ip)
  if (address !== undefined && blocks.some((block) => containsBlock(block, address)))
    return 'inside'
  const { asn = null, country = null } = network ?? {}
  if (asn !== null && asns.includes(asn)) return 'inside'
  if (country !== null) return countries.includes(country.toUpperCase()) ? 'inside' : 'outside'
  return countries.length > 0 || (asns.length > 0 && asn === null) ? 'unknown' : 'outside'
}
