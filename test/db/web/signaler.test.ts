import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { updateReporter } from '../../../src/db/reporters.ts'
import { hashPassword } from '../../../src/people/credentials.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')

/** Composes a message whose base64 contains every character that may be altered in transit. */
function trickyMessage(mark: string): Buffer {
  return Buffer.concat([sampleMessage(mark), Buffer.from('\u00fb\u00ef\u00be~~~???>>>', 'latin1')])
}

function send(body: Buffer | string | FormData, headers: Record<string, string> = {}) {
  return fetch(`${site.url}/api/signaler`, {
    method: 'POST',
    headers: { authorization: ann.basic, ...headers },
    body,
  })
}

async function stored(answer: Response): Promise<Buffer> {
  const { id } = (await answer.json()) as { id: string }
  const raw = await fetch(`${site.url}/api/v1/reports/${id}/raw`, {
    headers: { authorization: ann.basic },
  })
  return Buffer.from(await raw.arrayBuffer())
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const wrapped = (raw: Buffer) => raw.toString('base64').replace(/.{76}/g, '$&\r\n')

test.for<[string, (raw: Buffer) => string, Record<string, string>]>([
  [
    'percent-encoded',
    (raw) => String(new URLSearchParams({ message: raw.toString('base64') })),
    form,
  ],
  ['not encoded at all (Claws Mail)', (raw) => `message=${raw.toString('base64')}`, form],
  [
    'plus signs made spaces',
    (raw) => `message=${raw.toString('base64').replaceAll('+', ' ')}`,
    form,
  ],
  [
    'wrapped, percent-encoded',
    (raw) => String(new URLSearchParams({ message: wrapped(raw) })),
    form,
  ],
  ['wrapped, bare', (raw) => `message=${wrapped(raw)}\r\n`, form],
  ['with dossier before', (raw) => `dossier=0&message=${raw.toString('base64')}`, form],
  ['with dossier behind', (raw) => `message=${raw.toString('base64')}&dossier=0`, form],
  ['padding left out', (raw) => `message=${raw.toString('base64').replaceAll('=', '')}`, form],
  [
    'with a charset',
    (raw) => `message=${raw.toString('base64')}`,
    { 'content-type': `${form['content-type']}; charset=UTF-8` },
  ],
  [
    'as text/plain',
    (raw) => `message=${raw.toString('base64')}`,
    { 'content-type': 'text/plain;charset=UTF-8' },
  ],
  ['without a type', (raw) => `message=${raw.toString('base64')}`, { 'content-type': '' }],
  ['a form typed urlencoded', (raw) => multipart('message', raw.toString('base64')), form],
  [
    'a form without boundary',
    (raw) => multipart('message', raw.toString('base64')),
    { 'content-type': 'multipart/form-data' },
  ],
  [
    'a form as Guzzle writes it',
    (raw) => multipart('message', raw.toString('base64')),
    { 'content-type': 'multipart/form-data; boundary=XyZ' },
  ],
])('accepts the message %s', async ([name, encode, headers]) => {
  for (const size of [0, 1, 2]) {
    const raw = Buffer.concat([trickyMessage(name.replaceAll(/\W/g, '-')), Buffer.alloc(size, 'z')])
    const answer = await send(encode(raw), headers)
    expect(answer.status).toBe(202)
    expect((await stored(answer)).equals(raw)).toBe(true)
  }
})

function multipart(name: string, value: string): string {
  return [
    '--XyZ',
    'Content-Disposition: form-data; name="dossier"',
    'Content-Length: 1',
    '',
    '0',
    '--XyZ',
    `Content-Disposition: form-data; name="${name}"`,
    `Content-Length: ${value.length}`,
    '',
    value,
    '--XyZ--',
    '',
  ].join('\r\n')
}

test('accepts the message as a file of a form', async () => {
  const raw = trickyMessage('file')
  const body = new FormData()
  body.set('message', new Blob([raw.toString('base64')]), 'mail.eml.b64')
  const answer = await send(body)
  expect(answer.status).toBe(202)
  expect((await stored(answer)).equals(raw)).toBe(true)
})

test('a repeat is answered 202 too', async () => {
  const body = `message=${trickyMessage('again').toString('base64')}`
  const first = (await (await send(body, form)).json()) as { id: string }
  const again = await send(body, form)
  expect(again.status).toBe(202)
  expect(await again.json()).toMatchObject({ id: first.id })
})

test.for<[string, string]>([
  ['nothing', ''],
  ['an empty field', 'message='],
  ['another field', 'mail=QUJD'],
  ['a field whose name only ends so', `my_message=${sampleMessage('n').toString('base64')}`],
  ['no base64', 'message=<html>'],
  ['percent junk', 'message=QUJD%ZZ%'],
  ['base64 of no message', `message=${btoa('hello')}`],
  ['a form that is cut off', '--XyZ\r\nContent-Disposition: form-data; name="message"\r\n\r\nQUJ'],
])('answers 400 to %s', async ([, body]) => {
  const answer = await send(body, form)
  expect(answer.status).toBe(400)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
})

test('answers 401 without credentials, with wrong ones, and to a bearer token', async () => {
  for (const authorization of [undefined, `Basic ${btoa('ann:x')}`, `Bearer ${ann.token}`]) {
    const answer = await fetch(`${site.url}/api/signaler`, {
      method: 'POST',
      headers: { ...form, ...(authorization ? { authorization } : {}) },
      body: `message=${sampleMessage('who').toString('base64')}`,
    })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /)
  }
})

test('OPTIONS checks credentials, but a browser’s preflight passes', async () => {
  const options = async (headers: Record<string, string>) =>
    (await fetch(`${site.url}/api/signaler`, { method: 'OPTIONS', headers })).status
  const browser = { origin: 'https://x.example', 'access-control-request-method': 'POST' }
  expect(await options({ authorization: ann.basic })).toBe(200)
  expect(await options({ authorization: ann.basic, ...browser })).toBe(200)
  expect(await options({ authorization: 'Basic eDp5' })).toBe(401)
  expect(await options({})).toBe(401)
  expect(await options(browser)).toBe(204)
})

test('a password with non-ASCII letters works in UTF-8 and in Latin-1', async () => {
  const eve = await site.addPerson('eve@reporters.example')
  const passwordHash = await hashPassword('été')
  await updateReporter(site.app.pool, eve.id, { passwordHash })
  for (const encoding of ['utf8', 'latin1'] as const) {
    const authorization = `Basic ${Buffer.from(`${eve.email}:été`, encoding).toString('base64')}`
    const answer = await fetch(`${site.url}/api/signaler`, {
      method: 'OPTIONS',
      headers: { authorization },
    })
    expect(answer.status).toBe(200)
  }
})

test('a client that disconnects midway does no harm', async () => {
  const { port } = new URL(site.url)
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `POST /api/signaler HTTP/1.1\r\nHost: x\r\nAuthorization: ${ann.basic}\r\n` +
          'Content-Length: 5000\r\n\r\nmessage=QUJD',
        () => socket.destroy(),
      )
    })
    socket.on('close', () => resolve())
  })
  const answer = await send(`message=${sampleMessage('after').toString('base64')}`, form)
  expect(answer.status).toBe(202)
})
