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

const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)

/** The fields of the form, as a browser sends them; `change` are those that a person changed. */
async function shownFields(change: Record<string, string>) {
  const html = await (await desk.get('/admin/limits')).text()
  const inputs = [...html.matchAll(/<input[^>]* name="([\w.-]+\.\w+)" value="([^"]*)"/g)]
  const selects = [...html.matchAll(/<select name="([\w.-]+)">.*?<option value="(\w+)" selected/gs)]
  const pairs = [...inputs, ...selects].map(([, name = '', value = '']) => [name, value] as const)
  return { ...Object.fromEntries(pairs), ...change }
}

async function readLimit(name: string) {
  const { rows } = await site.app.pool.query<object>(
    'select attempts_max, window_ms, behavior from rate_limits where name = $1',
    [name],
  )
  return rows[0]
}

test('administrators save several limits at once, and only what they changed', async () => {
  const html = await (await desk.get('/admin/limits')).text()
  expect(html).toContain('>reports per account, per minute</span>\n<span>at most 1,200<')
  // No two limits have the same title.
  const titles = [...html.matchAll(/<span class="what">([^<]*)</g)].map(([, title]) => title)
  expect(titles.length).toBeGreaterThan(15)
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([])
  const fields = await shownFields({
    'read-minute.attempts': '7',
    'read-minute.window': '0.5',
    'read-minute.behavior': 'off',
    'lookup-minute.attempts': '61',
  })
  // Changed by another person, and not by this one.
  await changeLimit(site.app.pool, 'webhook-minute', { attempts: 59 })
  const answer = await desk.post('/admin/limits', fields)
  expect(answer.headers.get('location')).toBe('/admin/limits?done=saved&count=2')
  const off = { attempts_max: 7, window_ms: 30_000, behavior: 'off' }
  expect(await readLimit('read-minute')).toEqual(off)
  expect(await readLimit('lookup-minute')).toMatchObject({ attempts_max: 61 })
  expect(await readLimit('webhook-minute')).toMatchObject({ attempts_max: 59 })
  const audit = await site.app.pool.query<{ detail: string }>(
    `select detail from audit_log where action = 'set limit' and reporter_id = $1`,
    [admin.id],
  )
  expect(audit.rows.map(({ detail }) => detail).toSorted()).toEqual([
    'lookup-minute: 61 in 60 s, refuse; before: 60 in 60 s, refuse',
    expect.stringMatching(/^read-minute: 7 in 30 s, off; before: \d+ in 60 s, refuse$/),
  ])
  const shown = await (await desk.get('/admin/limits')).text()
  expect(shown).toContain('Default: 1,200 per minute.')
  expect(shown).toContain('not counted')
  const again = await desk.post('/admin/limits', await shownFields({}))
  expect(again.headers.get('location')).toBe('/admin/limits?done=same')
})

test('one wrong limit saves none, and all that was typed is shown again', async () => {
  const fields = await shownFields({
    'reset-name.attempts': '0',
    'reset-name.window': '2',
    'report-minute.attempts': '1201',
    'mail-in-hour.attempts': '501',
  })
  await changeLimit(site.app.pool, 'mail-in-hour', { attempts: 400 })
  const answer = await desk.post('/admin/limits', fields)
  expect(answer.status).toBe(422)
  const html = await answer.text()
  expect(html).toContain('reset-name: Enter a whole number from 1 to')
  expect(html).toContain('mail-in-hour: Another person changed it to 400 in 3600 s, refuse.')
  expect(html).toContain('name="reset-name.window" value="2"')
  expect(html).toContain('name="report-minute.attempts" value="1201"')
  expect(html).toContain('name="mail-in-hour.shown" value="400 in 3600 s, refuse"')
  expect(await readLimit('report-minute')).toMatchObject({ attempts_max: 1_200 })
  expect(await readLimit('mail-in-hour')).toMatchObject({ attempts_max: 400 })
})

test('reporters do not see the page', async () => {
  const other = await signedInBrowser(site.url, ann)
  expect((await other.get('/admin/limits')).status).toBe(403)
})
