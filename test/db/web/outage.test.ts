import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CallerKeys, listValidKeys } from '../../../src/db/known-callers.ts'
import { createCallers } from '../../../src/outage/callers.ts'
import { readMessage } from '../../../src/mail/message.ts'
import { prepareReport } from '../../../src/reports/accept-report.ts'
import { spooledReport, takeSpooled } from '../../../src/reports/take-spooled.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { spamMessage } from '../../support/messages.ts'
import { makeScratchFolder } from '../../support/scratch-folder.ts'
import { signedInBrowser } from './browser.ts'
import { layWire, type Wire } from './cut-wire.ts'
import { type Person, startWebSite } from './web-site.ts'
import { ringOf } from '../../support/key-ring.ts'

let wire: Wire
const folder = await makeScratchFolder('outage')

const site = await closeAfterTests(
  startWebSite({ SPOOL_DIR: folder, SPOOL_MEGABYTES: '1' }, async (url) => {
    wire = await layWire(Number(new URL(url).port))
    const rewired = new URL(url)
    rewired.hostname = '127.0.0.1'
    rewired.port = String(wire.port)
    return rewired.href
  }),
)
const ann = await site.addPerson('ann@reporters.example')
const bea = await site.addPerson('bea@reporters.example')
const old = await site.addPerson('old@reporters.example')
afterAll(() => rm(folder, { recursive: true }))

type Receipt = { id: string; status: string; url: string; changed: boolean }

function post(person: Person, raw: Buffer<ArrayBuffer>, headers: Record<string, string> = {}) {
  const type = { 'content-type': 'message/rfc822', authorization: `Bearer ${person.token}` }
  const options = { method: 'POST', headers: { ...type, ...headers }, body: raw }
  return fetch(`${site.url}/api/v1/reports`, options)
}

function get(person: Person, id: string) {
  const headers = { authorization: `Bearer ${person.token}` }
  return fetch(`${site.url}/api/v1/reports/${id}`, { headers })
}

async function receiptOf(answer: Response): Promise<Receipt> {
  expect(answer.status).toBe(202)
  return (await answer.json()) as Receipt
}

/** Runs `work` without a database, then waits until the spool is empty. */
async function withoutDatabase(work: () => Promise<void>): Promise<void> {
  await wire.cut()
  try {
    await work()
  } finally {
    await wire.mend()
  }
  await expect.poll(spoolFiles).toEqual([])
  await expect.poll(async () => (await get(ann, earlier)).status).toBe(200)
}

async function spoolFiles(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith('callers'))
}

const count = async () => {
  const { rows } = await site.app.pool.query<{ reports: number; jobs: number }>(`
    select (select count(*) from reports) as reports,
      (select count(*) from pgboss.job where name = 'analyze-report') as jobs`)
  return rows[0]
}

let earlier: string

beforeAll(async () => {
  earlier = await site.report(ann, spamMessage('earlier'))
  // Known since they reported once.
  await site.report(bea, spamMessage('earlier'))
  await site.report(old, spamMessage('earlier'))
  await post(ann, spamMessage('earlier'), { authorization: ann.basic })
})

test('reports are accepted without the database, by every way, and stored once', async () => {
  const browser = await signedInBrowser(site.url, bea)
  await browser.get('/report')
  await browser.tokenFields()
  const before = await count()
  const ids: string[] = []
  let alias = ''
  await withoutDatabase(async () => {
    ids.push((await receiptOf(await post(ann, spamMessage('by-token')))).id)
    const keyed = { 'idempotency-key': 'one' }
    ids.push((await receiptOf(await post(ann, spamMessage('keyed'), keyed))).id)
    const again = await receiptOf(await post(ann, spamMessage('keyed'), keyed))
    expect((await get(ann, again.id)).status).toBe(503)
    alias = (await receiptOf(await post(ann, spamMessage('earlier')))).id
    const message = spamMessage('plug-in').toString('base64')
    const headers = { authorization: ann.basic }
    const body = new URLSearchParams({ message })
    const plugIn = await fetch(`${site.url}/api/signaler`, { method: 'POST', headers, body })
    ids.push((await receiptOf(plugIn)).id)
    const lines = JSON.stringify({ message_base64: spamMessage('bulk').toString('base64') })
    const bulk = await fetch(`${site.url}/api/v1/reports/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/x-ndjson' },
      body: lines,
    })
    expect(bulk.status).toBe(202)
    const form = { 'reporting[raw_email]': spamMessage('form').toString() }
    const sent = await browser.post('/report', form)
    expect([sent.status, await sent.text()]).toEqual([200, expect.stringContaining('recorded')])
    const signIn = { 'user[email_or_login]': ann.email, 'user[password]': ann.password }
    const old = { ...signIn, 'reporting[raw_email]': spamMessage('old-form').toString() }
    const oldForm = await fetch(`${site.url}/report`, {
      method: 'POST',
      body: new URLSearchParams(old),
    })
    expect(oldForm.status).toBe(200)
    expect((await fetch(`${site.url}/readyz`)).status).toBe(200)
    expect((await fetch(`${site.url}/metrics`)).status).toBe(200)
  })
  const after = await count()
  expect(after).toEqual({ reports: (before?.reports ?? 0) + 6, jobs: (before?.jobs ?? 0) + 6 })
  for (const id of ids) expect(await (await get(ann, id)).json()).toMatchObject({ id })
  expect(await (await get(ann, alias)).json()).toMatchObject({ id: earlier })
})

test('what else than a new report needs the database is answered with 503', async () => {
  await withoutDatabase(async () => {
    expect((await get(ann, earlier)).status).toBe(503)
    const headers = { authorization: `Bearer ${ann.token}` }
    const retract = await fetch(`${site.url}/api/v1/reports/${earlier}`, {
      method: 'DELETE',
      headers,
    })
    expect(retract.status).toBe(503)
    const stranger = { ...ann, token: `sp_${'x'.repeat(43)}` }
    expect((await post(stranger, spamMessage('stranger'))).status).toBe(503)
    const wrong = Buffer.from(`${ann.email}:wrong`).toString('base64')
    const answer = await post(ann, spamMessage('wrong'), { authorization: `Basic ${wrong}` })
    expect(answer.status).toBe(503)
  })
})

/** A report by Ann as it is read from a spool. */
async function entryOf(raw: Buffer, kind: 'spam' | 'not-spam') {
  const submission = { reporterId: ann.id, channel: 'api', kind, comment: null } as const
  const message = readMessage(raw)
  const prepared = await prepareReport({ ...submission, message, receivedVia: [] }, new Date())
  const spooled = spooledReport(prepared, site.app.config.secret)
  return { ...spooled, values: JSON.parse(JSON.stringify(spooled.values)) as object }
}

test('a report in the spool of another process is announced until it is stored', async () => {
  const entry = await entryOf(spamMessage('elsewhere'), 'spam')
  const ofAnn = () => get(ann, entry.id)
  const early = await ofAnn()
  expect([early.status, early.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await early.text()).toContain('not in the database yet')
  const browser = await signedInBrowser(site.url, ann)
  expect((await browser.get(`/reports/${entry.id}`)).status).toBe(503)
  // Others cannot tell the id from one that does not exist.
  expect((await get(bea, entry.id)).status).toBe(404)
  expect((await get(ann, randomUUID())).status).toBe(404)

  expect(await takeSpooled([entry], site.app)).toEqual([])
  expect((await ofAnn()).status).toBe(200)
  await site.app.pool.query('delete from reports where id = $1', [entry.id])
  expect((await ofAnn()).status).toBe(404)
  expect(await takeSpooled([entry], site.app)).toEqual([])
  expect((await ofAnn()).status).toBe(404)
})

test.for([
  ['retracted', { method: 'DELETE', path: '' }],
  ['reported as phishing', { method: 'POST', path: '?kind=phishing' }],
] as const)('a report that was %s after a spooled statement stays so', async ([mark, later]) => {
  const raw = spamMessage(`order-${mark}`)
  const id = await site.report(ann, raw)
  await expect.poll(async () => (await get(ann, id)).status).toBe(200)
  const [again, other, third] = [
    await entryOf(raw, 'spam'),
    await entryOf(raw, 'not-spam'),
    await entryOf(raw, 'spam'),
  ]
  // Stored in their order, although their events were recorded later than they were made.
  expect(await takeSpooled([again, other], site.app)).toEqual([])
  expect(await (await get(ann, id)).json()).toMatchObject({ kind: 'not-spam' })
  const url = `${site.url}/api/v1/reports`
  const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'message/rfc822' }
  const { method, path } = later
  if (method === 'DELETE') await fetch(`${url}/${id}`, { method, headers })
  else await fetch(`${url}${path}`, { method, headers, body: raw })
  const before = await (await get(ann, id)).json()
  expect(await takeSpooled([third], site.app)).toEqual([])
  expect(await (await get(ann, id)).json()).toEqual(before)
})

test('a token that was revoked before the outage is refused', async () => {
  await site.app.pool.query('delete from tokens where reporter_id = $1', [old.id])
  const callers = await createCallers(remembering(), `${folder}/callers-x`)
  const found = { id: old.id }
  const question = {
    kind: 'token',
    key: 'ab'.repeat(32),
    find: () => Promise.resolve(found),
  } as const
  expect(await callers.find(question)).toEqual(found)
  await callers.confirm()
  isAway = true
  await expect(callers.find(question)).rejects.toThrow(/temporarily unavailable/)
  isAway = false
})

function remembering() {
  const listValid = (keys: CallerKeys, now: Date) => listValidKeys(site.app.pool, keys, now)
  return { ...site.app, outage: idle, listValid }
}

let isAway = false
const idle = {
  since: () => undefined,
  run: <T>(work: () => Promise<T>, instead: () => T | Promise<T>) =>
    isAway ? Promise.resolve().then(instead) : work(),
}

test('known callers survive in a file that only this installation can read', async () => {
  const needs = remembering()
  const file = `${folder}/callers-y`
  const callers = await createCallers(needs, file)
  const question = { kind: 'reporter', key: ann.id, find: () => Promise.resolve(ann) } as const
  await callers.find(question)
  await callers.save()
  expect((await readFile(file)).includes(ann.email)).toBe(false)
  isAway = true
  const again = await createCallers(needs, file)
  expect(await again.find(question)).toEqual(ann)
  const later = () => new Date(Date.now() + 3_700_000)
  const late = await createCallers({ ...needs, clock: later }, file)
  await expect(late.find(question)).rejects.toThrow(/unavailable/)
  const others = {
    ...needs,
    config: { ...needs.config, secret: ringOf('another secret, as long as it is') },
  }
  await expect((await createCallers(others, file)).find(question)).rejects.toThrow(/unavailable/)
  isAway = false
})

test('while the spool cannot be written, readyz says so, without the database by 503', async () => {
  const ready = async () => {
    const answer = await fetch(`${site.url}/readyz`)
    return [answer.status, (await answer.text()).trim()]
  }
  expect(await ready()).toEqual([200, 'ready'])
  await rm(folder, { recursive: true })
  await writeFile(folder, '')
  const fault = 'SPOOL_DIR cannot be written: it is not a folder and cannot be created'
  const patience = { timeout: 15_000 }
  await expect
    .poll(ready, patience)
    .toEqual([200, expect.stringContaining(`ready, but not without the database: ${fault}`)])
  expect((await post(ann, spamMessage('with-database'))).status).toBe(202)
  await wire.cut()
  try {
    expect(await ready()).toEqual([503, expect.stringContaining(`not answer, and ${fault}`)])
    expect((await post(ann, spamMessage('refused'))).status).toBe(503)
    await rm(folder)
    const only = 'ready for new reports only: the database does not answer'
    await expect.poll(ready, patience).toEqual([200, only])
    expect((await post(ann, spamMessage('repaired'))).status).toBe(202)
  } finally {
    await wire.mend()
  }
  await expect.poll(spoolFiles).toEqual([])
  await expect.poll(ready, patience).toEqual([200, 'ready'])
})

test('a full spool refuses, and keeps what it has', async () => {
  const large = (mark: string) =>
    Buffer.concat([spamMessage(mark), Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))])
  const kept: string[] = []
  await withoutDatabase(async () => {
    for (let number = 0; ; number++) {
      const answer = await post(ann, large(`large-${number}`) as Buffer<ArrayBuffer>)
      if (answer.status === 503) break
      kept.push((await receiptOf(answer)).id)
    }
  })
  expect(kept.length).toBeGreaterThan(5)
  for (const id of kept) expect((await get(ann, id)).status).toBe(200)
})
