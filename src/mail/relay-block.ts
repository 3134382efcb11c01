import { addressScope, type IpAddress, networkSet, parseIp } from './ip.ts'
import { parseBlock } from './ip-blocks.ts'

/** Why a block cannot be somebody's relays. */
export type RelayRefusal = 'unreadable' | 'too-wide' | 'link-local' | 'reserved'

/** The shortest prefixes that one organization's relays may have. */
const PREFIX_MIN = { 4: 16, 6: 32 } as const
/** RFC 3927, RFC 4291 §2.5.6: they mean another machine on every cable. */
const linkLocal = networkSet(['169.254.0.0/16', 'fe80::/10'])

/**
 * A CIDR block, or a single address as one, whose machines a person may call their own; or why
 * not. Loopback addresses and those of internal networks may be: only the owner knows whether a
 * tunnel or a gateway stands before them. Link-local ones are everybody's, and no machine has a
 * reserved one.
 */
export function parseRelayBlock(text: string): { block: string } | { refusal: RelayRefusal } {
  const block = parseBlock(text.trim())
  const [start = '', prefix = ''] = block?.split('/') ?? []
  const address = parseIp(start)
  if (block === undefined || !address) return { refusal: 'unreadable' }
  if (Number(prefix) < PREFIX_MIN[address.family]) return { refusal: 'too-wide' }
  const refusal = addressRefusal(address)
  return refusal ? { refusal } : { block: `${address.text}/${prefix}` }
}

/** Why one address cannot be that of somebody's relay; undefined when it can. */
export function addressRefusal(address: IpAddress): RelayRefusal | undefined {
  if (addressScope(address) === 'reserved') return 'reserved'
  return linkLocal.has(address) ? 'link-local' : undefined
}

/** The block of one address: /32 or /128. Undefined when the text is no address. */
export function blockOfAddress(text: string): string | undefined {
  const address = parseIp(text)
  return address && `${address.text}/${address.family === 4 ? 32 : 128}`
}
