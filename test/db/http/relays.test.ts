import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RelayJson } from '../../../src/http/api/relays.ts'
import type { ReportJson } from '../../../src/http/api/report-json.ts'
import { importNetworks } from '../../../src/commands/import-networks.ts'
import { analyzeReports } from '../../../src/jobs/analyze-report.ts'
import { createParserPool, type ParserPool } from '../../../src/jobs/parser-pool.ts'
import { relayedMessage, sampleNetworks } from '../../support/messages.ts'
import { Browser } from './browser.ts'
import { startWebSite, type Person, type WebSite } from './web-site.ts'

// Nobody is ever that sure, so that every report asks.
const settings = { ORIGIN_CONFIDENCE_MIN: '1' }

let site: WebSite
let parser: ParserPool
let made = 0

beforeAll(async () => {
  site = await startWebSite(settings)
  parser = createParserPool(1)
  await importNetworks(sampleNetworks, site.app)
})
afterAll(async () => {
  await parser.close()
  await site.close()
})

/** Somebody new, signed in. */
async function visitor(): Promise<{ person: Person; browser: Browser }> {
  const person = await site.addPerson(`person${++made}@reporters.example`)
  const browser = new Browser(site.url, { 'accept-language': 'en' })
  await browser.post('/sign-in', {
    'user[email_or_login]': person.email,
    'user[password]': person.password,
  })
  return { person, browser }
}

function api(person: Person, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${person.token}`, ...init.headers }
  return fetch(`${site.url}/api/v1${path}`, { ...init, headers })
}

async function relaysOf(person: Person): Promise<string[]> {
  const { relays } = (await (await api(person, '/relays')).json()) as { relays: RelayJson[] }
  return relays.map(({ cidr, how }) => `${cidr} ${how}`)
}

/** Reports a message that came through 192.0.2.10, and has it analyzed. */
async function report(person: Person, mark: string): Promise<string> {
  const answer = await api(person, '/reports', {
    method: 'POST',
    body: relayedMessage(mark),
    headers: { 'content-type': 'message/rfc822' },
  })
  const { id } = (await answer.json()) as { id: string }
  await analyze(id)
  return id
}

function analyze(reportId: string) {
  return analyzeReports([{ reportId }], { ...site.app, parser })
}

async function stands(person: Person, id: string): Promise<ReportJson> {
  return (await (await api(person, `/reports/${id}`)).json()) as ReportJson
}

async function jobsOf(id: string): Promise<number> {
  const { rows } = await site.app.pool.query<{ n: number }>(
    `select count(*) as n from pgboss.job
     where name = 'analyze-report' and data ->> 'reportId' = $1`,
    [id],
  )
  return rows[0]?.n ?? 0
}

const put = (person: Person, body: unknown) =>
  api(person, '/relays', { method: 'PUT', body: JSON.stringify(body) })

test('a report that is not sure enough draws its walk and asks which machines are theirs', async () => {
  const { person, browser } = await visitor()
  const id = await report(person, 'asks')
  const { status, question, hops, picture, submitter } = await stands(person, id)
  expect(status).toBe('kept')
  expect(question?.candidates.map(({ ip, seen }) => [ip, seen])).toEqual([
    ['192.0.2.10', true],
    ['198.51.100.23', false],
  ])
  expect(hops).toHaveLength(2)
  expect(picture?.stations.map(({ role }) => role)).toEqual([
    ...['mailbox', 'ours', 'origin', expect.stringMatching(/claimed|believed/)],
  ])
  expect(submitter).toBeNull()
  const page = await (await browser.get(`/reports/${id}`)).text()
  expect(page).toContain('Which of these machines belongs to your mail provider')
  expect(page).toContain('Strangers begin here.')
  expect(page).toContain('relay.provider.example')
  expect(await (await browser.get('/reports')).text()).toContain('We have a question')
})

test('the machines a reporter picks become trusted, and the report is looked at again', async () => {
  const { person, browser } = await visitor()
  const id = await report(person, 'mine')
  const other = await report(person, 'also-waits')
  const answer = await browser.post(`/reports/${id}/answer`, {
    answer: 'mine',
    relay: '192.0.2.10',
  })
  expect(answer.headers.get('location')).toBe(`/reports/${id}`)
  expect(await relaysOf(person)).toEqual(['192.0.2.10/32 set', '198.51.100.23/32 refused'])
  for (const one of [id, other]) {
    expect(await stands(person, one)).toMatchObject({ status: 'received', origin: null })
    expect(await jobsOf(one)).toBe(2)
    await analyze(one)
  }
  const found = await stands(person, id)
  expect(found.origin?.ip).toBe('198.51.100.23')
  expect(found.question).toBeNull()
  expect(found.timeline.map(({ event }) => event)).toEqual([
    ...['received', 'analyzed', 'answered', 'reopened', 'analyzed'],
  ])
})

test('"none of these" is kept, and closes the question for good', async () => {
  const { person, browser } = await visitor()
  const id = await report(person, 'none')
  await browser.post(`/reports/${id}/answer`, { answer: 'none', relay: '192.0.2.10' })
  expect(await relaysOf(person)).toEqual(['192.0.2.10/32 refused', '198.51.100.23/32 refused'])
  await analyze(id)
  const again = await report(person, 'none-again')
  for (const one of [id, again]) {
    expect(await stands(person, one)).toMatchObject({
      status: 'kept',
      question: null,
      origin: { ip: '192.0.2.10' },
    })
  }
})

test('who does not know changes nothing, and may still tell', async () => {
  const { person, browser } = await visitor()
  const id = await report(person, 'unknown')
  for (let times = 0; times < 2; times++) {
    await browser.post(`/reports/${id}/answer`, { answer: 'unknown' })
  }
  expect(await relaysOf(person)).toEqual([])
  const { status, question, timeline } = await stands(person, id)
  expect([status, question === null]).toEqual(['kept', false])
  expect(timeline.map(({ event }) => event)).toEqual(['received', 'analyzed', 'answered'])
  const page = await (await browser.get(`/reports/${id}`)).text()
  expect(page).toContain('You can still tell us')
})

test.for([
  ['no machine', {}, 'Choose at least one machine'],
  ['a machine behind a stranger’s', { relay: '198.51.100.23' }, 'stands between your mailbox and'],
] as const)('an answer with %s is refused with a reason', async ([, fields, reason]) => {
  const { person, browser } = await visitor()
  const id = await report(person, `refused-${reason.length}`)
  const answer = await browser.post(`/reports/${id}/answer`, { answer: 'mine', ...fields })
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain(reason)
  expect(await relaysOf(person)).toEqual([])
  expect(await jobsOf(id)).toBe(1)
})

test('only the reporter answers, from our own page, and about that report’s machines', async () => {
  const { person, browser } = await visitor()
  const stranger = await visitor()
  const id = await report(person, 'whose')
  const fields = { answer: 'mine', relay: '192.0.2.10' }
  const path = `/reports/${id}/answer`
  expect((await stranger.browser.post(path, fields)).status).toBe(404)
  expect((await new Browser(site.url).post(path, fields)).headers.get('location')).toMatch(
    /^\/sign-in/,
  )
  expect((await browser.post(path, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  const other = await browser.post(path, { answer: 'mine', relay: '203.0.113.77' })
  expect(other.status).toBe(422)
  expect([await relaysOf(person), await relaysOf(stranger.person)]).toEqual([[], []])
})

test('of whom anybody was told is never looked at again', async () => {
  const { person, browser } = await visitor()
  const ids = [await report(person, 'told'), await report(person, 'taken-back')]
  const [told = '', takenBack = ''] = ids
  const consumer = '00000000-0000-7000-8000-000000000009'
  await site.app.pool.query(
    `insert into consumers (id, address, state, created_at)
     values ($1, 'abuse@n.example', 'found', now())`,
    [consumer],
  )
  await site.app.pool.query(
    `insert into feedback_reports (report_id, number, consumer_id, state, address, created_at)
     values ($1, 1, $2, 'sent', 'abuse@n.example', now())`,
    [told, consumer],
  )
  await browser.post(`/reports/${takenBack}/retract`, {})
  await put(person, { cidr: '192.0.2.10' })
  expect([await jobsOf(told), await jobsOf(takenBack)]).toEqual([1, 1])
  expect((await stands(person, told)).status).toBe('kept')
  expect((await stands(person, takenBack)).status).toBe('retracted')
})

test('the API sets, lists, refuses and removes relays, each its own', async () => {
  const { person } = await visitor()
  const { person: stranger } = await visitor()
  expect((await put(person, { cidr: '192.0.2.77/24' })).status).toBe(200)
  expect((await put(person, { cidr: '2001:db8::7', how: 'refused' })).status).toBe(200)
  expect(await relaysOf(person)).toEqual(['192.0.2.0/24 set', '2001:db8::7/128 refused'])
  expect(await relaysOf(stranger)).toEqual([])
  const remove = (as: Person, cidr: string) =>
    api(as, `/relays?cidr=${encodeURIComponent(cidr)}`, { method: 'DELETE' })
  expect((await remove(stranger, '192.0.2.0/24')).status).toBe(404)
  expect((await remove(person, '192.0.2.0/24')).status).toBe(200)
  expect(await relaysOf(person)).toEqual(['2001:db8::7/128 refused'])
})

test('the API looks again at reports that asked, as the page does', async () => {
  const { person } = await visitor()
  const id = await report(person, 'by-api')
  await put(person, { cidr: '192.0.2.10/32' })
  expect((await stands(person, id)).status).toBe('received')
  await analyze(id)
  await put(person, { cidr: '192.0.2.10/32' })
  expect((await stands(person, id)).origin?.ip).toBe('198.51.100.23')
})

test.for([
  ['not JSON', '{', 400],
  ['another shape', '[]', 422],
  ['no block', '{"cidr":"mx"}', 422],
  ['an internal network', '{"cidr":"10.0.0.0/16"}', 422],
  ['half the Internet', '{"cidr":"128.0.0.0/1"}', 422],
  ['what only we may say', '{"cidr":"192.0.2.1","how":"learned"}', 422],
] as const)('the API refuses %s', async ([, body, status]) => {
  const { person } = await visitor()
  const answer = await api(person, '/relays', { method: 'PUT', body })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(await relaysOf(person)).toEqual([])
})

test('the API asks who it is, and tells what it takes', async () => {
  const { person } = await visitor()
  expect((await fetch(`${site.url}/api/v1/relays`)).status).toBe(401)
  expect((await fetch(`${site.url}/api/v1/relays`, { method: 'PUT' })).status).toBe(401)
  const answer = await api(person, '/relays', { method: 'POST' })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, PUT, DELETE'])
})

test('fifty relays may be named, and one of them again; not one more', async () => {
  const { person, browser } = await visitor()
  for (let number = 0; number < 50; number++) await put(person, { cidr: `192.0.2.${number}` })
  expect((await put(person, { cidr: '192.0.2.7' })).status).toBe(200)
  expect((await put(person, { cidr: '192.0.2.50' })).status).toBe(422)
  const page = await browser.post('/relays', { do: 'add', cidr: '192.0.2.50' })
  expect(page.status).toBe(422)
  expect(await page.text()).toContain('You have named 50')
  expect((await put(person, { cidr: '192.0.2.50', how: 'refused' })).status).toBe(200)
  expect(await relaysOf(person)).toHaveLength(51)
})

test('the page names, shows and removes relays, and says why it cannot take one', async () => {
  const { person, browser } = await visitor()
  await browser.post('/relays', { do: 'add', cidr: ' 192.0.2.0/24 ' })
  expect(await (await browser.get('/relays')).text()).toContain('192.0.2.0/24')
  const refused = await browser.post('/relays', { do: 'add', cidr: '10.0.0.1"><b>' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain('value="10.0.0.1&quot;&gt;&lt;b&gt;"')
  const internal = await browser.post('/relays', { do: 'add', cidr: '10.0.0.1' })
  expect(await internal.text()).toContain('an address of an internal network')
  const foreign = await browser.post(
    '/relays',
    { do: 'add', cidr: '203.0.113.1' },
    { origin: 'https://evil.example' },
  )
  expect(foreign.status).toBe(403)
  await browser.post('/relays', { do: 'remove', cidr: '192.0.2.0/24' })
  expect(await relaysOf(person)).toEqual([])
  expect((await new Browser(site.url).get('/relays')).status).toBe(303)
})

test('the page asks about a proposal, and the answer stands', async () => {
  const { person, browser } = await visitor()
  const propose = (cidr: string, name: string) =>
    site.app.pool.query(
      `insert into reporter_relays (reporter_id, cidr, how, name, evidence, since)
       values ($1, $2, 'proposed', $3, 12, now())`,
      [person.id, cidr, name],
    )
  await propose('192.0.2.10/32', 'in.provider.example')
  await propose('192.0.2.11/32', '<script>')
  const page = await (await browser.get('/relays')).text()
  expect(page).toContain(
    'All your mail seems to come through in.provider.example [192.0.2.10]. Is it yours?',
  )
  expect(page).toContain('&lt;script&gt;')
  await browser.post('/relays', { do: 'add', cidr: '192.0.2.10/32' })
  await browser.post('/relays', { do: 'refuse', cidr: '192.0.2.11/32' })
  expect(await relaysOf(person)).toEqual(['192.0.2.10/32 set', '192.0.2.11/32 refused'])
  expect(await (await browser.get('/relays')).text()).toContain('in.provider.example')
})
