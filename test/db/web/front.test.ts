import { hash as hashOf } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { doctor } from '../../../src/cli/doctor/doctor.ts'
import { readConfig } from '../../../src/config.ts'
import { createMainClient } from '../../../src/outage/main-client.ts'
import { openFront } from '../../../src/processes/front.ts'
import { web } from '../../../src/processes/web.ts'
import { prepareReport } from '../../../src/reports/accept-report.ts'
import { spooledReport } from '../../../src/reports/take-spooled.ts'
import { readMessage } from '../../../src/mail/message.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { spamMessage } from '../../support/messages.ts'
import { Browser } from './browser.ts'
import { layWire } from './cut-wire.ts'
import { type Person, startWebSite } from './web-site.ts'
import { ringOf } from '../../support/key-ring.ts'

const FRONT_KEY = 'a key of the tests of fronts, long enough'
const main = await closeAfterTests(startWebSite({ FRONT_KEY }))
const folder = await makeTestFolder()
// Before the main installation, so that it can go away.
const wire = await layWire(Number(new URL(main.url).port))
afterAll(() => wire.cut())
const through = `http://127.0.0.1:${wire.port}`

type Front = { url: string; folder: string; close: () => Promise<void> }

async function startFront(name: string, given: Record<string, string> = {}): Promise<Front> {
  const own = `${folder}/${name}`
  const settings = { MAIN_URL: through, FRONT_KEY, PUBLIC_URL: 'https://main.example' }
  const rest = { SPOOL_DIR: own, HTTP_PORT: '0', DRAIN_SECONDS: '0' }
  const env = { ...settings, ...rest, ...given }
  const config = readConfig(env, { cores: 1, cwd: folder })
  const { app, standIn } = await openFront(config, pino({ level: 'silent' }))
  const { url, close } = await web(app, standIn)
  return { url, folder: own, close }
}

const front = await closeAfterTests(startFront('usual'))
const ann = await main.addPerson('ann@reporters.example')
const bea = await main.addPerson('bea@reporters.example')

type At = { url: string; authorization?: string }

function post({ token }: Person, mark: string, { url, authorization }: Partial<At> = {}) {
  const headers = {
    'content-type': 'message/rfc822',
    authorization: authorization ?? `Bearer ${token}`,
  }
  const options = { method: 'POST', headers, body: spamMessage(mark) }
  return fetch(`${url ?? front.url}/api/v1/reports`, options)
}

async function idOf(answer: Response): Promise<string> {
  expect(answer.status).toBe(202)
  return ((await answer.json()) as { id: string }).id
}

const statusAtMain = async ({ token }: Person, id: string) => {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${main.url}/api/v1/reports/${id}`, { headers })).status
}

const isForwarded = async ({ folder: own }: Front) => {
  const names = await readdir(own).catch(() => [])
  return names.every((name) => name.startsWith('callers'))
}

const spool = (at: Front) => expect.poll(() => isForwarded(at), { timeout: 20_000 })
const readyz = async ({ url }: Front) => (await fetch(`${url}/readyz`)).text()

const countReports = async () => {
  const { rows } = await main.app.pool.query<{ reports: number; jobs: number }>(`
    select (select count(*) from reports) as reports,
      (select count(*) from pgboss.job where name = 'analyze-report') as jobs`)
  return rows[0] ?? { reports: 0, jobs: 0 }
}

test('a front takes reports by each way, and the main installation stores each once', async () => {
  const before = await countReports()
  const ids = [
    await idOf(await post(ann, 'by-token')),
    await idOf(await post(ann, 'by-password', { authorization: ann.basic })),
  ]
  // The same message again: its id is an alias.
  ids.push(await idOf(await post(ann, 'by-token')))
  const message = spamMessage('plug-in').toString('base64')
  const plugIn = await fetch(`${front.url}/api/signaler`, {
    method: 'POST',
    headers: { authorization: ann.basic },
    body: new URLSearchParams({ message }),
  })
  ids.push(await idOf(plugIn))
  const browser = new Browser(front.url)
  const form = await browser.get('/report')
  expect([form.status, await form.text()]).toEqual([
    200,
    expect.stringContaining('type="password"'),
  ])
  const fields = {
    'user[email_or_login]': ann.email,
    'user[password]': ann.password,
    'reporting[raw_email]': spamMessage('by-form').toString(),
  }
  const sent = await browser.post('/report', fields, { 'sec-fetch-site': 'same-origin' })
  const page = await sent.text()
  expect([sent.status, page]).toEqual([200, expect.stringContaining('recorded')])
  expect(page).not.toContain('/sign-out')
  await spool(front).toBe(true)
  for (const id of ids) expect(await statusAtMain(ann, id)).toBe(200)
  const after = await countReports()
  expect([after.reports - before.reports, after.jobs - before.jobs]).toEqual([4, 4])
})

test('wrong credentials are refused', async () => {
  const stranger = { ...ann, token: `sp_${'x'.repeat(43)}` }
  expect((await post(stranger, 'stranger')).status).toBe(401)
  const wrong = `Basic ${Buffer.from(`${ann.email}:wrong`).toString('base64')}`
  expect((await post(ann, 'wrong', { authorization: wrong })).status).toBe(401)
})

test('while the main installation is away, a front takes reports of those it knows', async () => {
  await idOf(await post(ann, 'known'))
  await idOf(await post(ann, 'known-too', { authorization: ann.basic }))
  await spool(front).toBe(true)
  await wire.cut()
  const unknown = await post(bea, 'unknown')
  expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await readyz(front)).toMatch(/known reporters only: .*does not answer/)
  const ids = [
    await idOf(await post(ann, 'away')),
    await idOf(await post(ann, 'away-too', { authorization: ann.basic })),
  ]
  for (const id of ids) {
    // The main installation knows of them by their ids, and only their reporter gets this answer.
    expect(await statusAtMain(ann, id)).toBe(503)
    expect(await statusAtMain(bea, id)).toBe(404)
  }
  await wire.mend()
  await spool(front).toBe(true)
  for (const id of ids) expect(await statusAtMain(ann, id)).toBe(200)
  await expect.poll(() => readyz(front), { timeout: 20_000 }).toBe('ready\n')
})

test('everything else is at the main site', async () => {
  const at = (path: string, options: RequestInit = {}) =>
    fetch(front.url + path, { redirect: 'manual', ...options })
  const history = await at('/reports?page=2')
  expect([history.status, history.headers.get('location')]).toEqual([
    302,
    'https://main.example/reports?page=2',
  ])
  const read = await at(`/api/v1/reports/${crypto.randomUUID()}`)
  expect([read.status, await read.text()]).toEqual([
    404,
    expect.stringContaining('only accepts reports. Everything else is at https://main.example.'),
  ])
  const headers = { authorization: `Bearer ${FRONT_KEY}` }
  for (const path of [
    '/sign-in',
    '/sign-up',
    '/api/front/limits',
    '/api/front/reports',
    '/checkv2',
  ])
    expect([path, (await at(path, { method: 'POST', headers })).status]).toEqual([path, 404])
})

test('a wrong key is said with what to do, and loses nothing', async () => {
  const settings = { FRONT_KEY: 'another key of the tests, long enough' }
  const wrong = await startFront('wrong', settings)
  const says = /refuses FRONT_KEY. Set the same FRONT_KEY there and here/
  try {
    await expect.poll(() => readyz(wrong), { timeout: 20_000 }).toMatch(says)
    expect((await post(ann, 'wrong-key', wrong)).status).toBe(503)
    const env = { MAIN_URL: main.url, DATA_DIR: folder, ...settings }
    const around = { env: {}, execArgv: [], cwd: folder }
    const found = await doctor(readConfig(env, { cores: 1, cwd: folder }), around)
    expect(found).toEqual({ isSound: false, text: expect.stringMatching(says) as string })
  } finally {
    await wrong.close()
  }
})

test('a full spool is refused with 503 and named', async () => {
  const full = await startFront('full', { SPOOL_MEGABYTES: '0' })
  try {
    expect((await post(ann, 'full', full)).status).toBe(503)
    expect(await readyz(full)).toMatch(/the spool is full/)
  } finally {
    await full.close()
  }
})

test('a front never gets a hash of a password, a role or another scope', async () => {
  const admin = await main.addPerson('admin@reporters.example', { role: 'administrator' })
  await idOf(await post(admin, 'admin'))
  const { ask } = createMainClient(main.url, FRONT_KEY)
  const hash = hashOf('sha256', admin.token)
  const owner = await ask('token', { hash }, z.unknown())
  expect(owner).toEqual({ owner: { id: admin.id, email: admin.email, scopes: ['report'] } })
  const account = await ask('password', admin, z.unknown())
  const valid = await ask('valid', { token: [hash], account: [admin.email] }, z.unknown())
  expect(JSON.stringify([account, valid])).not.toMatch(/argon|administrator|retract/)
  expect(
    (
      await fetch(`${front.url}/metrics`, {
        headers: { forwarded: 'for=192.0.2.1', authorization: `Bearer ${admin.token}` },
      })
    ).status,
  ).toBe(403)
})

test('the main installation takes nothing that a front could not have accepted', async () => {
  const { forward } = createMainClient(main.url, FRONT_KEY)
  const at = new Date()
  const prepare = async (mark: string, now = at) => {
    const message = readMessage(spamMessage(mark))
    const given = { reporterId: ann.id, channel: 'api', kind: 'spam', comment: null } as const
    return prepareReport({ ...given, message, receivedVia: [] }, now)
  }
  const sound = await prepare('sound')
  const others = [
    { ...(await prepare('other-hash')), contentHash: sound.contentHash },
    await prepare('too-old', new Date(0)),
    await prepare('too-new', new Date(at.getTime() + 10 * 86_400_000)),
    {
      ...(await prepare('bomb')),
      packed: { encoding: 'zstd', content: Buffer.from('no zstd') },
    } as const,
  ]
  const trap = await prepare('trap')
  const wrongChannel = { ...trap, report: { ...trap.report, channel: 'trap' } } as const
  const entries = [sound, ...others, wrongChannel].map((one) =>
    spooledReport(one, ringOf(FRONT_KEY)),
  )
  const refused = await forward(entries)
  expect(refused.map(({ id }) => id)).toEqual(entries.slice(1).map(({ id }) => id))
  expect(await statusAtMain(ann, entries[0]?.id ?? '')).toBe(200)
  const mail = { id: crypto.randomUUID(), values: { type: 'mail' }, content: Buffer.alloc(3) }
  expect(await forward([mail])).toEqual([mail])
})

test('the questions of fronts need the key, and do not exist without one', async () => {
  const ask = (url: string, authorization: string) =>
    fetch(`${url}/api/front/limits`, { method: 'POST', headers: { authorization } })
  expect((await ask(main.url, 'Bearer wrong')).status).toBe(401)
  expect((await ask(main.url, `Bearer ${ann.token}`)).status).toBe(401)
  const keyless = await startWebSite()
  expect((await ask(keyless.url, `Bearer ${FRONT_KEY}`)).status).toBe(404)
  await keyless.close()
})
