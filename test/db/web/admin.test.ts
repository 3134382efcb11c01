import { expect, test } from 'vitest'
import { deadLetterQueue } from '../../../src/queue/define-queue.ts'
import { analyzeReport } from '../../../src/reports/queues.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { keepAnalysis } from './kept-analysis.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin, 'en')

const report = (raw: Buffer<ArrayBuffer>) => site.report(ann, raw)

const sections = [
  ...['', '/reports', '/campaigns', '/outbox', '/networks', '/counters', '/dead-letters'],
  '/audit',
  '/models',
]
const pages = sections.map((path) => `/admin${path}`)

test.for(pages)('%s is for administrators', async (path) => {
  const stranger = await new Browser(site.url).get(path)
  expect(stranger.status).toBe(303)
  expect(stranger.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
  expect((await (await signedInBrowser(site.url, ann, 'fr')).get(path)).status).toBe(403)
  const answer = await desk.get(path)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-robots-tag')).toContain('noindex')
})

test('the overview shows length and oldest job of each queue', async () => {
  const id = await report(sampleMessage('queued'))
  await site.app.pool.query(
    `update pgboss.job set created_on = created_on - interval '2 hours',
       start_after = start_after - interval '2 hours'
     where name = 'analyze-report' and data ->> 'reportId' = $1`,
    [id],
  )
  await site.app.pool.query('update reports set received_at = $2 where id = $1', [
    id,
    new Date(Date.now() - 2 * 3_600_000),
  ])
  await expect
    .poll(async () => await (await desk.get('/admin')).text())
    .toContain('The oldest has been waiting for 2 h')
  const metrics = await (await fetch(`${site.url}/metrics`)).text()
  expect(metrics).toMatch(/signalpost_queue_oldest_job_seconds\{queue="analyze-report"\} 72\d\d/)
  expect(metrics).toMatch(/signalpost_queue_jobs\{queue="analyze-report",state="ready"\} \d/)
  expect(metrics).toMatch(/signalpost_intake_messages_total\{channel="api",outcome="accepted"\} \d/)
  expect(metrics).toMatch(/signalpost_http_request_seconds_bucket\{.*route="\/api\/v1\/reports"/)
})

test('new jobs of a queue can be put before those that wait, and this is logged', async () => {
  const old = await report(sampleMessage('waits'))
  const overview = async () => (await desk.get('/admin')).text()
  await expect.poll(overview).toContain('aria-label="New jobs first in analyze-report"')
  expect(await overview()).not.toContain('New jobs first in dead-letter')
  const moved = await desk.post('/admin', { queue: 'analyze-report' })
  const location = moved.headers.get('location') ?? ''
  expect(location).toMatch(/^\/admin\?done=demoted&count=[1-9]\d*$/)
  expect(await (await desk.get(location)).text()).toMatch(
    /New jobs are processed before \d+ waiting/,
  )
  const young = await report(sampleMessage('arrives'))
  const { rows } = await site.app.pool.query<{ id: string }>(
    `select data ->> 'reportId' as id from pgboss.job
     where name = 'analyze-report' and state < 'active' order by priority desc, created_on`,
  )
  expect(rows[0]?.id).toBe(young)
  expect(rows.map(({ id }) => id)).toContain(old)
  const again = await desk.post('/admin', { queue: 'analyze-report' })
  expect(again.headers.get('location')).toBe('/admin?done=demoted&count=1')
  const none = await desk.post('/admin', { queue: 'analyze-report' })
  expect(none.headers.get('location')).toBe('/admin?done=none')
  const audit = await (await desk.get('/admin/audit')).text()
  expect(audit).toContain('New jobs of analyze-report are processed before 1 waiting job.')
  const reporter = await signedInBrowser(site.url, ann, 'fr')
  expect((await reporter.post('/admin', { queue: 'analyze-report' })).status).toBe(403)
})

test('the metrics are for this machine and for administrators', async () => {
  const read = async (headers: Record<string, string>) =>
    (await fetch(`${site.url}/metrics`, { headers })).status
  const forwarded = { 'x-forwarded-for': '203.0.113.9' }
  expect(await read({})).toBe(200)
  expect(await read(forwarded)).toBe(401)
  expect(await read({ 'x-real-ip': '203.0.113.9' })).toBe(401)
  expect(await read({ ...forwarded, authorization: `Bearer ${ann.token}` })).toBe(403)
  expect(await read({ ...forwarded, authorization: `Bearer ${admin.token}` })).toBe(200)
})

test('reports are found by id, subject, author, origin and state', async () => {
  const raw = Buffer.from(
    sampleMessage('needle').toString().replace('offers@shop.example', 'Needle@Hay.Example'),
  )
  const id = await report(raw)
  await keepAnalysis(site.app.pool, id, raw)
  const finds = async (q: string) => {
    const page = await (await desk.get(`/admin/reports?${new URLSearchParams({ q })}`)).text()
    return page.includes(`/admin/reports/${id}`)
  }
  expect(await finds(`id:${id}`)).toBe(true)
  expect(await finds('subject:"NEEDLE"')).toBe(true)
  expect(await finds('subject:watches -subject:needle')).toBe(false)
  expect(await finds('origin:198.51.100.0/24 state:received')).toBe(true)
  expect(await finds('origin:198.51.101.0/24')).toBe(false)
  expect(await finds('from:offers@SHOP.example')).toBe(true)
  expect(await finds('from:offers@shop.example state:failed')).toBe(false)
  const wrong = await desk.get('/admin/reports?q=origin:mx+id:7')
  expect(wrong.status).toBe(422)
  expect(await wrong.text()).toContain('“mx” is not an IP address')
  expect((await desk.get('/admin/reports?q=%00%22a%27%28%5C%22')).status).toBe(200)
})

test('the form adds its fields to the search, and leads to the address of the search', async () => {
  const query = 'q=kind:spam&from=shop.example&subject=free+money&state='
  const answer = await desk.get(`/admin/reports?${query}`)
  expect(answer.status).toBe(303)
  const to = new URL(answer.headers.get('location') ?? '', site.url)
  expect(to.searchParams.get('q')).toBe('kind:spam subject:"free money" from:shop.example')
})

test('a search is saved, shown and deleted, for one operator only', async () => {
  const save = { do: 'save', name: 'Money', q: 'subject:money' }
  const saved = await desk.post('/admin/reports/saved', save)
  expect(saved.headers.get('location')).toBe('/admin/reports?q=subject%3Amoney&done=saved')
  const link = 'href="/admin/reports?q=subject%3Amoney"'
  expect(await (await desk.get('/admin/reports')).text()).toContain(link)
  const other = await site.addPerson('second@desk.example', { role: 'viewer' })
  const others = await signedInBrowser(site.url, other)
  expect(await (await others.get('/admin/reports')).text()).not.toContain(link)
  expect((await desk.post('/admin/reports/saved', { ...save, q: 'state:lost' })).status).toBe(422)
  await desk.post('/admin/reports/saved', { do: 'forget', name: 'Money' })
  expect(await (await desk.get('/admin/reports')).text()).not.toContain(link)
})

test('found reports are exported', async () => {
  const id = await report(sampleMessage('exported'))
  const answer = await desk.post('/admin/reports/export', { q: `id:${id}`, format: 'mbox' })
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="reports.mbox"')
  expect(await answer.text()).toContain('Subject: Cheap watches exported')
  expect((await desk.post('/admin/reports/export', { q: '', format: 'exe' })).status).toBe(422)
})

test('the search continues from page to page', async () => {
  await Promise.all(Array.from({ length: 55 }, (_, n) => report(sampleMessage(`many-${n}`))))
  const seen = new Set<string>()
  let path = '/admin/reports?q=state:received'
  for (let pages = 0; path !== '' && pages < 5; pages++) {
    const page = await (await desk.get(path)).text()
    for (const [, id] of page.matchAll(/\/admin\/reports\/([0-9a-f-]{36})"/g)) seen.add(id ?? '')
    path = (/href="([^"]*below=[^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&')
  }
  const { rows } = await site.app.pool.query<{ n: number }>(
    `select count(*) as n from reports where state = 'received'`,
  )
  expect(seen.size).toBe(rows[0]?.n)
})

test('no content of a message becomes markup in a page, or hides itself', async () => {
  const raw = Buffer.from(
    [
      'Received: from "><script>alert(1)</script> (evil [198.51.100.23]) by mx.example;',
      ' Mon, 16 Nov 2026 10:00:00 +0000',
      'From: "<img src=x onerror=alert(1)>" <a"onmouseover=alert(1)@x.example>',
      'Subject: <script>alert(2)</script> invoice\u202egpj.exe',
      'Message-ID: <"><svg/onload=alert(3)>',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/html',
      '',
      '<a href="https://evil.example/?q=<script>alert(4)</script>">x</a><script>alert(5)</script>',
      '--b',
      'Content-Type: application/x-<script>; name="<script>alert(6)</script>.exe"',
      'Content-Disposition: attachment; filename="<script>alert(6)</script>\u202etxt.exe"',
      '',
      'x',
      '--b--',
      '',
    ].join('\r\n'),
  )
  const id = await report(raw)
  await keepAnalysis(site.app.pool, id, raw)
  const own = await signedInBrowser(site.url, ann, 'fr')
  const shown = await Promise.all([
    desk.get(`/admin/reports/${id}`),
    desk.get('/admin/reports'),
    own.get(`/reports/${id}`),
    own.get('/reports'),
  ])
  for (const answer of shown) {
    const page = await answer.text()
    expect(answer.status).toBe(200)
    expect(page).not.toMatch(
      /<script(?! src="\/assets)|<svg(?! class="icon")|<img(?! src="\/assets)|\sonmouseover=(?!alert)/,
    )
    expect(page).not.toContain('\u202e')
    expect(page).not.toMatch(/href="https?:/)
    expect(page).toContain('U+202E')
  }
})

test('the raw source is shown as text and downloaded as a file, never as a page', async () => {
  const raw = sampleMessage('source')
  const id = await report(raw)
  expect(await (await desk.get(`/admin/reports/${id}`)).text()).toContain(
    'Received: from mail.shop.example (mail.shop.example [198.51.100.23])\n by mx.provider.example',
  )
  const file = await desk.get(`/admin/reports/${id}/message.eml`)
  expect(file.headers.get('content-type')).toBe('message/rfc822')
  expect(file.headers.get('content-disposition')).toMatch(/^attachment/)
  expect(file.headers.get('content-security-policy')).toContain('sandbox')
  expect(Buffer.from(await file.arrayBuffer()).equals(raw)).toBe(true)
})

test('the outbox shows the exact copy and offers it as a download', async () => {
  const id = await report(sampleMessage('outbox'))
  const consumerId = '00000000-0000-7000-8000-000000000009'
  const { pool } = site.app
  await pool.query(
    `insert into consumers (id, address, state, created_at)
     values ($1, 'abuse@n.example', 'found', now())`,
    [consumerId],
  )
  await pool.query(
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, state, address, created_at)
     values ($1, shard_of($1), 1, $2, 'held', 'abuse@n.example', now())`,
    [id, consumerId],
  )
  await pool.query(
    `insert into feedback_messages (report_id, shard, number, encoding, content)
     values ($1, shard_of($1), 1, 'identity', $2)`,
    [id, Buffer.from('From: us@here.example\r\n\r\n<b>copy</b>\r\n')],
  )
  expect(await (await desk.get('/admin/outbox?state=held')).text()).toContain(
    `/admin/outbox/${id}/1`,
  )
  expect(await (await desk.get('/admin/outbox?state=sent')).text()).not.toContain(id)
  const page = await (await desk.get(`/admin/outbox/${id}/1`)).text()
  expect(page).not.toContain('badge bad')
  expect(page).toContain('From: us@here.example\n\n&lt;b&gt;copy&lt;/b&gt;')
  const file = await desk.get(`/admin/outbox/${id}/1/message.eml`)
  expect(await file.text()).toBe('From: us@here.example\r\n\r\n<b>copy</b>\r\n')
  for (const wrong of [`${id}/2`, `${id}/x`, 'x/1', `${id}/1/../2`]) {
    expect((await desk.get(`/admin/outbox/${wrong}`)).status).toBe(404)
  }
})

test('an address with bounces is marked in the outbox and counted', async () => {
  const id = await report(sampleMessage('ailing'))
  const goneId = '00000000-0000-7000-8000-000000000008'
  await site.app.pool.query(
    `insert into consumers (id, address, state, created_at, health, health_until)
     values ($1, 'gone@n.example', 'found', now(), 'dead', now() + interval '1 day')`,
    [goneId],
  )
  await site.app.pool.query(
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, state, address, created_at)
     values ($1, shard_of($1), 1, $2, 'bounced', 'gone@n.example', now())`,
    [id, goneId],
  )
  for (const page of ['?state=bounced', `/${id}/1`]) {
    const text = await (await desk.get(`/admin/outbox${page}`)).text()
    expect(text).toContain('gone@n.example')
    expect(text).toContain('<span class="badge bad">dead</span>')
  }
  const metrics = await (await fetch(`${site.url}/metrics`)).text()
  expect(metrics).toMatch(/^signalpost_consumers\{health="dead"\} 1$/m)
})

test('the overview says that our mail server refuses mail, which is then sent again', async () => {
  const { pool } = site.app
  await pool.query(`update mail_relay set refused_since = now() - interval '2 hours', reply = $1`, [
    '554 5.7.1 Relay <b>access</b> denied',
  ])
  const ids = await Promise.all(['r1', 'r2'].map((mark) => report(sampleMessage(mark))))
  await pool.query(
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, state, address, created_at, reply)
     select report_id, shard_of(report_id), 1, consumers.id, 'refused', consumers.address, now(),
       '554 no'
     from unnest($1::uuid[]) as report_id, consumers where address = 'gone@n.example'`,
    [ids],
  )
  // The state of the service is read every two seconds.
  const overview = async () => (await desk.get('/admin')).text()
  await expect.poll(overview).toContain('554 5.7.1 Relay &lt;b&gt;access&lt;/b&gt; denied')
  const page = await overview()
  expect(page).toContain('2 refused feedback reports')
  expect(page).not.toContain('All conditions are good')
  const metrics = await (await fetch(`${site.url}/metrics`)).text()
  expect(metrics).toMatch(/^signalpost_mail_relay_refusing_seconds 72\d\d/m)
  expect(metrics).toMatch(/^signalpost_mail_unsent\{kind="feedback",state="refused"\} 2$/m)
  expect(metrics).toMatch(/^signalpost_mail_total\{kind="letter",outcome="sent"\} \d+$/m)
  const one = `/admin/outbox/${ids[0]}/1`
  expect(await (await desk.get(one)).text()).toContain('Server response')
  const toDead = await desk.post(`${one}/resend`, { which: 'one' })
  expect(toDead.headers.get('location')).toBe('/admin/outbox?done=refused&count=0')
  await pool.query(`update consumers set health = 'healthy', health_until = null`)
  const sentAgain = await desk.post(`${one}/resend`, { which: 'one' })
  expect(sentAgain.headers.get('location')).toBe('/admin/outbox?done=refused&count=1')
  const all = await desk.post('/admin/outbox/resend', {})
  expect(all.headers.get('location')).toBe('/admin/outbox?done=refused&count=1')
  const letters = await desk.post('/admin/outbox/letters/resend', {})
  expect(letters.headers.get('location')).toBe('/admin/outbox/letters?done=refused-letters&count=0')
  await pool.query('update mail_relay set refused_since = null, reply = null')
})

test('dead letters are listed with their reason, and redriving them is logged', async () => {
  const ids = await Promise.all(['d1', 'd2', 'd3'].map((mark) => report(sampleMessage(mark))))
  const { boss, pool } = site.app
  const jobs = (
    await boss.findJobs<{ reportId: string }>(analyzeReport.name, { queued: true })
  ).filter(({ data }) => ids.includes(data.reportId))
  await pool.query(
    `update pgboss.job set state = 'active', started_on = now(), retry_limit = 0
     where id = any($1::uuid[])`,
    [jobs.map(({ id }) => id)],
  )
  for (const { id } of jobs)
    await boss.fail(analyzeReport.name, id, { message: `broke <b>${id}</b>` })
  const page = await (await desk.get('/admin/dead-letters')).text()
  for (const { id } of jobs) expect(page).toContain(`broke &lt;b&gt;${id}&lt;/b&gt;`)
  for (const id of ids) expect(page).toContain(`/admin/reports/${id}`)
  const letters = [...page.matchAll(/name="id" value="([0-9a-f-]{36})"/g)].map(([, id = '']) => id)
  expect(letters).toHaveLength(3)
  const chosen = await desk.post('/admin/dead-letters', { which: 'chosen', id: letters[0] ?? '' })
  expect(chosen.headers.get('location')).toBe('/admin/dead-letters?done=moved&count=1')
  expect(await boss.findJobs(deadLetterQueue, { queued: true })).toHaveLength(2)
  const all = await desk.post('/admin/dead-letters', { which: 'all' })
  expect(all.headers.get('location')).toBe('/admin/dead-letters?done=moved&count=2')
  const waiting = await boss.findJobs<{ reportId: string }>(analyzeReport.name, { queued: true })
  const back = waiting.map(({ data }) => data.reportId)
  for (const id of ids) expect(back).toContain(id)
  const audit = await (await desk.get('/admin/audit')).text()
  expect(audit).toContain('admin@desk.example')
  expect(audit).toContain('2 dead letters were returned to their queues')
  const refused = await (
    await signedInBrowser(site.url, ann, 'fr')
  ).post('/admin/dead-letters', { which: 'all' })
  expect(refused.status).toBe(403)
})

test('dead letters with the same time are listed on pages without a gap', async () => {
  const { boss } = site.app
  const letters = Array.from({ length: 120 }, () => ({ data: {} }))
  const ids = await boss.insert(deadLetterQueue, letters, { returnId: true })
  const seen = new Set<string>()
  let path = '/admin/dead-letters'
  for (let pages = 0; path !== '' && pages < 5; pages++) {
    const page = await (await desk.get(path)).text()
    for (const [, id] of page.matchAll(/name="id" value="([0-9a-f-]{36})"/g)) seen.add(id ?? '')
    path = (/href="([^"]*at=[^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&')
  }
  expect(seen).toEqual(new Set(ids))
})

test('a wrong address keeps the menu of a person with a role alone', async () => {
  const at = '/admin/no-such-page'
  const page = await desk.get(at)
  expect(page.status).toBe(404)
  expect(await page.text()).toContain('href="/admin/campaigns"')
  const reporter = await site.addPerson('no-role@reporters.example')
  const own = await (await signedInBrowser(site.url, reporter)).get(at)
  expect(await own.text()).not.toContain('/admin/campaigns')
})
