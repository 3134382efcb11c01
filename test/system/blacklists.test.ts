import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readZones } from '../../src/processes/blacklist-zones.ts'
import { isRoutable } from '../../src/mail/ip.ts'
import { type Blacklists, createBlacklists } from '../../src/net/blacklists.ts'
import { createResolver, type Resolver } from '../../src/net/resolver.ts'
import { runProgram } from '../support/process.ts'
import { type Rbldnsd, startRbldnsd } from './rbldnsd.ts'

const hosts = [':127.0.0.2:Listed', '127.0.0.2', '192.0.2.7', '198.51.100.0/24 :127.0.0.4:Bot']
const hosts6 = [':127.0.0.2:Listed', '::ffff:7f00:2', '2001:db8:bad::/48 :127.0.0.4:Bot']
const sites = [':127.0.0.2:Listed', 'test', '.bank-login.example :127.0.0.8:Phishing']

const zones = {
  'hosts.bl.example': { ip4set: hosts, ip6trie: hosts6 },
  'four.bl.example': { ip4set: hosts },
  'sites.bl.example': { dnset: sites },
  // Lists that have been shut down: one answers no to every query, the other yes.
  'empty.bl.example': { ip4set: [':127.0.0.2:Listed', '192.0.2.7'] },
  'world.bl.example': { ip4set: [':127.0.0.2:Listed', '0.0.0.0/1', '128.0.0.0/1'] },
}
const four = ['four.bl.example=addresses']
const closed = ['empty.bl.example=addresses', 'world.bl.example=addresses']
const start = new Date('2026-11-20T12:00:00Z')

let server: Rbldnsd
let folder: string
let resolver: Resolver
let now: Date

beforeEach(async () => {
  now = start
  folder = await mkdtemp(path.join(tmpdir(), 'signalpost-lists-'))
  server = await startRbldnsd(zones)
  resolver = createResolver({ servers: [server.address], clock: () => now })
})

afterEach(async () => {
  resolver.close()
  await server.clear()
  await rm(folder, { recursive: true })
})

async function open(entries: readonly string[]): Promise<Blacklists> {
  const { resolve } = resolver
  const read = await readZones(entries)
  return createBlacklists({ zones: read, resolve, clock: () => now, isAskable: isRoutable })
}

/** Returns the output of the test of both lists. */
async function described(): Promise<string> {
  const spam = { match: '127.0.0.2', category: 'spam', meaning: 'Sends spam.' }
  const bot = { match: '127.0.0.4', category: 'compromised', meaning: 'Taken over.' }
  const phishing = { match: 8, category: 'phishing', meaning: 'Phishing.' }
  const content = [
    { zone: 'hosts.bl.example', lists: 'addresses', answers: [spam, bot] },
    { zone: 'sites.bl.example', lists: 'domains', answers: [spam, phishing] },
  ]
  const file = path.join(folder, 'lists.json')
  await writeFile(file, JSON.stringify(content))
  return `@${file}`
}

const ask = (lists: Blacklists, ...addresses: string[]) => lists.ask({ addresses, domains: [] })

test('a real list is queried: IPv4, IPv6, domains, and the meaning of each code', async () => {
  const lists = await open([await described()])
  const found = await lists.ask({
    addresses: ['192.0.2.7', '192.0.2.8', '198.51.100.9', '2001:db8:bad::25', '2001:db8::25'],
    domains: ['www.bank-login.example', 'shop.example'],
  })
  const categories = found.map((one) => [
    one.subject,
    one.is === 'listed' ? one.listings.map(({ category }) => category).join() : one.is,
  ])
  expect(categories).toEqual([
    ['192.0.2.7', 'spam'],
    ['192.0.2.8', 'clean'],
    ['198.51.100.9', 'compromised'],
    ['2001:db8:bad::25', 'compromised'],
    ['2001:db8::25', 'clean'],
    ['www.bank-login.example', 'phishing'],
    ['shop.example', 'clean'],
  ])
  expect(lists.states()).toMatchObject([
    { state: 'on', hasIpv6: true },
    { state: 'on', hasIpv6: false },
  ])
})

// rbldnsd looks up IPv4-mapped addresses in the IPv4 data, so such a list passes the test for IPv6
// too.
test('a list of IPv4 lists no other IPv6 address', async () => {
  const lists = await open(four)
  expect(await ask(lists, '192.0.2.7', '2001:db8:bad::25')).toMatchObject([
    { is: 'listed' },
    { is: 'clean' },
  ])
})

test('closed lists neither list nor clear anyone', async () => {
  const lists = await open(closed)
  const found = await ask(lists, '192.0.2.7', '203.0.113.9')
  expect(found.map(({ is }) => is)).toEqual(['unknown', 'unknown', 'unknown', 'unknown'])
  expect(lists.states()).toMatchObject([
    { state: 'off', reason: 'The list does not contain its test entry 127.0.0.2.' },
    { state: 'off', reason: 'The list contains 127.0.0.1, which no list may contain.' },
  ])
})

test('a repaired list is switched on again', async () => {
  const lists = await open(['empty.bl.example=addresses'])
  expect(await ask(lists, '192.0.2.7')).toMatchObject([{ is: 'unknown' }])
  await server.rewrite('empty.bl.example', 'ip4set', hosts)
  now = new Date(start.getTime() + 10 * 60_000)
  await lists.test()
  expect(await ask(lists, '192.0.2.7')).toMatchObject([{ is: 'listed' }])
})

test('a zone that the server does not have is off', async () => {
  const lists = await open(['absent.example=addresses'])
  expect(await lists.test()).toMatchObject([
    { state: 'off', reason: 'The name server refused the query.' },
  ])
})

test('when the server stops, new queries are unknown, not clean', async () => {
  const lists = await open(four)
  expect(await ask(lists, '192.0.2.7', '192.0.2.8')).toMatchObject([
    { is: 'listed' },
    { is: 'clean' },
  ])
  await server.stop()
  const others = ['192.0.2.9', '198.51.100.9']
  expect(await ask(lists, ...others)).toMatchObject([{ is: 'unknown' }, { is: 'unknown' }])
  expect(await lists.listings({ addresses: others, domains: [] })).toEqual([])
})

test('the command shows which lists may be queried, also by its exit code', async () => {
  const run = (entries: readonly string[]) =>
    runProgram(['blacklists'], { DNS_SERVERS: server.address, BLACKLISTS: entries.join() })
  const sound = await run([...four, 'hosts.bl.example=addresses', 'sites.bl.example=domains'])
  expect(sound).toMatchObject({ code: 0, stderr: '' })
  expect(sound.stdout.match(/^\w+\.bl\.example +(addresses|domains) +on +\d+$/gm)).toHaveLength(3)
  const unsound = await run([...four, ...closed])
  expect(unsound).toMatchObject({ code: 1, stderr: '' })
  expect(unsound.stdout).toMatch(
    /world\.bl\.example +addresses +off +\d+ +The list contains 127\.0\.0\.1/,
  )
  const misused = await run(['nonsense'])
  expect(misused.code).toBe(2)
  expect(misused.stderr).toContain('nonsense is neither a known list')
})
