import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { reachOf } from '../../../src/net/rdap/get-json.ts'
import { createRdap } from '../../../src/net/rdap/rdap.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { network, recordedAnswer } from '../../support/rdap-answers.ts'
import { openRdapPlace, type RdapPlaceOptions } from '../../support/rdap-client.ts'
import type { RdapReply } from '../../support/rdap-server.ts'

const place = (options?: RdapPlaceOptions) => closeAfterThisTest(openRdapPlace(options))

async function answerTo(reply: RdapReply, options?: RdapPlaceOptions) {
  const made = await place(options)
  made.server.reply('ip/192.0.2.7', reply)
  return { ...made, answer: await made.rdap.ask('192.0.2.7') }
}

const json = { 'content-type': 'application/rdap+json' }

/** Sends spaces without end. */
function endless(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(200, json)
  const more = () => {
    while (!res.destroyed && res.write(' '.repeat(65_536)));
  }
  res.on('drain', more)
  more()
}

test.for<[string, RdapReply]>([
  ['a body without end', endless],
  ['a body that is too long', { body: `"${'x'.repeat(600_000)}"` }],
  ['a page for people', { headers: { 'content-type': 'text/html' }, body: '<html></html>' }],
  ['a page that calls itself JSON', { body: '<html></html>' }],
  ['no type', { headers: { 'content-type': '' }, body: {} }],
  ['nothing', { body: '' }],
  ['half an answer', { body: '{"objectClassName": "ip net' }],
  ['a list', { body: [] }],
  ['null', { body: 'null' }],
  ['an answer about another network', { body: network('198.51.100.0', '198.51.100.255') }],
  ['nesting without measure', { body: `${'['.repeat(250_000)}${']'.repeat(250_000)}` }],
  ['nothing but half a character', { body: '"\\ud800"' }],
  ['no content', { status: 204, body: '' }],
  ['a refusal of the question', { status: 400, body: {} }],
])('an answer that is %s is unusable, but does not count as silence', async (row) => {
  const { answer, now } = await answerTo(row[1])
  expect(answer).toMatchObject({ is: 'later' })
  const retryAt = answer.is === 'later' ? answer.retryAt.getTime() : 0
  expect(retryAt - now().getTime()).toBe(3_600_000)
})

test('entities nested ten thousand levels deep are an ordinary answer', async () => {
  const depth = 10_000
  const start = JSON.stringify(network('192.0.2.0', '192.0.2.255')).slice(0, -1)
  const body = `${start}${',"entities":[{"roles":[]'.repeat(depth)}${'}]'.repeat(depth)}}`
  expect((await answerTo({ body })).answer).toMatchObject({ is: 'none' })
})

test.for<[string, RdapReply, number]>([
  ['is too busy', { status: 429, headers: { 'retry-after': '300' }, body: {} }, 300],
  [
    'is in repair until an hour',
    { status: 503, headers: { 'retry-after': 'Fri, 20 Nov 2026 12:10:00 GMT' }, body: {} },
    600,
  ],
  ['is busy without saying how long', { status: 429, body: {} }, 30],
  ['has locked us out', { status: 403, body: {} }, 30],
  ['fails', { status: 500, body: {} }, 30],
  ['answers with a status that there is not', { status: 999, body: {} }, 30],
  ['hangs up', (_req, res) => res.destroy(), 30],
  [
    'hangs up in the middle',
    (_req, res) => res.writeHead(200, json).write('{', () => res.destroy()),
    30,
  ],
])('a registry that %s is not queried for a while', async ([, reply, seconds]) => {
  const { answer, server, rdap, now, pass } = await answerTo(reply)
  const retryAt = answer.is === 'later' ? answer.retryAt.getTime() : 0
  expect((retryAt - now().getTime()) / 1_000).toBe(seconds)
  expect(await rdap.ask('192.0.2.99')).toMatchObject({ is: 'later' })
  expect(server.asked).toHaveLength(1)
  pass(seconds * 1_000)
  server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({ is: 'found' })
})

test.for<[string, RdapReply]>([
  ['never begins', () => undefined],
  ['never ends', (_req, res) => void res.writeHead(200, json).write('{')],
])('an answer that %s is not waited for', async ([, reply]) => {
  const { answer } = await answerTo(reply, { timeoutMs: 100 })
  expect(answer).toMatchObject({ is: 'later' })
})

const moved = (location: string): RdapReply => ({ status: 302, headers: { location }, body: '' })

test('three redirects are followed, and no more', async () => {
  const { server, rdap } = await place()
  server.reply('ip/192.0.2.7', moved('/rdap/1'))
  server.reply('1', moved('2'))
  server.reply('2', moved(`${server.base}3`))
  server.reply('3', { body: recordedAnswer('arin') })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({ is: 'found' })
  server.reply('ip/198.51.100.7', moved('/rdap/loop'))
  server.reply('loop', moved('/rdap/loop'))
  expect(await rdap.ask('198.51.100.7')).toMatchObject({ is: 'later' })
  expect(server.asked.filter((path) => path === 'loop')).toHaveLength(3)
})

test.for([
  'http://registry.example/',
  'https://10.0.0.1/',
  'https://intranet/',
  'file:///etc/passwd',
  '',
])('a redirect to %j is not followed', async (location) => {
  const { answer, server } = await answerTo(moved(location))
  expect(answer).toMatchObject({ is: 'later' })
  expect(server.asked.length).toBeLessThanOrEqual(4)
})

test.for([
  ['https://rdap.arin.net/registry/', true],
  ['https://rdap.arin.net:443/', true],
  ['http://rdap.arin.net/', false],
  ['https://rdap.arin.net:8443/', false],
  ['https://user:secret@rdap.arin.net/', false],
  ['https://127.0.0.1/', false],
  ['https://2130706433/', false],
  ['https://[::1]/', false],
  ['https://[::ffff:10.0.0.1]/', false],
  ['https://10.0.0.1./', false],
  ['https://8.8.8.8/', false],
  ['https://localhost/', false],
  ['https://metadata.google.internal/', false],
  ['https://printer.local./', false],
  ['https://registry/', false],
  ['https://rdap.arin.net./', false],
  ['https://kubernetes.default.svc/', false],
  ['https://kubernetes.default.svc.cluster.local/', false],
  ['https://vault.service.consul/', false],
  ['https://a.private/', false],
  ['https://a.onion/', false],
  ['https://a.home.arpa/', false],
  ['https://co.uk/', false],
  ['https://rdap.example.co.uk/', true],
  ['ftp://rdap.arin.net/', false],
] as const)('without the test option, whether %s may be opened is %s', ([url, expected]) => {
  expect(reachOf('https://data.iana.org/rdap').mayOpen(new URL(url))).toBe(expected)
})

test('only a bootstrap file of this machine may name this machine', () => {
  const url = new URL('http://127.0.0.1:8080/rdap/')
  expect(reachOf('http://localhost:9000/').mayOpen(url)).toBe(true)
  expect(reachOf('http://localhost:9000/').mayOpen(new URL('http://10.0.0.1/'))).toBe(false)
})

test('internal machines named by a public bootstrap file are not called', async () => {
  const opened: string[] = []
  const services = [
    [['0.0.0.0/0'], ['http://127.0.0.1/', 'https://10.0.0.1/', 'https://intranet/']],
  ]
  const pretend: typeof fetch = (input) => {
    opened.push(String(input))
    return Promise.resolve(Response.json({ services }))
  }
  const world = { clock: () => new Date(0), fetch: pretend, wait: () => Promise.resolve() }
  const answer = await createRdap('https://data.iana.org/rdap', world).ask('8.8.8.8')
  expect(answer).toMatchObject({ is: 'later' })
  expect(opened).toEqual(['https://data.iana.org/rdap/ipv4.json'])
})

test.for([
  ['is no object', 'x'],
  ['is empty', []],
  ['holds noise', [null, 1, [], [[]], [['x'], ['y']], [[7], [{}]]]],
])('a list of services that %s is fetched again, not used', async ([, services]) => {
  const { rdap, server } = await place({ services })
  expect(await rdap.ask('192.0.2.7')).toMatchObject({ is: 'later' })
  expect(server.asked).toEqual([])
})
