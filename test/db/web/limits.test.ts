import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { changeLimit } from '../../support/limits.ts'
import { signedInBrowser } from './browser.ts'
import { sampleMessage, startWebSite, type Person } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')

function post(mark: string, who: Person) {
  return fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    body: sampleMessage(mark),
    headers: {
      authorization: `Bearer ${who.token}`,
      'content-type': 'message/rfc822',
    },
  })
}

test('an answer has the limits, and pages of other sites may read them', async () => {
  const answer = await post('told', ann)
  expect(answer.status).toBe(202)
  expect(answer.headers.get('ratelimit-policy')).toBe(
    '"report-address-minute";q=3000;w=60, "report-day";q=50000;w=86400, ' +
      '"report-minute";q=1200;w=60, "report-token-minute";q=1200;w=60',
  )
  expect(answer.headers.get('ratelimit')).toMatch(/^"report-(token-)?minute";r=1199;t=(60|61)$/)
  expect(answer.headers.get('access-control-expose-headers')).toMatch(/RateLimit, RateLimit-Policy/)
})

test('several messages in one request count as that many reports', async () => {
  const cleo = await site.addPerson('cleo@reporters.example')
  const body = new FormData()
  for (const mark of ['a', 'b', 'c']) body.append('files', new Blob([sampleMessage(mark)]), mark)
  const answer = await fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${cleo.token}` },
  })
  expect(answer.headers.get('ratelimit')).toMatch(/r=\d*97;/)
})

test('a client above a limit gets 429 and the time to wait', async () => {
  const bob = await site.addPerson('bob@reporters.example')
  await changeLimit(site.app.pool, 'report-minute', { attempts: 3 })
  await expect
    .poll(async () => (await post('one', bob)).headers.get('ratelimit-policy'))
    .toMatch(/q=3;w=60/)
  let refused = await post('two', bob)
  for (let n = 0; n < 3; n++) refused = await post(`more ${n}`, bob)
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({
    type: expect.stringMatching(/#too-often$/) as string,
  })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
  expect(refused.headers.get('ratelimit')).toMatch(/^"report-minute";r=0;t=\d+$/)
  await changeLimit(site.app.pool, 'report-minute', { attempts: 1_200 })
})

test('a page requested too often says so', async () => {
  const dan = await site.addPerson('dan@reporters.example')
  const browser = await signedInBrowser(site.url, dan)
  await changeLimit(site.app.pool, 'report-day', { attempts: 1 })
  const send = (mark: string) => {
    const form = new FormData()
    form.append('reporting[raw_email]', sampleMessage(mark).toString())
    form.append('kind', 'spam')
    return browser.postForm('/report', form)
  }
  await expect.poll(async () => (await send('page')).status).toBe(429)
  const answer = await send('page again')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await answer.text()).toMatch(/<h1/)
  await changeLimit(site.app.pool, 'report-day', { attempts: 50_000 })
})

test('password attempts are limited, and cached correct ones are free', async () => {
  const eva = await site.addPerson('eva@reporters.example')
  const ask = (authorization: string) =>
    fetch(`${site.url}/api/v1/relays`, { headers: { authorization } })
  const wrong = () => ask(`Basic ${Buffer.from(`${eva.email}:wrong`).toString('base64')}`)
  await changeLimit(site.app.pool, 'password-here', { attempts: 3 })
  await expect
    .poll(async () => (await wrong()).headers.get('ratelimit-policy'))
    .toMatch(/"password-here";q=3/)
  const dora = await site.addPerson('dora@reporters.example')
  for (let n = 0; n < 6; n++) expect((await ask(dora.basic)).status).toBe(200)
  for (let n = 0; n < 3; n++) await wrong()
  expect((await wrong()).status).toBe(429)
  // The correct password is refused too; otherwise a client that guesses would recognize it.
  expect((await ask(eva.basic)).status).toBe(429)
  expect((await ask(`Bearer ${eva.token}`)).status).toBe(200)
})

test('administrators change limits on a page that no one else sees', async () => {
  const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
  const browser = await signedInBrowser(site.url, admin)
  expect(await (await browser.get('/admin/limits')).text()).toContain('read-minute')
  const fields = { name: 'read-minute', attempts: '7', seconds: '30', behavior: 'off' }
  expect((await browser.post('/admin/limits', fields)).status).toBe(303)
  const { rows } = await site.app.pool.query(
    `select attempts_max, window_ms, behavior from rate_limits where name = 'read-minute'`,
  )
  expect(rows).toEqual([{ attempts_max: 7, window_ms: 30_000, behavior: 'off' }])
  const wrong = await browser.post('/admin/limits', { ...fields, attempts: '0' })
  expect(wrong.status).toBe(422)
  const audit = await site.app.pool.query(
    `select detail from audit_log where action = 'set limit' and reporter_id = $1`,
    [admin.id],
  )
  expect(audit.rows).toEqual([{ detail: 'read-minute: 7 in 30 s, off' }])
  const other = await signedInBrowser(site.url, ann)
  expect((await other.get('/admin/limits')).status).toBe(403)
})
