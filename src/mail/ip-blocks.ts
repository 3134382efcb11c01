import { addressScope, type IpAddress, networkSet, parseIp } from './ip.ts'

/**
 * The fewest CIDR blocks that make up a range of addresses, both ends included. Undefined when the
 * ends cannot be read, are of different families, or stand in the wrong order.
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

/** An IPv4 address given as a number from 0 to 2^32 - 1. */
export function quadOf(value: number): string {
  return `${(value >>> 24) & 255}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

/** A CIDR block with the bits beyond its prefix cleared; undefined when it is none. */
export function parseBlock(text: string): string | undefined {
  const [start = '', prefix, ...rest] = text.trim().split('/')
  const address = parseIp(start)
  if (!address || rest.length > 0) return undefined
  const { bits, value } = numberOf(address)
  const length = prefix === undefined ? bits : decimal(prefix)
  if (length === undefined || length > bits) return undefined
  const mask = BigInt(bits - length)
  return `${textOf((value >> mask) << mask, bits)}/${length}`
}

/** Blocks as wide as these were given to registries: no network of a holder is wider. */
const prefixMin = { 4: 8, 6: 12 } as const

/** Whether a block is wider than any that was ever handed out to one holder. */
export function isWiderThanAnyHolding(cidr: string): boolean {
  return prefixLength(cidr) < prefixMin[cidr.includes(':') ? 6 : 4]
}

/** Whether a block is one that was handed out to a registry, or wider. */
export function isRegistryBlock(cidr: string): boolean {
  return prefixLength(cidr) <= prefixMin[cidr.includes(':') ? 6 : 4]
}

/** What two blocks have in common: the narrower one, when it is inside of the other. */
export function commonBlock(one: string, other: string): string | undefined {
  const [wide, narrow] = prefixLength(one) < prefixLength(other) ? [one, other] : [other, one]
  const start = parseIp(narrow.slice(0, narrow.indexOf('/')))
  return start && networkSet([wide]).has(start) ? parseBlock(narrow) : undefined
}

/** The length of a block's prefix. */
export function prefixLength(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1))
}

function decimal(text: string): number | undefined {
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined
}

/** The same as for IPv6 without big integers: tables have a million of these. */
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
  // Written out in full: PostgreSQL reads it as well as the short form.
  return Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  ).join(':')
}

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
