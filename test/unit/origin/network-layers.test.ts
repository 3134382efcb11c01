import { expect, test } from 'vitest'
import { mergeLayers, type NetworkLayer } from '../../../src/origin/networks.ts'

const old = new Date('2026-11-01T00:00:00Z')
const young = new Date('2026-11-20T00:00:00Z')

function layer(cidr: string, said: Partial<NetworkLayer> = {}): NetworkLayer {
  const nothing = { asn: null, name: null, country: null, contacts: [], isMuted: false }
  return { source: 'a.csv', importedAt: old, expiresAt: null, ...nothing, ...said, cidr }
}

const network = (...layers: NetworkLayer[]) => mergeLayers(layers)?.network

test('without layers there is no network', () => {
  expect(network()).toBeUndefined()
})

test('each field comes from the longest prefix that has it', () => {
  expect(
    network(
      layer('198.51.0.0/16', { name: 'Whole', country: 'FR', contacts: ['a@whole.example'] }),
      layer('198.51.100.0/24', { asn: 64_500, name: 'Part' }),
      layer('198.51.96.0/20', { country: 'DE' }),
    ),
  ).toEqual({
    cidr: '198.51.0.0/16',
    asn: 64_500,
    name: 'Part',
    country: 'DE',
    abuse: 'a@whole.example',
    deskName: 'Whole',
    contacts: ['a@whole.example'],
  })
})

test('of equal prefixes the most recently imported one is used, field by field', () => {
  expect(
    network(
      layer('198.51.100.0/24', { name: 'New', source: 'b.csv', importedAt: young }),
      layer('198.51.100.0/24', { name: 'Old', country: 'FR' }),
    ),
  ).toMatchObject({ name: 'New', country: 'FR' })
})

test('without a contact the network is the most specific block', () => {
  const layers = [layer('198.51.0.0/16', { asn: 1 }), layer('198.51.100.0/24', { country: 'FR' })]
  expect(network(...layers)).toMatchObject({ cidr: '198.51.100.0/24', abuse: null, contacts: [] })
})

const desk = { contacts: ['abuse@whole.example'] }

test.for([
  ['the same AS', { asn: 64_500, ...desk }, 'abuse@whole.example'],
  ['an unknown AS', desk, 'abuse@whole.example'],
  ['another AS', { asn: 64_501, ...desk }, null],
] as const)('a shorter block of %s counts as answering for a part', ([, whole, abuse]) => {
  const said = { ...whole, contacts: [...whole.contacts] }
  const found = network(
    layer('198.51.0.0/16', said),
    layer('198.51.100.0/24', { asn: 64_500, name: 'Part' }),
  )
  expect(found).toMatchObject({ abuse, cidr: abuse ? '198.51.0.0/16' : '198.51.100.0/24' })
})

test('behind a block of another AS, a block of the right AS may answer', () => {
  const merged = mergeLayers([
    layer('198.51.100.0/24', { asn: 64_500 }),
    layer('198.51.96.0/20', { asn: 64_501, contacts: ['abuse@other.example'] }),
    layer('198.51.0.0/16', { asn: 64_500, contacts: ['abuse@own.example'] }),
  ])
  expect(merged?.network).toMatchObject({ abuse: 'abuse@own.example', asn: 64_500 })
  expect(merged?.foreign.map(({ cidr }) => cidr)).toEqual(['198.51.96.0/20'])
})

test('a block as long as the one with the AS number answers, whatever its AS is', () => {
  expect(
    network(
      layer('198.51.100.0/24', { asn: 64_500, source: 'as.tsv', importedAt: young }),
      layer('198.51.100.0/24', { asn: 64_501, contacts: ['abuse@exact.example'] }),
    ),
  ).toMatchObject({ asn: 64_500, abuse: 'abuse@exact.example' })
})

test('a longer block than the one with the AS number answers', () => {
  expect(
    network(
      layer('198.51.0.0/16', { asn: 64_500, contacts: ['abuse@whole.example'] }),
      layer('198.51.100.0/24', { contacts: ['abuse@part.example'] }),
    ),
  ).toMatchObject({ abuse: 'abuse@part.example', cidr: '198.51.100.0/24' })
})

const byHand = { source: 'manual', importedAt: old }

test('an override takes precedence for its fields, however short its block is', () => {
  expect(
    network(
      layer('198.51.100.0/24', {
        asn: 64_500,
        name: 'Imported',
        country: 'FR',
        contacts: ['abuse@imported.example'],
        importedAt: young,
      }),
      layer('198.51.0.0/16', { ...byHand, name: 'By Hand', contacts: ['abuse@hand.example'] }),
    ),
  ).toEqual({
    cidr: '198.51.0.0/16',
    asn: 64_500,
    name: 'By Hand',
    country: 'FR',
    abuse: 'abuse@hand.example',
    deskName: 'By Hand',
    contacts: ['abuse@hand.example'],
  })
})

test('of two overrides the longer block takes precedence', () => {
  expect(
    network(
      layer('198.51.0.0/16', { ...byHand, name: 'Wide', country: 'FR' }),
      layer('198.51.100.0/24', { ...byHand, name: 'Narrow' }),
    ),
  ).toMatchObject({ name: 'Narrow', country: 'FR' })
})

test('an overridden AS number excludes contacts of other AS, even of longer blocks', () => {
  expect(
    network(
      layer('198.51.0.0/16', { ...byHand, asn: 64_500 }),
      layer('198.51.100.0/24', { asn: 64_501, contacts: ['abuse@other.example'] }),
    ),
  ).toMatchObject({ asn: 64_500, abuse: null })
})

test('an override without a contact excludes every contact, and says so', () => {
  expect(
    network(
      layer('198.51.100.0/24', { contacts: ['abuse@imported.example'] }),
      layer('198.51.0.0/16', { ...byHand, isMuted: true }),
    ),
  ).toMatchObject({ abuse: null, contacts: [], isMuted: true, cidr: '198.51.0.0/16' })
})

test('a longer override may have a contact inside a silent one', () => {
  expect(
    network(
      layer('198.51.0.0/16', { ...byHand, isMuted: true }),
      layer('198.51.100.0/24', { ...byHand, contacts: ['abuse@hand.example'] }),
    ),
  ).toMatchObject({ abuse: 'abuse@hand.example' })
})

test('each field names the layer it came from', () => {
  const [whole, part] = [
    layer('198.51.0.0/16', { name: 'Whole', contacts: ['a@whole.example'] }),
    layer('198.51.100.0/24', { asn: 64_500 }),
  ]
  expect(mergeLayers([whole, part])?.from).toEqual({ asn: part, name: whole, contacts: whole })
})

const answer = { source: 'registry', name: 'Answer', contacts: ['abuse@answer.example'] }

test.for([
  ['of the same AS', 64_500, 64_500, true],
  ['of another AS', 64_501, 64_500, false],
  ['to a question of which no AS was known, where one is now', null, 64_500, false],
  ['of some AS, where none is known', 64_501, null, true],
  ['of no AS, where none is known', null, null, true],
] as const)('whether an answer of a registry %s counts', ([, asked, announced, counts]) => {
  for (const block of ['198.51.0.0/16', '198.51.100.0/24', '198.51.100.0/28']) {
    const merged = mergeLayers([
      layer(block, { ...answer, asn: asked }),
      layer('198.51.100.0/24', { asn: announced }),
    ])
    const cidr = counts ? block : '198.51.100.0/24'
    const said = counts ? { name: 'Answer', abuse: 'abuse@answer.example' } : { name: null }
    expect(merged?.network).toMatchObject({ cidr, asn: announced, ...said })
    expect(merged?.answer?.cidr).toBe(counts ? block : undefined)
    expect(merged?.foreign).toHaveLength(counts ? 0 : 1)
  }
})
