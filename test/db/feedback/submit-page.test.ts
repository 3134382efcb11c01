import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { listSubmissions } from '../../../src/db/page-submissions.ts'
import { disablePartner, enablePartner } from '../../../src/feedback/partner-actions.ts'
import { runSubmitPage } from '../../../src/feedback/submit-page.ts'
import { createBoundedFetch } from '../../../src/net/guarded-http.ts'
import { type Partner, partners } from '../../../src/phishing/partners.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openNoticingApp } from '../../support/noticed-pages.ts'

type Asked = { path: string; headers: NodeJS.Dict<string | string[]>; body: unknown }

const KEY = 'right-key'
const uuid = { message: 'Successfully reported', uuid: 'VsDk1bXnyGdWvCgiTZnTcHk8xZ3bS2hR' }

/** Answers as the two partners do, by the path of the reported page. */
async function startPartner() {
  const asked: Asked[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      asked.push({ path: req.url ?? '', headers: req.headers, body: JSON.parse(text) })
      const answer = (status: number, json: object | string, headers = {}) => {
        res.writeHead(status, headers)
        res.end(typeof json === 'string' ? json : JSON.stringify(json))
      }
      if (req.url === '/urlhaus' && req.headers['auth-key'] !== KEY) return answer(401, {})
      if (text.includes('/known')) {
        return answer(400, { details: [{ message: 'Duplicate of a report' }], status: 400 })
      }
      if (text.includes('/bad')) {
        return answer(400, { details: [{ message: 'Does not match url format' }], status: 400 })
      }
      if (text.includes('/busy')) return answer(429, {}, { 'retry-after': '900' })
      if (text.includes('/hang')) return
      if (text.includes('/nonsense')) return answer(200, '<html>Welcome</html>')
      answer(200, uuid)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { asked, url: `http://127.0.0.1:${port}`, close }
}

const at = await openNoticingApp()
const { app } = at
const partner = await closeAfterTests(startPartner())
const submit = createBoundedFetch({ bytesMax: 64 * 1024, msMax: 400 })
/** The shipped templates, with the address of the local server. */
const templatesWith = (change: object = {}): Partner[] =>
  partners.map((one) =>
    one.http
      ? { ...one, http: { ...one.http, address: `${partner.url}/${one.key}`, ...change } }
      : one,
  )

const enable = (key: string, given: object = { checked: 'yes' }) =>
  runAction(enablePartner, { partner: key, ...given }, app, null)

let made = 0
async function confirmed(name: string, given: { type?: 'malware'; shared?: boolean } = {}) {
  const url = `https://secure.sent-${String.fromCharCode(97 + made++)}.com/${name}`
  const { pageId } = await at.confirmed([url], { shared: true, ...given })
  await at.notify(pageId)
  return { pageId, url }
}

const run = (pageId: string, key: string, change?: object) =>
  runSubmitPage({ pageId, partner: key }, { ...app, submit }, templatesWith(change))
const statesOf = async (pageId: string) =>
  (await listSubmissions(app.pool, pageId)).map(
    (one) => `${one.partner} ${one.state} ${one.tries} ${one.status}`,
  )
const jobs = () =>
  app.rows(`select data from pgboss.job where name = 'submit-page' order by created_on`)

beforeEach(async () => {
  partner.asked.length = 0
  await app.pool.query('delete from partners')
  await app.pool.query('delete from page_submissions')
  await app.pool.query(`delete from pgboss.job where name = 'submit-page'`)
})

test('a shared page is sent once, with its exact address and nothing of reporters', async () => {
  expect(await enable('netcraft-api', {})).toMatchObject({ problems: [{ field: 'checked' }] })
  await enable('netcraft-api')
  const { pageId, url } = await confirmed('login')
  await at.notify(pageId)
  expect(await jobs()).toEqual([{ data: { pageId, partner: 'netcraft-api' } }])
  expect(await run(pageId, 'netcraft-api')).toBe('done')
  expect(await run(pageId, 'netcraft-api')).toBe('done')
  expect(await statesOf(pageId)).toEqual(['netcraft-api accepted 1 200'])
  const [sent, ...others] = partner.asked
  expect(others).toEqual([])
  const reason = 'Phishing page, imitates PayPal.'
  expect(sent?.body).toEqual({
    email: app.config.mailFrom,
    reason: expect.stringContaining(reason),
    urls: [{ url }],
  })
  expect(JSON.stringify(sent)).not.toMatch(/person-m|reporters\.example|provider\.example/)
})

test('a page of one reporter, an older one, and another type are not sent', async () => {
  const older = await confirmed('older')
  await enable('netcraft-api')
  await enable('urlhaus', { checked: 'yes', secret: KEY })
  await at.notify(older.pageId)
  const own = await confirmed('own', { shared: false })
  expect(await jobs()).toEqual([])
  const { pageId } = await confirmed('phishing')
  expect(await jobs()).toEqual([{ data: { pageId, partner: 'netcraft-api' } }])
  await app.pool.query('update pages set shared = true where id = $1', [own.pageId])
  await at.notify(own.pageId)
  expect(await statesOf(own.pageId)).toEqual(['netcraft-api waiting 0 null'])
})

test.for([
  ['known', 'duplicate 1 400'],
  ['bad', 'refused 1 400'],
])('the answer to %s ends the submission', async ([name = '', state]) => {
  await enable('netcraft-api')
  const { pageId } = await confirmed(name)
  expect(await run(pageId, 'netcraft-api')).toBe('done')
  expect(await statesOf(pageId)).toEqual([`netcraft-api ${state}`])
})

test.for([
  ['busy', '429', 15],
  ['hang', 'null', 5],
  ['nonsense', '200', 5],
] as const)(
  'after the answer to %s, the page is sent again later',
  async ([name, status, minutes]) => {
    await enable('netcraft-api')
    const { pageId } = await confirmed(name)
    const before = app.clock().getTime()
    const outcome = (await run(pageId, 'netcraft-api')) as { postponedTo: Date }
    const waits = Math.round((outcome.postponedTo.getTime() - before) / 60_000)
    expect(waits).toBe(minutes)
    expect(await statesOf(pageId)).toEqual([`netcraft-api waiting 1 ${status}`])
    await app.pool.query(`update page_submissions set created_at = now() - interval '3 days'`)
    expect(await run(pageId, 'netcraft-api')).toBe('done')
    expect(await statesOf(pageId)).toEqual([`netcraft-api given-up 1 ${status}`])
  },
)

test('a key is stored encrypted, and a wrong one is tried again once it is replaced', async () => {
  expect(await enable('urlhaus')).toMatchObject({ problems: [{ field: 'secret' }] })
  await enable('urlhaus', { checked: 'yes', secret: 'wrong-key' })
  const [row] = await app.rows('select sealed_key::text as key, contact from partners')
  expect(row?.['key']).not.toContain(Buffer.from('wrong-key').toString('hex'))
  const { pageId, url } = await confirmed('drop.exe', { type: 'malware' })
  expect(await run(pageId, 'urlhaus')).toHaveProperty('postponedTo')
  expect(await statesOf(pageId)).toEqual(['urlhaus waiting 1 401'])
  await enable('urlhaus', { checked: 'yes', secret: KEY })
  await enable('urlhaus')
  expect(await run(pageId, 'urlhaus')).toBe('done')
  expect(await statesOf(pageId)).toEqual(['urlhaus accepted 2 200'])
  expect(partner.asked.at(-1)?.body).toEqual({
    anonymous: '0',
    submission: [{ url, threat: 'malware_download' }],
  })
})

test('limits postpone; a page that is cleared or a partner that is off gets nothing', async () => {
  await enable('netcraft-api')
  const [first, second] = [await confirmed('one'), await confirmed('two')]
  await run(first.pageId, 'netcraft-api', { hourlyMax: 1 })
  expect(await run(second.pageId, 'netcraft-api', { hourlyMax: 1 })).toHaveProperty('postponedTo')
  expect(await run(second.pageId, 'netcraft-api', { dailyMax: 1 })).toHaveProperty('postponedTo')
  expect(partner.asked).toHaveLength(1)
  await app.pool.query(
    `update pages set state = 'cleared', confirmed_by = null, cleared_at = now() where id = $1`,
    [second.pageId],
  )
  expect(await run(second.pageId, 'netcraft-api')).toBe('done')
  expect(await statesOf(second.pageId)).toEqual(['netcraft-api dropped 0 null'])
  const third = await confirmed('three')
  await runAction(disablePartner, { partner: 'netcraft-api' }, app, null)
  await run(third.pageId, 'netcraft-api')
  expect(await statesOf(third.pageId)).toEqual(['netcraft-api dropped 0 null'])
  expect(partner.asked).toHaveLength(1)
})
