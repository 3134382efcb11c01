import { createHmac } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { readWebhookUrl, type WebhookMessage } from '../../../src/mail/webhook-message.ts'
import { createPostWebhook, type WebhookOptions } from '../../../src/net/webhook.ts'
import type { DnsAnswer, Resolve } from '../../../src/world.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { startHttpsSite } from '../../support/https-site.ts'

const found = (...records: string[]): DnsAnswer => ({ is: 'found', records })
const none: DnsAnswer = { is: 'none' }
const key = Buffer.alloc(32, 7)
const message: WebhookMessage = {
  url: 'https://news.example.org/hook?for=us#top',
  id: 'msg_1',
  timestamp: 1_700_000_000,
  body: '{"type":"webhook.test"}',
  keys: [key],
}

function resolving(a: DnsAnswer, aaaa: DnsAnswer = none): Resolve {
  return (_name, type) => Promise.resolve(type === 'A' ? a : aaaa)
}

const site = (answer: Parameters<typeof startHttpsSite>[0]) =>
  closeAfterThisTest(startHttpsSite(answer))

function at(
  { port, ca }: { port: number; ca: string },
  resolve = resolving(found('127.0.0.1')),
  more: Partial<NonNullable<WebhookOptions['forTests']> & Pick<WebhookOptions, 'mayConnect'>> = {},
) {
  const { mayConnect = () => true, ...times } = more
  const forTests = { port, ca, ...times }
  return createPostWebhook({
    resolve,
    networks: [],
    userAgent: 'Signalpost (https://here.example)',
    mayConnect,
    forTests,
  })
}

/**
 * Creates a client without the options that only tests use; it must not send requests to this
 * machine.
 */
function asInProduction(resolve: Resolve) {
  return createPostWebhook({
    resolve,
    networks: [],
    userAgent: 'Signalpost (https://here.example)',
  })
}

test('a message is signed as in Standard Webhooks, once with each key', async () => {
  const there = await site((_req, res) => res.writeHead(204).end())
  const keys = [key, Buffer.alloc(32, 9)]
  expect(await at(there)({ ...message, keys })).toMatchObject({ state: 'taken', status: 204 })
  const [asked] = there.asked
  expect(asked).toMatchObject({ method: 'POST', path: '/hook?for=us', body: message.body })
  const headers: Record<string, unknown> = asked?.headers ?? {}
  expect(headers['content-type']).toBe('application/json')
  expect(headers['webhook-id']).toBe('msg_1')
  const signed = keys.map((one) => {
    const content = `msg_1.${String(headers['webhook-timestamp'])}.${asked?.body}`
    return `v1,${createHmac('sha256', one).update(content).digest('base64')}`
  })
  expect(headers['webhook-signature']).toBe(signed.join(' '))
})

test('the example of the specification is signed as specified', async () => {
  const there = await site((_req, res) => res.end())
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
  await at(there)({
    ...message,
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
    keys: [secret],
  })
  expect(there.asked[0]?.headers['webhook-signature']).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

test.for([
  [200, 'taken'],
  [299, 'taken'],
  [301, 'failed'],
  [307, 'failed'],
  [404, 'failed'],
  [410, 'gone'],
  [500, 'failed'],
] as const)('%i is %s, and redirects are not followed', async ([status, state]) => {
  const there = await site((_req, res) => {
    res.writeHead(status, { location: 'https://news.example.org/elsewhere' }).end()
  })
  expect(await at(there)(message)).toMatchObject({ state, status })
  expect(there.asked).toHaveLength(1)
})

test.for([
  ['http', 'http://news.example.org/'],
  ['another port', 'https://news.example.org:8443/'],
  ['a loopback address', 'https://127.0.0.1/'],
  ['one as a number', 'https://2130706433/'],
  ['one of IPv6', 'https://[::1]/'],
  ['a link-local address', 'https://169.254.169.254/latest/meta-data'],
  ['this machine', 'https://localhost/'],
  ['a name inside', 'https://db.internal/'],
  ['a password', 'https://a:b@news.example.org/'],
] as const)('%s is never called', async ([, url]) => {
  const asked: string[] = []
  const resolve: Resolve = (name) => {
    asked.push(name)
    return Promise.resolve(found('8.8.8.8'))
  }
  expect((await asInProduction(resolve)({ ...message, url })).state).toBe('failed')
  expect(asked).toEqual([])
})

test.for<[string, DnsAnswer, DnsAnswer]>([
  ['a loopback', found('127.0.0.1'), none],
  ['a loopback of IPv6', none, found('::1')],
  ['the metadata of a cloud', found('169.254.169.254'), none],
  ['a public and a private one', found('8.8.8.8', '10.0.0.1'), none],
  ['a mapped one', none, found('::ffff:127.0.0.1')],
  ['silence', found('8.8.8.8'), { is: 'unknown', why: 'SERVFAIL' }],
  ['nothing', none, none],
])('a host with %s is not called', async ([, a, aaaa]) => {
  const outcome = await asInProduction(resolving(a, aaaa))(message)
  expect(outcome).toMatchObject({ state: 'failed', status: undefined })
})

test('a receiver that answers one byte at a time, or not at all, is given up in time', async () => {
  const slow = await site((_req, res) => {
    const timer = setInterval(() => res.socket?.write('H'), 20)
    res.on('close', () => clearInterval(timer))
  })
  const outcome = await at(slow, undefined, { allMsMax: 150 })(message)
  expect(outcome).toMatchObject({ state: 'failed', status: undefined })
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const given = await at({ port, ca: '' }, undefined, { allMsMax: 100 })(message)
  expect(given.outcome).toEqual({ code: 'webhook-unanswered' })
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => silent.close(resolve))
})

test.for([
  ['an address in a network of the operator is told', ['127.0.0.0/8'], ['127.0.0.1'], 'taken'],
  ['an address outside is not', ['10.0.0.0/8'], ['127.0.0.1'], 'failed'],
  [
    'a name with an address outside as well is not',
    ['127.0.0.0/9'],
    ['127.0.0.1', '127.200.0.1'],
    'failed',
  ],
  ['without such networks none is', [], ['127.0.0.1'], 'failed'],
] as const)('%s', async ([, networks, addresses, state]) => {
  const { port, ca } = await site((_req, res) => res.writeHead(204).end())
  const resolve = resolving(found(...addresses))
  const post = createPostWebhook({ resolve, networks, userAgent: 'us', forTests: { port, ca } })
  expect(await post(message)).toMatchObject({ state })
})

test.for([
  ['https://hooks.corp/signalpost', true],
  ['https://hooks/', true],
  ['https://news.example.org/', true],
  ['https://10.0.0.5/', false],
  ['https://[fd00::5]/', false],
  ['http://hooks.corp/', false],
  ['https://hooks.corp:8443/', false],
] as const)('the internal receiver %s is allowed: %s', ([url, isAllowed]) => {
  expect('url' in readWebhookUrl(url, { mayBeInternal: true })).toBe(isAllowed)
})

test('without internal networks a receiver needs a public name', () => {
  expect(readWebhookUrl('https://hooks.corp/', { mayBeInternal: false })).toEqual({
    refused: 'must lead to a public host name.',
  })
})
