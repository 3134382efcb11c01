import { chmod, mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { runPublishLists } from '../../src/lists/publish-lists.ts'
import { addressQuestion, type BlacklistZone } from '../../src/mail/dnsbl.ts'
import { parseIp } from '../../src/mail/ip.ts'
import { createResolver, type Resolver } from '../../src/net/resolver.ts'
import { testZone } from '../../src/net/blacklists.ts'
import { listNames, zoneTypes } from '../../src/verdict/lists/list.ts'
import { freshDatabase } from '../support/database.ts'
import { know } from '../support/listed.ts'
import { serveFolder } from './rbldnsd.ts'
import { ringOf } from '../support/key-ring.ts'

const zone = 'bl.ours.example'
const sets = listNames.flatMap((list) =>
  zoneTypes[list].map((type) => ({ zone: `${list}.${zone}`, type, file: `${list}.${type}` })),
)
let now = new Date()

const database = await freshDatabase()
const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-zones-'))
await chmod(folder, 0o755)
await know(database.pool, [
  { kind: 'address', name: '192.0.2.7', bad: 20, at: now },
  { kind: 'address', name: '2001:db8::7', bad: 20, at: now },
  { kind: 'link-domain', name: 'bad.example', bad: 20, at: now },
  { kind: 'link-host', name: 'www.worse.example', bad: 20, at: now },
])
await publish()
const server = await serveFolder(folder, sets)

afterAll(async () => {
  await server.stop()
  await database.close()
  await rm(folder, { recursive: true })
})

async function publish(): Promise<void> {
  const env = { LISTS_DIR: folder, LISTS_ZONE: zone, PUBLIC_URL: 'https://spam.ours.example' }
  const config = {
    ...readConfig(env, { cores: 1, cwd: '/nowhere' }),
    databaseUrl: database.url,
    secret: ringOf('a secret of the tests'),
  }
  const log = pino({ level: 'silent' })
  await runPublishLists({ pool: database.pool, clock: () => now, config, log })
  // rbldnsd recognizes changed files by their size and their time in seconds, so the time is set
  // here instead of waiting.
  for (const { file } of sets) await utimes(path.join(folder, file), now, now)
}

/** Runs work with a resolver without cached answers. */
async function withResolver<T>(work: (resolver: Resolver) => Promise<T>): Promise<T> {
  const resolver = createResolver({ servers: [server.address], clock: () => new Date() })
  return work(resolver).finally(() => resolver.close())
}

function nameOf(subject: string): string {
  const address = parseIp(subject)
  return address ? addressQuestion(`addresses.${zone}`, address) : subject
}

async function ask(name: string, type: 'A' | 'TXT' = 'A'): Promise<readonly string[]> {
  return withResolver(async ({ resolve }) => {
    const answer = await resolve(name, type)
    if (answer.is === 'unknown') throw new Error(answer.why)
    return answer.is === 'found' ? answer.records : []
  })
}

test('rbldnsd accepts every file without a warning', () => {
  const said = server.said()
  expect(said).toContain('zones reloaded')
  expect(said).not.toMatch(/warn|invalid|bad |error|unable/i)
})

test.for([
  ['192.0.2.7', ['127.0.0.2']],
  ['192.0.2.8', []],
  ['2001:db8::7', ['127.0.0.2']],
  ['2001:db8::8', []],
  [`bad.example.domains.${zone}`, ['127.0.0.2']],
  [`www.bad.example.domains.${zone}`, ['127.0.0.2']],
  [`notbad.example.domains.${zone}`, []],
  [`www.worse.example.hosts.${zone}`, ['127.0.0.2']],
  [`worse.example.hosts.${zone}`, []],
  [`x.www.worse.example.hosts.${zone}`, []],
] as const)('%s is answered %s', async ([subject, records]) => {
  expect(await ask(nameOf(subject))).toEqual(records)
})

test('a listed address gets the URL of its page', async () => {
  const url = 'https://spam.ours.example/lookup?q='
  expect(await ask(nameOf('192.0.2.7'), 'TXT')).toEqual([`Reported for spam, see ${url}192.0.2.7`])
  expect(await ask(`www.worse.example.hosts.${zone}`, 'TXT')).toEqual([
    `Reported for spam, see ${url}www.worse.example`,
  ])
})

test('our own test of blacklists passes on our own lists', async () => {
  const kinds = { addresses: 'addresses', domains: 'domains', hosts: 'domains' } as const
  for (const list of listNames) {
    const tested: BlacklistZone = { zone: `${list}.${zone}`, lists: kinds[list], answers: [] }
    const result = await withResolver(({ resolve }) => testZone(tested, resolve))
    expect([list, result]).toEqual([list, { isSound: true, hasIpv6: list === 'addresses' }])
  }
})

test('while the lists are published again, all answers are correct', async () => {
  let isPublishing = true
  let questions = 0
  const asking = (async () => {
    while (isPublishing) {
      expect(await ask(nameOf('192.0.2.7'))).toEqual(['127.0.0.2'])
      expect(await ask(nameOf('192.0.2.8'))).toEqual([])
      expect(await ask(`bad.example.domains.${zone}`)).toEqual(['127.0.0.2'])
      expect(await ask(`test.hosts.${zone}`)).toEqual(['127.0.0.2'])
      expect(await ask(`invalid.hosts.${zone}`)).toEqual([])
      questions += 5
    }
  })()
  const reloading = (async () => {
    for (let edition = 0; edition < 10; edition++) {
      now = new Date(now.getTime() + 1_000)
      const name = `198.51.100.${edition}`
      await know(database.pool, [{ kind: 'address', name, bad: 20, at: now }])
      await publish()
      expect(await server.reload()).not.toMatch(/unable|invalid|error/i)
      expect(await ask(nameOf(name))).toEqual(['127.0.0.2'])
    }
  })().finally(() => (isPublishing = false))
  await Promise.all([asking, reloading])
  expect(questions).toBeGreaterThan(50)
})

test('a list that is not renewed expires', async () => {
  const present = now
  now = new Date(now.getTime() - 4 * 86_400_000)
  await publish()
  const before = server.said().length
  // The server checks whether its lists have expired only when it looks for newer files.
  await server.reload()
  await server.reload()
  expect(server.said().slice(before)).toContain('expired')
  await expect(ask(nameOf('192.0.2.7'))).rejects.toThrow()
  now = present
  await publish()
  await server.reload()
  expect(await ask(nameOf('192.0.2.7'))).toEqual(['127.0.0.2'])
})
