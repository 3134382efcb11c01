import { expect, test } from 'vitest'
import { createRdap } from '../../../src/net/rdap/rdap.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { entity, network, recordedAnswer } from '../../support/rdap-answers.ts'
import { openRdapPlace, type RdapPlaceOptions } from '../../support/rdap-client.ts'

const place = (options?: RdapPlaceOptions) => closeAfterThisTest(openRdapPlace(options))

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const desk = (address: string) => ({ entities: [entity('D', ['abuse'], [address])] })

test('the registry of an address is found and queried, and its answer parsed', async () => {
  const { server, rdap } = await place()
  server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  expect(await rdap.ask('192.0.2.7')).toEqual({
    is: 'found',
    network: {
      cidrs: ['192.0.2.0/24'],
      holdsFor: ['192.0.2.0/24'],
      name: 'EXAMPLE-ARIN',
      country: null,
      registry: '127.0.0.1',
    },
    contacts: ['network-abuse@arin-holder.example'],
  })
})

test('an answer is cached for the addresses of one AS, not for those of others', async () => {
  const { server, rdap } = await place()
  const wide = network('198.51.0.0', '198.51.255.255', desk('abuse@wide.example'))
  server.reply('ip/198.51.1.1', { body: wide })
  server.reply('ip/198.51.100.8', { body: wide })
  await rdap.ask('198.51.1.1', 64_500)
  await rdap.ask('198.51.1.2', 64_500)
  await rdap.ask('198.51.1.3')
  await rdap.ask('198.51.1.1', 64_501)
  expect(server.asked).toEqual(['ip/198.51.1.1'])
  await rdap.ask('198.51.100.8', 64_501)
  expect(server.asked).toEqual(['ip/198.51.1.1', 'ip/198.51.100.8'])
})

test.for([
  ['the whole address space', '0.0.0.0', '255.255.255.255', ['192.0.2.7/32']],
  ['a block given to a registry', '192.0.0.0', '192.255.255.255', ['192.0.0.0/16']],
  ['a network', '192.0.2.0', '192.0.2.255', ['192.0.2.0/24']],
] as const)(
  'no contact for %s is cached for no more than its own block',
  async ([, from, to, holdsFor]) => {
    const { server, rdap } = await place()
    server.reply('ip/192.0.2.7', { body: network(from, to) })
    expect(await rdap.ask('192.0.2.7')).toMatchObject({ is: 'none', network: { holdsFor } })
  },
)

test('other blocks of a contact are bounded too', async () => {
  const { server, rdap } = await place()
  const blocks = ['192.0.2.0/24', '0.0.0.0/1', '198.51.100.0/24'].map((cidr) => {
    const [v4prefix, length] = cidr.split('/')
    return { v4prefix, length: Number(length) }
  })
  const more = { ...desk('abuse@b.example'), cidr0_cidrs: blocks }
  server.reply('ip/192.0.2.7', { body: network('192.0.2.0', '192.0.2.255', more) })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({
    is: 'found',
    network: { holdsFor: ['192.0.2.0/24', '198.51.100.0/24'] },
  })
})

test('the longest block of the bootstrap file selects the registry', async () => {
  const { server, rdap } = await place({
    services: [
      [['192.0.0.0/8'], ['{base}wide']],
      [['192.0.2.0/24', '2001:db8::/32'], ['{base}narrow/']],
    ],
  })
  await rdap.ask('192.0.2.7')
  await rdap.ask('192.0.3.7')
  expect(server.asked).toEqual(['narrow/ip/192.0.2.7', 'wide/ip/192.0.3.7'])
  await rdap.ask('2001:db8::7')
  expect(server.asked.at(-1)).toBe('narrow/ip/2001:db8::7')
})

test('the bootstrap file is fetched once a day; the old one stays if that fails', async () => {
  const { server, rdap, pass } = await place()
  await rdap.ask('192.0.2.7')
  await rdap.ask('198.51.100.7')
  expect(server.bootstraps()).toBe(1)
  pass(DAY_MS)
  await rdap.ask('203.0.113.7')
  expect(server.bootstraps()).toBe(2)
  server.reply('bootstrap/ipv4.json', { body: 'in repair' })
  pass(DAY_MS)
  await rdap.ask('203.0.113.8')
  expect(server.bootstraps()).toBe(3)
  expect(server.asked.at(-1)).toBe('ip/203.0.113.8')
})

test.for([
  ['no registry is in charge of', '192.0.2.7', [[['198.51.100.0/24'], ['{base}']]]],
  ['is private', '10.0.0.7', undefined],
  ['is this very machine', '127.0.0.1', undefined],
  ['is none', 'nonsense', undefined],
] as const)('an address that %s is not queried', async ([, ip, services]) => {
  const { server, rdap } = await place({ services })
  expect(await rdap.ask(ip)).toMatchObject({ is: 'none' })
  expect(server.asked).toEqual([])
})

test('a negative answer of the registry holds for that address alone', async () => {
  const { rdap } = await place()
  expect(await rdap.ask('192.0.2.7')).toMatchObject({
    is: 'none',
    network: { cidrs: ['192.0.2.7/32'] },
  })
})

test('simultaneous queries about one network are one query', async () => {
  const { server, rdap } = await place()
  server.reply('ip/192.0.2.0', { body: network('192.0.2.0', '192.0.2.255', desk('a@b.example')) })
  const ips = Array.from({ length: 50 }, (_, host) => `192.0.2.${host}`)
  const answers = await Promise.all(ips.map((ip) => rdap.ask(ip)))
  expect(new Set(answers.map(({ is }) => is))).toEqual(new Set(['found']))
  expect(server.asked).toEqual(['ip/192.0.2.0'])
})

test('an answer is cached for ten minutes only', async () => {
  const { server, rdap, pass } = await place()
  server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  await rdap.ask('192.0.2.7')
  pass(9 * MINUTE_MS)
  await rdap.ask('192.0.2.7')
  expect(server.asked).toHaveLength(1)
  pass(2 * MINUTE_MS)
  await rdap.ask('192.0.2.7')
  expect(server.asked).toHaveLength(2)
})

test('a network without a contact gets that of the network around it', async () => {
  const { server, rdap } = await place()
  const up = (href: string) => ({ links: [{ rel: 'up', href }] })
  const [inner, middle] = [up('/rdap/ip/middle'), up(`${server.base}ip/outer`)]
  server.reply('ip/192.0.2.7', { body: network('192.0.2.0', '192.0.2.15', inner) })
  server.reply('ip/middle', { body: network('192.0.2.0', '192.0.2.255', middle) })
  const outer = network('192.0.0.0', '192.0.255.255', { name: 'O', ...desk('outer@b.example') })
  server.reply('ip/outer', { body: outer })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({
    is: 'found',
    network: { cidrs: ['192.0.2.0/28'], name: 'EXAMPLE-NET' },
    contacts: ['outer@b.example'],
  })
})

test.for([
  ['is a whole /8', '192.0.0.0', '192.255.255.255'],
  ['is no wider', '192.0.2.0', '192.0.2.255'],
  ['is elsewhere', '198.51.0.0', '198.51.255.255'],
] as const)('a surrounding network that %s gives no contact', async ([, first, last]) => {
  const { server, rdap } = await place()
  const up = { links: [{ rel: 'up', href: `${server.base}ip/up` }] }
  server.reply('ip/192.0.2.7', { body: network('192.0.2.0', '192.0.2.255', up) })
  server.reply('ip/up', { body: network(first, last, { ...desk('up@b.example'), ...up }) })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({ is: 'none' })
  expect(server.asked).toEqual(['ip/192.0.2.7', 'ip/up'])
})

test('two links to surrounding networks are followed, no more', async () => {
  const { server, rdap } = await place()
  for (const [path, last, next] of [
    ['192.0.2.7', '192.0.2.7', 'a'],
    ['a', '192.0.2.255', 'b'],
    ['b', '192.0.255.255', 'c'],
    ['c', '192.3.255.255', 'd'],
  ] as const) {
    const first =
      path === '192.0.2.7' ? path : last.replace('192.3', '192.0').replaceAll('255', '0')
    const links = [{ rel: 'up', href: `${server.base}ip/${next}` }]
    server.reply(`ip/${path}`, { body: network(first, last, { links }) })
  }
  const answer = await rdap.ask('192.0.2.7')
  expect(answer).toMatchObject({
    is: 'none',
    why: expect.stringMatching(/^No abuse contact/) as unknown,
  })
  expect(server.asked).toEqual(['ip/192.0.2.7', 'ip/a', 'ip/b'])
})

test('a block as wide as those of the registries themselves has no contact', async () => {
  const { server, rdap } = await place()
  server.reply('ip/192.0.2.7', { body: network('0.0.0.0', '255.255.255.255', desk('a@b.example')) })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({ is: 'none' })
})

test('a shortened entity is fetched once, by its own link or its handle', async () => {
  const notices = [{ title: 'x', type: 'object truncated due to excessive load' }]
  for (const links of [[{ rel: 'self', href: '/rdap/entity/D 1' }], []]) {
    const { server, rdap } = await place()
    const desk_ = { handle: 'D 1', roles: ['abuse'], links }
    const body = network('192.0.2.0', '192.0.2.255', { notices, entities: [desk_] })
    server.reply('ip/192.0.2.7', { body })
    server.reply('entity/D 1', { body: entity('D 1', [], ['whole@b.example']) })
    expect(await rdap.ask('192.0.2.7')).toMatchObject({ contacts: ['whole@b.example'] })
    expect(server.asked).toEqual(['ip/192.0.2.7', 'entity/D 1'])
  }
})

test('a remark counts only if nothing else has a contact', async () => {
  const { server, rdap } = await place()
  const remarks = [{ description: ["Abuse contact for '192.0.2.0/24' is 'remark@b.example'"] }]
  server.reply('ip/192.0.2.7', { body: network('192.0.2.0', '192.0.2.255', { remarks }) })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({ contacts: ['remark@b.example'] })
})

test('withheld contacts are reported', async () => {
  const { server, rdap } = await place()
  const redacted = [{ name: { description: 'Personal e-mail information' }, method: 'removal' }]
  const entities = [entity('D', ['abuse'], ['REDACTED FOR PRIVACY'])]
  const body = network('192.0.2.0', '192.0.2.255', { redacted, entities })
  server.reply('ip/192.0.2.7', { body })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({
    is: 'none',
    why:
      'No abuse contact is registered for 192.0.2.0/24 (EXAMPLE-NET). ' +
      'The registry withholds contacts.',
  })
})

test('a client without the test option queries public addresses only', () => {
  const world = { clock: () => new Date(0), fetch, wait: () => Promise.resolve() }
  const rdap = createRdap('https://data.iana.org/rdap', world)
  const asked = ['8.8.8.8', '2606:4700::1', '192.0.2.7', '2001:db8::1', '10.0.0.1', '127.0.0.1']
  expect(asked.filter((ip) => rdap.mayAsk(ip))).toEqual(['8.8.8.8', '2606:4700::1'])
})
