import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { hash } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { keepExemption } from '../../../src/db/listings.ts'
import { updatePage } from '../../../src/db/pages.ts'
import { HOUR_MS } from '../../../src/durations.ts'
import { runPublishLists } from '../../../src/lists/publish-lists.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { ringOf } from '../../support/key-ring.ts'
import { confirmPages } from '../../support/listed-pages.ts'

const start = new Date('2026-11-20T12:30:00Z')
let folder: string
let now: Date

const database = await closeAfterTests(freshDatabase(start))
const { pool } = database

beforeEach(async () => {
  now = start
  await pool.query('truncate pages, list_exemptions cascade')
  folder = await mkdtemp(path.join(tmpdir(), 'signalpost-pages-'))
  return () => rm(folder, { recursive: true })
})

function publish() {
  const env = { LISTS_DIR: folder, PUBLIC_URL: 'https://spam.ours.example' }
  const config = readConfig(env, { cores: 1, cwd: '/nowhere' })
  const own = { databaseUrl: database.url, secret: ringOf('a secret of the tests') }
  const log = pino({ level: 'silent' })
  return runPublishLists({ pool, clock: () => now, config: { ...config, ...own }, log })
}

const read = (name: string) => readFile(path.join(folder, name), 'utf8')
const linesOf = async (name: string) => (await read(name)).split(/\r?\n/).filter(Boolean)
const later = (hours: number) => (now = new Date(now.getTime() + hours * HOUR_MS))

const host = 'https://login.evil.example/in?a=1,2'
const onPlatform = 'https://sites.google.com/view/my-bank'
const onAddress = 'http://192.0.2.7/bank'

type Event = { Event: { Attribute: { value: string; deleted?: true; to_ids: boolean }[] } }
type Manifest = Record<string, { info: string; date: string; Orgc: { name: string } }>

/** The values of all events that the manifest lists: `-` is deleted, `~` no longer detected. */
async function mispValues(feed = 'pages'): Promise<string[]> {
  const manifest = JSON.parse(await read(`${feed}-misp/manifest.json`)) as Manifest
  const files = Object.keys(manifest).map((uuid) => read(`${feed}-misp/${uuid}.json`))
  const events = (await Promise.all(files)).map((text) => (JSON.parse(text) as Event).Event)
  return events.flatMap(({ Attribute }) =>
    Attribute.map(({ value, deleted, to_ids }) => `${deleted ? '-' : to_ids ? '' : '~'}${value}`),
  )
}

test('a page is listed by its host or by its URL in every format', async () => {
  await confirmPages(pool, [
    { url: host, at: now, imitates: 'My "Bank"' },
    { url: 'https://login.evil.example/other', at: now, confirmedBy: 'reporters' },
    { url: onPlatform, at: now, scope: 'path', type: 'malware' },
    { url: onAddress, at: now, type: 'malware' },
  ])
  const manifest = await publish()
  expect(manifest?.lists).toMatchObject({
    pages: { zone: 'pages.lists.signalpost.example', entries: 4 },
    'pages-delayed': { entries: 0 },
  })
  const other = 'https://login.evil.example/other'
  const urls = [host, other, onPlatform, onAddress]
  expect((await linesOf('pages.txt')).toSorted()).toEqual(urls.toSorted())
  const hosts = ['192.0.2.7', 'login.evil.example']
  expect((await linesOf('pages.hosts.txt')).toSorted()).toEqual(hosts)
  expect((await linesOf('pages.rpz')).slice(4)).toEqual(['login.evil.example CNAME .'])
  const answer = 'see https://spam.ours.example/lookup?q=$'
  expect((await linesOf('pages.dnset')).slice(7)).toEqual([
    `login.evil.example :127.0.0.4:Reported for phishing, ${answer}`,
  ])
  expect((await linesOf('pages.ip4set')).slice(7)).toEqual([
    `192.0.2.7 :127.0.0.5:Reported for malware, ${answer}`,
  ])
  const entries = (await linesOf('pages.jsonl')).map((line) => JSON.parse(line) as { url: string })
  expect(entries.find(({ url }) => url === host)).toEqual({
    ...{ id: expect.stringMatching(/^[\da-f-]{36}$/) as string, url: host },
    ...{ host: 'login.evil.example', scope: 'host', category: 'phishing', imitates: 'My "Bank"' },
    ...{ first_seen: '2026-11-20', last_seen: '2026-11-20', confidence: 95 },
    confirmed_at: '2026-11-20T12:00:00Z',
  })
  expect(entries.find(({ url }) => url === other)).toMatchObject({ confidence: 75 })
  expect(await read('pages.csv')).toContain(
    `,"${host}",login.evil.example,host,phishing,"My ""Bank""",2026-11-20,2026-11-20,`,
  )
  expect((await mispValues()).toSorted()).toEqual([...urls, ...hosts].toSorted())
  expect(await read('pages-misp/hashes.csv')).toContain(`${hash('md5', host)},`)
})

test('the public gets a page hours later, and a person of the site at once', async () => {
  await confirmPages(pool, [{ url: host, at: now }])
  await publish()
  expect(await linesOf('pages.txt')).toEqual([host])
  expect(await linesOf('pages-delayed.txt')).toEqual([])
  expect(await mispValues('pages-delayed')).toEqual([])
  later(4)
  await publish()
  expect(await linesOf('pages-delayed.txt')).toEqual([host])
  expect(await mispValues('pages-delayed')).toEqual([host, 'login.evil.example'])
})

test('only pages with a shared URL that may be accused are listed', async () => {
  await confirmPages(pool, [
    { url: 'https://coded.example/x8f3k2', at: now, shared: false },
    { url: 'https://spam.ours.example/report', at: now },
    { url: 'https://www.paypal.com/signin', at: now },
    { url: 'https://bit.ly/3abcd', at: now },
    { url: 'https://seen.example/', at: now, state: 'seen', confirmedBy: null },
    { url: 'https://exempted.evil.example/', at: now },
    { url: host, at: now },
  ])
  const reason = { reason: 'asked for', reporterId: null, createdAt: now, expiresAt: null }
  await keepExemption(pool, { name: 'exempted.evil.example', ...reason })
  await publish()
  expect((await linesOf('pages.txt')).toSorted()).toEqual(['https://bit.ly/3abcd', host])
  expect(await linesOf('pages.hosts.txt')).toEqual(['login.evil.example'])
})

test('a page leaves all files when it is cleared, and MISP deletes it', async () => {
  const [page] = await confirmPages(pool, [{ url: host, at: now }])
  const [early] = await confirmPages(pool, [{ url: 'https://brief.example/', at: now }])
  if (!page || !early) throw new Error('The pages are missing.')
  later(1)
  const cleared = { state: 'cleared', confirmedBy: null, clearedAt: now } as const
  await updatePage(pool, { ...early, ...cleared })
  later(4)
  await publish()
  await updatePage(pool, { ...page, ...cleared, clearedAt: now })
  await publish()
  for (const name of ['txt', 'hosts.txt', 'jsonl', 'csv', 'rpz', 'dnset']) {
    expect(await read(`pages.${name}`)).not.toContain('evil.example')
    expect(await read(`pages-delayed.${name}`)).not.toContain('evil.example')
  }
  const gone = [`-${host}`, '-login.evil.example']
  expect((await mispValues()).toSorted()).toEqual(
    ['-https://brief.example/', '-brief.example', ...gone].toSorted(),
  )
  // The public never read of the page that was cleared before the delay had passed.
  expect(await mispValues('pages-delayed')).toEqual(gone)
  later(24 * 31)
  await publish()
  expect(await readdir(path.join(folder, 'pages-misp'))).toEqual(['hashes.csv', 'manifest.json'])
})

test('a page leaves the files a week after the last report', async () => {
  await confirmPages(pool, [
    { url: host, at: now, lastSeen: new Date(now.getTime() + HOUR_MS) },
    { url: 'https://older.example/', at: now },
  ])
  later(24 * 7)
  await publish()
  expect(await linesOf('pages.txt')).toEqual([host])
  const old = ['~https://older.example/', '~older.example']
  expect((await mispValues()).toSorted()).toEqual([host, 'login.evil.example', ...old].toSorted())
  later(2)
  await publish()
  expect(await linesOf('pages.txt')).toEqual([])
  expect(await linesOf('pages-misp/hashes.csv')).toEqual([])
  // Whoever follows the public feed has read the same pages.
  expect((await mispValues('pages-delayed')).toSorted()).toEqual((await mispValues()).toSorted())
  expect(await mispValues()).toContain(`~${host}`)
  later(24 * 31)
  await publish()
  expect(await readdir(path.join(folder, 'pages-misp'))).toEqual(['hashes.csv', 'manifest.json'])
})
