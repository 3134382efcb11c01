import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createOneClick, type OneClickOptions } from '../../../src/net/one-click.ts'
import { phrase } from '../../../src/phrase.ts'
import type { DnsAnswer, Resolve } from '../../../src/world.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { startHttpsSite } from '../../support/https-site.ts'

const url = 'https://news.example.org/off?who=42#top'
const found = (...records: string[]): DnsAnswer => ({ is: 'found', records })
const none: DnsAnswer = { is: 'none' }

function answers(a: DnsAnswer, aaaa: DnsAnswer = none): { resolve: Resolve; asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    resolve: (name, type) => {
      asked.push(`${type} ${name}`)
      return Promise.resolve(type === 'A' ? a : aaaa)
    },
  }
}

const site = (answer: Parameters<typeof startHttpsSite>[0]) =>
  closeAfterThisTest(startHttpsSite(answer))

function at(
  { port, ca }: { port: number; ca: string },
  resolve: Resolve = answers(found('127.0.0.1')).resolve,
  more: Partial<NonNullable<OneClickOptions['forTests']>> = {},
) {
  const mayConnect = (address: string) => address === '127.0.0.1'
  const forTests = { port, ca, ...more }
  const userAgent = 'Signalpost (https://here.example)'
  return createOneClick({ resolve, mayConnect, userAgent, forTests })
}

/**
 * Creates a client without the options that only tests use; it must not send requests to this
 * machine.
 */
function asInProduction(resolve: Resolve) {
  return createOneClick({ resolve, userAgent: 'Signalpost (https://here.example)' })
}

test('one POST states one click and no personal data', async () => {
  const there = await site((_req, res) => res.end('Good bye.'))
  const dns = answers(found('127.0.0.1'))
  const outcome = await at(there, dns.resolve)(url)
  expect(outcome).toEqual({
    state: 'done',
    outcome: phrase('unsubscribe-accepted', { host: 'news.example.org', status: 200 }),
  })
  expect(there.asked).toEqual([
    {
      method: 'POST',
      path: '/off?who=42',
      body: 'List-Unsubscribe=One-Click',
      headers: {
        host: 'news.example.org',
        'user-agent': 'Signalpost (https://here.example)',
        accept: '*/*',
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': '26',
        connection: 'close',
      },
    },
  ])
  expect(dns.asked).toEqual(['A news.example.org', 'AAAA news.example.org'])
})

test.for([
  [202, 'done'],
  [204, 'done'],
  [301, 'doubtful'],
  [302, 'doubtful'],
  [307, 'doubtful'],
  [404, 'failed'],
  [500, 'failed'],
] as const)('the status %i is %s, and redirects are not followed', async ([status, state]) => {
  const there = await site((_req, res) => {
    res.writeHead(status, {
      location: 'https://127.0.0.1/admin',
      'set-cookie': 'a=b',
    })
    res.end()
  })
  expect((await at(there)(url)).state).toBe(state)
  expect(there.asked).toHaveLength(1)
})

test.for<[string, string]>([
  ['http', 'http://news.example.org/off'],
  ['another scheme', 'file:///etc/passwd'],
  ['another port', 'https://news.example.org:8443/off'],
  ['a name and password', 'https://user:word@news.example.org/off'],
  ['an address', 'https://192.0.2.1/off'],
  ['an address as a number', 'https://2130706433/off'],
  ['an IPv6 address', 'https://[::1]/off'],
  ['a name of one machine', 'https://localhost/off'],
  ['a name inside', 'https://db.internal/off'],
  ['a backslash', 'https://news.example.org\\@127.0.0.1/off'],
  ['nothing', ''],
  ['too much', `https://news.example.org/${'a'.repeat(3_000)}`],
])('a link with %s is refused before any request', async ([, link]) => {
  const dns = answers(found('127.0.0.1'))
  expect((await at({ port: 1, ca: '' }, dns.resolve)(link)).state).toBe('refused')
  expect(dns.asked).toEqual([])
})

test.for<[string, DnsAnswer, DnsAnswer]>([
  ['a loopback', found('127.0.0.1'), none],
  ['a public and a private one', found('8.8.8.8', '10.0.0.1'), none],
  ['a public one, and a loopback by IPv6', found('8.8.8.8'), found('::1')],
  ['a public one, and a mapped one', found('8.8.8.8'), found('::ffff:127.0.0.1')],
  ['the metadata of a cloud', found('169.254.169.254'), none],
  ['only an IPv6 that carries a private one', none, found('64:ff9b::a00:1')],
  ['none', none, none],
  ['a public one, and silence', found('8.8.8.8'), { is: 'unknown', why: 'SERVFAIL' }],
  ['what is no address', found('localhost'), none],
])('a host with %s is not called', async ([, a, aaaa]) => {
  const outcome = await asInProduction(answers(a, aaaa).resolve)(url)
  expect(outcome.state).toBe('refused')
})

test('an address is looked up once: later changes of the name do not matter', async () => {
  const there = await site((_req, res) => res.end())
  let times = 0
  // The first query leads to the test server. Any further query would lead to an internal address,
  // which is refused.
  const rebinding: Resolve = (_name, type) => {
    if (type !== 'A') return Promise.resolve(none)
    return Promise.resolve(found(++times === 1 ? '127.0.0.1' : '10.0.0.1'))
  }
  expect((await at(there, rebinding)(url)).state).toBe('done')
  expect(times).toBe(1)
})

test('an untrusted or wrong certificate ends the request before it is sent', async () => {
  const there = await site((_req, res) => res.end())
  const stranger = await createOneClick({
    resolve: answers(found('127.0.0.1')).resolve,
    userAgent: 'x',
    mayConnect: () => true,
    forTests: { port: there.port, ca: '' },
  })(url)
  expect(stranger.state).toBe('failed')
  const other = await at(there)('https://other.example.org/off')
  expect(other.state).toBe('failed')
  expect(there.asked).toEqual([])
})

test('an overlong response is cut, and counts', async () => {
  let isCut: () => void = () => undefined
  const cut = new Promise<void>((resolve) => (isCut = resolve))
  const there = await site((_req, res) => {
    res.on('close', isCut)
    const more = () => {
      while (!res.destroyed && res.write(Buffer.alloc(64 * 1024)));
      if (!res.destroyed) res.once('drain', more)
    }
    more()
  })
  expect((await at(there)(url)).state).toBe('done')
  await cut
})

test('a response that never ends counts by its status', async () => {
  const there = await site((_req, res) => {
    res.writeHead(200)
    res.write('a')
  })
  const post = at(there, undefined, { allMsMax: 600 })
  expect((await post(url)).state).toBe('done')
})

test('no response is unknown, because the request may have worked', async () => {
  const there = await site(() => undefined)
  const post = at(there, undefined, { allMsMax: 150 })
  expect((await post(url)).state).toBe('unknown')
  expect(there.asked).toHaveLength(1)
})

test('a connection cut after the request is unknown, a refused one has failed', async () => {
  const there = await site((req) => req.socket.destroy())
  expect((await at(there)(url)).state).toBe('unknown')
  await there.close()
  expect((await at(there)(url)).state).toBe('failed')
})

test('a host that never finishes the handshake is given up in time', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const outcome = await at({ port, ca: '' }, undefined, { connectMsMax: 100 })(url)
  expect(outcome.state).toBe('failed')
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => silent.close(resolve))
})
