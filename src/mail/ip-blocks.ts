import { parseIp, type IpAddress } from './ip.ts'

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
