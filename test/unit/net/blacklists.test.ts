import { beforeEach, expect, test, vi } from 'vitest'
import type { BlacklistZone } from '../../../src/mail/dnsbl.ts'
import { isRoutable } from '../../../src/mail/ip.ts'
import { createBlacklists, type Blacklists } from '../../../src/net/blacklists.ts'
import type { DnsAnswer } from '../../../src/world.ts'

const answers = [{ match: 'any', category: 'spam', meaning: 'Sends spam.' }] as const
const hosts: BlacklistZone = { zone: 'hosts.example', lists: 'addresses', answers }
const sites: BlacklistZone = { zone: 'sites.example', lists: 'domains', answers }

const start = new Date('2026-11-20T12:00:00Z')
const tenMinutes = 10 * 60_000
let now: Date
let dns: Map<string, DnsAnswer>
let asked: string[]
let logged: string[]

const listed: DnsAnswer = { is: 'found', records: ['127.0.0.2'] }
const down: DnsAnswer = { is: 'unknown', why: 'The name server failed (SERVFAIL).' }
const mapped = '0.0.0.f.7.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0'

beforeEach(() => {
  now = start
  asked = []
  logged = []
  dns = new Map([
    ['2.0.0.127.hosts.example', listed],
    [`2.0.0.${mapped}.hosts.example`, listed],
    ['test.sites.example', listed],
    ['7.2.0.192.hosts.example', listed],
    ['shop.example.sites.example', listed],
  ])
})

const log = {
  info: (_fields: object, words: string) => void logged.push(words),
  warn: (_fields: object, words: string) => void logged.push(words),
}

function open(zones: readonly BlacklistZone[], more = {}): Blacklists {
  return createBlacklists({
    zones,
    clock: () => now,
    isAskable: isRoutable,
    log: log as never,
    resolve: (name) => {
      asked.push(name)
      return Promise.resolve(dns.get(name) ?? { is: 'none' })
    },
    ...more,
  })
}

const ask = (lists: Blacklists, ...addresses: string[]) => lists.ask({ addresses, domains: [] })
const both = { addresses: ['192.0.2.7'], domains: ['www.shop.example'] }

test('each zone is queried for what it lists', async () => {
  const lists = open([hosts, sites])
  expect(await lists.listings(both)).toEqual([
    {
      zone: 'hosts.example',
      subject: '192.0.2.7',
      codes: ['127.0.0.2'],
      category: 'spam',
      meaning: 'Sends spam.',
    },
    expect.objectContaining({ zone: 'sites.example', subject: 'www.shop.example' }),
  ])
  expect(lists.states()).toMatchObject([
    { zone: 'hosts.example', state: 'on', hasIpv6: true, questions: 1, listed: 1, unknown: 0 },
    { zone: 'sites.example', state: 'on', hasIpv6: false, questions: 1, listed: 1, unknown: 0 },
  ])
})

test('without anything to query, no query and no test is made', async () => {
  expect(await open([hosts]).listings({ addresses: [], domains: ['shop.example'] })).toEqual([])
  expect(await open([]).listings(both)).toEqual([])
  expect(asked).toEqual([])
})

test('private and loopback addresses and names are never queried', async () => {
  const addresses = ['10.1.2.3', '127.0.0.1', '::1', 'fe80::1', '0.0.0.0', 'no address']
  const domains = ['printer.local', 'db.internal', 'x.onion', 'mail.invalid', 'localhost']
  expect(await open([hosts, sites]).ask({ addresses, domains })).toEqual([])
  expect(asked).toEqual([])
})

test('documentation addresses are queried only if the caller says so', async () => {
  const strict = createBlacklists({ zones: [hosts], clock: () => now, resolve: () => fail() })
  expect(await ask(strict, '192.0.2.7', '2001:db8::25')).toEqual([])
})

function fail(): never {
  throw new Error('Nobody may be asked.')
}

test('an address in two spellings, or two hosts of a domain, are queried once', async () => {
  const lists = open([hosts, sites])
  await lists.test()
  asked = []
  const found = await lists.ask({
    addresses: ['192.0.2.7', '::ffff:192.0.2.7', '[192.0.2.7]'],
    domains: ['www.shop.example', 'SHOP.example.', 'img.shop.example'],
  })
  expect(found.map(({ subject }) => subject)).toEqual(['192.0.2.7', 'www.shop.example'])
  expect(asked).toEqual(['7.2.0.192.hosts.example', 'shop.example.sites.example'])
})

test('at most ten addresses and ten domains of a message are queried', async () => {
  const lists = open([hosts, sites])
  await lists.test()
  asked = []
  const many = Array.from({ length: 50 }, (_, n) => n)
  await lists.ask({
    addresses: many.map((n) => `192.0.2.${n}`),
    domains: many.map((n) => `d${n}.example`),
  })
  expect(asked).toHaveLength(20)
})

test('a zone without IPv6 entries is queried for IPv4 only', async () => {
  dns.delete(`2.0.0.${mapped}.hosts.example`)
  const lists = open([hosts])
  expect(await ask(lists, '2001:db8::25', '192.0.2.8')).toEqual([
    {
      zone: 'hosts.example',
      subject: '2001:db8::25',
      is: 'unknown',
      why: 'The list has no IPv6 entries.',
    },
    { zone: 'hosts.example', subject: '192.0.2.8', is: 'clean' },
  ])
  expect(lists.states()).toMatchObject([{ state: 'on', hasIpv6: false }])
})

test('a zone that lists the whole of IPv6 is queried for IPv4 only', async () => {
  dns.set(`1.0.0.${mapped}.hosts.example`, listed)
  const lists = open([hosts])
  expect(await lists.test()).toMatchObject([{ state: 'on', hasIpv6: false }])
})

test.for([
  [
    'does not list 127.0.0.2',
    '2.0.0.127.hosts.example',
    undefined,
    /does not contain.*127\.0\.0\.2/,
  ],
  [
    'lists 127.0.0.1',
    '1.0.0.127.hosts.example',
    listed,
    /contains 127\.0\.0\.1, which no list may/,
  ],
  ['cannot be asked', '2.0.0.127.hosts.example', down, /SERVFAIL/],
  [
    'refuses us',
    '2.0.0.127.hosts.example',
    { is: 'found', records: ['127.255.255.254'] },
    /refuses our queries/,
  ],
  [
    'is parked',
    '1.0.0.127.hosts.example',
    { is: 'found', records: ['198.51.100.1'] },
    /not a valid list answer/,
  ],
] as const)('a zone that %s is switched off', async ([, name, answer, why]) => {
  if (answer) dns.set(name, answer)
  else dns.delete(name)
  const lists = open([hosts])
  expect(await lists.listings(both)).toEqual([])
  const reason = expect.stringMatching(why) as string
  expect(await ask(lists, '192.0.2.7')).toMatchObject([{ is: 'unknown', why: reason }])
  expect(lists.states()).toMatchObject([{ state: 'off', reason, questions: 0 }])
  expect(logged).toEqual(['Switched a blacklist off.'])
})

test.for([
  ['does not list TEST', 'test.sites.example', undefined],
  ['lists INVALID', 'invalid.sites.example', listed],
] as const)('a zone of domains that %s is switched off', async ([, name, answer]) => {
  if (answer) dns.set(name, answer)
  else dns.delete(name)
  expect(await open([sites]).test()).toMatchObject([{ state: 'off' }])
})

test('a zone that was off is tested again after ten minutes, and then answers', async () => {
  dns.delete('2.0.0.127.hosts.example')
  const lists = open([hosts])
  await lists.test()
  dns.set('2.0.0.127.hosts.example', listed)
  now = new Date(start.getTime() + tenMinutes - 1)
  await ask(lists, '192.0.2.7')
  expect(lists.states()).toMatchObject([{ state: 'off' }])
  now = new Date(start.getTime() + tenMinutes)
  expect(await Promise.all([ask(lists, '192.0.2.7'), ask(lists, '192.0.2.7')])).toMatchObject([
    [{ is: 'listed' }],
    [{ is: 'listed' }],
  ])
  expect(logged).toEqual(['Switched a blacklist off.', 'Switched a blacklist on again.'])
})

test('a zone that fails is switched off within an hour', async () => {
  const lists = open([hosts])
  await lists.test()
  dns.set('1.0.0.127.hosts.example', listed)
  now = new Date(start.getTime() + 59 * 60_000)
  expect(await ask(lists, '192.0.2.7')).toMatchObject([{ is: 'listed' }])
  now = new Date(start.getTime() + 60 * 60_000)
  // The test runs in the background, so the first caller still gets the previous answer.
  expect(await ask(lists, '192.0.2.7')).toMatchObject([{ is: 'listed' }])
  await expect.poll(() => lists.states()).toMatchObject([{ state: 'off' }])
  expect(await ask(lists, '192.0.2.7')).toMatchObject([{ is: 'unknown' }])
})

test('a zone that was only silent is tested again after two minutes', async () => {
  dns.set('2.0.0.127.hosts.example', down)
  const lists = open([hosts])
  await ask(lists, '192.0.2.7')
  dns.set('2.0.0.127.hosts.example', listed)
  now = new Date(start.getTime() + 2 * 60_000)
  await ask(lists, '192.0.2.7')
  await expect.poll(() => lists.states()).toMatchObject([{ state: 'on' }])
})

test('a zone that stays off is logged once', async () => {
  dns.delete('2.0.0.127.hosts.example')
  const lists = open([hosts])
  await lists.test()
  await lists.test()
  expect(logged).toEqual(['Switched a blacklist off.'])
})

test('an unanswered query is unknown; five in a row switch the zone off', async () => {
  const lists = open([hosts])
  await lists.test()
  const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5']
  for (const one of addresses) dns.set(`${one.split('.').reverse().join('.')}.hosts.example`, down)
  for (const one of addresses.slice(0, 4)) {
    expect(await ask(lists, one)).toMatchObject([{ is: 'unknown' }])
  }
  expect(lists.states()).toMatchObject([{ state: 'on', unknown: 4 }])
  await ask(lists, '192.0.2.8')
  await Promise.all(addresses.slice(0, 4).map((one) => ask(lists, one)))
  expect(lists.states()).toMatchObject([{ state: 'on', unknown: 8 }])
  await ask(lists, '192.0.2.5')
  expect(lists.states()).toMatchObject([{ state: 'off', unknown: 9 }])
  expect(await ask(lists, '192.0.2.7')).toMatchObject([{ is: 'unknown' }])
})

test('a zone that begins to refuse us is switched off, without a listing', async () => {
  const lists = open([hosts])
  await lists.test()
  dns.set('8.2.0.192.hosts.example', { is: 'found', records: ['127.255.255.255'] })
  expect(await lists.listings({ addresses: ['192.0.2.8'], domains: [] })).toEqual([])
  expect(await ask(lists, '192.0.2.7')).toMatchObject([{ is: 'unknown' }])
  expect(logged).toEqual(['Switched a blacklist off.'])
})

test('a silent zone delays no caller for more than three seconds', async () => {
  const lists = open([hosts, sites], {
    resolve: (name: string) =>
      name.endsWith('hosts.example')
        ? new Promise(() => undefined)
        : Promise.resolve(dns.get(name) ?? { is: 'none' }),
  })
  vi.useFakeTimers()
  const asking = lists.ask(both)
  await vi.advanceTimersByTimeAsync(3_000)
  vi.useRealTimers()
  const late = 'The answer took too long.'
  expect(await asking).toMatchObject([
    { zone: 'hosts.example', is: 'unknown', why: late },
    { zone: 'sites.example', is: 'listed' },
  ])
})
