import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readZones } from '../../../src/processes/blacklist-zones.ts'
import { testBlacklists } from '../../../src/cli/lists.ts'
import { UsageError } from '../../../src/errors.ts'
import { readZoneAnswer } from '../../../src/mail/dnsbl.ts'
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts'

const clock = () => new Date('2026-11-20T12:00:00Z')
let folder: string
let server: DnsServer

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'signalpost-zones-'))
  server = await startDnsServer()
})

afterEach(async () => {
  await rm(folder, { recursive: true })
  await server.close()
})

async function fileWith(content: string): Promise<string> {
  const file = path.join(folder, 'lists.json')
  await writeFile(file, content)
  return `@${file}`
}

async function problemsOf(...entries: string[]): Promise<string> {
  const error: unknown = await readZones(entries).catch((thrown: unknown) => thrown)
  if (!(error instanceof UsageError)) throw new Error('No entry was found wrong.')
  return error.problems.join('\n')
}

const own = { zone: 'bl.example', lists: 'addresses', answers: [] as unknown[] }
const answer = { match: '127.0.0.2', category: 'spam', meaning: 'Spam.' }

test('known lists, own lists and files of lists can be named together', async () => {
  const file = await fileWith(
    JSON.stringify([{ ...own, answers: [answer, { ...answer, match: 8 }] }]),
  )
  const zones = await readZones(['ZEN.spamhaus.org', 'sites.example=domains', file])
  expect(zones.map(({ zone, lists }) => [zone, lists])).toEqual([
    ['zen.spamhaus.org', 'addresses'],
    ['sites.example', 'domains'],
    ['bl.example', 'addresses'],
  ])
  expect(zones[1]?.answers).toEqual([
    { match: 'any', category: 'spam', meaning: 'Listed by sites.example.' },
  ])
})

test('all errors are reported at once', async () => {
  const problems = await problemsOf('bl.example', 'x=addresses', 'a.example=both', 'a.example=both')
  expect(problems).toContain('BLACKLISTS: bl.example is neither a known list nor zone=addresses')
  expect(problems).toContain('x=addresses is neither')
  expect(problems).toContain('a.example is named twice')
})

test.for([
  ['no JSON', '{', /cannot be read/],
  ['no array', '{}', /the whole/],
  [
    'an unknown category',
    JSON.stringify([{ ...own, answers: [{ ...answer, category: 'bad' }] }]),
    /0\.answers\.0\.category/,
  ],
  [
    'a public address',
    JSON.stringify([{ ...own, answers: [{ ...answer, match: '192.0.2.1' }] }]),
    /0\.answers\.0\.match/,
  ],
  ['no answers', JSON.stringify([own]), /0\.answers/],
  ['a word that means nothing', JSON.stringify([{ ...own, answers: [answer], ttl: 3 }]), /ttl/],
] as const)('a file with %s is refused', async ([, content, problem]) => {
  expect(await problemsOf(await fileWith(content))).toMatch(problem)
})

test('a missing file is named in the error', async () => {
  expect(await problemsOf('@/nowhere/lists.json')).toContain('/nowhere/lists.json cannot be read')
})

test('the command shows the state of each list, and whether all can be queried', async () => {
  server.put('2.0.0.127.good.example', { type: 'A', data: '127.0.0.2' })
  const dnsServers = [server.address]
  const good = await testBlacklists({ dnsServers, blacklists: ['good.example=addresses'] }, clock)
  expect(good.isSound).toBe(true)
  expect(good.text).toMatch(
    /^zone +lists +state +ms +reason\ngood\.example +addresses \(IPv4\) +on +\d+$/,
  )
  const blacklists = ['good.example=addresses', 'gone.example=domains']
  const bad = await testBlacklists({ dnsServers, blacklists }, clock)
  expect(bad.isSound).toBe(false)
  expect(bad.text).toMatch(
    /gone\.example +domains +off +\d+ +The list does not contain its test entry test\./,
  )
})

test('the key in the name of a list is sent in queries, and shown nowhere', async () => {
  const key = 'abcdefghijklmnopqrst234567'
  server.put(`2.0.0.127.${key}.zen.lists.example`, { type: 'A', data: '127.0.0.2' })
  const blacklists = [`${key.toUpperCase()}.zen.lists.example=addresses`]
  const tested = await testBlacklists({ dnsServers: [server.address], blacklists }, clock)
  expect(tested).toMatchObject({ isSound: true, text: expect.stringContaining('\nzen.lists') })
  const [zone] = await readZones(blacklists)
  expect(zone).toMatchObject({ key, answers: [{ meaning: 'Listed by zen.lists.example.' }] })
  const listed = zone && readZoneAnswer(zone, '192.0.2.7', ['127.0.0.2'])
  expect(listed).toMatchObject({ is: 'listed', listings: [{ zone: 'zen.lists.example' }] })
  expect(JSON.stringify([tested, listed])).not.toContain(key)
})

test('without a configured list the command prints the known lists and queries none', async () => {
  const { text, isSound } = await testBlacklists(
    { dnsServers: [server.address], blacklists: [] },
    clock,
  )
  expect(isSound).toBe(true)
  expect(text).toContain('zen.spamhaus.org')
  expect(server.questions).toEqual([])
})
