import { expect, test } from 'vitest'
import {
  addressQuestion,
  type BlacklistZone,
  domainQuestion,
  knownZones,
  readZoneAnswer,
  testEntries,
} from '../../../src/mail/dnsbl.ts'
import { parseIp } from '../../../src/mail/ip.ts'

const zone: BlacklistZone = {
  zone: 'bl.example',
  lists: 'both',
  refusals: ['127.0.0.255'],
  answers: [
    { match: '127.0.0.4', category: 'compromised', meaning: 'Taken over.' },
    { match: '127.0.0.5', category: 'compromised', meaning: 'Taken over.' },
    { match: '127.0.1.*', category: 'dynamic', meaning: 'Changes hands.' },
  ],
}
const masked: BlacklistZone = {
  zone: 'multi.example',
  lists: 'domains',
  answers: [
    { match: 8, category: 'phishing', meaning: 'Phishing.' },
    { match: 16, category: 'malware', meaning: 'Malware.' },
  ],
}

function known(name: string): BlacklistZone {
  const found = knownZones.find((one) => one.zone === name)
  if (!found) throw new Error(`There is no ${name}.`)
  return found
}

function questionFor(text: string): string {
  const address = parseIp(text)
  if (!address) throw new Error(`${text} is no address.`)
  return addressQuestion('bl.example', address)
}

// The examples are from RFC 5782 §2.1 and §2.4.
test.for([
  ['192.0.2.99', '99.2.0.192.bl.example'],
  ['::ffff:192.0.2.99', '99.2.0.192.bl.example'],
  [
    '2001:db8:1:2:3:4:567:89ab',
    'b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2.bl.example',
  ],
] as const)('the query name of %s is %s', ([address, name]) => {
  expect(questionFor(address)).toBe(name)
})

test.for([
  ['its registered domain', 'www.shop.example.co.uk', false, 'example.co.uk.bl.example'],
  ['the whole name', 'WWW.Shop.Example.co.uk.', true, 'www.shop.example.co.uk.bl.example'],
  ['nothing, when it is a single label', 'localhost', false, undefined],
  ['nothing, when it is an address', '192.0.2.7', true, undefined],
  ['nothing, when it is a public suffix', 'co.uk', true, undefined],
  ['nothing, when it would be too long', `${'a.'.repeat(120)}example.com`, true, undefined],
] as const)('the queried part of a domain is %s', ([, domain, takesWholeNames, name]) => {
  expect(domainQuestion({ zone: 'bl.example', takesWholeNames }, domain)).toBe(name)
})

test('codes with the same meaning are one listing, in order', () => {
  const reading = readZoneAnswer(zone, '192.0.2.7', ['127.0.0.5', '127.0.1.9', '127.0.0.4'])
  const at = { zone: 'bl.example', subject: '192.0.2.7' }
  const listings = [
    { ...at, codes: ['127.0.0.4', '127.0.0.5'], category: 'compromised', meaning: 'Taken over.' },
    { ...at, codes: ['127.0.1.9'], category: 'dynamic', meaning: 'Changes hands.' },
  ]
  expect(reading).toEqual({ is: 'listed', listings })
})

test('every bit of a mask is a separate listing', () => {
  const reading = readZoneAnswer(masked, 'shop.example', ['127.0.0.24'])
  expect(reading).toMatchObject({
    listings: [{ category: 'phishing' }, { category: 'malware' }],
  })
})

test('a code without a known meaning is a listing of category other', () => {
  expect(readZoneAnswer(zone, '192.0.2.7', ['127.0.0.77'])).toMatchObject({
    listings: [{ category: 'other', codes: ['127.0.0.77'] }],
  })
})

test.for([
  ['no record', []],
  ['127.0.0.1', ['127.0.0.1']],
] as const)('%s is no listing', ([, records]) => {
  expect(readZoneAnswer(zone, '192.0.2.7', records)).toEqual({ is: 'clean' })
})

test.for([
  ['an error code', ['127.255.255.254']],
  ['an error code beside a listing', ['127.0.0.4', '127.255.255.255']],
  ['the refusal of this zone', ['127.0.0.255']],
  ['an address of the Internet, from a parked domain', ['192.0.2.1']],
] as const)('%s is no listing: the zone refuses our queries', ([, records]) => {
  expect(readZoneAnswer(zone, '192.0.2.7', records).is).toBe('refused')
})

test('the test entries are those of RFC 5782 §5', () => {
  const nibbles = '0.0.0.f.7.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.bl.example'
  expect(testEntries(zone)).toEqual({
    ipv4: {
      listed: { name: '2.0.0.127.bl.example', shown: '127.0.0.2' },
      unlisted: { name: '1.0.0.127.bl.example', shown: '127.0.0.1' },
    },
    ipv6: {
      listed: { name: `2.0.0.${nibbles}`, shown: '::ffff:7f00:2' },
      unlisted: { name: `1.0.0.${nibbles}`, shown: '::ffff:7f00:1' },
    },
    domains: {
      listed: { name: 'test.bl.example', shown: 'test' },
      unlisted: { name: 'invalid.bl.example', shown: 'invalid' },
    },
  })
  expect(Object.keys(testEntries({ ...zone, lists: 'addresses' }))).toEqual(['ipv4', 'ipv6'])
  expect(Object.keys(testEntries({ ...zone, lists: 'domains' }))).toEqual(['domains'])
})

test.for([
  ['zen.spamhaus.org', '127.0.0.2', 'spam'],
  ['zen.spamhaus.org', '127.0.0.4', 'compromised'],
  ['zen.spamhaus.org', '127.0.0.11', 'dynamic'],
  ['dbl.spamhaus.org', '127.0.1.4', 'phishing'],
  ['dbl.spamhaus.org', '127.0.1.102', 'compromised'],
  ['multi.surbl.org', '127.0.0.64', 'spam'],
  ['multi.uribl.com', '127.0.0.2', 'spam'],
  ['bl.spamcop.net', '127.0.0.2', 'spam'],
  ['list.dnswl.org', '127.0.15.0', 'other'],
  ['list.dnswl.org', '127.0.5.3', 'welcome'],
] as const)('%s means %s: %s', ([name, code, category]) => {
  const reading = readZoneAnswer(known(name), 'whoever', [code])
  expect(reading).toMatchObject({ is: 'listed', listings: [{ category }] })
})

test.for([
  ['dbl.spamhaus.org', '127.0.1.255'],
  ['multi.surbl.org', '127.0.0.1'],
  ['multi.uribl.com', '127.0.0.1'],
  ['list.dnswl.org', '127.0.0.255'],
] as const)('%s refuses our queries with %s', ([name, code]) => {
  expect(readZoneAnswer(known(name), 'whoever', [code]).is).toBe('refused')
})

test('each known zone is listed once, in lower case, and its meanings are sentences', () => {
  const names = knownZones.map((one) => one.zone)
  expect(new Set(names).size).toBe(names.length)
  expect(names).toEqual(names.map((name) => name.toLowerCase()))
  const meanings = knownZones.flatMap(({ answers }) => answers.map(({ meaning }) => meaning))
  expect(meanings.filter((meaning) => !/^[A-Z].*\.$/.test(meaning))).toEqual([])
})
