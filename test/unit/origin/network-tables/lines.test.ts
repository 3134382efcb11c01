import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  csvReader,
  detectFormat,
  readDelegated,
  readIpToAs,
} from '../../../../src/origin/network-tables/text-tables.ts'

const header = 'cidr,asn,name,country,abuse,contacts'

function readCsv(line: string) {
  const read = csvReader()
  read(header)
  return read(line)
}

test('further contacts follow the abuse address, each once', () => {
  expect(
    readCsv('192.0.2.0/24,,,,a@net.example,"b@net.example; a@net.example c@net.example"'),
  ).toMatchObject({ contacts: ['a@net.example', 'b@net.example', 'c@net.example'] })
  expect(readCsv('192.0.2.0/24,,,,,b@net.example')).toMatchObject({ contacts: ['b@net.example'] })
  expect(readCsv('192.0.2.0/24,,,,,"b@net.example,c"')).toMatchObject({ is: 'faulty' })
})

test('an AS number has at most 32 bits', () => {
  expect(readCsv('192.0.2.0/24,4294967295,,,,')).toMatchObject({ asn: 4_294_967_295 })
  expect(readCsv('192.0.2.0/24,4294967296,,,,')).toMatchObject({ is: 'faulty' })
})

test('a name is stored as PostgreSQL can store it', () => {
  expect(readCsv(`192.0.2.0/24,,a\0${'b'.repeat(300)},,,`)).toMatchObject({
    name: `a\uFFFD${'b'.repeat(198)}`,
  })
})

test.for([
  [
    'a range',
    '192.0.2.0\t192.0.2.255\t64496\tFR\tEXAMPLE - Example, Ltd.',
    { blocks: ['192.0.2.0/24'], asn: 64_496, country: 'FR', name: 'EXAMPLE - Example, Ltd.' },
  ],
  ['numbers', '3221225984\t3221226239\t64496\tFR\tEXAMPLE', { blocks: ['192.0.2.0/24'] }],
  [
    'the last number there is',
    '4294967295\t4294967295\t64496\tFR\tEXAMPLE',
    { blocks: ['255.255.255.255/32'] },
  ],
  ['IPv6', '2001:db8::\t2001:db8::ffff\t1\tFR\tX', { blocks: ['2001:db8:0:0:0:0:0:0/112'] }],
  [
    'ends that are no block',
    '192.0.2.1\t192.0.2.4\t1\tFR\tX',
    { blocks: ['192.0.2.1/32', '192.0.2.2/31', '192.0.2.4/32'] },
  ],
  ['no country', '192.0.2.0\t192.0.2.255\t64496\tNone\tX', { country: null, name: 'X' }],
  ['no name', '192.0.2.0\t192.0.2.255\t64496\tFR\t', { country: 'FR', name: null }],
  ['a line end of Windows', '192.0.2.0\t192.0.2.255\t1\tFR\tX\r', { name: 'X' }],
  ['nobody', '192.0.2.0\t192.0.2.255\t0\tNone\tNot routed', { is: 'skipped' }],
  ['a comment', '# 192.0.2.0', { is: 'skipped' }],
  ['nothing', '  ', { is: 'nothing' }],
] as const)('a line of IP-to-AS with %s is parsed', ([, line, expected]) => {
  expect(readIpToAs(line)).toMatchObject(expected)
})

test.for([
  ['too few cells', '192.0.2.0\t192.0.2.255\t1', /five cells/],
  ['too many cells', '192.0.2.0\t192.0.2.255\t1\tFR\tX\tY', /five cells/],
  ['its ends swapped', '192.0.2.255\t192.0.2.0\t1\tFR\tX', /is not a range/],
  ['two families', '192.0.2.0\t2001:db8::\t1\tFR\tX', /is not a range/],
  ['a number too large', '1\t4294967296\t1\tFR\tX', /is not a range/],
  ['no AS number', '192.0.2.0\t192.0.2.255\t\tFR\tX', /"" is not an AS number/],
  ['a wrong country', '192.0.2.0\t192.0.2.255\t1\tFRA\tX', /"FRA" is not a country code/],
  ['unrouted nonsense', 'here\tthere\t0\tNone\tNot routed', /is not a range/],
] as const)('a line of IP-to-AS with %s is invalid', ([, line, why]) => {
  expect(readIpToAs(line)).toEqual({ is: 'faulty', why: expect.stringMatching(why) as unknown })
})

test.for([
  [
    'a power of two',
    'ripencc|FR|ipv4|192.0.2.0|256|20100712|allocated|abc',
    { blocks: ['192.0.2.0/24'], country: 'FR', asn: null, name: null, contacts: [] },
  ],
  [
    'another number of addresses',
    'arin|US|ipv4|198.51.100.0|192|19990101|assigned',
    { blocks: ['198.51.100.0/25', '198.51.100.128/26'] },
  ],
  [
    'the last addresses there are',
    'arin|US|ipv4|255.255.255.0|256|19990101|assigned',
    { blocks: ['255.255.255.0/24'] },
  ],
  [
    'IPv6',
    'apnic|AU|ipv6|2001:db8::|32|20100712|allocated|x',
    { blocks: ['2001:db8:0:0:0:0:0:0/32'] },
  ],
  ['a region', 'ripencc|EU|ipv4|192.0.2.0|256|20100712|allocated', { country: 'EU' }],
  ['the version', '2|ripencc|20261120|100|19830705|20261119|+0100', { is: 'skipped' }],
  ['another version', '2.3|lacnic|20261120|100|19870101|20261119|-0300', { is: 'skipped' }],
  ['a sum', 'ripencc|*|ipv4|*|90000|summary', { is: 'skipped' }],
  ['an AS number', 'ripencc|FR|asn|64496|1|20100712|allocated|abc', { is: 'skipped' }],
  ['what is free', 'ripencc||ipv4|192.0.2.0|256||available|', { is: 'skipped' }],
  ['what is reserved', 'ripencc|ZZ|ipv4|192.0.2.0|256||reserved|', { is: 'skipped' }],
  ['no country', 'arin||ipv4|192.0.2.0|256|20100712|allocated|x', { is: 'skipped' }],
  ['a comment', '# anything', { is: 'skipped' }],
  ['nothing', '\r', { is: 'nothing' }],
] as const)('a line of a registry with %s is parsed', ([, line, expected]) => {
  expect(readDelegated(line)).toMatchObject(expected)
})

test.for([
  ['too few cells', 'ripencc|FR|ipv4|192.0.2.0', /seven cells/],
  ['another type', 'ripencc|FR|ipv5|192.0.2.0|256|20100712|allocated', /neither ipv4/],
  ['an IPv6 address as IPv4', 'ripencc|FR|ipv4|2001:db8::|256|2|allocated', /is not a range/],
  ['an IPv4 address as IPv6', 'ripencc|FR|ipv6|192.0.2.0|24|2|allocated', /is not a range/],
  ['no addresses', 'ripencc|FR|ipv4|192.0.2.0|0|2|allocated', /is not a range/],
  ['more addresses than there are', 'a|FR|ipv4|255.255.255.0|257|2|allocated', /is not a range/],
  ['a prefix too long', 'ripencc|FR|ipv6|2001:db8::|129|2|allocated', /is not a range/],
  ['a negative number', 'ripencc|FR|ipv4|192.0.2.0|-1|2|allocated', /is not a range/],
  ['a wrong country', 'ripencc|FRA|ipv4|192.0.2.0|256|2|allocated', /not a country code/],
] as const)('a line of a registry with %s is invalid', ([, line, why]) => {
  expect(readDelegated(line)).toEqual({ is: 'faulty', why: expect.stringMatching(why) as unknown })
})

test.for([
  ['csv', '# ours\n\ncidr,asn,name,country,abuse\n'],
  ['csv', '\uFEFFabuse\tcountry\tname\tasn\tcidr\r\n'],
  ['rir', '2|ripencc|20261120|1|19830705|20261119|+0100\n'],
  ['rir', '#comment\nripencc|*|asn|*|1|summary\n'],
  ['rir', 'afrinic|ZA|ipv4|192.0.2.0|256|20100712|allocated'],
  ['ip2asn', '192.0.2.0\t192.0.2.255\t0\tNone\tNot routed\n'],
  ['ip2asn', '2001:db8::\t2001:db8::1\t64496\tFR\tX\n'],
  ['ip2asn', '0\t16777215\t0\tNone\tNot routed\r\n'],
  ['mmdb', '\u0000\u0000\u0017text'],
  [undefined, '192.0.2.0,192.0.2.255,64496\n'],
  [undefined, '<!doctype html>\n'],
  [undefined, ''],
] as const)('the format %s is detected from %j', ([format, head]) => {
  expect(detectFormat(Buffer.from(head))).toBe(format)
})

test('no line throws', () => {
  const cell = fc.oneof(
    fc.string(),
    fc.constantFrom('ipv4', 'ipv6', 'ripencc', 'FR', '192.0.2.0', '2001:db8::', '-', '"', '0'),
    fc.integer().map(String),
  )
  const line = fc.tuple(fc.array(cell, { maxLength: 9 }), fc.constantFrom('|', '\t', ','))
  fc.assert(
    fc.property(line, ([cells, between]) => {
      const text = cells.join(between)
      for (const read of [readCsv, readIpToAs, readDelegated]) {
        const reading = read(text)
        if (reading.is === 'range') expect(reading.blocks.length).toBeGreaterThan(0)
      }
    }),
    { numRuns: 2_000 },
  )
})
