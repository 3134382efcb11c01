import { parseIp, type IpAddress } from './ip.ts'

/**
 * All CIDR blocks that hold an address, the longest prefix first: 33 for IPv4, 129 for IPv6. A
 * table keyed by its blocks finds the network of an address by equality with one of these.
 */
export function blocksAround(address: IpAddress): string[] {
  const { bits, value } = numberOf(address)
  return Array.from({ length: bits + 1 }, (_, shorter) => {
    const mask = BigInt(shorter)
    return `${textOf((value >> mask) << mask, bits)}/${bits - shorter}`
  })
}

/**
 * The fewest CIDR blocks that make up a range of addresses, both ends included. Undefined when the
 * ends cannot be read, are of different families, or stand in the wrong order.
 */
export function blocksOfRange(first: string, last: string): string[] | undefined {
  const [from, to] = [parseIp(first), parseIp(last)]
  if (!from || !to || from.family !== to.family) return undefined
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

/** A CIDR block with the bits beyond its prefix cleared; undefined when it is none. */
export function parseBlock(text: string): string | undefined {
  const [start = '', prefix, ...rest] = text.trim().split('/')
  const address = parseIp(start)
  if (!address || rest.length > 0) return undefined
  const { bits, value } = numberOf(address)
  const length = prefix === undefined ? bits : Number(prefix)
  if (prefix === '' || !Number.isInteger(length) || length < 0 || length > bits) return undefined
  const mask = BigInt(bits - length)
  return `${textOf((value >> mask) << mask, bits)}/${length}`
}

function numberOf({ family, groups }: IpAddress): { bits: number; value: bigint } {
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n)
  return family === 4 ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value }
}

function textOf(value: bigint, bits: number): string {
  if (bits === 32) {
    return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.')
  }
  // Written out in full: PostgreSQL reads it as well as the short form.
  return Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  ).join(':')
}
