import { addressScope, decimalLength, type IpAddress, networkSet, parseIp } from './ip.ts'

/**
 * The smallest list of CIDR blocks that covers a range of addresses, both ends included. Undefined
 * when an end cannot be parsed, the families differ, or the first address is above the last.
 */
export function blocksOfRange(first: string, last: string): string[] | undefined {
  const [from, to] = [parseIp(first), parseIp(last)]
  if (!from || !to || from.family !== to.family) return undefined
  if (from.family === 4) return blocksOfRange4(number4(from), number4(to))
  const { bits, value } = numberOf(from)
  const end = numberOf(to).value
  const blocks: string[] = []
  for (let at = value; at <= end;) {
    let size = at === 0n ? 1n << BigInt(bits) : at & -at
    while (at + size - 1n > end) size >>= 1n
    blocks.push(`${textOf(at, bits)}/${bits - (size.toString(2).length - 1)}`)
    at += size
  }
  return blocks.length > 0 ? blocks : undefined
}

/** Formats an IPv4 address given as a number from 0 to 2^32 - 1. */
export function quadOf(value: number): string {
  return `${(value >>> 24) & 255}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

/**
 * Parses a CIDR block or a single address and clears the bits beyond the prefix. Undefined when the
 * text is neither.
 */
export function parseBlock(text: string): string | undefined {
  const [start = '', prefix, ...rest] = text.trim().split('/')
  const address = parseIp(start)
  if (!address || rest.length > 0) return undefined
  const { bits, value } = numberOf(address)
  const length = prefix === undefined ? bits : decimalLength(prefix)
  if (length === undefined || length > bits) return undefined
  const mask = BigInt(bits - length)
  return `${textOf((value >> mask) << mask, bits)}/${length}`
}

/** Prefix lengths of the blocks allocated to registries; no holder's network is wider. */
const prefixMin = { 4: 8, 6: 12 } as const

/** Whether a block is wider than any block that was ever allocated to one holder. */
export function isWiderThanAnyHolding(cidr: string): boolean {
  return prefixLength(cidr) < prefixMin[cidr.includes(':') ? 6 : 4]
}

/** Whether a block is at least as wide as the blocks that are allocated to registries. */
export function isRegistryBlock(cidr: string): boolean {
  return prefixLength(cidr) <= prefixMin[cidr.includes(':') ? 6 : 4]
}

/** The intersection of two blocks: the narrower one when it is inside the other, else undefined. */
export function commonBlock(one: string, other: string): string | undefined {
  const [wide, narrow] = prefixLength(one) < prefixLength(other) ? [one, other] : [other, one]
  return containsBlock(wide, narrow) ? parseBlock(narrow) : undefined
}

export function containsBlock(outer: string, inner: string): boolean {
  const start = firstAddress(inner)
  if (!start || prefixLength(outer) > prefixLength(inner)) return false
  return networkSet([outer]).has(start)
}

/** Returns the first address of a block that `parseBlock` has parsed. */
export function firstAddress(cidr: string): IpAddress | undefined {
  return parseIp(cidr.slice(0, cidr.indexOf('/')))
}

export function prefixLength(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1))
}

/** Like `blocksOfRange`, but without big integers: tables contain a million IPv4 ranges. */
function blocksOfRange4(first: number, last: number): string[] | undefined {
  const blocks: string[] = []
  for (let at = first; at <= last;) {
    let length = at === 0 ? 0 : 32 - Math.log2((at & -at) >>> 0)
    while (at + 2 ** (32 - length) - 1 > last) length++
    blocks.push(`${quadOf(at)}/${length}`)
    at += 2 ** (32 - length)
  }
  return blocks.length > 0 ? blocks : undefined
}

function number4({ groups }: IpAddress): number {
  return (groups[6] ?? 0) * 65_536 + (groups[7] ?? 0)
}

function numberOf({ family, groups }: IpAddress): { bits: number; value: bigint } {
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n)
  return family === 4 ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value }
}

function textOf(value: bigint, bits: number): string {
  if (bits === 32) return quadOf(Number(value))
  // Written in full: PostgreSQL accepts this as well as the short form.
  return Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  ).join(':')
}

/** Why a block is not accepted as a person's relays. */
export type RelayRefusal = 'unreadable' | 'too-wide' | 'link-local' | 'reserved'

/** The shortest prefixes that are accepted for the relays of one organization. */
const PREFIX_MIN = { 4: 16, 6: 32 } as const
/**
 * In link-local networks (RFC 3927, RFC 4291 §2.5.6), the same address means a different machine on
 * every link.
 */
const linkLocal = networkSet(['169.254.0.0/16', 'fe80::/10'])

/**
 * Parses a CIDR block or single address that a person declares as their own relays, or returns why
 * it is refused. Loopback addresses and those of internal networks are accepted: only the owner
 * knows whether a tunnel or a gateway is in front of them. Link-local addresses are refused because
 * every network uses them, reserved ones because no machine has them.
 */
export function parseRelayBlock(text: string): { block: string } | { refusal: RelayRefusal } {
  const block = parseBlock(text.trim())
  const address = block === undefined ? undefined : firstAddress(block)
  if (block === undefined || !address) return { refusal: 'unreadable' }
  if (prefixLength(block) < PREFIX_MIN[address.family]) return { refusal: 'too-wide' }
  const refusal = addressRefusal(address)
  return refusal ? { refusal } : { block: `${address.text}/${prefixLength(block)}` }
}

/** Why an address cannot be a person's relay; undefined when it can. */
export function addressRefusal(address: IpAddress): RelayRefusal | undefined {
  if (addressScope(address) === 'reserved') return 'reserved'
  return linkLocal.has(address) ? 'link-local' : undefined
}

/**
 * Formats an address as a block of one address: /32 or /128. Undefined when the text is not an
 * address.
 */
export function blockOfAddress(text: string): string | undefined {
  const address = parseIp(text)
  return address && `${address.text}/${address.family === 4 ? 32 : 128}`
}

/** Returns the first octets (IPv4) or groups (IPv6) of an address: `192.0.2`, `2001:db8:0`. */
export function addressPrefix(
  { family, text, groups }: IpAddress,
  count: { octets: number; groups: number },
): string {
  if (family === 4) return text.split('.').slice(0, count.octets).join('.')
  return groups
    .slice(0, count.groups)
    .map((group) => group.toString(16))
    .join(':')
}

/** Returns the /24 (IPv4) or /48 (IPv6) of an address: `192.0.2.0/24`, `2001:db8:0::/48`. */
export function block24Or48(address: IpAddress): string {
  const prefix = addressPrefix(address, { octets: 3, groups: 3 })
  return address.family === 4 ? `${prefix}.0/24` : `${prefix}::/48`
}

/**
 * Lists the blocks of the given prefix length inside a block, in order. Undefined when there are
 * more than `max`, or when the block is narrower.
 */
export function blocksInside(cidr: string, length: number, max: number): string[] | undefined {
  const address = firstAddress(cidr)
  const steps = length - prefixLength(cidr)
  if (!address || steps < 0 || 2 ** steps > max) return undefined
  const { bits, value } = numberOf(address)
  return Array.from({ length: 2 ** steps }, (_, n) => {
    return `${textOf(value + (BigInt(n) << BigInt(bits - length)), bits)}/${length}`
  })
}
