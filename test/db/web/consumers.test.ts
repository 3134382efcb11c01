import { beforeEach, expect, test } from 'vitest'
import { keepCorrection } from '../../../src/db/feedback-answers.ts'
import { ensureConsumers } from '../../../src/db/consumers.ts'
import { insertEnrollment, moveEnrollment } from '../../../src/db/enrollment-requests.ts'
import { insertFeedback } from '../../../src/db/feedback-reports.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

let id: string

const address = 'abuse@desk.example'
const settings = { format: 'arf', form: 'headers', pace: 'campaign', takes: 'spam', do: 'set' }
const limits = { hourlyMax: '60', connectionsMax: '2', note: 'a <b>note</b>' }

const site = await closeAfterTests(startWebSite())
const desk = await signedInBrowser(
  site.url,
  await site.addPerson('admin@ours.example', { role: 'administrator' }),
)
const visitor = new Browser(site.url)

beforeEach(async () => {
  const tables = 'enrollment_requests, consumer_scopes, feedback_reports, suppressions, audit_log'
  await site.app.pool.query(`truncate ${tables}, contact_corrections, consumer_hours, consumers`)
  const wanted = [{ address, source: 'network' as const }]
  id = (await ensureConsumers(site.app.pool, wanted, new Date())).get(address)?.id ?? ''
})

const pageOf = async (path: string) => (await desk.get(path)).text()

async function act(fields: Record<string, string>): Promise<string | null> {
  const answer = await desk.post(`/admin/consumers/${id}`, fields)
  return answer.headers.get('location')?.split('=')[1] ?? String(answer.status)
}

async function row(): Promise<Record<string, unknown>> {
  const { rows } = await site.app.pool.query<Record<string, unknown>>(
    `select state, form, pace, takes, hourly_max as hourly, note,
       array(select value from consumer_scopes where consumer_id = id order by 1) as scopes
     from consumers where address = $1`,
    [address],
  )
  return rows[0] ?? {}
}

test('a consumer is shown with its feedback, and found by part of its address', async () => {
  const reportId = uuidv7(new Date())
  const feedback = { reportId, number: 1, consumerId: id, address, createdAt: new Date() }
  await insertFeedback(site.app.pool, [feedback])
  expect(await pageOf('/admin/consumers?q=DESK.ex')).toContain(address)
  expect(await pageOf('/admin/consumers?q=nobody')).not.toContain(address)
  expect(await pageOf('/admin/consumers?state=enrolled')).not.toContain(address)
  const html = await pageOf(`/admin/consumers/${id}`)
  expect(html).toContain(reportId)
  expect(html).toContain('/consumers/')
  expect((await desk.get(`/admin/consumers/${uuidv7(new Date())}`)).status).toBe(404)
  expect((await desk.get('/admin/consumers/nonsense')).status).toBe(404)
})

test('settings are saved, errors are shown, and all changes are logged', async () => {
  const scopes = '192.0.2.0/24 AS64496'
  expect(await act({ ...settings, ...limits, scopes })).toBe('set')
  expect(await row()).toEqual({
    ...{ state: 'found', form: 'headers', pace: 'campaign', takes: ['spam'], hourly: 60 },
    ...{ note: 'a <b>note</b>', scopes: ['192.0.2.0/24', '64496'] },
  })
  expect(await pageOf(`/admin/consumers/${id}`)).not.toContain('<b>note')
  expect(await act({ ...settings, ...limits, scopes: 'nonsense' })).toBe('422')
  expect(await act({ ...settings, ...limits, hourlyMax: '-1' })).toBe('422')
  expect(await act({ ...settings, pace: '__proto__' })).toBe('422')
  expect(await pageOf('/admin/audit')).toContain(`set consumer: ${address}`)
})

test('it is enrolled, paused, resumed and stopped at once, only by administrators', async () => {
  expect(await act({ do: 'enroll' })).toBe('enroll')
  expect(await act({ do: 'pause', days: '3' })).toBe('pause')
  expect((await row())['state']).toBe('paused')
  expect(await pageOf(`/admin/consumers/${id}`)).toContain('Reports to this recipient are paused.')
  expect(await act({ do: 'resume' })).toBe('resume')
  expect((await row())['state']).toBe('enrolled')
  expect(await act({ do: 'resume' })).toBe('nothing')
  expect(await act({ do: 'pause', days: '99999' })).toBe('422')
  expect(await act({ do: 'stop' })).toBe('stop')
  expect(await pageOf(`/admin/consumers/${id}`)).toContain('operator')
  expect(await act({ do: 'enroll' })).toBe('enroll')
  const { rows } = await site.app.pool.query('select 1 from suppressions')
  expect(rows).toEqual([])
  const path = `/admin/consumers/${id}`
  expect((await visitor.post(path, { do: 'stop' })).headers.get('location')).toContain('/sign-in')
  const foreign = await desk.post(path, { do: 'stop' }, { origin: 'https://evil.example' })
  expect(foreign.status).toBe(403)
  expect((await row())['state']).toBe('enrolled')
})

test('a consumer is added by hand', async () => {
  const added = await desk.post('/admin/consumers', { address: 'New@desk.example' })
  const shown = await pageOf(added.headers.get('location') ?? '')
  expect(shown).toContain('new@desk.example')
  expect(shown).toContain('Consumer added.')
  expect((await desk.post('/admin/consumers', { address: 'nobody' })).status).toBe(422)
  const again = await desk.post('/admin/consumers', { address: 'new@desk.example' })
  const known = await pageOf(again.headers.get('location') ?? '')
  expect(known).toContain('This consumer already exists.')
  const { rows } = await site.app.pool.query('select action, detail from audit_log')
  expect(rows).toEqual([{ action: 'add consumer', detail: 'new@desk.example' }])
})

test('consumers are listed on pages without a gap', async () => {
  const names = Array.from({ length: 60 }, (_, n) => `a${n + 10}@desk.example`)
  const wanted = names.map((one) => ({ address: one, source: 'network' as const }))
  await ensureConsumers(site.app.pool, wanted, new Date())
  const first = await pageOf('/admin/consumers?q=@desk')
  const next = /href="\/admin\/consumers(\?q=[^"]+after=[^"]+)"/.exec(first)?.[1] ?? ''
  const second = await pageOf(`/admin/consumers${next.replace('&amp;', '&')}`)
  const seen = [...(first + second).matchAll(/consumers\/[0-9a-f-]{36}">([^<]+)</g)]
  expect(seen.map(([, one]) => one)).toEqual([...names, address])
})

test('a proven request is accepted once, and its scope then applies', async () => {
  const scopes = [{ kind: 'as' as const, value: '64496' }]
  const telling = { format: 'arf', form: 'whole', pace: 'at-once', takes: null } as const
  const wish = { ...telling, scopes, language: 'en' as const }
  const hashes = { tokenHash: Buffer.of(1), askerHash: Buffer.of(2) }
  const requestId = uuidv7(new Date())
  await insertEnrollment(site.app.pool, { id: requestId, address, wish, ...hashes })
  const path = `/admin/consumers/requests/${requestId}`
  expect((await desk.post(path, { do: 'accept' })).status).toBe(404)
  const proven = { state: 'proven', wish, consumerId: id, at: null, reporterId: null } as const
  await moveEnrollment(site.app.pool, requestId, 'sent', proven)
  expect(await pageOf('/admin/consumers/requests')).toContain('AS64496')
  expect((await visitor.post(path, { do: 'accept' })).headers.get('location')).toContain('/sign-in')
  const done = await desk.post(path, { do: 'accept' })
  expect(done.headers.get('location')).toBe('/admin/consumers/requests?done=accepted')
  expect((await row())['scopes']).toEqual(['64496'])
  expect((await desk.post(path, { do: 'refuse' })).status).toBe(404)
  expect(await pageOf('/admin/consumers/requests?state=accepted')).toContain(address)
  expect(await pageOf('/admin/audit')).toContain(`accept enrollment: ${address}: 64496`)
})

test('a network correction is listed and can be removed', async () => {
  const [since, until] = [new Date(), new Date(Date.now() + 86_400_000)]
  const word = { cidr: '192.0.2.0/24', address, reportId: null, reason: 'It <b>said</b> so.' }
  await keepCorrection(site.app.pool, { ...word, since, until })
  const html = await pageOf('/admin/networks/corrections')
  expect(html).toContain('192.0.2.0/24')
  expect(html).not.toContain('<b>said')
  const lift = { cidr: '192.0.2.0/24', address }
  const path = '/admin/networks/corrections'
  expect((await visitor.post(path, lift)).headers.get('location')).toContain('/sign-in')
  expect((await desk.post(path, lift)).headers.get('location')).toBe(`${path}?done=lifted`)
  expect((await desk.post(path, lift)).headers.get('location')).toBe(`${path}?done=nothing`)
  expect(await pageOf('/admin/audit')).toContain('lift correction: 192.0.2.0/24')
})
