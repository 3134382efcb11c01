import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { problemIn, sampleMessage, startWebSite, type Person } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '1000000' }))
const ann = await site.addPerson('ann@reporters.example')
const bob = await site.addPerson('bob@reporters.example')
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })

type Sent = { headers?: Record<string, string>; query?: string; as?: Person }

function post(body: Buffer | string | FormData, { headers = {}, query = '', as = ann }: Sent = {}) {
  return fetch(`${site.url}/api/v1/reports${query}`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${as.token}`, ...headers },
  })
}

const rfc822 = { 'content-type': 'message/rfc822' }
const json = { 'content-type': 'application/json' }

function get(path: string, as: Person = ann) {
  return fetch(`${site.url}${path}`, { headers: { authorization: `Bearer ${as.token}` } })
}

test('a raw message is accepted and returned byte for byte', async () => {
  const raw = Buffer.concat([sampleMessage('raw'), Buffer.from([0, 255, 13, 10, 10, 13, 0x80])])
  const answer = await post(raw, { headers: rfc822 })
  expect(answer.status).toBe(202)
  const receipt = (await answer.json()) as { id: string; status: string; url: string }
  expect(receipt.status).toBe('received')
  expect(answer.headers.get('location')).toBe(receipt.url)
  const back = await get(`/api/v1/reports/${receipt.id}/raw`)
  expect(back.headers.get('content-type')).toBe('message/rfc822')
  expect(back.headers.get('content-disposition')).toMatch(/^attachment/)
  expect(Buffer.from(await back.arrayBuffer()).equals(raw)).toBe(true)
})

test('the same bytes again are the same report, with status 200', async () => {
  const raw = sampleMessage('twice')
  const first = (await (await post(raw, { headers: rfc822 })).json()) as { id: string }
  const again = await post(raw, { headers: rfc822 })
  expect(again.status).toBe(200)
  expect(await again.json()).toMatchObject({ id: first.id, status: 'received' })
  const other = await post(raw, { headers: rfc822, as: bob })
  expect(other.status).toBe(202)
})

test('the comments of repeated reports are kept, and returned', async () => {
  const message_base64 = sampleMessage('comments').toString('base64')
  const say = async (comment?: string, kind = 'spam') => {
    const answer = await post(JSON.stringify({ message_base64, kind, comment }), { headers: json })
    const { id } = (await answer.json()) as { id: string }
    const report = (await (await get(`/api/v1/reports/${id}`)).json()) as { comment: string | null }
    return [answer.status, report.comment]
  }
  expect(await say()).toEqual([202, null])
  expect(await say('First, 100 %')).toEqual([200, 'First, 100 %'])
  expect(await say('Second')).toEqual([200, 'First, 100 %\n\nSecond'])
  for (const comment of ['First, 100 %', 'Second', undefined]) {
    expect(await say(comment)).toEqual([200, 'First, 100 %\n\nSecond'])
  }
  expect(await say('Third', 'phishing')).toEqual([202, 'Third'])
  const long = 'x'.repeat(2_000)
  for (const letter of 'abcde') await say(`${letter}${long.slice(1)}`, 'phishing')
  const [, comments] = await say(undefined, 'phishing')
  expect(comments).toHaveLength(8_000)
  expect(comments).toMatch(/\n\nex+$/)
})

test('JSON has the message in base64 and properties', async () => {
  const body = JSON.stringify({
    message_base64: sampleMessage('json').toString('base64'),
    kind: 'not_spam',
    comment: 'I asked for it',
    received_via: ['192.0.2.77/24', '2001:db8::1'],
  })
  const answer = await post(body, { headers: json })
  expect(answer.status).toBe(202)
  const { id } = (await answer.json()) as { id: string }
  const { rows } = await site.app.pool.query<Record<string, unknown>>(
    'select kind, comment, received_via::text[] as via, channel from reports where id = $1',
    [id],
  )
  expect(rows[0]).toEqual({
    kind: 'not-spam',
    comment: 'I asked for it',
    via: ['192.0.2.0/24', '2001:db8::1/128'],
    channel: 'api',
  })
})

test('one received_via may be a plain string', async () => {
  const message_base64 = sampleMessage('one-via').toString('base64')
  const body = JSON.stringify({ message_base64, received_via: '192.0.2.9' })
  expect((await post(body, { headers: json })).status).toBe(202)
})

test('a form with one file is answered like a raw message', async () => {
  const form = new FormData()
  form.set('kind', 'phishing')
  form.set('report', new Blob([sampleMessage('form-one')]), 'one.eml')
  const answer = await post(form)
  expect(answer.status).toBe(202)
  const { id } = (await answer.json()) as { id: string }
  expect(await (await get(`/api/v1/reports/${id}`)).json()).toMatchObject({
    id,
    status: 'received',
    kind: 'phishing',
    subject: 'Cheap watches form-one',
    author: 'offers@shop.example',
    origin: null,
    verdict: null,
    timeline: [{ event: 'received' }],
  })
})

test('a form with several files has one result per file, good or bad', async () => {
  const form = new FormData()
  form.append('f', new Blob([sampleMessage('form-a')]), 'a.eml')
  form.append('f', new Blob(['hello there']), 'b.eml')
  form.append('f', new Blob([Buffer.alloc(1_000_001, 'x')]), 'c.eml')
  const answer = await post(form)
  expect(answer.status).toBe(202)
  const { results } = (await answer.json()) as { results: unknown[] }
  expect(results).toMatchObject([
    { file: 'a.eml', status: 'received', id: expect.any(String) as unknown },
    { file: 'b.eml', problem: { status: 400, title: 'This is not a mail message' } },
    { file: 'c.eml', problem: { status: 413 } },
  ])
})

test('a form without any message is an error that names each file', async () => {
  const form = new FormData()
  form.append('f', new Blob(['hello']), 'a.eml')
  form.append('f', new Blob(['']), 'b.eml')
  const answer = await post(form)
  expect(answer.status).toBe(400)
  expect(await problemIn(answer)).toMatchObject({ results: [{ file: 'a.eml' }, { file: 'b.eml' }] })
})

test('properties of a raw message are in the query', async () => {
  const query = '?kind=phishing&received_via=192.0.2.1&received_via=192.0.2.2'
  const answer = await post(sampleMessage('query'), { headers: rfc822, query })
  const { id } = (await answer.json()) as { id: string }
  expect(await (await get(`/api/v1/reports/${id}`)).json()).toMatchObject({ kind: 'phishing' })
})

test('an Idempotency-Key may be repeated with the same message, not with another', async () => {
  const headers = { ...rfc822, 'idempotency-key': 'k-1' }
  const raw = sampleMessage('key')
  expect((await post(raw, { headers })).status).toBe(202)
  expect((await post(raw, { headers })).status).toBe(202)
  const other = await post(sampleMessage('key-other'), { headers })
  expect(other.status).toBe(422)
  await problemIn(other)
  expect((await post(raw, { headers, as: bob })).status).toBe(202)
})

test('an Idempotency-Key stays valid when a form is encoded anew', async () => {
  const send = () => {
    const form = new FormData()
    form.set('f', new Blob([sampleMessage('key-form')]), 'a.eml')
    return post(form, { headers: { 'idempotency-key': 'k-2' } })
  }
  expect((await send()).status).toBe(202)
  const again = await send()
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
})

test.for([
  ['no credentials', undefined],
  ['an unknown token', `Bearer sp_${'A'.repeat(43)}`],
  ['a token that is none', 'Bearer ../../etc'],
  ['a wrong password', `Basic ${btoa('ann@reporters.example:wrong')}`],
  ['a stranger', `Basic ${btoa('nobody@reporters.example:wrong')}`],
  ['Basic without a colon', `Basic ${btoa('ann')}`],
  ['what is not base64', 'Basic ä'],
  ['another scheme', 'Digest x'],
])('asks %s for credentials', async ([, authorization]) => {
  const headers = { ...rfc822, ...(authorization ? { authorization } : {}) }
  const answer = await fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')]),
    ),
    body: sampleMessage('who'),
  })
  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toMatch(/Bearer.*Basic/)
  await problemIn(answer)
})

test('Basic credentials work, with a password or a token', async () => {
  const send = (authorization: string) =>
    post(sampleMessage(authorization), { headers: { ...rfc822, authorization } })
  expect((await send(ann.basic)).status).toBe(202)
  expect((await send(`Basic ${btoa(`:${ann.token}`)}`)).status).toBe(202)
  expect((await send(`Basic ${btoa(`${bob.email}:${ann.token}`)}`)).status).toBe(401)
})

test('a report is visible to its reporter and to administrators only', async () => {
  const answer = await post(sampleMessage('private'), { headers: rfc822 })
  const { id } = (await answer.json()) as { id: string }
  for (const path of [`/api/v1/reports/${id}`, `/api/v1/reports/${id}/raw`]) {
    expect((await get(path, ann)).status).toBe(200)
    expect((await get(path, admin)).status).toBe(200)
    const refused = await get(path, bob)
    expect(refused.status).toBe(404)
    await problemIn(refused)
  }
})

test.for(['x', '00000000-0000-0000-0000-000000000000', '..%2F..%2Fetc', "1'or'1", '%00'])(
  '%s is not a report',
  async (id) => {
    const answer = await get(`/api/v1/reports/${id}`)
    expect(answer.status).toBe(404)
    await problemIn(answer)
  },
)

test('invalid percent encoding in a URL is an error of the client', async () => {
  const answer = await get('/api/v1/reports/%E0%A4%A')
  expect(answer.status).toBe(400)
  await problemIn(answer)
})

test('a retracted report stays retracted, and its held feedback is never sent', async () => {
  const answer = await post(sampleMessage('retract'), { headers: rfc822 })
  const { id } = (await answer.json()) as { id: string }
  const consumerId = '00000000-0000-7000-8000-000000000001'
  await site.app.pool.query(
    `insert into consumers (id, address, state, created_at)
     values ($1, 'abuse@n.example', 'found', now())`,
    [consumerId],
  )
  await site.app.pool.query(
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, state, address, created_at)
     values ($1, shard_of($1), 1, $2, 'held', 'abuse@n.example', now())`,
    [id, consumerId],
  )
  const retract = (as: Person) =>
    fetch(`${site.url}/api/v1/reports/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${as.token}` },
    })
  expect((await retract(bob)).status).toBe(404)
  for (const attempt of ['first', 'second']) {
    const done = await retract(ann)
    expect([attempt, done.status]).toEqual([attempt, 200])
    expect(await done.json()).toMatchObject({
      status: 'retracted',
      timeline: [
        { event: 'received', phrases: [] },
        {
          event: 'retracted',
          detail:
            'The reporter took the report back. ' +
            'Feedback reports that had not been sent were canceled.',
          phrases: [
            { code: 'retracted-by-reporter', params: {} },
            { code: 'unsent-withdrawn', params: {} },
          ],
        },
      ],
    })
  }
  const { rows } = await site.app.pool.query<{ state: string }>(
    'select state from feedback_reports where report_id = $1',
    [id],
  )
  expect(rows).toEqual([{ state: 'withdrawn' }])
})

test('pages of other origins may use the API', async () => {
  const preflight = await fetch(`${site.url}/api/v1/reports`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://webmail.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization')
  const refused = await fetch(`${site.url}/api/v1/reports`, { method: 'POST' })
  expect(refused.headers.get('access-control-allow-origin')).toBe('*')
})

test('an unsupported method gets the supported ones', async () => {
  const answer = await fetch(`${site.url}/api/v1/reports`, { method: 'PUT' })
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
  await problemIn(answer)
})
