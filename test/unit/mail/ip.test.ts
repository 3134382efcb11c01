import { isIP } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressScope, isCidr, networkSet, parseIp } from '../../../src/mail/ip.ts'

const ip = (text: string) => {
  const address = parseIp(text)
  if (!address) throw new Error(`not an address: ${text}`)
  return address
}

test.for([
  ['192.0.2.1', '192.0.2.1'],
  ['[192.0.2.1]', '192.0.2.1'],
  ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['IPv6:2001:db8::25', '2001:db8::25'],
  ['[IPv6:2001:db8::25]', '2001:db8::25'],
  ['2001:db8:1:2:3:4:5:0', '2001:db8:1:2:3:4:5:0'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:0201', '192.0.2.1'],
  ['::', '::'],
  ['1::', '1::'],
  ['::ffff:0:0:1', '::ffff:0:0:1'],
  ['2001:db8::192.0.2.1', '2001:db8::c000:201'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4:5:6:c000:201'],
  ['IPv6::1', '::1'],
  ['IPv6:::1', '::1'],
] as const)('%s is the address %s', ([text, expected]) => {
  expect(parseIp(text)?.text).toBe(expected)
})

test.for(
  ['', '192.0.2', '192.0.2.256', '192.0.2.01', '192.0.2.1.1', '1:2:3:4:5:6:7', '1::2::3'].concat([
    '12345::',
    '2001:db8::g',
    '::1:\x10',
    'example.com',
    '[192.0.2.1',
    '1'.repeat(100),
  ]),
)('%j is not an address', (text) => {
  expect(parseIp(text)).toBeUndefined()
})

test('a text is an address exactly if the platform accepts it', () => {
  const group = fc.constantFrom('', '0', '1', 'db8', 'FFFF', '12345', 'g', '1.2.3.4', '1.2.3.256')
  const looking = fc
    .array(fc.tuple(group, fc.constantFrom(':', ':', ':', '::', '.')), { maxLength: 10 })
    .map((pairs) => pairs.map(([digits, mark]) => digits + mark).join(''))
  const ended = fc.tuple(looking, group).map(([text, last]) => text + last)
  fc.assert(
    fc.property(ended, (text) => {
      expect([text, parseIp(text) !== undefined]).toEqual([text, isIP(text) !== 0])
    }),
    { numRuns: 5000 },
  )
})

test.for([
  ['8.8.8.8', 'public'],
  ['192.0.2.1', 'documentation'],
  ['2001:db8::1', 'documentation'],
  ['127.1.2.3', 'loopback'],
  ['::1', 'loopback'],
  ['10.0.0.1', 'private'],
  ['100.64.0.1', 'private'],
  ['100.128.0.1', 'public'],
  ['172.31.255.255', 'private'],
  ['172.32.0.0', 'public'],
  ['fd00::1', 'private'],
  ['fe80::1', 'private'],
  ['0.1.2.3', 'reserved'],
  ['240.0.0.1', 'reserved'],
  ['4000::1', 'reserved'],
  ['2603:10b6::1', 'public'],
] as const)('%s is %s', ([text, expected]) => {
  expect(addressScope(ip(text))).toBe(expected)
})

test.for([
  ['192.0.2.0/24', '192.0.2.255', true],
  ['192.0.2.0/24', '192.0.3.0', false],
  ['192.0.2.0/23', '192.0.3.0', true],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['2001:db8::/33', '2001:db8:7fff::1', true],
  ['2001:db8::/33', '2001:db8:8000::1', false],
  ['::/0', '2001:db8::1', true],
  ['0.0.0.0/0', '192.0.2.1', true],
  ['0.0.0.0/0', '2001:db8::1', false],
] as const)('%s contains %s: %s', ([cidr, text, expected]) => {
  expect(networkSet([cidr]).has(ip(text))).toBe(expected)
})

test.for([
  ['192.0.2.0/24', true],
  ['192.0.2.1', true],
  ['192.0.2.0/33', false],
  ['2001:db8::/129', false],
  ['192.0.2.0/', false],
  ['example.com', false],
] as const)('%s is a CIDR: %s', ([text, expected]) => {
  expect(isCidr(text)).toBe(expected)
})

test('the scope of an IPv4 address does not depend on the shortcut by its first octet', () => {
  for (let octet = 0; octet < 256; octet++) {
    for (const rest of ['0.0.0', '0.2.1', '18.100.9', '51.100.7', '64.0.1', '168.1.1', '254.3.4']) {
      const text = `${octet}.${rest}`
      const isPublic = addressScope(ip(text)) === 'public'
      expect([text, isPublic]).toEqual([text, !special.has(ip(text))])
    }
  }
})

const special = networkSet([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
])
