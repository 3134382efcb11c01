import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { until } from '../../support/process.ts'
import { type Person, sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '1000000' }))
const ann = await site.addPerson('ann@reporters.example')
const bob = await site.addPerson('bob@reporters.example')

type Line = { id: string; status: string; kind: string; url: string; received_at: string }
type Page = { reports: Line[]; next: string | null }

const api = (path: string, as: Person, init: RequestInit = {}) =>
  fetch(path.startsWith('http') ? path : `${site.url}/api/v1${path}`, {
    ...init,
    headers: { authorization: `Bearer ${as.token}`, ...init.headers },
  })

async function page(path: string, as: Person): Promise<Page> {
  const answer = await api(path, as)
  expect(answer.status).toBe(200)
  const read = (await answer.json()) as Page
  const link = read.next === null ? null : `<${read.next}>; rel="next"`
  expect(answer.headers.get('link')).toBe(link)
  return read
}

/** Creates a reporter with `count` reports, a second apart, oldest first. */
async function reporterOf(count: number): Promise<{ person: Person; ids: string[] }> {
  const person = await site.addPerson(`n${Math.random()}@reporters.example`)
  const begin = Date.now() - count * 1_000
  const ids = Array.from({ length: count }, (_, n) => uuidv7(new Date(begin + n * 1_000)))
  await site.app.pool.query(
    `insert into reports (id, shard, reporter_id, channel, kind, state, received_at, message_bytes,
       received_via)
     select id, shard_of(id), $1, 'api', case when n % 3 = 0 then 'phishing' else 'spam' end,
       case when n % 2 = 0 then 'kept' else 'forwarded' end,
       $3::timestamptz + n * interval '1 second', 9, '{}'
     from unnest($2::uuid[]) with ordinality as given (id, n)`,
    [person.id, ids, new Date(begin - 1_000)],
  )
  return { person, ids }
}

test('a list has all own reports, newest first, each once', async () => {
  const { person, ids } = await reporterOf(7)
  await reporterOf(3)
  const seen: string[] = []
  for (let next: string | null = '/reports?limit=3'; next !== null;) {
    const read: Page = await page(next, person)
    seen.push(...read.reports.map(({ id }) => id))
    next = read.next
  }
  expect(seen).toEqual(ids.toReversed())
  expect((await page('/reports', bob)).reports).toEqual([])
})

test('a report that its reporter looks at is analyzed without waiting for others', async () => {
  const { pool } = site.app
  const { person, ids } = await reporterOf(2)
  const [waiting, kept] = ids
  await pool.query(`update reports set state = 'received' where id = $1`, [waiting])
  const { rows } = await pool.query<{ channel: string }>(
    `select 'pgboss_' || left(encode(sha224('pgboss'), 'hex'), 24) as channel`,
  )
  const listener = await pool.connect()
  const told: string[] = []
  listener.on('notification', ({ payload = '' }) => told.push(payload))
  await listener.query(`listen "${rows[0]?.channel}"`)
  for (const id of [kept, waiting]) expect((await api(`/reports/${id}`, person)).status).toBe(200)
  await until('the notification', () => Promise.resolve(told.length > 0 || undefined))
  expect(told).toEqual(['analyze-report now'])
  listener.release(true)
})

test('with "after" new reports come oldest first, and the list can be continued', async () => {
  const { person, ids } = await reporterOf(5)
  const first = await page(`/reports?after=${ids[1]}&limit=2`, person)
  expect(first.reports.map(({ id }) => id)).toEqual([ids[2], ids[3]])
  const second = await page(first.next ?? '', person)
  expect(second.reports.map(({ id }) => id)).toEqual([ids[4]])
  expect(second.next).toBeNull()
})

test('kind, status and since filter the list', async () => {
  const { person, ids } = await reporterOf(6)
  const of = async (query: string) =>
    (await page(`/reports?${query}`, person)).reports.map(({ id }) => ids.indexOf(id))
  expect(await of('kind=phishing')).toEqual([5, 2])
  expect(await of('status=kept')).toEqual([5, 3, 1])
  expect(await of('kind=phishing&status=kept')).toEqual([5])
  const since = new Date(Number.parseInt((ids[3] ?? '').replaceAll('-', '').slice(0, 12), 16))
  expect(await of(`since=${since.toISOString()}`)).toEqual([5, 4, 3])
})

test.for([
  'limit=0',
  'limit=101',
  'limit=x',
  'before=1',
  'kind=ham',
  'status=lost',
  'since=yesterday',
  'foo=1',
  'limit=1&limit=2',
  'before=01900000-0000-7000-8000-000000000000&after=01900000-0000-7000-8000-000000000000',
])('a list refuses %s', async (query) => {
  expect((await api(`/reports?${query}`, ann)).status).toBe(422)
})

test('the account describes the caller, the credentials and their rights', async () => {
  const byToken = await (await api('/account', ann)).json()
  expect(byToken).toMatchObject({
    id: ann.id,
    email: ann.email,
    role: null,
    proved_by: 'token',
    scopes: ['report', 'read', 'retract'],
    limits: { message_bytes: 1_000_000, files_in_a_form: 100, messages_in_a_request: 500 },
  })
  const byPassword = await api('/account', ann, { headers: { authorization: ann.basic } })
  expect(await byPassword.json()).toMatchObject({
    proved_by: 'password',
    scopes: ['report', 'read', 'retract', 'account', 'on-behalf'],
  })
  expect((await fetch(`${site.url}/api/v1/account`)).status).toBe(401)
})

test('only its reporter restores a report, and again has no effect', async () => {
  const { person, ids } = await reporterOf(1)
  const path = `/reports/${ids[0]}`
  const restore = (as: Person) => api(`${path}/restoration`, as, { method: 'POST' })
  const statusOf = async (answer: Response) => {
    const { status } = (await answer.json()) as { status: unknown }
    return [answer.status, status]
  }
  expect(await statusOf(await restore(person))).toEqual([200, 'forwarded'])
  expect(await statusOf(await api(path, person, { method: 'DELETE' }))).toEqual([200, 'retracted'])
  expect(await statusOf(await restore(bob))).toEqual([404, 404])
  expect(await statusOf(await restore(person))).toEqual([200, 'forwarded'])
  expect(await statusOf(await restore(person))).toEqual([200, 'forwarded'])
})

const rfc822 = { 'content-type': 'message/rfc822' }

test('a repeated key gets the same answer, whatever happened to the report meanwhile', async () => {
  const body = sampleMessage('replayed')
  const headers = { ...rfc822, 'idempotency-key': 'again' }
  const send = () => api('/reports', ann, { method: 'POST', body, headers })
  const first = await send()
  const said = await first.text()
  const { id } = JSON.parse(said) as { id: string }
  await site.app.pool.query(`update reports set state = 'kept' where id = $1`, [id])
  const second = await send()
  expect([first.status, second.status]).toEqual([202, 202])
  expect(await second.text()).toBe(said)
  expect(second.headers.get('location')).toBe(first.headers.get('location'))
  expect([first, second].map((one) => one.headers.get('idempotency-replayed'))).toEqual([
    null,
    'true',
  ])
})

test('a replayed form names the files of this request, because names are not stored', async () => {
  const send = (prefix: string) => {
    const body = new FormData()
    body.append('f', new Blob([sampleMessage('named-a')]), `${prefix}-a.eml`)
    body.append('f', new Blob(['no message']), `${prefix}-b.eml`)
    return api('/reports', ann, { method: 'POST', body, headers: { 'idempotency-key': 'files' } })
  }
  await send('one')
  const again = (await (await send('two')).json()) as { results: { file: string }[] }
  expect(again.results.map(({ file }) => file)).toEqual(['two-a.eml', 'two-b.eml'])
  const { rows } = await site.app.pool.query<{ body: string }>(
    `select answer_body as body from idempotency_keys where answer_body like '%results%'`,
  )
  expect(rows.map(({ body }) => body).join()).not.toMatch(/eml/)
})

test('a refused request is not stored: corrected, it may use the same key', async () => {
  const headers = { ...rfc822, 'idempotency-key': 'mended' }
  const query = '?received_via=nonsense'
  const send = (path: string) =>
    api(path, ann, { method: 'POST', body: sampleMessage('mended'), headers })
  expect((await send(`/reports${query}`)).status).toBe(422)
  expect((await send('/reports')).status).toBe(202)
})

test('one key in twenty concurrent requests to two processes gets one answer', async () => {
  const url = `${site.url}/api/v1/reports`
  const program = `
    const [url, token, message] = process.argv.slice(1)
    const headers = {
      authorization: 'Bearer ' + token,
      'content-type': 'message/rfc822',
      'idempotency-key': 'at-once',
    }
    const body = Buffer.from(message, 'base64')
    const ask = () => fetch(url, { method: 'POST', headers, body })
    const answers = await Promise.all(Array.from({ length: 10 }, ask))
    const said = answers.map(async (one) => [one.status, await one.text()])
    console.log(JSON.stringify(await Promise.all(said)))
  `
  const message = sampleMessage('at-once').toString('base64')
  const run = () =>
    new Promise<string>((resolve, reject) => {
      const args = ['--input-type=module', '-e', program, url, ann.token, message]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      let out = ''
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
      child.on('close', () => resolve(out))
      child.on('error', reject)
    })
  const said = (await Promise.all([run(), run()])).flatMap((out) => JSON.parse(out) as unknown[])
  expect(said).toHaveLength(20)
  expect(new Set(said.map((one) => JSON.stringify(one))).size).toBe(1)
})

test.for([
  ['/reports', 'GET, HEAD, POST, OPTIONS'],
  ['/reports/bulk', 'POST, OPTIONS'],
  ['/reports/01900000-0000-7000-8000-000000000000', 'GET, HEAD, DELETE, OPTIONS'],
  ['/reports/01900000-0000-7000-8000-000000000000/raw', 'GET, HEAD, OPTIONS'],
  ['/account', 'GET, HEAD, OPTIONS'],
  ['/relays', 'GET, HEAD, PUT, DELETE, OPTIONS'],
  ['/counters', 'GET, HEAD, OPTIONS'],
  ['/reputation/192.0.2.1', 'GET, HEAD, OPTIONS'],
  ['/webhooks', 'GET, HEAD, POST, OPTIONS'],
  ['/webhooks/1', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
  ['/webhooks/1/secret', 'POST, OPTIONS'],
  ['/webhooks/1/test', 'POST, OPTIONS'],
  ['/webhooks/1/deliveries', 'GET, HEAD, OPTIONS'],
] as const)(
  '%s lists its methods for OPTIONS and for an unsupported method',
  async ([path, allow]) => {
    const options = await api(path, ann, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow])
    const wrong = await api(path, ann, { method: 'LOCK' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, allow])
    expect(await wrong.json()).toMatchObject({ status: 405 })
  },
)

test('HEAD answers like GET, without the body', async () => {
  const answer = await api('/account', ann, { method: 'HEAD' })
  expect([answer.status, await answer.text()]).toEqual([200, ''])
})

test.for(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
  'a page of any origin may send %s, with the headers that the API reads',
  async (method) => {
    const wanted = ['authorization', 'content-type', 'idempotency-key']
    const answer = await fetch(`${site.url}/api/v1/webhooks`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://mail.example',
        'access-control-request-method': method,
        'access-control-request-headers': wanted.join(', '),
      },
    })
    const list = (name: string) =>
      (answer.headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase())
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect(Number(answer.headers.get('access-control-max-age'))).toBeGreaterThan(3_600)
    expect(list('access-control-allow-methods')).toContain(method.toLowerCase())
    expect(list('access-control-allow-headers')).toEqual(expect.arrayContaining(wanted))
  },
)

test('a page may read the relevant headers, of errors too', async () => {
  for (const as of [ann, { ...ann, token: 'wrong' }]) {
    const answer = await api('/reports', as, { headers: { origin: 'https://mail.example' } })
    const exposed = answer.headers.get('access-control-expose-headers') ?? ''
    for (const name of ['Location', 'Link', 'Retry-After', 'RateLimit', 'RateLimit-Policy']) {
      expect(exposed.split(', ')).toContain(name)
    }
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  }
})
