import path from 'node:path'
import { DAY_MS } from '../../../src/durations.ts'
import { beforeEach, expect, test } from 'vitest'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { addToCampaignDays, insertCampaigns, upsertWitnesses } from '../../../src/db/campaigns.ts'
import { replaceCountedReports } from '../../../src/db/counter-rows.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { uuidTime, uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { parser } from '../../support/parser.ts'
import { addReports, newReport } from '../../support/rows.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { type Browser, signedInBrowser } from './browser.ts'
import { offer } from './offer-message.ts'
import { startWebSite, type Person } from './web-site.ts'
import { analyzeReports } from '../../support/judge.ts'
import { applyRules } from '../../../src/judging/rule-versions.ts'
import { runActOnReports } from '../../../src/search/mass-actions.ts'
import { factDefinitions } from '../../../src/verdict/facts/facts.ts'

const networks = path.join(import.meta.dirname, '../../../src/db/sample-networks.csv')

const site = await closeAfterTests(startWebSite())
await importNetworks(networks, site.app)
const people = ['ann', 'bob', 'carol'].map((name) => site.addPerson(`${name}@people.example`))
const [ann, bob, carol] = (await Promise.all(people)) as [Person, Person, Person]
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)

beforeEach(() =>
  site.app.pool.query(
    `truncate campaigns, campaign_keys, campaign_days, counted_reports, reports_to_count, counters,
       counter_deltas, counter_members`,
  ),
)

/** Reports a message, and has it analyzed and counted. */
async function reported(person: Person, raw: Buffer<ArrayBuffer>): Promise<string> {
  const id = await site.report(person, raw)
  await analyzed(id)
  return id
}

async function analyzed(...ids: string[]): Promise<void> {
  await analyzeReports({ ...site.app, parser }, ids)
  await rollUpAll(site.app.pool, new Date())
}

async function campaignOf(id: string): Promise<string> {
  const page = await (await desk.get(`/admin/reports/${id}`)).text()
  return /\/admin\/campaigns\/([0-9a-f-]{36})/.exec(page)?.[1] ?? ''
}

/** Returns the day on which a report was received. */
function dayOf(id: string): string {
  return uuidTime(id).toISOString().slice(0, 10)
}

/** Returns the words of a page, without its markup. */
async function wordsAt(browser: Browser, address: string): Promise<string> {
  const answer = await browser.get(address)
  expect(answer.status).toBe(200)
  const page = await answer.text()
  return page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

test('a campaign is for administrators', async () => {
  const id = await campaignOf(await reported(ann, offer('private')))
  const own = await signedInBrowser(site.url, ann)
  expect((await own.get(`/admin/campaigns/${id}`)).status).toBe(403)
  expect((await desk.get(`/admin/campaigns/${id}`)).status).toBe(200)
})

test('its page shows the volume, the origins and the content', async () => {
  const first = await reported(ann, offer('one'))
  await reported(bob, offer('two', { ip: '198.51.100.24', author: 'news@shop.example' }))
  await reported(bob, offer('three'))
  const id = await campaignOf(first)
  const words = await wordsAt(desk, `/admin/campaigns/${id}`)
  expect(words).toContain('3 reports, 2 reporters, 1 network of origin, 2 authors')
  expect(words).toMatch(/Reports by day \(UTC\) .*Series Total Reports 3 /)
  expect(words).toMatch(/Series Total Reported as spam or phishing 3 Not spam 0 /)
  expect(words).toMatch(/198\.51\.100\.23 Example Access Two AS64497 DE 2 198\.51\.100\.24 /)
  expect(words).toContain('one.watches.example 1')
  expect(words).toContain('Watches two 1')
  expect(words).toContain('Offers &lt;offers@shop.example&gt; 2 Offers &lt;news@shop.example&gt; 1')
  const page = await (await desk.get(`/admin/campaigns/${id}`)).text()
  expect(page).toContain('href="/admin/networks?ip=198.51.100.24"')
  expect(page.match(/href="\/admin\/reports\/[0-9a-f-]{36}"/g)).toHaveLength(4)
  for (const about of [
    ...['value=one.watches.example', 'kind=subject&value=Watches%20one'],
    ...['kind=address&value=Offers%20%3Coffers%40shop.example%3E', `kind=campaign&value=${id}`],
  ]) {
    expect(page).toContain(`href="/admin/counters?${about.replace('&', '&amp;')}"`)
    expect((await desk.get(`/admin/counters?${about}`)).status).toBe(200)
  }
})

test('an author without a whole address is not a link', async () => {
  const id = await campaignOf(await reported(ann, offer('nobody', { author: 'a"b@c<d' })))
  const page = await (await desk.get(`/admin/campaigns/${id}`)).text()
  expect(page).toContain('<span class="stranger">Offers')
  expect(page).not.toContain('kind=address')
})

test('its sample is text without markup or external links', async () => {
  const id = await campaignOf(await reported(ann, offer('sample')))
  const page = await (await desk.get(`/admin/campaigns/${id}`)).text()
  expect(page).toContain('Choose‹U+202E› yours &lt;script&gt; at\nour shop')
  expect(page).not.toMatch(/<script(?! src="\/assets)|href="https?:/)
  expect(page).not.toContain('alert(1)')
})

test('a message without text has a page without a sample', async () => {
  const raw = Buffer.from(
    [
      'Received: from a.example (a.example [198.51.100.23]) by mx.provider.example;',
      ' Mon, 16 Nov 2026 10:00:00 +0000',
      'From: <offers@shop.example>',
      'Subject: Pictures',
      'MIME-Version: 1.0',
      'Content-Type: text/html',
      '',
      '<img src="https://pictures.example/one.png"><img src="https://pictures.example/two.png">',
    ].join('\r\n'),
  )
  const id = await campaignOf(await reported(ann, raw))
  expect(await wordsAt(desk, `/admin/campaigns/${id}`)).toContain('This message has no text.')
})

test('its reports continue from page to page', async () => {
  const ids = await Promise.all(
    Array.from({ length: 30 }, (_, index) => site.report(ann, offer(`many-${index}`))),
  )
  await analyzed(...ids)
  const base = `/admin/campaigns/${await campaignOf(ids[0] ?? '')}`
  const seen: string[] = []
  let address = base
  for (let pages = 0; address !== '' && pages < 4; pages++) {
    const page = await (await desk.get(address)).text()
    const list = page.slice(page.indexOf('id="reports"'))
    for (const [, id = ''] of list.matchAll(/\/admin\/reports\/([0-9a-f-]{36})"/g)) seen.push(id)
    const [, next] = /href="[^"]*(\?before=[^"]*)"/.exec(page) ?? []
    address = next === undefined ? '' : base + next
  }
  expect(seen).toEqual(ids.toSorted().toReversed())
})

const otherOffer = Buffer.from(
  offer('grows')
    .toString()
    .replace(/<p>Good day[^]*?<\/p>/, '<p>Your parcel waits: pay two coins for it at once.</p>')
    .replace('today, before all of them are gone', 'or it goes back'),
)

const orderOf = (page: string) =>
  [...page.matchAll(/<a href="\/admin\/campaigns\/([0-9a-f-]{36})">/g)].map(([, id]) => id)

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * DAY_MS)
}

test('the list shows which campaign grew in a period, before larger ones', async () => {
  const large = await campaignOf(await reported(ann, offer('is large')))
  const [grown, again] = [await reported(ann, otherOffer), await reported(bob, otherOffer)]
  const small = await campaignOf(grown)
  expect(small).not.toBe(large)
  await addToCampaignDays(site.app.pool, [
    { campaignId: large, day: new Date(dayOf(again)), reports: 50 },
    { campaignId: large, day: daysAgo(6), reports: 3 },
    { campaignId: large, day: daysAgo(7), reports: 70 },
    { campaignId: large, day: daysAgo(14), reports: 9 },
    { campaignId: large, day: daysAgo(60), reports: 100 },
  ])
  await upsertWitnesses(site.app.pool, [
    { campaignId: large, day: dayOf(again), content: Buffer.of(0), complainants: 3 },
  ])
  const list = async (query: string) => {
    const order = orderOf(await (await desk.get(`/admin/campaigns${query}`)).text())
    return { order, words: await wordsAt(desk, `/admin/campaigns${query}`) }
  }
  const week = await list('')
  expect(week.order).toEqual([small, large])
  expect(week.words).toMatch(
    /Watches grows .* \+2 2 0 – .*Watches is large .* −16 54 70 3 or more spam /,
  )
  expect(week.words).toContain('Reports in the last 7 days In the 7 days before')
  expect((await list('?sort=reports')).order).toEqual([large, small])
  const month = await list('?period=month')
  expect(month.order).toEqual([large, small])
  expect(month.words).toMatch(/Watches is large .* \+133 133 0 3 or more /)
  const day = await list(`?day=${dayOf(again)}`)
  expect(day.words).toMatch(/Watches is large .* \+51 51 0 3 or more /)
  const hour = await list('?period=hour')
  expect(hour.words).toMatch(/Watches grows .* \+2 2 0 – .*Watches is large .* \+1 1 0 3 or more /)
})

test('a retracted report no longer belongs to its campaign', async () => {
  const [first, second] = [await reported(ann, offer('stays')), await reported(bob, offer('goes'))]
  const id = await campaignOf(first)
  await retractReport(site.app, second, { isReporter: true })
  await runRedeemReport([{ reportId: second }], site.app)
  await rollUpAll(site.app.pool, new Date())
  const page = await (await desk.get(`/admin/campaigns/${id}`)).text()
  expect(page).not.toContain(second)
  expect(await wordsAt(desk, `/admin/campaigns?day=${dayOf(first)}`)).toMatch(
    /offers@shop.example \+1 1 0 – /,
  )
  expect(await campaignOf(second)).toBe('')
})

test('a retracted report is not the sample, even if it was the first', async () => {
  const [first, second] = [await reported(ann, offer('mine')), await reported(bob, offer('stays'))]
  const page = async () => (await desk.get(`/admin/campaigns/${await campaignOf(second)}`)).text()
  expect(await page()).toContain('<h1><bdi>Watches mine</bdi></h1>')
  await retractReport(site.app, first, { isReporter: true })
  await runRedeemReport([{ reportId: first }], site.app)
  expect(await page()).toContain('<h1><bdi>Watches stays</bdi></h1>')
  expect(await page()).not.toContain(first)
})

test('the largest campaigns of a period come first, page by page', async () => {
  const now = new Date()
  const ids = Array.from({ length: 120 }, () => uuidv7(now)).sort()
  await insertCampaigns(
    site.app.pool,
    ids.map((id) => ({ id, firstReportId: id, fingerprints: { words: '9' } })),
  )
  const reports = (index: number) => 1 + (index % 3)
  await addToCampaignDays(
    site.app.pool,
    ids.map((campaignId, index) => ({ campaignId, day: now, reports: reports(index) })),
  )
  const seen: string[] = []
  let address = '/admin/campaigns?sort=reports'
  for (let pages = 0; address !== '' && pages < 5; pages++) {
    const page = await (await desk.get(address)).text()
    for (const [, id = ''] of page.matchAll(/\/admin\/campaigns\/([0-9a-f-]{36})"/g)) seen.push(id)
    address = (/href="([^"]*from=[^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&')
  }
  const bySize = ids
    .map((id, index) => ({ id, reports: reports(index) }))
    .sort((a, b) => b.reports - a.reports)
  expect(seen).toEqual(bySize.map(({ id }) => id))
})

test('a day links to the days before and after, but not beyond today', async () => {
  const page = await (await desk.get('/admin/campaigns?day=2026-03-01')).text()
  expect(page).toContain('href="/admin/campaigns?day=2026-02-28&amp;sort=growth"')
  expect(page).toContain('href="/admin/campaigns?day=2026-03-02&amp;sort=growth"')
  const newest = await (await desk.get('/admin/campaigns?period=day')).text()
  expect(newest).toContain('rel="prev"')
  expect(newest).not.toContain('rel="next"')
})

test.for([
  ['/admin/campaigns?day=2026-02-30', 422],
  ['/admin/campaigns?day=9999-01-01', 422],
  ['/admin/campaigns?day=%00%27', 422],
  ['/admin/campaigns?day=0001-01-01', 422],
  ['/admin/campaigns?from=-1&period=year', 200],
  ['/admin/campaigns?from=9999999999999999', 200],
  ['/admin/campaigns/01999999-0000-7000-8000-000000000000', 404],
  ['/admin/campaigns/x', 404],
] as const)('%s is answered with %s', async ([address, status]) => {
  expect((await desk.get(address)).status).toBe(status)
})

/** Adds reports to the campaign of a report, each by a different reporter. */
async function joinedByOthers(id: string, people: number): Promise<void> {
  const campaignId = await campaignOf(id)
  const others = Array.from({ length: people }, () => newReport({ reporterId: uuidv7(new Date()) }))
  const ids = await addReports(site.app.pool, others)
  const rows = ids.map((one) => ({ id: one, campaignId, content: Buffer.of(0) }))
  await replaceCountedReports(site.app.pool, rows)
}

test('a reporter sees nothing about few other people, and a rounded number of many', async () => {
  const id = await reported(ann, offer('told-1'))
  const english = await signedInBrowser(site.url, ann)
  const french = await signedInBrowser(site.url, ann, 'fr')
  const story = (browser: Browser) => wordsAt(browser, `/reports/${id}`)
  const few = 'Fewer than five other people reported it so far, perhaps none.'
  expect(await story(english)).toContain(few)
  const other = await reported(bob, offer('told-2'))
  await reported(carol, offer('told-3'))
  await joinedByOthers(id, 2)
  expect(await story(english)).toContain(few)
  await joinedByOthers(id, 1)
  const page = await story(english)
  expect(page).toMatch(
    /At least 5 other people reported it\. First and last reported on \d+ \w+ \d{4}\./,
  )
  await joinedByOthers(id, 4)
  expect(await story(english)).toBe(page)
  await joinedByOthers(id, 14)
  expect(await story(french)).toContain('Au moins 20 autres personnes l’ont signalé.')
  for (const secret of [other, bob.id, bob.email, 'told-2']) expect(page).not.toContain(secret)
})

test('the API returns the same, and nothing about others except their rounded number', async () => {
  const id = await reported(ann, offer('json-1'))
  const other = await reported(bob, offer('json-2'))
  const read = async (reportId: string, { token }: Person) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${site.url}/api/v1/reports/${reportId}`, { headers })
    return (await answer.json()) as { campaign: { id: string } | null }
  }
  const campaignId = await campaignOf(id)
  const mark = (await read(id, ann)).campaign?.id ?? ''
  expect(mark).toMatch(/^[0-9a-f]{32}$/)
  // The campaign's id contains the time of the first report to the millisecond.
  expect(mark).not.toContain(campaignId.replaceAll('-', '').slice(0, 8))
  const few = { id: mark, others_at_least: null, first_seen_on: null, last_seen_on: null }
  expect((await read(id, ann)).campaign).toEqual(few)
  expect((await read(other, bob)).campaign).toEqual(few)
  await joinedByOthers(id, 11)
  const many = { others_at_least: 10, first_seen_on: dayOf(id), last_seen_on: dayOf(other) }
  expect((await read(id, ann)).campaign).toEqual({ id: mark, ...many })
  const waiting = await site.report(ann, offer('json-3'))
  expect((await read(waiting, ann)).campaign).toBeNull()
})

test('an operator decides what a campaign is on its page', async () => {
  const id = await campaignOf(await reported(ann, offer('first')))
  const address = `/admin/campaigns/${id}`
  expect(await wordsAt(desk, address)).toMatch(/Our checks spam 1 Reporters say spam 1 /)
  expect(await (await desk.get(address)).text()).toContain('<option value="spam" selected>')
  await site.app.pool.query("update analyses set verdict_class = 'undecided'")
  expect(await (await desk.get(address)).text()).not.toMatch(/<option value="\w+" selected>/)
  const refused = await desk.post(address, { do: 'decide', says: 'phishing', reason: '' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain('Please give a reason.')
  await desk.post(address, { do: 'decide', says: 'phishing', reason: 'A false bank.' })
  expect(await wordsAt(desk, address)).toMatch(/Decision phishing · A false bank\./)
  await desk.post(address, { do: 'undecide' })
  expect(await wordsAt(desk, address)).not.toContain('A false bank.')
})

test('after a change of rules, a preview says what judging again changes', async () => {
  for (const page of ['/admin/rules', '/admin/models']) {
    const html = await (await desk.get(page)).text()
    expect(html).toMatch(/\/admin\/reports\/actions\/new\?kind=judge-kept&amp;q=state%3Akept/)
  }
  const person = await site.addPerson('newcomer@free.example')
  await site.app.pool.query('delete from karmas where reporter_id = $1', [person.id])
  const reply = offer('kept').toString().replace('From:', 'In-Reply-To: <a@b.example>\r\nFrom:')
  const kept = await reported(person, Buffer.from(reply))
  const preview = `/admin/reports/actions/new?kind=judge-kept&scope=selected&ids=${kept}`
  expect(await wordsAt(desk, preview)).toContain(
    'Of the newest 1 of them, 1 may be judged again. No verdict changes.',
  )
  const rules = `- symbol: LOOKS_BAD
  weight: 9
  meaning: A test.
  when: message.kind == "message"
`
  const act = { at: new Date(), reporterId: null, note: 'a test' }
  await applyRules({ pool: site.app.pool, definitions: factDefinitions }, rules, 0, act)
  expect(await wordsAt(desk, preview)).toContain(
    'Of the newest 1 of them, 1 may be judged again. 1 verdict changes. 1 complaint is no ' +
      'longer in doubt.',
  )
  const start = { kind: 'judge-kept', ids: kept, reason: 'New rules', do: 'start' }
  const started = await desk.post('/admin/reports/actions', start)
  const actionId = /actions\/([0-9a-f-]{36})/.exec(started.headers.get('location') ?? '')?.[1]
  while ((await runActOnReports({ actionId: actionId ?? '' }, site.app)) !== 'done');
  const { rows } = await site.app.pool.query('select state from reports where id = $1', [kept])
  expect(rows).toEqual([{ state: 'received' }])
})
