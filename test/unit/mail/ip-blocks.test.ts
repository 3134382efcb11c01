import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blocksOfRange, parseBlock, quadOf } from '../../../src/mail/ip-blocks.ts'
import { parseIp } from '../../../src/mail/ip.ts'

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
  '192.0.2.0/1e1',
  '192.0.2.0/0x8',
  '192.0.2/24',
  '2001:db8::/129',
  '/24',
  '',
  'example.com',
])('%j is no block', (text) => {
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
