import { afterEach, beforeEach, expect, test } from 'vitest'
import { canonicalName, createResolver, type Resolver } from '../../../src/net/resolver.ts'
import type { DnsAnswer, DnsType } from '../../../src/world.ts'
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts'

const start = new Date('2026-11-20T12:00:00Z')
let server: DnsServer
let resolver: Resolver
let now: Date

beforeEach(async () => {
  now = start
  server = await startDnsServer()
  resolver = createResolver({ servers: [server.address], clock: () => now })
})

afterEach(async () => {
  resolver.close()
  await server.close()
})

const ask = (name: string, type: DnsType = 'A') => resolver.resolve(name, type)
const found = (...records: string[]): DnsAnswer => ({ is: 'found', records })
const none: DnsAnswer = { is: 'none' }

/** Short time limits for tests that wait for a silent server. */
const hasty = { tryMs: 100 }

function later(seconds: number): void {
  now = new Date(now.getTime() + seconds * 1000)
}

function limited(limits: Parameters<typeof createResolver>[0]['limits']): Resolver {
  resolver.close()
  resolver = createResolver({ servers: [server.address], clock: () => now, limits: limits ?? {} })
  return resolver
}

test('every record type is returned in its own form', async () => {
  server.put('mail.example', { type: 'A', data: '192.0.2.7' }, { type: 'A', data: '192.0.2.8' })
  server.put('six.example', { type: 'AAAA', data: '2001:db8:0:0:0:0:0:25' })
  server.put('7.2.0.192.in-addr.arpa', { type: 'PTR', data: 'mail.example' })
  server.put('s1._domainkey.example.net', { type: 'TXT', data: ['v=DKIM1; p=', 'MIGf'] })
  server.put(
    'example.net',
    { type: 'MX', data: { priority: 20, exchange: 'mx2.example.net' } },
    { type: 'MX', data: { priority: 10, exchange: 'mx1.example.net' } },
  )
  const { resolve } = resolver
  expect(await resolve('mail.example', 'A')).toEqual(found('192.0.2.7', '192.0.2.8'))
  expect(await resolve('six.example', 'AAAA')).toEqual(found('2001:db8::25'))
  expect(await resolve('7.2.0.192.in-addr.arpa', 'PTR')).toEqual(found('mail.example'))
  expect(await resolve('s1._domainkey.example.net', 'TXT')).toEqual(found('v=DKIM1; p=MIGf'))
  expect(await resolve('example.net', 'MX')).toEqual(found('mx1.example.net', 'mx2.example.net'))
})

test('no such name, no such record and "no mail here" are all empty answers', async () => {
  server.put('empty.example')
  server.put('no-mail.example', { type: 'MX', data: { priority: 0, exchange: '' } })
  expect(await ask('absent.example')).toEqual(none)
  expect(await ask('empty.example', 'TXT')).toEqual(none)
  expect(await ask('no-mail.example', 'MX')).toEqual(none)
})

test.for([
  ['SERVFAIL', 'The name server failed (SERVFAIL).'],
  ['REFUSED', 'The name server refused the query.'],
] as const)('%s is unknown, not an empty answer', async ([conduct, why]) => {
  server.behave(conduct)
  expect(await ask('mail.example')).toEqual({ is: 'unknown', why })
})

test('a truncated answer is fetched again by TCP', async () => {
  const data = Array.from({ length: 12 }, (_, n) => String(n % 10).repeat(200))
  server.put('long.example', { type: 'TXT', data })
  server.cut()
  expect(await ask('long.example', 'TXT')).toEqual(found(data.join('')))
  expect(server.questions).toEqual(['TXT long.example', 'TXT long.example'])
})

test('of very many records the first 64 are kept', async () => {
  const many = Array.from({ length: 70 }, (_, n) => `192.0.2.${n}`)
  server.put('many.example', ...many.map((data) => ({ type: 'A' as const, data })))
  server.cut()
  expect(await ask('many.example')).toEqual(found(...many.slice(0, 64)))
})

test('two simultaneous equal queries are one', async () => {
  server.put('mail.example', { type: 'A', data: '192.0.2.7' })
  const go = server.hold()
  const names = ['mail.example', 'MAIL.example.', 'mail.EXAMPLE']
  const asking = names.map((name) => ask(name))
  await server.asked(1)
  go()
  expect(await Promise.all(asking)).toEqual(names.map(() => found('192.0.2.7')))
  expect(server.questions).toEqual(['A mail.example'])
  expect(resolver.stats()).toEqual({ questions: 3, asked: 1, unknown: 0, isAway: false })
})

test.for([
  ['an address for its time to live', 'A', 'mail.example', 300],
  ['an address with hardly any for a minute', 'A', 'fickle.example', 60],
  ['an address with a week for half an hour', 'A', 'steady.example', 1800],
  ['a text for a quarter of an hour', 'TXT', 'mail.example', 900],
  ['that there is none for five minutes', 'A', 'absent.example', 300],
  ['that nobody knows for half a minute', 'A', 'broken.example', 30],
] as const)('the cached answers are %s', async ([, type, name, seconds]) => {
  server.put(
    'mail.example',
    { type: 'A', data: '192.0.2.7', ttl: 300 },
    { type: 'TXT', data: ['hello'], ttl: 5 },
  )
  server.put('fickle.example', { type: 'A', data: '192.0.2.7', ttl: 0 })
  server.put('steady.example', { type: 'A', data: '192.0.2.7', ttl: 604_800 })
  server.behave('REFUSED', 'broken.example')
  const first = await ask(name, type)
  const asked = server.questions.length
  later(seconds - 1)
  expect(await ask(name, type)).toEqual(first)
  expect(server.questions).toHaveLength(asked)
  later(1.001)
  expect(await ask(name, type)).toEqual(first)
  expect(server.questions.length).toBeGreaterThan(asked)
})

test('the least recently used answer is evicted first', async () => {
  const { resolve } = limited({ entriesMax: 2 })
  await resolve('a.example', 'A')
  await resolve('b.example', 'A')
  await resolve('a.example', 'A')
  await resolve('c.example', 'A')
  await resolve('a.example', 'A')
  await resolve('b.example', 'A')
  expect(server.questions).toEqual(['A a.example', 'A b.example', 'A c.example', 'A b.example'])
})

test('however small the answers are, the cache stays within its size', async () => {
  const { resolve } = limited({ bytesMax: 500 })
  for (const name of ['a.example', 'b.example', 'c.example', 'a.example']) await resolve(name, 'A')
  expect(server.questions).toEqual(['A a.example', 'A b.example', 'A c.example', 'A a.example'])
})

test('an answer larger than the cache is returned and not cached', async () => {
  server.put('large.example', { type: 'TXT', data: ['x'.repeat(250)] })
  const { resolve } = limited({ bytesMax: 300 })
  const large = found('x'.repeat(250))
  expect(await resolve('large.example', 'TXT')).toEqual(large)
  expect(await resolve('large.example', 'TXT')).toEqual(large)
  expect(server.questions).toHaveLength(2)
})

test('while a server is silent, only the first queries wait for it', async () => {
  limited(hasty)
  server.behave('silence')
  expect(await ask('one.example')).toMatchObject({ is: 'unknown' })
  // The probe takes as long as the query before it.
  await expect.poll(() => resolver.stats().isAway).toBe(true)
  const asked = server.questions.length
  const names = Array.from({ length: 1_000 }, (_, n) => `n${n}.example`)
  const answers = await Promise.all(names.map((name) => ask(name)))
  expect(answers.every(({ is }) => is === 'unknown')).toBe(true)
  expect(server.questions).toHaveLength(asked)
})

test('when the server is back, a background probe detects it', async () => {
  limited(hasty)
  server.put('mail.example', { type: 'A', data: '192.0.2.7' })
  server.behave('silence')
  await ask('one.example')
  await expect.poll(() => resolver.stats().isAway).toBe(true)
  expect(await ask('mail.example')).toMatchObject({ is: 'unknown' })
  server.behave(undefined)
  later(31)
  const asked = server.questions.length
  expect(await ask('mail.example')).toMatchObject({ is: 'unknown' })
  await server.asked(asked + 1)
  expect(server.questions.at(-1)).toBe('NS ')
  await expect.poll(() => resolver.stats().isAway).toBe(false)
  expect(await ask('mail.example')).toEqual(found('192.0.2.7'))
})

test('one name with silent servers does not affect the others', async () => {
  limited(hasty)
  server.put('mail.example', { type: 'A', data: '192.0.2.7' })
  const dead = Array.from({ length: 10 }, (_, n) => `dead${n}.example`)
  for (const name of dead) server.behave('silence', name)
  const answers = await Promise.all(dead.map((name) => ask(name)))
  expect(answers.map(({ is }) => is)).toEqual(dead.map(() => 'unknown'))
  expect(await ask('mail.example')).toEqual(found('192.0.2.7'))
  expect(resolver.stats().isAway).toBe(false)
})

test('one unanswered query among answered ones does not mark the server as silent', async () => {
  limited(hasty)
  server.behave('silence', 'dead.example')
  const dead = ask('dead.example')
  await server.asked(1)
  expect(await ask('mail.example')).toEqual(none)
  expect(await dead).toMatchObject({ is: 'unknown' })
  expect(server.questions).not.toContain('NS ')
})

test('without a server the answer is unknown at once', async () => {
  await server.close()
  const answer = await ask('mail.example')
  expect(answer).toEqual({ is: 'unknown', why: 'No name server could be reached.' })
  server = await startDnsServer()
})

test('simultaneous queries are bounded; those that wait too long are unknown', async () => {
  const { resolve } = limited({ inFlightMax: 2, waitingMax: 1, answerMsMax: 50 })
  const go = server.hold()
  const names = ['a.example', 'b.example', 'c.example', 'd.example']
  const answers = await Promise.all(names.map((name) => resolve(name, 'A')))
  const tooLate = { is: 'unknown', why: 'The answer took too long.' }
  const crowded = { is: 'unknown', why: 'There are too many DNS queries at the moment.' }
  expect(answers).toEqual([tooLate, tooLate, tooLate, crowded])
  expect(server.questions).toEqual(['A a.example', 'A b.example'])
  go()
  // The abandoned query is answered later after all, and its answer is cached.
  await expect.poll(() => resolve('a.example', 'A')).toEqual(none)
  expect(server.questions.filter((one) => one === 'A a.example')).toHaveLength(1)
})

test('without permission no query is sent', async () => {
  const { resolve: deaf } = createResolver({ servers: 'none', clock: () => now })
  const why = 'DNS look-ups are switched off (DNS_SERVERS=none).'
  expect(await deaf('mail.example', 'A')).toEqual({ is: 'unknown', why })
})

test('a closed resolver answers unknown and sends no query', async () => {
  server.hold()
  const asking = ask('mail.example')
  await server.asked(1)
  resolver.close()
  expect(await asking).toMatchObject({ is: 'unknown' })
  expect(await ask('other.example')).toMatchObject({ is: 'unknown' })
  expect(server.questions).toEqual(['A mail.example'])
})

test.for([
  ['nothing', ''],
  ['the root', '.'],
  ['an empty label', 'a..example'],
  ['a label of 64', `${'a'.repeat(64)}.example`],
  ['254 characters', `${'a.'.repeat(126)}aa`],
  ['a space', 'a b.example'],
  ['a line break', 'a\r\nb.example'],
  ['a line break among other letters', 'bü\r\ncher.example'],
  ['a NUL', 'a\0.example'],
  ['a backslash', 'a\\.b.example'],
  ['what no alphabet has', '\u00ad.example\u{e000}'],
  ['a megabyte', 'a'.repeat(1_000_000)],
])('a name with %s is invalid and not queried', async ([, name = '']) => {
  expect(await ask(name)).toEqual(none)
  expect(server.questions).toEqual([])
})

test.for([
  ['a label of 63', `${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ['253 characters', `${'a.'.repeat(126)}a`, `${'a.'.repeat(126)}a`],
  ['underscores', '_DMARC.Example.', '_dmarc.example'],
  ['other letters', '_dmarc.bücher.example', '_dmarc.xn--bcher-kva.example'],
])('a name with %s may be queried', ([, name = '', asked]) => {
  expect(canonicalName(name)).toBe(asked)
})
