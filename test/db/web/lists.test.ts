import { beforeEach, expect, test } from 'vitest'
import { createReadHealth } from '../../../src/health/read-health.ts'
import { runPublishLists } from '../../../src/lists/publish-lists.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { know } from '../../support/listed.ts'
import { confirmPages } from '../../support/listed-pages.ts'
import { uuidv7 } from '../../../src/world.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

let visitor: Browser

const folder = await makeTestFolder()
const site = await closeAfterTests(
  startWebSite({
    LISTS_DIR: folder,
    PUBLIC_URL: 'http://spam.ours.example',
    TRUSTED_PROXIES: '127.0.0.1, ::1',
  }),
)
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)

beforeEach(async () => {
  const { pool, clock } = site.app
  visitor = new Browser(site.url)
  await pool.query('truncate reputations, listings, list_exemptions, delisting_requests')
  const at = clock()
  await know(pool, [
    { kind: 'address', name: '192.0.2.7', bad: 18, at },
    { kind: 'address', name: '192.0.2.9', bad: 300, at },
    { kind: 'link-domain', name: 'bad.example', bad: 18, at },
    { kind: 'link-host', name: 'www.bad.example', bad: 18, at },
    { kind: 'link-host', name: 'known.example', bad: 7, at },
    { kind: 'link-host', name: 'www.hacked.example', bad: 10, phishing: 10, at },
    { kind: 'link-host', name: 'loads.hacked.example', bad: 10, phishing: 10, malware: 9, at },
  ])
  await runPublishLists(site.app)
})

const wish = {
  asker: 'Ann, who runs the machine',
  contact: 'ann@host.example',
  done: 'The account was stolen; it is closed.',
}
const address = { list: 'addresses', name: '192.0.2.7' }
const hard = { list: 'addresses', name: '192.0.2.9' }

async function pageOf(path: string, browser = visitor): Promise<string> {
  return (await browser.get(path)).text()
}

async function askFor(subject: { list: string; name: string }, who = visitor): Promise<string> {
  const answer = await who.post('/lookup/delist', { ...subject, ...wish })
  expect(answer.status).toBe(303)
  return answer.headers.get('location') ?? ''
}

test('a look-up says what is listed, since when, why, until when, and the way out', async () => {
  const html = await pageOf('/lookup?q=hxxp://www[.]bad[.]example/x')
  expect(html).toContain('www.bad.example is listed.')
  expect(html).toContain('>bad.example is listed.')
  expect(html).toContain('At least 10 people reported it for spam.')
  expect(html).toMatch(/Listed since<\/dt><dd><time datetime="\d{4}-\d\d-\d\d">/)
  expect(html).toContain('href="/lookup/delist?list=hosts&amp;name=www.bad.example"')
  const french = await pageOf('/lookup?q=192.0.2.7&lang=fr')
  expect(french).toContain('192.0.2.7 figure sur nos listes.')
  expect(french).toContain('Au moins 10 personnes')
})

test('a known but unlisted name reveals nothing', async () => {
  const known = (await pageOf('/lookup?q=known.example')).replaceAll('known', 'unknown')
  expect(known).toBe(await pageOf('/lookup?q=unknown.example'))
  expect(known).toContain('unknown.example is not listed.')
})

test('invalid input is shown again, escaped', async () => {
  const text = '"><script>alert(1)</script>'
  const answer = await visitor.get(`/lookup?q=${encodeURIComponent(text)}`)
  expect(answer.status).toBe(422)
  const html = await answer.text()
  expect(html).not.toContain('<script>')
  expect(html).toContain('&lt;script&gt;')
  const nul = await visitor.get('/lookup?q=%00bad.example')
  expect(nul.status).toBe(422)
  expect((await visitor.get('/lookup/delist?list=hosts&name=%00')).status).toBe(303)
})

test('a program gets the same answer', async () => {
  const url = `${site.url}/api/v1/reputation`
  const listed = await fetch(`${url}/192.0.2.7`)
  expect(listed.status).toBe(200)
  expect(await listed.json()).toMatchObject({
    name: '192.0.2.7',
    is_listed: true,
    listed: [{ list: 'addresses', category: 'spam', code: '127.0.0.2', times: 1 }],
  })
  const other = await fetch(`${url}/${encodeURIComponent('https://known.example/')}`)
  expect(await other.json()).toMatchObject({ name: 'known.example', is_listed: false, listed: [] })
  expect((await fetch(`${url}/nonsense`)).status).toBe(422)
  expect((await fetch(`${url}/192.0.2.7`, { method: 'POST' })).status).toBe(405)
})

test('a program that asks too often has to wait', async () => {
  const url = `${site.url}/api/v1/reputation/192.0.2.7`
  const headers = { 'x-forwarded-for': '198.51.100.1, 203.0.113.50' }
  let answer = await fetch(url, { headers })
  for (let asked = 1; asked < 130 && answer.ok; asked++) answer = await fetch(url, { headers })
  expect(answer.status).toBe(429)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await answer.json()).toMatchObject({ type: expect.stringContaining('#too-often') })
  const forged = { 'x-forwarded-for': '203.0.113.50, 203.0.113.51' }
  expect((await fetch(url, { headers: forged })).status).toBe(200)
})

test('a name with little evidence is delisted once at once, and stays off the list', async () => {
  const status = await askFor(address)
  expect(status).toMatch(/^\/lookup\/delist\/[\w-]{32}$/)
  const html = await pageOf(status)
  expect(html).toContain('The entry leaves the list at the next publication')
  expect(html).toContain('noindex')
  for (const secret of Object.values(wish)) expect(html).not.toContain(secret)
  expect(await pageOf('/lookup?q=192.0.2.7')).toContain('is not listed')
  await runPublishLists(site.app)
  expect(await pageOf('/lookup?q=192.0.2.7')).toContain('is not listed')
  expect((await visitor.get('/lookup/delist/nonsense')).status).toBe(404)
  expect(await askFor(address)).toBe('/lookup?q=192.0.2.7')
  const later = new Date(site.app.clock().getTime() + 1_000)
  await know(site.app.pool, [{ kind: 'address', name: '192.0.2.7', bad: 26, at: later }])
  await runPublishLists({ ...site.app, clock: () => later })
  expect(await pageOf(await askFor(address))).toContain('A person will read your request.')
})

test('a name with much evidence needs an administrator, whose exemption is logged', async () => {
  const status = await askFor(hard)
  expect(await pageOf(status)).toContain('A person will read your request.')
  expect(await pageOf('/lookup?q=192.0.2.9')).toContain('is listed')
  const list = await pageOf('/admin/delistings', desk)
  expect(list).toContain('ann@host.example')
  const action = /action="(\/admin\/delistings\/[^"]+)"/.exec(list)?.[1] ?? ''
  const answer = { answer: 'Thank you for mending it.', exempt: '30', do: 'accept' }
  expect((await visitor.post(action, answer)).headers.get('location')).toContain('/sign-in')
  const foreign = await desk.post(action, answer, { 'sec-fetch-site': 'cross-site' })
  expect(foreign.status).toBe(403)
  const done = await desk.post(action, answer)
  expect(done.headers.get('location')).toBe('/admin/delistings?done=accepted')
  expect((await desk.post(action, answer)).status).toBe(404)
  expect(await pageOf(status)).toContain('Thank you for mending it.')
  const at = new Date(site.app.clock().getTime() + 1_000)
  await know(site.app.pool, [{ kind: 'address', name: '192.0.2.9', bad: 900, at }])
  await runPublishLists({ ...site.app, clock: () => at })
  expect(await pageOf('/lookup?q=192.0.2.9')).toContain('is not listed')
  const log = await pageOf('/admin/audit', desk)
  expect(log).toContain('accept delisting: addresses: 192.0.2.9, exempt until')
})

test.for([
  ['www.hacked.example', 'phishing', '127.0.0.4'],
  ['loads.hacked.example', 'spreading malware', '127.0.0.5'],
] as const)('only a person delists %s, which is listed for %s, within days', async (row) => {
  const [name, category, code] = row
  const lookup = await pageOf(`/lookup?q=${name}`)
  expect(lookup).toContain(`At least 6 people reported it for ${category}.`)
  expect(lookup).toContain('a person decides within 3 days')
  const others = new Browser(site.url)
  expect(await pageOf(`/lookup?q=${name}&lang=fr`, others)).toContain('un délai de 3 jours')
  expect(await pageOf(`/lookup?q=${name}&lang=ru`, others)).toContain('в течение 3 дней')
  const answer = await fetch(`${site.url}/api/v1/reputation/${name}`)
  expect(await answer.json()).toMatchObject({ listed: [{ code }] })
  expect(await pageOf(`/lookup/delist?list=hosts&name=${name}`)).toMatch(
    /is not removed automatically: a person .* within 3 days/,
  )
  const status = await pageOf(await askFor({ list: 'hosts', name }))
  expect(status).toContain('A person will read your request.')
  expect(status).toContain('Decision by')
  await runPublishLists(site.app)
  expect(await pageOf(`/lookup?q=${name}`)).toContain('is listed')
  const list = await pageOf('/admin/delistings', desk)
  expect(list).toContain('a person decides within 3 days')
  expect(list).not.toContain('overdue')
})

test('a host that is listed only for a confirmed page is shown, and a person decides', async () => {
  const name = 'login.paged.example'
  const at = site.app.clock()
  const path = { url: 'https://path.paged.example/wp-admin/x', at, scope: 'path' } as const
  await confirmPages(site.app.pool, [{ url: `https://${name}/in`, at }, path])
  expect(await pageOf('/lookup?q=path.paged.example')).toContain('is not listed')
  const lookup = await pageOf(`/lookup?q=https://${name}/in`)
  expect(lookup).toContain('At least 3 people reported it for phishing.')
  const status = await pageOf(await askFor({ list: 'hosts', name }))
  expect(status).toContain('A person will read your request.')
  const requests = await pageOf('/admin/delistings', desk)
  expect(requests).toContain(name)
  expect(requests).not.toContain('Not listed any more')
  const answer = await fetch(`${site.url}/api/v1/reputation/${name}`)
  expect(await answer.json()).toMatchObject({ listed: [{ list: 'hosts', category: 'phishing' }] })
})

test('a page that is listed by its path is found by any link to it, without a token', async () => {
  const [token, other] = ['4f9a8b7c6d5e4f3a2b1c0d9e', '0a1b2c3d4e5f6a7b8c9d0e1f']
  const [host, at] = ['hacked.paged.example', site.app.clock()]
  const key = `${host}/wp-admin/*/in`
  const page = { url: `https://${host}/wp-admin/${token}/in`, at, scope: 'path', key } as const
  await confirmPages(site.app.pool, [
    page,
    { ...page, url: `https://${host}/wp-admin/x`, key: 'x' },
  ])
  expect(await pageOf(`/lookup?q=${host}`)).toContain('is not listed')
  expect(await pageOf(`/lookup?q=https://${host}/about`)).toContain('is not listed')
  const lookup = await pageOf(`/lookup?q=hxxps://${host}/wp-admin/${other}/in`)
  expect(lookup).toContain(`${key} is listed.`)
  expect(lookup).not.toContain(token)
  const subject = { list: 'pages', name: key }
  const form = `/lookup/delist?${new URLSearchParams(subject).toString()}`
  expect(lookup).toContain(`href="${form.replace('&', '&amp;')}"`)
  expect(await pageOf(form)).toContain(key)
  const answer = await fetch(
    `${site.url}/api/v1/reputation/${encodeURIComponent(`https://${host}/wp-admin/${other}/in`)}`,
  )
  expect(await answer.json()).toMatchObject({ listed: [{ list: 'pages', name: key }] })
  const status = await askFor(subject)
  expect(await pageOf(status)).toContain('A person will read your request.')
  const requests = await pageOf('/admin/delistings', desk)
  const id = /action="\/admin\/delistings\/([\da-f-]{36})"/.exec(requests)?.[1] ?? ''
  expect(requests).toContain(`/admin/pages?state=confirmed&amp;host=${host}`)
  await desk.post(`/admin/delistings/${id}`, { do: 'accept', answer: 'Repaired.', exempt: '30' })
  expect(await pageOf(status)).toContain('Request granted.')
  expect(await pageOf(`/lookup?q=https://${host}/wp-admin/${other}/in`)).toContain('is not listed')
})

test('a decided request shows who decided it, and the exemption that came of it', async () => {
  await askFor(hard)
  const open = await pageOf('/admin/delistings', desk)
  expect(open).not.toContain('Decided by')
  const action = /action="(\/admin\/delistings\/[^"]+)"/.exec(open)?.[1] ?? ''
  await desk.post(action, { do: 'accept', answer: 'Repaired.', exempt: '30' })
  const accepted = () => pageOf('/admin/delistings?state=accepted', desk)
  const until = new Date(site.app.clock().getTime() + 30 * 86_400_000).toISOString().slice(0, 10)
  const shown = await accepted()
  expect(shown).toMatch(new RegExp(`Decided by</dt><dd>\\s*<span class="stranger">${admin.email}`))
  expect(shown).toMatch(new RegExp(`Exempt from the lists</dt>.*?datetime="${until}`, 's'))
  // What somebody set later did not come of the request.
  const later = { do: 'set', name: hard.name, reason: 'Ours.', term: 'good' }
  await desk.post('/admin/delistings/exemptions', later)
  expect(await accepted()).not.toContain('Exempt from the lists</dt>')
  expect(await accepted()).toContain(admin.email)
})

test('a request that no person decides in time is shown as overdue, and warned of', async () => {
  const { pool, clock } = site.app
  await askFor({ list: 'hosts', name: 'www.hacked.example' })
  const daysAgo = async (days: number) => {
    const id = uuidv7(new Date(clock().getTime() - days * 86_400_000))
    await pool.query('update delisting_requests set id = $1', [id])
    const health = await createReadHealth(site.app)()
    const condition = health.conditions.find(({ code }) => code === 'delistings-decided')
    const list = await pageOf('/admin/delistings', desk)
    // It is bad since two days after the request, and not since the request; in tenths of days.
    const badMs = condition?.since && clock().getTime() - condition.since.getTime()
    const badTenths = badMs ? Math.round(badMs / 8_640_000) : null
    return { level: condition?.level, isOverdue: list.includes('>overdue<'), badTenths }
  }
  expect(await daysAgo(1.9)).toEqual({ level: 'ok', isOverdue: false, badTenths: null })
  expect(await daysAgo(2.1)).toEqual({ level: 'warning', isOverdue: false, badTenths: 1 })
  expect(await daysAgo(3.1)).toEqual({ level: 'warning', isOverdue: true, badTenths: 11 })
  expect(await daysAgo(7.1)).toEqual({ level: 'critical', isOverdue: true, badTenths: 51 })
})

test('a refused requester learns why', async () => {
  const status = await askFor(hard)
  const list = await pageOf('/admin/delistings', desk)
  const action = /action="(\/admin\/delistings\/[^"]+)"/.exec(list)?.[1] ?? ''
  expect((await desk.post(action, { do: 'refuse', answer: ' ' })).status).toBe(422)
  const answer = '<b>It still sends.</b>'
  expect((await desk.post(action, { do: 'refuse', answer })).status).toBe(303)
  const html = await pageOf(status)
  expect(html).toContain('The entry stays on the list.')
  expect(html).toContain('&lt;b&gt;It still sends.')
  expect(await pageOf('/lookup?q=192.0.2.9')).toContain('is listed')
  expect(await pageOf('/admin/delistings?state=refused', desk)).toContain('192.0.2.9')
})

test.for([
  [{ asker: '' }, 'Enter your name and role.'],
  [{ contact: 'nobody' }, 'Enter a valid email address.'],
  [{ done: 'nothing' }, 'Describe in a sentence or two'],
] as const)('a form without %o is shown again', async ([part, fault]) => {
  const given = { ...wish, asker: 'A "quoted" <b>', ...part }
  const answer = await visitor.post('/lookup/delist', { ...address, ...given })
  expect(answer.status).toBe(422)
  const html = await answer.text()
  expect(html).toContain(fault)
  expect(html).not.toContain('<b>')
  expect(await pageOf('/lookup?q=192.0.2.7')).toContain('is listed')
})

test('the number of requests per day is limited for a name and for a machine', async () => {
  const from = (last: number) => new Browser(site.url, { 'x-forwarded-for': `203.0.113.${last}` })
  for (let n = 0; n < 5; n++) await askFor(hard, from(0))
  const sixth = await from(0).post('/lookup/delist', { ...hard, ...wish })
  expect(sixth.status).toBe(429)
  expect(await sixth.text()).toContain('Try again tomorrow.')
  for (let n = 5; n < 25; n++) await askFor(hard, from(n))
  expect((await from(99).post('/lookup/delist', { ...hard, ...wish })).status).toBe(429)
  await site.app.pool.query('truncate delisting_requests')
  for (let n = 0; n < 5; n++) {
    await askFor(hard, from(1))
    await site.app.pool.query('update delisting_requests set name = id::text')
  }
  expect((await from(1).post('/lookup/delist', { ...hard, ...wish })).status).toBe(429)
  await askFor(hard, from(2))
})

test('a request from another site, or for an unlisted name, has no effect', async () => {
  const fields = { ...address, ...wish }
  const foreign = await visitor.post('/lookup/delist', fields, { origin: 'https://evil.example' })
  expect(foreign.status).toBe(403)
  expect(await askFor({ list: 'hosts', name: '//evil.example/' })).toBe(
    '/lookup?q=%2F%2Fevil.example%2F',
  )
  expect(await askFor({ list: '__proto__', name: '192.0.2.7' })).toBe('/lookup?q=192.0.2.7')
  const { rows } = await site.app.pool.query('select id from delisting_requests')
  expect(rows).toEqual([])
})

test('requests are listed on pages without a gap', async () => {
  for (let n = 0; n < 14; n++) {
    await askFor(hard, new Browser(site.url, { 'x-forwarded-for': `198.51.100.${n}` }))
    await site.app.pool.query(`update delisting_requests set name = id::text`)
  }
  const first = await pageOf('/admin/delistings', desk)
  const next = /href="\/admin\/delistings(\?state=open&amp;after=[^"]+)"/.exec(first)?.[1] ?? ''
  const second = await pageOf(`/admin/delistings${next.replace('&amp;', '&')}`, desk)
  const idsIn = (html: string) => [...html.matchAll(/admin\/delistings\/([0-9a-f-]{36})[?"]/g)]
  const ids = [...idsIn(first), ...idsIn(second)].map(([, id]) => id)
  expect(new Set(ids).size).toBe(14)
  expect(ids).toEqual([...ids].sort())
})

test('an exemption is set, listed and removed only by administrators', async () => {
  const path = '/admin/delistings/exemptions'
  const word = { name: 'hxxp://BAD[.]example/', reason: 'a <b>customer</b>', term: '90', do: 'set' }
  expect((await visitor.post(path, word)).headers.get('location')).toContain('/sign-in')
  expect((await desk.post(path, { ...word, name: 'nonsense' })).status).toBe(422)
  expect((await desk.post(path, { ...word, reason: '' })).status).toBe(422)
  expect((await desk.post(path, { ...word, term: '__proto__' })).status).toBe(422)
  expect((await desk.post(path, word)).headers.get('location')).toBe(`${path}?done=set`)
  const html = await pageOf(path, desk)
  expect(html).toContain('bad.example')
  expect(html).toContain('a &lt;b&gt;customer')
  await runPublishLists(site.app)
  expect(await pageOf('/lookup?q=www.bad.example')).toContain('is not listed')
  const lift = { name: 'bad.example', do: 'lift' }
  expect((await desk.post(path, lift)).headers.get('location')).toBe(`${path}?done=lifted`)
  expect((await desk.post(path, lift)).headers.get('location')).toBe(`${path}?done=nothing`)
  expect(await pageOf('/admin/audit', desk)).toContain('unexempt from lists: bad.example')
})

test('exemptions are listed on pages without a gap', async () => {
  const path = '/admin/delistings/exemptions'
  const names = Array.from({ length: 60 }, (_, n) => `a${n + 10}.example`)
  const word = { reason: 'test', term: 'good', do: 'set' }
  for (const name of names) await desk.post(path, { ...word, name })
  const [first, second] = [
    await pageOf(path, desk),
    await pageOf(`${path}?after=a59.example`, desk),
  ]
  expect(first).toContain('exemptions?after=a59.example"')
  const seen = [...(first + second).matchAll(/<td class="stranger">([^<]+)</g)].map(
    ([, one]) => one,
  )
  expect(seen).toEqual(names)
})
