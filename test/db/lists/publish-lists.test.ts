import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import {
  claimLists,
  findListings,
  keepExemption,
  keepListings,
  delistName,
  removeExemption,
} from '../../../src/db/listings.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { setMark } from '../../../src/db/reputations.ts'
import { runPublishLists } from '../../../src/lists/publish-lists.ts'
import { reputationKey } from '../../../src/counting/reputation-reader.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { countWritten } from '../../support/counted-messages.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { know, type Known } from '../../support/listed.ts'
import { ringOf } from '../../support/key-ring.ts'

const start = new Date('2026-11-20T12:00:00Z')
const DAY_MS = 86_400_000
let folder: string
let now: Date

const database = await closeAfterTests(freshDatabase(start))

beforeEach(async () => {
  now = start
  await database.pool.query('truncate reputations, reputation_marks, listings, list_exemptions')
  folder = await mkdtemp(path.join(tmpdir(), 'signalpost-lists-'))
  return () => rm(folder, { recursive: true })
})

function publish() {
  const env = { LISTS_DIR: folder, PUBLIC_URL: 'https://spam.ours.example' }
  const config = readConfig(env, { cores: 1, cwd: '/nowhere' })
  const app = { databaseUrl: database.url, secret: ringOf('a secret of the tests') }
  return runPublishLists({
    pool: database.pool,
    clock: () => now,
    config: { ...config, ...app },
    log: pino({ level: 'silent' }),
  })
}

const address = (name: string, bad = 20, more: Partial<Known> = {}): Known => ({
  kind: 'address',
  ...{ name, bad, at: now },
  ...more,
})
const read = (name: string) => readFile(path.join(folder, name), 'utf8')
const linesOf = async (name: string) => (await read(name)).split('\n').filter(Boolean)
const namesIn = (list: 'addresses' | 'domains' | 'hosts') => linesOf(`${list}.txt`)
const daysLater = (days: number) => (now = new Date(now.getTime() + days * DAY_MS))

test('a bad reputation is listed in every format and in the manifest', async () => {
  await know(database.pool, [
    address('192.0.2.7'),
    address('2001:db8::7'),
    address('192.0.2.8', 8),
    { kind: 'link-domain', name: 'bad.example', bad: 50, at: now },
    { kind: 'link-host', name: 'www.bad.example', bad: 50, at: now },
    { kind: 'signer', name: 'signs-for-many.example', bad: 50, at: now },
    { kind: 'link-domain', name: 'gmail.com', bad: 5_000, at: now },
    { kind: 'link-host', name: 'spam.ours.example', bad: 5_000, at: now },
  ])
  const manifest = await publish()
  expect((await linesOf('addresses.ip4set')).slice(6)).toEqual(['127.0.0.2', '192.0.2.7'])
  expect((await linesOf('addresses.ip6trie')).slice(6)).toEqual(['::ffff:7f00:2', '2001:db8::7'])
  expect((await linesOf('domains.dnset')).slice(6)).toEqual(['test', '.bad.example'])
  expect((await linesOf('hosts.dnset')).slice(6)).toEqual(['test', 'www.bad.example'])
  expect(await namesIn('addresses')).toEqual(['192.0.2.7', '2001:db8::7'])
  expect(JSON.parse(await read('addresses.json'))).toMatchObject({
    zone: 'addresses.lists.signalpost.example',
    entries: [
      { name: '192.0.2.7', since: '2026-11-20', until: '2026-11-27' },
      { name: '2001:db8::7' },
    ],
  })
  expect(JSON.parse(await read('manifest.json'))).toEqual(manifest)
  expect(manifest?.lists).toMatchObject({ addresses: { entries: 2 }, hosts: { entries: 1 } })
  expect(manifest?.files).toHaveLength(30)
  expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([])
})

test('empty lists are published completely', async () => {
  await publish()
  expect((await linesOf('addresses.ip4set')).at(-1)).toBe('127.0.0.2')
  expect(await read('hosts.txt')).toBe('')
  expect(JSON.parse(await read('hosts.json'))).toMatchObject({ entries: [] })
})

test('a database failure keeps the previous lists, and leaves no drafts', async () => {
  await know(database.pool, [address('192.0.2.7')])
  await publish()
  const before = await read('addresses.ip4set')
  daysLater(1)
  await database.pool.query('alter table listings rename column category to lost')
  await expect(publish()).rejects.toThrow()
  await database.pool.query('alter table listings rename column lost to category')
  expect(await read('addresses.ip4set')).toBe(before)
  expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([])
  await publish()
  expect(await read('addresses.ip4set')).not.toBe(before)
})

test('drafts of a crashed run are removed once they are old, not before', async () => {
  const [dead, alive] = [path.join(folder, '.draft-dead'), path.join(folder, '.draft-alive')]
  await mkdir(dead)
  await mkdir(alive)
  await utimes(dead, 0, new Date(now.getTime() - DAY_MS))
  await utimes(alive, 0, now)
  await publish()
  expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual(['.draft-alive'])
})

test('while one process publishes the lists, another does not start', async () => {
  await inTransaction(database.pool, async (tx) => {
    expect(await claimLists(tx)).toBe(true)
    expect(await publish()).toBeUndefined()
  })
  expect(await publish()).toBeDefined()
})

test('an entry ends without new reports, and comes back for longer', async () => {
  await know(database.pool, [address('192.0.2.7')])
  await publish()
  daysLater(6)
  await publish()
  expect(await namesIn('addresses')).toEqual(['192.0.2.7'])
  daysLater(1)
  await publish()
  expect(await namesIn('addresses')).toEqual([])
  await know(database.pool, [address('192.0.2.7', 20)])
  await publish()
  expect(await findListings(database.pool, 'addresses', ['192.0.2.7'])).toMatchObject([
    { times: 2, until: new Date('2026-12-11T00:00:00Z') },
  ])
})

test('newcomers alone keep nothing on a list', async () => {
  await know(database.pool, [address('192.0.2.7'), address('192.0.2.8')])
  await publish()
  daysLater(5)
  await know(database.pool, [
    address('192.0.2.7', 20, { recentBad: 0.3 }),
    address('192.0.2.8', 20, { recentBad: 0.8 }),
  ])
  await publish()
  daysLater(2)
  await publish()
  expect(await namesIn('addresses')).toEqual(['192.0.2.8'])
})

test('an entry ends at once when its reputation recovers or is deleted', async () => {
  await know(database.pool, [address('192.0.2.7'), address('192.0.2.8'), address('192.0.2.9')])
  await publish()
  await know(database.pool, [address('192.0.2.7', 20, { good: 6 })])
  await database.pool.query(`delete from reputations where name = '192.0.2.9'`)
  await publish()
  expect(await namesIn('addresses')).toEqual(['192.0.2.8'])
})

test('a name welcomed or exempted by an administrator is not listed until that ends', async () => {
  await know(database.pool, [
    ...[address('192.0.2.7'), address('192.0.2.8')],
    { kind: 'link-host', name: 'www.bad.example', bad: 50, at: now },
  ])
  await publish()
  const until = new Date(now.getTime() + DAY_MS)
  const deed = { reason: 'asked for', reporterId: null }
  const subject = { kind: 'address', name: '192.0.2.7' } as const
  const [key, mark] = [reputationKey(subject), 'exempt' as const]
  await inTransaction(database.pool, async (tx) => {
    await setMark(tx, { key, ...subject, mark, ...deed, setAt: now, untilAt: until })
    await keepExemption(tx, { name: '192.0.2.8', ...deed, expiresAt: until, createdAt: now })
    await keepExemption(tx, { name: 'bad.example', ...deed, expiresAt: null, createdAt: now })
  })
  await publish()
  expect(await namesIn('addresses')).toEqual([])
  expect(await namesIn('hosts')).toEqual([])
  daysLater(2)
  await know(database.pool, [address('192.0.2.7'), address('192.0.2.8')])
  await publish()
  expect(await namesIn('addresses')).toEqual(['192.0.2.7', '192.0.2.8'])
  await inTransaction(database.pool, (tx) => removeExemption(tx, 'bad.example'))
  await know(database.pool, [{ kind: 'link-host', name: 'www.bad.example', bad: 50, at: now }])
  await publish()
  expect(await namesIn('hosts')).toEqual(['www.bad.example'])
})

test('a delisted name stays off until enough others complain', async () => {
  await know(database.pool, [address('192.0.2.7', 12)])
  await publish()
  const delisting = { list: 'addresses', name: '192.0.2.7', at: now, reporters: 12 } as const
  expect(await delistName(database.pool, delisting)).toBe(true)
  expect(await delistName(database.pool, delisting)).toBe(false)
  now = new Date(now.getTime() + 3_600_000)
  await know(database.pool, [address('192.0.2.7', 21)])
  await publish()
  expect(await namesIn('addresses')).toEqual([])
  await know(database.pool, [address('192.0.2.7', 22)])
  await publish()
  expect(await namesIn('addresses')).toEqual(['192.0.2.7'])
})

test('more entries than a page are listed without a gap, once, in order', async () => {
  const count = 4_321
  const names = Array.from({ length: count }, (_, n) => `198.51.${n >> 8}.${n & 255}`)
  for (let at = 0; at < count; at += 1_000) {
    await know(
      database.pool,
      names.slice(at, at + 1_000).map((name) => address(name)),
    )
  }
  expect((await publish())?.lists.addresses.entries).toBe(count)
  expect(await namesIn('addresses')).toEqual([...names].sort())
  expect((JSON.parse(await read('addresses.json')) as { entries: [] }).entries).toHaveLength(count)
})

test('a name that is delisted while the lists are judged is not put back', async () => {
  const { pool } = database
  await know(pool, [address('192.0.2.7')])
  await publish()
  const [before] = await findListings(pool, 'addresses', ['192.0.2.7'])
  if (!before) throw new Error('It is not listed.')
  const delisting = { list: 'addresses', name: '192.0.2.7', at: now, reporters: 13.2 } as const
  expect(await inTransaction(pool, (tx) => delistName(tx, delisting))).toBe(true)
  await keepListings(pool, [{ ...before, until: new Date(now.getTime() + 30 * DAY_MS) }])
  const [after] = await findListings(pool, 'addresses', ['192.0.2.7'])
  expect(after).toMatchObject({ until: now, delistedAt: now, delistedReporters: 14 })
  await keepListings(pool, [{ ...before, delistedAt: now, times: 2 }])
  expect(await findListings(pool, 'addresses', ['192.0.2.7'])).toMatchObject([{ times: 2 }])
})

/** Counts accepted mail of 30 domains from 192.0.2.7, some days ago. */
async function countSharedMail() {
  const at = new Date(now.getTime() - 3 * DAY_MS)
  const messages = Array.from({ length: 30 }, (_, author) => ({
    prefix: 'checks' as const,
    amounts: { ham: 10 },
    ...{ at, written: { from: `members@club${author}.example` } },
  }))
  await countWritten(database.pool, messages, now)
  await rollUpAll(database.pool, now)
}

test('an address that many senders share is listed only for many complaints', async () => {
  await countSharedMail()
  const complaints = (bad: number) =>
    know(database.pool, [address('192.0.2.7', bad), address('192.0.2.9', bad)])
  await complaints(10)
  await publish()
  expect(await namesIn('addresses')).toEqual(['192.0.2.9'])
  await complaints(40)
  await publish()
  expect(await namesIn('addresses')).toEqual(['192.0.2.7', '192.0.2.9'])
})
