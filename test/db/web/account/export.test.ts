import { crc32, inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { writeArchive } from '../../../../src/web/account/export.ts'
import { uuidv7 } from '../../../../src/world.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { Writable } from 'node:stream'
import { type Browser, signedInBrowser } from '../browser.ts'
import { sampleMessage, startWebSite, type Person } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())

/** Returns the files of an archive, according to the directory at its end. */
function unzip(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  let at = zip.readUInt32LE(end + 16)
  const files = new Map<string, Buffer>()
  for (let count = zip.readUInt16LE(end + 10); count > 0; count--) {
    const [sum, packed, nameLength] = [
      zip.readUInt32LE(at + 16),
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
    ]
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    const local = zip.readUInt32LE(at + 42)
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const isStored = zip.readUInt16LE(at + 10) === 0
    const bytes = zip.subarray(from, from + packed)
    const content = isStored ? bytes : inflateRawSync(bytes)
    expect(crc32(content)).toBe(sum)
    files.set(name, content)
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return files
}

async function exported(browser: Browser, { password }: Person): Promise<Map<string, Buffer>> {
  const answer = await browser.post('/account/export', { now: password })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/zip')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="signalpost-/)
  return unzip(Buffer.from(await answer.arrayBuffer()))
}

const json = (files: Map<string, Buffer>, name: string) =>
  JSON.parse(files.get(name)?.toString() ?? 'null') as Record<string, unknown>

test('all stored data is in the archive: account, reports, messages and mail', async () => {
  const ann = await site.addPerson('ann@example.org')
  const browser = await signedInBrowser(site.url, ann)
  const raw = sampleMessage('exported')
  const id = await site.report(ann, raw)
  await browser.post('/account/tokens', { name: 'my reader', scope: 'read' })
  await browser.post('/account/password', { now: ann.password, password: 'green lamp over water' })
  const at = new Date()
  await site.app.pool.query(
    `insert into inbound_mails (id, received_at, mail_from, rcpt_to, purpose, reporter_id, state,
       encoding, content) values ($1, $2, $3, 'in@x.example', 'mail-in', $4, 'handled',
       'identity', $5)`,
    [uuidv7(at), at, ann.email, ann.id, Buffer.from('forwarded')],
  )
  await site.app.pool.query(
    `insert into hand_overs (reporter_id, ip, author_domain, seen_on)
     values ($1, '192.0.2.7', 'shop.example', '2026-11-16')`,
    [ann.id],
  )
  const files = await exported(browser, { ...ann, password: 'green lamp over water' })
  expect(files.get(`messages/${id}.eml`)).toEqual(raw)
  expect(json(files, 'reports/000001.jsonl')).toMatchObject({ id, channel: 'api', told: [] })
  expect(json(files, 'account.json')).toMatchObject({
    email: 'ann@example.org',
    settings: { wantsAdvice: true },
    handed_over_by: [{ server: '192.0.2.7', author_domain: 'shop.example', seen_on: '2026-11-16' }],
    tokens: [{ name: 'my reader', scopes: ['read'] }, { name: 'test' }],
    sessions: [{ handle: expect.any(String) as string }],
  })
  const folders = [...files.keys()].map((name) => name.split('/')[0])
  expect(folders.toSorted()).toEqual(['account.json', 'letters', 'messages', 'received', 'reports'])
})

test('credentials are not in it', async () => {
  const bea = await site.addPerson('bea@example.org')
  const files = await exported(await signedInBrowser(site.url, bea), bea)
  const text = files.get('account.json')?.toString() ?? ''
  expect(text).not.toContain(bea.token)
  expect(text).not.toMatch(/argon2|hash|secret|"sid"/i)
})

test('data of others is not in it', async () => {
  const [cy, dan] = [
    await site.addPerson('cy@example.org'),
    await site.addPerson('dan@example.org'),
  ]
  const other = await site.report(dan, sampleMessage('of-dan'))
  const own = await site.report(cy, sampleMessage('of-cy'))
  const files = await exported(await signedInBrowser(site.url, cy), cy)
  const all = [...files].map(([name, bytes]) => name + bytes.toString('latin1')).join('\n')
  expect(all).toContain(own)
  expect(all).not.toContain(other)
  expect(all).not.toContain(dan.email)
})

test('a held report looks like any other', async () => {
  const eve = await site.addPerson('eve@example.org')
  const at = new Date()
  const id = uuidv7(at)
  await site.app.pool.query(
    `insert into reports (id, shard, reporter_id, channel, kind, state, received_at,
       message_bytes, received_via, shadow)
     values ($1, shard_of($1), $2, 'api', 'spam', 'kept', $3, 5, '{}', 'held')`,
    [id, eve.id, at],
  )
  await site.app.pool.query(
    `insert into raw_messages (id, shard, encoding, content)
     values ($1, shard_of($1), 'identity', 'aside')`,
    [id],
  )
  const files = await exported(await signedInBrowser(site.url, eve), eve)
  expect(files.get(`messages/${id}.eml`)?.toString()).toBe('aside')
  expect(Object.keys(json(files, 'reports/000001.jsonl'))).not.toContain('isShadowed')
  expect(files.get('reports/000001.jsonl')?.toString()).not.toMatch(/shadow/i)
})

test.for([
  ['a wrong password', { now: 'wrong' }],
  ['none', {}],
] as const)('with %s nothing is exported', async ([, fields]) => {
  const fay = await once()
  const answer = await (await signedInBrowser(site.url, fay)).post('/account/export', fields)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    422,
    'text/html; charset=utf-8',
  ])
})

let known: Promise<Person> | undefined
const once = () => (known ??= site.addPerson('fay@example.org'))

test('the archive is read as it is written, with little in memory', async () => {
  const gil = await site.addPerson('gil@example.org')
  for (let count = 0; count < 230; count++) await site.report(gil, sampleMessage(`much-${count}`))
  let [asked, chunks] = [0, 0]
  const pool = new Proxy(site.app.pool, {
    get: (target, key) =>
      key === 'query'
        ? (...given: [string]) => {
            asked++
            return target.query(...given)
          }
        : (Reflect.get(target, key) as unknown),
  })
  let release: (() => void) | undefined
  const slow = new Writable({
    highWaterMark: 1_000,
    write: (_chunk, _encoding, done) => {
      if (++chunks === 20) release = done
      else done()
    },
  })
  const gone = new AbortController()
  const writing = writeArchive({ ...gil, role: null }, { ...site.app, pool }, slow, gone.signal)
  await expect.poll(() => chunks).toBe(20)
  await expect.poll(() => asked).toBeGreaterThan(0)
  const stuckAt = asked
  expect(stuckAt).toBeLessThan(600)
  release?.()
  await writing
  expect(asked).toBeGreaterThan(stuckAt * 2)
})

test('a client that disconnects ends the export', async () => {
  const hal = await once()
  const gone = new AbortController()
  gone.abort()
  const nowhere = new Writable({ write: () => undefined })
  await expect(
    writeArchive({ ...hal, role: null }, site.app, nowhere, gone.signal),
  ).rejects.toThrow('disconnected')
})
