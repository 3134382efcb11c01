import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blocksAround, blocksOfRange, parseBlock } from '../../../src/mail/ip-blocks.ts'
import { networkSet, parseIp } from '../../../src/mail/ip.ts'

function around(ip: string): string[] {
  const address = parseIp(ip)
  return address ? blocksAround(address) : []
}

test('an IPv4 address lies in 33 blocks, the longest prefix first', () => {
  const blocks = around('198.51.100.255')
  expect(blocks).toHaveLength(33)
  expect(blocks.slice(0, 3)).toEqual([
    '198.51.100.255/32',
    '198.51.100.254/31',
    '198.51.100.252/30',
  ])
  expect(blocks.slice(-2)).toEqual(['128.0.0.0/1', '0.0.0.0/0'])
})

test('an IPv6 address lies in 129 blocks', () => {
  const blocks = around('2001:db8::1')
  expect(blocks).toHaveLength(129)
  expect(blocks[0]).toBe('2001:db8:0:0:0:0:0:1/128')
  expect(blocks[96]).toBe('2001:db8:0:0:0:0:0:0/32')
  expect(blocks[128]).toBe('0:0:0:0:0:0:0:0/0')
})

test('an IPv4-mapped address has the blocks of its IPv4 address', () => {
  expect(around('::ffff:192.0.2.1')).toEqual(around('192.0.2.1'))
})

const ipv4 = fc
  .nat({ max: 0xffff_ffff })
  .map((n) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.'))

test('every block around an address holds it', () => {
  fc.assert(
    fc.property(fc.oneof(ipv4, fc.ipV6()), (ip) => {
      const address = parseIp(ip)
      if (!address) return
      const blocks = blocksAround(address)
      expect(blocks.every((block) => networkSet([block]).has(address))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test.for([
  ['198.51.100.0', '198.51.100.127', ['198.51.100.0/25']],
  ['192.0.2.1', '192.0.2.1', ['192.0.2.1/32']],
  ['192.0.2.1', '192.0.2.4', ['192.0.2.1/32', '192.0.2.2/31', '192.0.2.4/32']],
  ['0.0.0.0', '255.255.255.255', ['0.0.0.0/0']],
  ['255.255.255.255', '255.255.255.255', ['255.255.255.255/32']],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db8:0:0:0:0:0:0/32']],
] as const)('the range %s to %s is %j', ([first, last, blocks]) => {
  expect(blocksOfRange(first, last)).toEqual(blocks)
})

test.for([
  ['its ends stand in the wrong order', '192.0.2.9', '192.0.2.1'],
  ['its ends are of different families', '192.0.2.1', '2001:db8::1'],
  ['an end is no address', '192.0.2.1', '192.0.2.256'],
  ['an end is missing', '', '192.0.2.1'],
] as const)('a range is none when %s', ([, first, last]) => {
  expect(blocksOfRange(first, last)).toBeUndefined()
})

test('a range has as many addresses as its blocks, which neither overlap nor leave a gap', () => {
  const ends = fc.tuple(fc.nat({ max: 0xffff_ffff }), fc.nat({ max: 0xffff_ffff }))
  const text = (n: number) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.')
  fc.assert(
    fc.property(ends, ([a, b]) => {
      const [first, last] = a < b ? [a, b] : [b, a]
      const blocks = blocksOfRange(text(first), text(last)) ?? []
      let next = first
      for (const block of blocks) {
        expect(block.startsWith(`${text(next)}/`)).toBe(true)
        next += 2 ** (32 - Number(block.split('/')[1]))
      }
      expect(next - 1).toBe(last)
      expect(blocks.length).toBeLessThanOrEqual(62)
    }),
    { numRuns: 100 },
  )
})

test.for([
  ['192.0.2.77/24', '192.0.2.0/24'],
  ['192.0.2.77', '192.0.2.77/32'],
  [' 192.0.2.0/24 ', '192.0.2.0/24'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8::1/32', '2001:db8:0:0:0:0:0:0/32'],
  ['2001:db8::1', '2001:db8:0:0:0:0:0:1/128'],
] as const)('the block %j is %j', ([text, block]) => {
  expect(parseBlock(text)).toBe(block)
})

test.for([
  '192.0.2.0/33',
  '192.0.2.0/-1',
  '192.0.2.0/',
  '192.0.2.0/24/24',
  '192.0.2.0/2.5',
  '192.0.2.0/a',
  '192.0.2/24',
  '2001:db8::/129',
  '/24',
  '',
  'example.com',
])('%j is no block', (text) => {
  expect(parseBlock(text)).toBeUndefined()
})
