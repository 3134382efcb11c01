import { expect, test } from 'vitest'
import { parseIp } from '../../../src/mail/ip.ts'
import { mailAddress, mailAddressesIn } from '../../../src/net/rdap/contacts.ts'
import { readNetwork } from '../../../src/net/rdap/registry-answer.ts'
import { entity, network, recordedAnswer } from '../../support/rdap-answers.ts'
import { expectEffort } from '../../support/effort.ts'

function read(json: unknown, ip = '192.0.2.7') {
  const address = parseIp(ip)
  if (!address) throw new Error(`${ip} is no address.`)
  return readNetwork(json, address)
}

function contactsOf(...entities: unknown[]) {
  return read(network('192.0.2.0', '192.0.2.255', { entities }))?.contacts
}

function deskWith(...properties: unknown[]) {
  const vcardArray = ['vcard', properties]
  return { objectClassName: 'entity', handle: 'D1', roles: ['abuse'], vcardArray }
}

test.for([
  [
    'arin',
    '192.0.2.7',
    ['192.0.2.0/24', 'EXAMPLE-ARIN', null, 'network-abuse@arin-holder.example'],
  ],
  ['ripe', '198.51.100.7', ['198.51.100.0/25', 'EXAMPLE-RIPE', 'NL', 'Abuse@ripe-holder.example']],
  [
    'apnic',
    '2001:db8:1ff::1',
    [
      '2001:db8:100:0:0:0:0:0/40',
      'EXAMPLE-APNIC',
      'AU',
      'abuse@apnic-holder.example helpdesk@apnic-holder.example',
    ],
  ],
  [
    'lacnic',
    '203.0.113.255',
    ['203.0.113.0/24', 'Ejemplo Lacnic S.A.', 'BR', 'abuso@lacnic-holder.example'],
  ],
  [
    'afrinic',
    '198.51.100.129',
    [
      '198.51.100.128/25',
      'EXAMPLE-AFRINIC',
      'ZA',
      'abuse@afrinic-holder.example csirt@afrinic-holder.example',
    ],
  ],
] as const)('an answer in the format of %s is parsed', ([registry, ip, expected]) => {
  const found = read(recordedAnswer(registry), ip)
  const told = found && [found.cidrs.join(' '), found.name, found.country, found.contacts.join(' ')]
  expect(told).toEqual(expected)
})

test('the range is taken from its ends if the blocks are missing', () => {
  expect(read(network('192.0.2.0', '192.0.3.127'))?.cidrs).toEqual(['192.0.2.0/24', '192.0.3.0/25'])
  expect(read(network('2001:db8::/128', '2001:db8::ffff/128'), '2001:db8::9')?.own).toMatch(
    /\/112$/,
  )
})

test.for([
  ['a network that the address is not in', network('198.51.100.0', '198.51.100.255')],
  ['a network of the other family', network('2001:db8::', '2001:db8::ffff')],
  ['a range that ends before it begins', network('192.0.2.255', '192.0.2.0')],
  ['a network without ends', { objectClassName: 'ip network' }],
  [
    'something that is no network',
    { ...network('192.0.2.0', '192.0.2.255'), objectClassName: 'x' },
  ],
  ['a list', [network('192.0.2.0', '192.0.2.255')]],
  ['a text', 'ip network'],
  ['null', null],
] as const)('%s is not accepted', ([, json]) => {
  expect(read(json)).toBeUndefined()
})

test('a range of very many blocks is reduced to the one with the address', () => {
  const cidrs = Array.from({ length: 100 }, (_, n) => ({
    v4prefix: `192.0.2.${n * 2}`,
    length: 32,
  }))
  const found = read({ ...network('192.0.2.0', '192.0.2.255'), cidr0_cidrs: cidrs }, '192.0.2.6')
  expect(found?.cidrs).toEqual(['192.0.2.6/32'])
})

test.for([
  ['fr', 'FR'],
  ['EU', 'EU'],
  ['AP', null],
  ['ZZ', null],
  ['FRA', null],
  ['', null],
  [33, null],
] as const)('the country %j is parsed as %j', ([country, expected]) => {
  expect(read(network('192.0.2.0', '192.0.2.255', { country }))?.country).toBe(expected)
})

test('the abuse contact nearest to the network comes first, however deep the others are', () => {
  const deep = entity('A', ['registrant'], [], {
    entities: [
      entity('B', ['technical'], [], { entities: [entity('C', ['abuse'], ['far@b.example'])] }),
      entity('D', ['abuse'], ['middle@b.example']),
    ],
  })
  expect(contactsOf(deep, entity('E', ['abuse'], ['near@b.example']))).toEqual([
    'near@b.example',
    'middle@b.example',
    'far@b.example',
  ])
})

test('technical contacts are never used, whatever their names are', () => {
  const roles = ['technical', 'noc', 'registrant', 'administrative']
  expect(contactsOf(entity('T', roles, ['abuse@b.example']))).toEqual([])
})

test('each address counts once, and at most five are kept', () => {
  const addresses = ['a@b.example', 'A@B.example', ...'cdefg'].map((one) =>
    one.includes('@') ? one : `${one}@b.example`,
  )
  expect(contactsOf(entity('D', ['abuse'], addresses))).toEqual(
    ['a', 'c', 'd', 'e', 'f'].map((one) => `${one}@b.example`),
  )
})

test.for<[string, unknown[][], string]>([
  [
    'two properties',
    [
      ['email', {}, 'text', 'a@b.example'],
      ['email', {}, 'text', 'c@b.example'],
    ],
    'a c',
  ],
  ['several values', [['email', {}, 'text', 'a@b.example', 'c@b.example']], 'a c'],
  ['a value that is a list', [['email', {}, 'text', ['a@b.example', 'c@b.example']]], 'a c'],
  ['a value with a comma', [['email', {}, 'text', 'a@b.example, c@b.example']], 'a c'],
  [
    'preferences, as text or number',
    [
      ['email', {}, 'text', 'z@b.example'],
      ['email', { pref: '2' }, 'text', 'c@b.example'],
      ['email', { pref: 1 }, 'text', 'a@b.example'],
    ],
    'a c z',
  ],
  [
    'the preference of older cards',
    [
      ['email', {}, 'text', 'c@b.example'],
      ['EMAIL', { type: ['work', 'PREF'] }, 'text', 'a@b.example'],
    ],
    'a c',
  ],
  ['a link', [['email', {}, 'uri', 'mailto:a@b.example']], 'a'],
  ['a name before it', [['email', {}, 'text', 'Abuse Desk <a@b.example>']], 'a'],
  ['nothing', [['email', {}, 'text', '']], ''],
  ['no text', [['email', {}, 'text', { a: 1 }], ['email'], [], [null, 1]], ''],
  ['a redaction', [['email', {}, 'text', 'REDACTED FOR PRIVACY']], ''],
])('a card with %s is parsed', ([, properties, expected]) => {
  const found = contactsOf(deskWith(...properties)) ?? []
  expect(found.map((address) => address.split('@')[0]).join(' ')).toBe(expected)
})

const uri = (value: unknown, parameters: object = {}) => ['contact-uri', parameters, 'uri', value]

test.for<[string, unknown[][], string]>([
  ['a link to mail', [uri('mailto:abuse@a.example')], 'abuse@a.example'],
  ['capital letters', [['CONTACT-URI', {}, 'uri', 'MAILTO:abuse@A.example']], 'abuse@a.example'],
  ['a subject', [uri('mailto:abuse@a.example?subject=Report')], 'abuse@a.example'],
  ['escapes', [uri('mailto:abuse%2Bip@a.example')], 'abuse+ip@a.example'],
  ['two recipients', [uri('mailto:a@a.example,b@b.example')], 'a@a.example b@b.example'],
  ['recipients as a field', [uri('mailto:?To=a@a.example&cc=b@b.example')], 'a@a.example'],
  [
    'the preferred one',
    [uri('mailto:b@b.example'), uri('mailto:a@a.example', { pref: '1' })],
    'a@a.example b@b.example',
  ],
  [
    'a web form and mail',
    [uri('https://a.example/form'), uri('mailto:a@a.example')],
    'a@a.example',
  ],
  [
    'mail before it',
    [uri('mailto:b@b.example'), ['email', {}, 'text', 'a@a.example']],
    'a@a.example b@b.example',
  ],
  ['a web form', [uri('https://a.example/abuse@a.example')], ''],
  ['a broken line', [uri('mailto:a@a.example%0D%0ABcc:b@b.example')], ''],
  ['an address that is no link', [uri('abuse@a.example')], ''],
  ['something else', [uri(7), uri(null), uri({})], ''],
])('contact-uri with %s', ([, properties, expected]) => {
  expect(contactsOf(deskWith(...properties))?.join(' ')).toBe(expected)
})

test.for(['text', 7, null, {}, ['vcard'], ['vcard', 'x'], ['vcard', [null, 'x', { a: 1 }]]])(
  'a card that is %j is skipped',
  (vcardArray) => {
    expect(contactsOf({ roles: ['abuse'], vcardArray })).toEqual([])
  },
)

test.for([
  ['Abuse@Desk.EXAMPLE', 'Abuse@desk.example'],
  ['a.b+c@desk.example', 'a.b+c@desk.example'],
  ['abuse@bücher.example', 'abuse@xn--bcher-kva.example'],
  ['abuse@desk', undefined],
  ['abuse@[192.0.2.7]', undefined],
  ['abuse@192.0.2.7', undefined],
  ['ab..use@desk.example', undefined],
  ['.abuse@desk.example', undefined],
  ['"a b"@desk.example', undefined],
  ['abuse@desk.example\r\nBcc: x@y.example', undefined],
  [`${'a'.repeat(65)}@desk.example`, undefined],
  ['hostmaster@ripe.net', undefined],
  ['helpdesk@mail.apnic.net', undefined],
  ['abuse@notripe.net', 'abuse@notripe.net'],
] as const)('%j is parsed as %j', ([text, expected]) => {
  expect(mailAddress(text)).toBe(expected)
})

test('addresses inside a sentence are found', () => {
  expect(mailAddressesIn("Abuse contact for '192.0.2.0' is 'abuse@desk.example'.")).toEqual([
    'abuse@desk.example',
  ])
})

const remark = (...description: string[]) => ({ remarks: [{ title: 'remarks', description }] })

test.for([
  ["Abuse contact for '192.0.2.0 - 192.0.2.255' is 'abuse@desk.example'", 'abuse@desk.example'],
  ['Please send abuse reports to security@desk.example', 'security@desk.example'],
  ['abuse@desk.example', 'abuse@desk.example'],
  ['For sales write to sales@desk.example', undefined],
  ['Peering: noc@desk.example', undefined],
] as const)('the remark %j contains %j', ([line, expected]) => {
  expect(read(network('192.0.2.0', '192.0.2.255', remark(line)))?.remarked).toBe(expected)
})

test('remarks with two addresses give none', () => {
  const lines = ['Send abuse reports to a@desk.example', 'or send abuse reports to b@desk.example']
  expect(read(network('192.0.2.0', '192.0.2.255', remark(...lines)))?.remarked).toBeUndefined()
})

test('a partial contact is queried separately; a complete one is not', () => {
  const cut = { remarks: [{ type: 'object truncated due to excessive load', description: ['x'] }] }
  const links = [{ rel: 'self', href: 'https://rdap.example/entity/D1' }]
  const answer = (desk: unknown) =>
    read(network('192.0.2.0', '192.0.2.255', { entities: [desk] }))?.cutEntity
  expect(answer({ ...deskWith(), ...cut, links })).toEqual({ handle: 'D1', href: links[0]?.href })
  expect(answer({ handle: 'D1', roles: ['abuse'] })).toEqual({ handle: 'D1', href: undefined })
  expect(answer(entity('D1', ['abuse'], ['a@b.example']))).toBeUndefined()
  expect(answer({ handle: 'half \ud800', roles: ['abuse'] })).toBeUndefined()
})

test('an entity nested ten thousand deep, or one of a hundred thousand, is cheap', async () => {
  let nested = entity('N', ['abuse'], ['deep@b.example'])
  for (let depth = 0; depth < 10_000; depth++) nested = { roles: [], entities: [nested] }
  expect(await expectEffort(() => contactsOf(nested), 200)).toEqual([])
  const many = Array.from({ length: 100_000 }, () => ({ roles: ['technical'] }))
  expect(await expectEffort(() => contactsOf(...many), 200)).toEqual([])
  const words = 'abuse '.repeat(20_000)
  const remarked = network('192.0.2.0', '192.0.2.255', remark(words, words))
  expect((await expectEffort(() => read(remarked), 200))?.remarked).toBeUndefined()
})

test.for(['a@b.example\r\nBcc: c@d.example', 'a@b.example\nc@d.example', 'a@b.example\u0000'])(
  'an address with control characters is invalid: %j',
  (address) => {
    const entities = [entity('D', ['abuse'], [address])]
    expect(read(network('192.0.2.0', '192.0.2.255', { entities }))?.contacts).toEqual([])
  },
)
