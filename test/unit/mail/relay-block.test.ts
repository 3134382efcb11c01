import { expect, test } from 'vitest'
import { blockOfAddress, parseRelayBlock } from '../../../src/mail/ip-blocks.ts'

test.for([
  ['192.0.2.7', '192.0.2.7/32'],
  [' 192.0.2.7/24 ', '192.0.2.0/24'],
  ['8.8.0.0/16', '8.8.0.0/16'],
  ['2001:db8::7', '2001:db8::7/128'],
  ['2a01:111::/32', '2a01:111::/32'],
  ['172.32.0.0/16', '172.32.0.0/16'],
  ['10.1.2.3', '10.1.2.3/32'],
  ['172.31.0.0/16', '172.31.0.0/16'],
  ['192.168.0.0/16', '192.168.0.0/16'],
  ['100.64.0.0/16', '100.64.0.0/16'],
  ['fd00::1', 'fd00::1/128'],
  ['127.0.0.1', '127.0.0.1/32'],
  ['::1', '::1/128'],
] as const)('%s can be relays: %s', ([text, block]) => {
  expect(parseRelayBlock(text)).toEqual({ block })
})

test.for([
  ['', 'unreadable'],
  ['mx.example.net', 'unreadable'],
  ['192.0.2.0/33', 'unreadable'],
  ['192.0.2.0/24/24', 'unreadable'],
  ['8.8.0.0/15', 'too-wide'],
  ['0.0.0.0/0', 'too-wide'],
  ['2a01:110::/31', 'too-wide'],
  ['::/0', 'too-wide'],
  ['10.0.0.0/8', 'too-wide'],
  ['fc00::/7', 'too-wide'],
  ['169.254.1.1', 'link-local'],
  ['169.254.0.0/16', 'link-local'],
  ['fe80::1', 'link-local'],
  ['224.0.0.1', 'reserved'],
  ['198.18.0.0/16', 'reserved'],
  ['192.0.0.0/16', 'reserved'],
  ['4000::/32', 'reserved'],
] as const)('%s cannot be relays: %s', ([text, refusal]) => {
  expect(parseRelayBlock(text)).toEqual({ refusal })
})

test('the block of an address contains only that address', () => {
  expect(blockOfAddress('192.0.2.7')).toBe('192.0.2.7/32')
  expect(blockOfAddress('2001:DB8::7')).toBe('2001:db8::7/128')
  expect(blockOfAddress('192.0.2.0/24')).toBeUndefined()
})
