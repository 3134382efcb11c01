import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  block24Or48,
  blocksOfRange,
  containsBlock,
  parseBlock,
  quadOf,
  commonBlock,
  isRegistryBlock,
  isWiderThanAnyHolding,
} from '../../../src/mail/ip-blocks.ts'
import { parseIp } from '../../../src/mail/ip.ts'

test.for([
  ['198.51.100.0', '198.51.100.127', ['198.51.100.0/25']],
  ['192.0.2.1', '192.0.2.1', ['192.0.2.1/32']],
  ['192.0.2.1', '192.0.2.4', ['192.0.2.1/32', '192.0.2.2/31', '192.0.2.4/32']],
  ['0.0.0.0', '255.255.255.255', ['0.0.0.0/0']],
  ['255.255.255.255', '255.255.255.255', ['255.255.255.255/32']],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db8:0:0:0:0:0:0/32']],
] as const)('the range %s to %s has the blocks %j', ([first, last, blocks]) => {
  expect(blocksOfRange(first, last)).toEqual(blocks)
})

test.for([
  ['its ends stand in the wrong order', '192.0.2.9', '192.0.2.1'],
  ['its ends are of different families', '192.0.2.1', '2001:db8::1'],
  ['an end is no address', '192.0.2.1', '192.0.2.256'],
  ['an end is missing', '', '192.0.2.1'],
] as const)('a range is invalid when %s', ([, first, last]) => {
  expect(blocksOfRange(first, last)).toBeUndefined()
})

test('the blocks of a range have as many addresses as the range, without overlaps or gaps', () => {
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
] as const)('the block %j is normalized to %j', ([text, block]) => {
  expect(parseBlock(text)).toBe(block)
})

test.for([
  '192.0.2.0/33',
  '192.0.2.0/-1',
  '192.0.2.0/',
  '192.0.2.0/24/24',
  '192.0.2.0/2.5',
  '192.0.2.0/a',
  '192.0.2.0/1e1',
  '192.0.2.0/0x8',
  '192.0.2/24',
  '2001:db8::/129',
  '/24',
  '',
  'example.com',
])('%j is not a block', (text) => {
  expect(parseBlock(text)).toBeUndefined()
})

test('a number is written as its IPv4 address', () => {
  expect([0, 1, 0xc000_0201, 0xffff_ffff].map(quadOf)).toEqual([
    '0.0.0.0',
    '0.0.0.1',
    '192.0.2.1',
    '255.255.255.255',
  ])
  fc.assert(fc.property(fc.nat({ max: 0xffff_ffff }), (n) => parseIp(quadOf(n))?.family === 4))
})

test.for([
  ['192.0.2.0/24', '192.0.0.0/16', '192.0.2.0/24'],
  ['192.0.0.0/16', '192.0.2.0/24', '192.0.2.0/24'],
  ['192.0.2.0/24', '192.0.2.0/24', '192.0.2.0/24'],
  ['192.0.2.7/16', '192.0.2.0/24', '192.0.2.0/24'],
  ['192.0.2.0/24', '192.0.3.0/24', undefined],
  ['0.0.0.0/0', '2001:db8::/32', undefined],
  ['2001:db8::/32', '2001:db8:7::/48', '2001:db8:7:0:0:0:0:0/48'],
] as const)('%s and %s share %s', ([one, other, common]) => {
  expect(commonBlock(one, other)).toBe(common)
})

test.for([
  ['10.0.0.0/7', true, true],
  ['10.0.0.0/8', false, true],
  ['10.0.0.0/9', false, false],
  ['2000::/11', true, true],
  ['2000::/12', false, true],
  ['2000::/13', false, false],
] as const)('%s is wider than any holding: %s', ([cidr, isWide, isRegistry]) => {
  expect([isWiderThanAnyHolding(cidr), isRegistryBlock(cidr)]).toEqual([isWide, isRegistry])
})

test.for([
  ['10.0.0.0/8', '10.20.0.0/16', true],
  ['10.0.0.0/8', '10.0.0.0/8', true],
  ['10.20.0.0/16', '10.0.0.0/8', false],
  ['10.0.0.0/8', '11.0.0.0/16', false],
  ['0.0.0.0/0', '2001:db8::/32', false],
  ['2001:db8::/32', '2001:db8:1::/48', true],
] as const)('%s contains %s: %s', ([outer, inner, expected]) => {
  expect(containsBlock(outer, inner)).toBe(expected)
})

test.for([
  ['192.0.2.77', '192.0.2.0/24'],
  ['2001:db8::1:0:0:1', '2001:db8:0::/48'],
] as const)('the address %s belongs to %s', ([address, block]) => {
  const parsed = parseIp(address)
  expect(parsed && block24Or48(parsed)).toBe(block)
})
