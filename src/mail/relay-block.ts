import { addressScope, parseIp } from './ip.ts'
import { parseBlock } from './ip-blocks.ts'

/** Why a block cannot be somebody's relays. */
export type RelayRefusal = 'unreadable' | 'too-wide' | 'loopback' | 'private' | 'reserved'

/** The shortest prefixes that one organization's relays may have. */
const PREFIX_MIN = { 4: 16, 6: 32 } as const

/**
 * A CIDR block, or a single address as one, whose machines a person may call their own; or why
 * not. Only what is seen across the Internet counts: internal addresses are everybody's, and no
 * machine has a reserved one.
 */
export function parseRelayBlock(text: string): { block: string } | { refusal: RelayRefusal } {
  const block = parseBlock(text.trim())
  const [start = '', prefix = ''] = block?.split('/') ?? []
  const address = parseIp(start)
  if (block === undefined || !address) return { refusal: 'unreadable' }
  if (Number(prefix) < PREFIX_MIN[address.family]) return { refusal: 'too-wide' }
  const scope = addressScope(address)
  if (scope === 'loopback' || scope === 'private' || scope === 'reserved') return { refusal: scope }
  return { block: `${address.text}/${prefix}` }
}

/** The block of one address: /32 or /128. Undefined when the text is no address. */
export function blockOfAddress(text: string): string | undefined {
  const address = parseIp(text)
  return address && `${address.text}/${address.family === 4 ? 32 : 128}`
}
