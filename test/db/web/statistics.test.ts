import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { addPublishedMonths } from '../../support/pages/published-months.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
await addPublishedMonths(site.app.pool, new Date())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const viewer = await site.addPerson('viewer@desk.example', { role: 'viewer' })
const ann = await site.addPerson('ann@reporters.example')
const stranger = new Browser(site.url, { 'accept-language': 'en' })
const desk = await signedInBrowser(site.url, admin)
const statusOf = async (browser: Browser, path = '/statistics') => (await browser.get(path)).status
const read = async (browser: Browser, path = '/statistics') => (await browser.get(path)).text()

test('the figures are off at first: only people with a role see a preview', async () => {
  const reporter = await signedInBrowser(site.url, ann)
  for (const path of ['/statistics', '/statistics.csv']) {
    expect(await statusOf(stranger, path)).toBe(404)
    expect(await statusOf(reporter, path)).toBe(404)
  }
  expect(await read(stranger, '/')).not.toContain('href="/statistics"')
  expect((await desk.get('/admin/statistics')).headers.get('location')).toBe('/statistics')
  const previews = await read(await signedInBrowser(site.url, viewer))
  expect(previews).toContain('This page is a preview')
  expect(previews).not.toContain('Open it for everybody')
  const csv = await desk.get('/statistics.csv')
  expect(csv.headers.get('cache-control')).toBe('no-store')
})

test('an administrator opens them for everybody, and all pages link to them', async () => {
  expect(await read(desk)).toContain('Open it for everybody')
  const answer = await desk.post('/admin/statistics', { public: 'on' })
  expect(answer.headers.get('location')).toBe('/statistics?done=on')
  expect(await read(desk, '/statistics?done=on')).toContain('The page of figures is public.')
  const page = await read(stranger)
  expect(page).not.toContain('preview')
  for (const part of [
    'November 2025 to October 2026',
    'AS64500',
    '&lt;b&gt;Cloud',
    '95 seconds',
    '30 hours',
    'most have not stopped',
  ]) {
    expect(page).toContain(part)
  }
  expect(await read(stranger, '/')).toContain('href="/statistics"')
})

test('a year is the sum of its published months', async () => {
  const page = await read(stranger, '/statistics?year=2025')
  expect(page).toContain('September 2025 to December 2025')
  // 1,000 + 1,137 + 1,274 + 1,411; the networks of each month have a quarter.
  expect(page).toContain('4,822 reports in this period.')
  expect(page).toMatch(/<td class="number"[^>]*>1,206<\/td><td class="number"[^>]*>25%<\/td>/)
  expect(page).toContain('not shown')
})

test('all figures are in a file, in which no name acts as a formula', async () => {
  const answer = await stranger.get('/statistics.csv')
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
  const lines = (await answer.text()).split('\r\n')
  expect(lines[0]).toBe('month,part,key,country,name,number')
  expect(lines).toContain('2026-10,reports,,,,2781')
  expect(lines).toContain('2026-10,median_seconds,,,,95')
  expect(lines).toContain("2026-10,networks,AS64500,US,'=Example <b>Cloud</b>,695")
  expect(lines.filter((line) => line.startsWith('2026-10,networks_hours_until_end'))).toEqual([
    "2026-10,networks_hours_until_end,AS64500,US,'=Example <b>Cloud</b>,31",
  ])
  expect(lines).toContain('2026-10,networks,AS64501,FR,"A network with, a rather long name",278')
  expect(lines).toContain('2026-10,countries,unknown,,,556')
})

test('a client that asks too often is refused', async () => {
  const statuses = new Set<number>()
  for (let n = 0; n < 130 && !statuses.has(429); n++) {
    statuses.add(await statusOf(stranger, '/statistics.csv'))
  }
  expect([...statuses]).toEqual([200, 429])
})
