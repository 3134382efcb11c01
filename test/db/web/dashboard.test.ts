import { expect, test, vi } from 'vitest'
import { writeSampleActivity } from '../../../src/activity/sample-activity.ts'
import { ensureConsumers } from '../../../src/db/consumers.ts'
import { countTasks } from '../../../src/db/tasks.ts'
import { HOUR_MS } from '../../../src/durations.ts'
import { createReadHealth } from '../../../src/health/read-health.ts'
import { menuFor } from '../../../src/web/admin/menu.ts'
import { seedActivity } from '../../support/activity.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const { pool } = site.app
const viewer = await site.addPerson('viewer@signalpost.example', { role: 'viewer' })
const desk = await signedInBrowser(site.url, viewer, 'en')
const dashboard = async () => (await desk.get('/admin')).text()

test('the dashboard says that nothing waits, and later what waits for a person', async () => {
  expect(await dashboard()).toContain('Nothing waits for a person.')
  await pool.query(
    `insert into enrollment_requests (id, token_hash, address, state, wish, asker_hash)
     values (gen_random_uuid(), '1', 'a@b.example', 'proven', '{}', '1'),
       (gen_random_uuid(), '2', 'a@b.example', 'sent', '{}', '1')`,
  )
  await ensureConsumers(pool, [{ address: 'gone@n.example', source: 'network' }], new Date())
  await pool.query(`update consumers set health = 'dead', health_until = now() + interval '1 day'`)
  const page = await dashboard()
  expect(page).toContain('<a href="/admin/consumers/requests">1 enrollment of an abuse team</a>')
  expect(page).toContain('<a href="/admin/consumers">1 abuse team whose mail bounces</a>')
  expect(page).not.toContain('Nothing waits for a person.')
})

test('tasks are counted up to a maximum', async () => {
  const counts = await countTasks(pool, new Date(), 1)
  expect(counts).toMatchObject({ enrollments: 1, bouncingDesks: 1, unreadMail: 0 })
})

test('the dashboard draws the last day beside what is usual, and names networks', async () => {
  const { rows } = await pool.query<{ id: string }>('select id from consumers')
  await seedActivity(pool, { now: new Date(), desks: rows.map(({ id }) => id) })
  const page = await dashboard()
  expect(page.match(/<figure class="graph small">/g)).toHaveLength(4)
  // Each has a band of what is usual, and its range in words.
  expect(page.match(/<path class="band" d="M/g)).toHaveLength(4)
  expect(page).toMatch(
    /<strong>[\d,]+ now<\/strong> <small class="quiet">usually [\d,]+ to [\d,]+</,
  )
  expect(page).toMatch(/AS64500 Example Net<\/bdi><\/td><td class="number"[^>]*>[\d,]+<\/td>/)
  expect(page).toMatch(
    /gone@n\.example<\/bdi><\/a><\/td>.*<td class="number nowrap"[^>]*>(?:[+−]\d+|0)%/,
  )
})

test('a change of a few is a number, not a percentage', async () => {
  const counts = { 'networks/AS64511 Few Net': 2 }
  const many = { 'networks/AS64511 Few Net': 9_000_000 }
  const at = (hours: number) => new Date(Date.now() - hours * HOUR_MS)
  const slots = [
    { at: at(30), counts, states: {}, durations: {} },
    { at: at(5), counts: many, states: {}, durations: {} },
  ]
  await writeSampleActivity(site.app, slots, new Date())
  const page = await dashboard()
  expect(page).toMatch(/AS64511 Few Net<.*?9,000,000<\/td><td [^>]*>\+8,999,998<\/td>/)
})

test('what is held is called held, and as many jobs wait as the queues have', async () => {
  await site.app.boss.insert('find-contact', [{ data: {} }, { data: {} }])
  // The queues are read every two seconds.
  const page = await vi.waitFor(
    async () => {
      const shown = await dashboard()
      expect(shown).toMatch(/<strong>2 now</)
      return shown
    },
    { timeout: 10_000, interval: 200 },
  )
  expect(page).toMatch(/>Feedback reports held<.*?<strong>[\d,]+ in 24 hours</s)
  expect(page).toMatch(/Abuse teams, last 24 hours<.*?>Held<.*?gone@n\.example/s)
  expect(page).not.toMatch(/reports sent|>Sent</)
  expect(page).toMatch(/Queues: 2 jobs wait; 1 of \d+ queues has jobs/)
})

test('the dashboard counts pages to confirm, and checks without an answer', async () => {
  await pool.query(
    `insert into pages (id, key, url, host, scope, type, state, through, shared, first_seen,
       last_seen, reports)
     values (gen_random_uuid(), 'k', 'http://h.example/', 'h.example', 'host', 'phishing', 'seen',
       '{}', false, now(), now(), 1)`,
  )
  const page = await dashboard()
  expect(page).toContain(
    '<a href="/admin/pages">1 phishing page to confirm or mark as harmless</a>',
  )
  const { conditions } = await createReadHealth(site.app)()
  const unknown = conditions.filter(({ level }) => level === 'unknown').length
  expect(unknown).toBeGreaterThan(1)
  expect(page).toContain(`<a href="/admin/health">${unknown} checks have no answer yet</a>`)
})

test('an event tells open pages that the dashboard has changed', async () => {
  const ending = new AbortController()
  const headers = { cookie: desk.cookies() }
  const answer = await fetch(`${site.url}/admin/live`, { headers, signal: ending.signal })
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  let year = 2030
  const changing = setInterval(() => {
    void pool.query(`update activity_progress set written_until = '${year++}-01-01'`)
  }, 300)
  let text = ''
  while (!text.includes('event: changed'))
    text += new TextDecoder().decode((await reader.read()).value)
  clearInterval(changing)
  ending.abort()
})

test('the menu has five groups, and opens that of the page', () => {
  const { groups, current } = menuFor('/admin/limits/shadow?x=1', () => true)
  expect(groups.map(({ key }) => key)).toEqual([
    ...['reports', 'outgoing', 'people', 'judging', 'system'],
  ])
  expect(groups.filter(({ isCurrent }) => isCurrent).map(({ key }) => key)).toEqual(['system'])
  expect(current).toBe('/admin/limits')
  expect(menuFor('/admin', () => true).current).toBe('/admin')
  expect(menuFor('/admin/reporters/1', () => true).current).toBe('/admin/reputations')
  const few = menuFor('/admin', (href) => href === '/admin/audit').groups
  expect(few.map(({ key, pages }) => [key, pages.length])).toEqual([['system', 1]])
})
