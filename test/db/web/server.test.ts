import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { layWire, type Wire } from './cut-wire.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

let wire: Wire

const site = await closeAfterTests(
  startWebSite({}, async (url) => {
    wire = await layWire(Number(new URL(url).port))
    const rewired = new URL(url)
    rewired.hostname = '127.0.0.1'
    rewired.port = String(wire.port)
    return rewired.href
  }),
)
const ann = await site.addPerson('ann@reporters.example')

function post(raw: Buffer<ArrayBuffer>) {
  return fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'message/rfc822' },
    body: raw,
  })
}

/** Sends raw bytes and returns everything received until the server closes. */
function sendRaw(text: string | Buffer, url = site.url): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
    socket.on('error', reject)
  })
}

test('the server reports that it is alive and ready', async () => {
  expect((await fetch(`${site.url}/healthz`)).status).toBe(200)
  expect((await fetch(`${site.url}/readyz`)).status).toBe(200)
})

test('the server reports that its database is unavailable, and recovers', async () => {
  await post(sampleMessage('before'))
  await wire.cut()
  try {
    expect((await fetch(`${site.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${site.url}/readyz`)).status).toBe(503)
    for (const attempt of ['first', 'second', 'third']) {
      const answer = await post(sampleMessage(`outage-${attempt}`))
      expect([attempt, answer.status]).toEqual([attempt, 503])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
    }
    const page = await fetch(`${site.url}/reports`, { headers: { cookie: 'signalpost=s%3Ax.y' } })
    expect(page.status).toBeOneOf([200, 503])
  } finally {
    await wire.mend()
  }
  await expect.poll(async () => (await post(sampleMessage('after'))).status).toBe(202)
  expect((await fetch(`${site.url}/readyz`)).status).toBe(200)
})

test('it is not ready on a database that lacks a migration', async () => {
  const { pool } = site.app
  await pool.query(`update schema_migrations set name = 'x' where name like '0002%'`)
  const answer = await fetch(`${site.url}/readyz`)
  expect(answer.status).toBe(503)
  expect(await answer.text()).toContain('0002_accounts')
  await pool.query(`update schema_migrations set name = '0002_accounts' where name = 'x'`)
})

test('a message of thirty megabytes is refused in a way that its client sees', async () => {
  const raw = Buffer.concat([sampleMessage('huge'), Buffer.alloc(30_000_000, 'a\r\n')])
  const answer = await post(raw)
  expect(answer.status).toBe(413)
  expect(await answer.json()).toMatchObject({ status: 413, detail: expect.any(String) as unknown })
})

test('a message of 24 megabytes is accepted', async () => {
  const raw = Buffer.concat([sampleMessage('large'), Buffer.alloc(24_000_000, 'a\r\n')])
  expect((await post(raw)).status).toBe(202)
})

const host = 'Host: x\r\n'
const chunked = 'Transfer-Encoding: chunked\r\n'

test.for([
  ['no HTTP at all', 'EHLO spam.example\r\n\r\n', 400],
  ['a header without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  [
    'a broken chunk',
    `POST /api/v1/reports HTTP/1.1\r\n${host}${chunked}Connection: close\r\n\r\nzz\r\n`,
    40,
  ],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    400,
  ],
  [
    'length and chunks',
    `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\n${chunked}\r\n0\r\n\r\n`,
    400,
  ],
  [
    'a path with junk',
    'GET /../../etc/passwd%00%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    40,
  ],
  [
    'an absolute address',
    'GET http://evil.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    20,
  ],
] as const)('answers %s and continues', async ([, text, status]) => {
  expect(await sendRaw(text)).toMatch(new RegExp(`^HTTP/1.1 ${status}`))
  expect((await fetch(`${site.url}/healthz`)).status).toBe(200)
})

test('interrupted uploads do no harm', async () => {
  const head =
    `POST /api/v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann.token}\r\n` +
    'Content-Type: message/rfc822\r\nContent-Length: 100000\r\n\r\n'
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const { port } = new URL(site.url)
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(head)
      socket.write(sampleMessage('broken'))
      await wait(5)
      socket.destroy()
    }),
  )
  expect((await post(sampleMessage('after-broken'))).status).toBe(202)
})

test('closing lets the current request finish and accepts no other', async () => {
  const closing = await startWebSite()
  const bea = await closing.addPerson('bea@reporters.example')
  const raw = sampleMessage('closing')
  const head =
    `POST /api/v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bea.token}\r\n` +
    `Content-Type: message/rfc822\r\nContent-Length: ${raw.length}\r\n\r\n`
  const { port } = new URL(closing.url)
  const socket = connect(Number(port), '127.0.0.1')
  const answer = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('close', () => resolve(text))
  })
  socket.write(head)
  await wait(50)
  const closed = closing.close()
  await wait(50)
  await expect(fetch(`${closing.url}/healthz`)).rejects.toThrow()
  socket.write(raw)
  expect(await answer).toMatch(/^HTTP\/1\.1 202 [^]*Connection: close/i)
  await closed
})
