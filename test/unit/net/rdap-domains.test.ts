import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { entity } from '../../support/rdap-answers.ts'
import { openRdapPlace, type RdapPlaceOptions } from '../../support/rdap-client.ts'

const place = (options?: RdapPlaceOptions) => closeAfterThisTest(openRdapPlace(options))

const registrar = (more: Record<string, unknown> = {}) => ({
  ...entity('292', ['registrar'], ['office@registrar.example'], {
    publicIds: [{ type: 'IANA Registrar ID', identifier: '292' }],
    entities: [entity('A', ['abuse'], ['abuse@registrar.example'])],
  }),
  vcardArray: [
    'vcard',
    [
      ['version', {}, 'text', '4.0'],
      ['fn', {}, 'text', 'Registrar Inc.'],
    ],
  ],
  ...more,
})
const domain = (more: Record<string, unknown> = {}) => ({
  objectClassName: 'domain',
  ldhName: 'EXAMPLE.COM',
  status: ['active'],
  events: [{ eventAction: 'registration', eventDate: '2026-11-18T23:30:00-05:00' }],
  nameservers: [{ ldhName: 'NS1.Host.example.' }, { ldhName: '<script>' }],
  entities: [registrar()],
  ...more,
})

test('the registry of a domain is found and queried, and its answer parsed', async () => {
  const { server, rdap } = await place()
  server.reply('domain/example.com', { body: domain() })
  const answer = {
    is: 'found',
    domain: {
      name: 'example.com',
      registrar: 'Registrar Inc.',
      ianaId: '292',
      registeredOn: '2026-11-19',
      nameServers: ['ns1.host.example'],
      isHeld: false,
      registry: '127.0.0.1',
    },
    contacts: ['abuse@registrar.example'],
  }
  expect(await rdap.askDomain('example.com')).toEqual(answer)
  expect(await rdap.askDomain('example.com')).toEqual(answer)
  expect(server.asked).toEqual(['domain/example.com'])
})

test.for([['client hold'], ['serverHold']])(
  'a domain with the status %s is held',
  async ([status]) => {
    const { server, rdap } = await place()
    server.reply('domain/example.com', { body: domain({ status: [status] }) })
    expect(await rdap.askDomain('example.com')).toMatchObject({ domain: { isHeld: true } })
  },
)

test('without a contact, the registrar is asked where the registry refers to it', async () => {
  const { server, rdap } = await place()
  const href = `${server.base}registrar/domain/example.com`
  const links = [{ rel: 'related', type: 'application/rdap+json', href }]
  server.reply('domain/example.com', { body: domain({ entities: [], links }) })
  server.reply('registrar/domain/example.com', { body: domain() })
  expect(await rdap.askDomain('example.com')).toMatchObject({
    contacts: ['abuse@registrar.example'],
  })
})

test('the longest domain of the bootstrap file selects the registry', async () => {
  const services = [
    [['uk'], ['{base}']],
    [['co.uk'], ['{base}co/']],
  ]
  const { server, rdap } = await place({ services })
  await rdap.askDomain('example.co.uk')
  expect(server.asked).toEqual(['co/domain/example.co.uk'])
})

test('an unregistered domain is absent, and a registry without RDAP silent', async () => {
  const { rdap } = await place()
  expect(await rdap.askDomain('example.net')).toMatchObject({ is: 'absent' })
  expect(await rdap.askDomain('example.org')).toMatchObject({ is: 'silent' })
})

test.for([
  ['login.example.com'],
  ['co.uk'],
  ['com'],
  ['192.0.2.1'],
  ['Example.com'],
  ['a/../b.com'],
])('nobody is asked about %s', async ([name = '']) => {
  const { server, rdap } = await place()
  expect(await rdap.askDomain(name)).toMatchObject({ is: 'silent' })
  expect(server.asked).toEqual([])
})

test('an answer about another domain, or a busy registry, is asked again later', async () => {
  const { server, rdap } = await place()
  server.reply('domain/example.com', { body: domain({ ldhName: 'other.com' }) })
  expect(await rdap.askDomain('example.com')).toMatchObject({ is: 'later' })
  server.reply('domain/example.net', { status: 429, headers: { 'retry-after': '60' }, body: {} })
  expect(await rdap.askDomain('example.net')).toMatchObject({
    is: 'later',
    retryAt: new Date('2026-11-20T12:01:00Z'),
  })
})
