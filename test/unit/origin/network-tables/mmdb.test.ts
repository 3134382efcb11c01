import fc from 'fast-check'
import { Reader } from 'maxmind'
import { expect, test } from 'vitest'
import { isMmdbMap, readMmdb, readMmdbValue } from '../../../../src/origin/network-tables/mmdb.ts'
import { composeMmdb, composeValue, type MmdbRecord } from '../../../support/mmdb.ts'

const one = { autonomous_system_number: 64_496, autonomous_system_organization: 'Example One' }
const two = { autonomous_system_number: 64_497, autonomous_system_organization: 'Example Two' }

/**
 * Returns the content of a file as `block AS name country`, and the reason for its end if it is
 * damaged.
 */
function told(bytes: Buffer): string[] {
  return [...readMmdb(bytes)].map((reading) => {
    if (reading.is === 'range') {
      const { blocks, asn, name, country } = reading
      return [blocks.join(), asn, name, country].filter((part) => part !== null).join(' ')
    }
    return reading.is === 'faulty' ? `faulty: ${reading.why}` : reading.is
  })
}

const nested = [
  ['192.0.2.0/24', one],
  ['198.51.100.0/25', one],
  ['198.51.100.64/26', two],
  ['2001:db8::/32', two],
] as const

test.for([24, 28, 32] as const)('networks are read from records of %i bits', (recordBits) => {
  expect(told(composeMmdb(nested, { recordBits }))).toEqual([
    '192.0.2.0/24 64496 Example One',
    '198.51.100.0/26 64496 Example One',
    '198.51.100.64/26 64497 Example Two',
    '2001:0db8:0000:0000:0000:0000:0000:0000/32 64497 Example Two',
  ])
})

test('a file with only IPv4 is read', () => {
  const file = composeMmdb(nested.slice(0, 2), { ipVersion: 4 })
  expect(told(file)).toEqual([
    '192.0.2.0/24 64496 Example One',
    '198.51.100.0/25 64496 Example One',
  ])
})

test.for([
  ['::ffff:0:0/96'],
  ['2002::/16'],
  ['2001::/32'],
  ['64:ff9b::/96'],
  ['::ffff:0:0/96', '2002::/16', '2001::/32', '64:ff9b::/96'],
])('an IPv4 network is read once, though it is repeated below %s', (...[aliases]) => {
  expect(told(composeMmdb(nested, { aliases }))).toHaveLength(4)
})

test('an IPv4 network repeated by its records instead of its tree is read once', () => {
  const copies = [['2002:c000:200::/40', one] as const, ['2001:0:c000:200::/56', one] as const]
  expect(told(composeMmdb([...nested, ...copies]))).toHaveLength(4)
})

test('an independent reader gets the same from the files that these tests write', () => {
  for (const recordBits of [24, 28, 32] as const) {
    const reader = new Reader<Record<string, unknown>>(composeMmdb(nested, { recordBits }))
    expect(reader.getWithPrefixLength('198.51.100.70')).toEqual([two, 26])
    expect(reader.getWithPrefixLength('198.51.100.1')).toEqual([one, 26])
    expect(reader.getWithPrefixLength('2001:db8::1')).toEqual([two, 32])
    expect(reader.get('203.0.113.1')).toBeNull()
  }
})

test.for([
  ['a country file', { country: { iso_code: 'FR' } }, 'FR'],
  ['only where it is registered', { registered_country: { iso_code: 'DE' } }, 'DE'],
  [
    'where it is before where it is registered',
    { registered_country: { iso_code: 'DE' }, country: { iso_code: 'FR' } },
    'FR',
  ],
  ['an AS number as text', { asn: 'AS64500', name: 'Example', country: 'NL' }, '64500 Example NL'],
  [
    'a country spelled out beside its code',
    { asn: 'AS64500', as_name: 'Example', country: 'France', country_code: 'FR' },
    '64500 Example FR',
  ],
  ['AS 0', { autonomous_system_number: 0, country: { iso_code: 'FR' } }, 'FR'],
  ['an odd field', { asn: 'many', country: 'FR' }, 'FR'],
] as const)('%s is parsed', ([, record, expected]) => {
  const [line] = told(composeMmdb([['192.0.2.0/24', record]]))
  expect(line).toBe(`192.0.2.0/24 ${expected}`)
})

test('a network without data is skipped', () => {
  expect(told(composeMmdb([['192.0.2.0/24', { is_anonymous: true }]]))).toEqual(['skipped'])
})

test.for([
  ['no metadata', Buffer.alloc(200), 'the file has no MaxMind metadata.'],
  ['an empty file', Buffer.alloc(0), 'the file has no MaxMind metadata.'],
  [
    'another version',
    composeMmdb(nested, { metadata: { binary_format_major_version: 3 } }),
    'version 3 of the format is not supported.',
  ],
  [
    'odd records',
    composeMmdb(nested, { metadata: { record_size: 20 } }),
    'records of 20 bits are not supported.',
  ],
  [
    'an odd family',
    composeMmdb(nested, { metadata: { ip_version: 5 } }),
    'IP version 5 is not supported.',
  ],
  [
    'no number of nodes',
    composeMmdb(nested, { metadata: { node_count: 'x' } }),
    'the number of nodes is missing.',
  ],
  [
    'more nodes than bytes',
    composeMmdb(nested, { metadata: { node_count: 1_000_000 } }),
    'the tree is longer than the file.',
  ],
  ['a record that is no map', composeMmdb([['192.0.2.0/24', 'text']]), /is damaged\.$/],
] as const)('%s is invalid', ([, bytes, why]) => {
  expect(told(bytes).at(-1)?.replace('faulty: ', '')).toMatch(why)
})

test.for([
  ['itself', 0],
  ['a node above it', 1],
])('a tree with a loop to %s ends with an error', ([, target]) => {
  const bytes = composeMmdb([['192.0.2.0/24', one]], { ipVersion: 4 })
  for (let node = 0; node < 24; node++) {
    bytes.writeUIntBE(Number(target), node * 6, 3)
    bytes.writeUIntBE(Number(target), node * 6 + 3, 3)
  }
  expect(told(bytes).at(-1)).toMatch(/^faulty: the (nodes of the )?tree/)
})

const value: fc.Arbitrary<MmdbRecord> = fc.letrec<{ value: MmdbRecord }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ maxLength: 400 }),
    fc.nat(),
    fc.double({ noNaN: true, noInteger: true }),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.string({ maxLength: 10, minLength: 1 }), tie('value'), {
      maxKeys: 40,
      noNullPrototype: true,
    }),
  ),
})).value

test('every value can be read back', () => {
  fc.assert(
    fc.property(value, fc.nat({ max: 20 }), (written, place) => {
      const bytes = Buffer.concat([Buffer.alloc(place), composeValue(written)])
      expect(readMmdbValue(bytes, place, 0)).toEqual(written)
    }),
  )
})

test.for([
  ['one byte', [0x20, 3], 3],
  ['two bytes', [0x28, 0, 3], 3 + 2_048],
  ['three bytes', [0x30, 0, 0, 3], 3 + 526_336],
  ['four bytes', [0x38, 0, 0, 0, 3], 3],
  ['bits of the first byte', [0x21, 3], 256 + 3],
] as const)('a pointer of %s is followed', ([, pointer, target]) => {
  const bytes = Buffer.alloc(target + 10)
  composeValue('far').copy(bytes, target)
  const start = bytes.length
  expect(readMmdbValue(Buffer.concat([bytes, Buffer.from(pointer)]), 0, start)).toBe('far')
})

test.for([
  ['a pointer to itself', [0x20, 0]],
  ['a map of itself', [0xe1, 0x41, 0x61, 0x20, 0]],
  ['a map whose key is none', [0xe1, 0xa1, 1, 0xa1, 1]],
  ['a text longer than the file', [0x5d, 200]],
  ['a size cut off', [0x5f, 1]],
  ['a list without its values', [0x1e, 0x04, 0xff, 0xff]],
  ['an unknown type', [0x01, 0x40, 1]],
  ['a number too long', [0xa5, 1, 2, 3, 4, 5]],
  ['nothing', []],
] as const)('%s is not a value', ([, bytes]) => {
  expect(readMmdbValue(Buffer.from(bytes), 0, 0)).toBeUndefined()
})

test('a key with the name of the prototype is an ordinary key', () => {
  const read = readMmdbValue(composeValue({ ['__proto__']: 'x' }), 0, 0)
  expect(isMmdbMap(read) && Object.getPrototypeOf(read)).toBe(Object.prototype)
})

test('damaged files end without throwing', () => {
  const whole = composeMmdb(nested, { aliases: ['2002::/16'] })
  const damage = fc.array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), {
    minLength: 1,
    maxLength: 20,
  })
  fc.assert(
    fc.property(damage, fc.nat({ max: whole.length }), (changes, length) => {
      const bytes = Buffer.from(whole)
      for (const [at, byte] of changes) bytes[at] = byte
      expect(told(bytes).length).toBeLessThan(5_000)
      told(bytes.subarray(length))
    }),
    { numRuns: 500 },
  )
})
