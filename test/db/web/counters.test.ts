import { expect, test } from 'vitest'
import { createGates, FILTER_BYTES } from '../../../src/counting/gate.ts'
import type { Known } from '../../../src/counting/look-up.ts'
import { rollUp } from '../../../src/counting/roll-up.ts'
import { allShards } from '../../../src/counting/keys.ts'
import { uuidFloor } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { countWritten } from '../../support/counted-messages.ts'
import { signedInBrowser } from './browser.ts'
import { sampleMessage, startWebSite, type Person } from './web-site.ts'

const written = {
  from: 'Offers <offers@shop.example>',
  subject: 'Your <b>parcel</b> waits',
  text: 'Go to https://pay.shop.example/a?x=1&y=2 before the end of this week, please.',
}

/** Mail that was checked but not reported. */
const elsewhere = {
  from: 'Deals <deals@else.example>',
  subject: 'Nothing like the other one',
  text: 'Some other words that nobody has reported so far, and quite enough of them to be cut up.',
}

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin, 'en')
const now = new Date()
const message = { written, prefix: 'reports', at: now, reporterId: ann.id } as const
const one = { ...message, amounts: { complaint: 1, spam: 1 } }
const checked = {
  ...message,
  prefix: 'checks',
  amounts: { spam: 1 },
  written: elsewhere,
} as const
await countWritten(site.app.pool, [one, one, checked], now)
const gates = createGates(3)
for (const shard of allShards) await rollUp(site.app.pool, [shard], now, gates)

const api = (query: string, person: Person = admin, init: RequestInit = {}) =>
  fetch(`${site.url}/api/v1/counters${query}`, {
    ...init,
    headers: { authorization: `Bearer ${person.token}` },
  })
const page = async (query: Record<string, string>) => {
  const answer = await desk.get(`/admin/counters?${new URLSearchParams(query).toString()}`)
  return { status: answer.status, headers: answer.headers, html: await answer.text() }
}

test('the API returns the counts as JSON that is not cached', async () => {
  const answer = await api(`?kind=link&value=${encodeURIComponent('hxxps://pay[.]shop.example/a')}`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const known = (await answer.json()) as Known & { summary: string }
  expect(known.question).toEqual({
    kind: 'link',
    isGuessed: false,
    value: 'hxxps://pay[.]shop.example/a',
  })
  const path = known.pieces.find(({ type }) => type === 'link-path')
  expect(path?.counts.reports?.today).toEqual({ ham: 0, spam: 2, complaint: 2, redeemed: 0 })
  const host = known.pieces[known.told ?? -1]
  expect(host?.series?.reports?.days[0]).toMatchObject({ complaint: 2 })
  expect(known.summary).toContain('complained about twice, judged spam twice')
})

test('counts held back by the gate say so; reports count at once', async () => {
  const localPart = async (address: string) => {
    const { pieces } = (await (await api(`?value=${address}`)).json()) as Known
    return pieces.find(({ type }) => type === 'author-local-part')
  }
  const reports = { today: { spam: 2 } }
  expect(await localPart('offers@shop.example')).toMatchObject({
    countedFrom: 3,
    counts: { reports },
  })
  expect(await localPart('deals@else.example')).toMatchObject({ countedFrom: 3, counts: {} })
})

test('the API is for administrators', async () => {
  const stranger = await fetch(`${site.url}/api/v1/counters?value=192.0.2.7`)
  expect(stranger.status).toBe(401)
  expect(stranger.headers.get('www-authenticate')).toContain('Bearer')
  const answer = await api('?value=192.0.2.7', ann)
  expect(answer.status).toBe(403)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
})

test.for([
  ['', 422, 'Enter a value to look up. The kinds are link, address'],
  ['?value=', 422, 'Enter a value'],
  ['?kind=links&value=x', 422, 'Unknown kind “links”'],
  ['?link=x', 422, 'Unknown field "link". The fields are kind, value, type, hash, series.'],
  ['?value=a&value=b', 422, 'Give value only once.'],
  ['?value=192.0.2.7&series=some', 422, 'series: must be "told" or "all".'],
  ['?hash=12', 422, 'A hash must have 16 hexadecimal digits.'],
] as const)(
  'the query "%s" is an error that says what is wrong',
  async ([query, status, detail]) => {
    const answer = await api(query)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(((await answer.json()) as { detail: string }).detail).toContain(detail)
  },
)

test('the API accepts GET only', async () => {
  const answer = await api('?value=192.0.2.7', admin, { method: 'POST' })
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
})

test('an answer with all series is bounded', async () => {
  const answer = await api('?kind=domain&value=shop.example&series=all')
  expect((await answer.text()).length).toBeLessThan(200_000)
})

test('the page shows the summary, the windows, the charts and the pieces', async () => {
  const { status, headers, html } = await page({ value: 'offers@shop.example' })
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(html).toContain('Detected as “address”')
  expect(html).toContain('complained about twice, judged spam twice. From 1 reporter.')
  expect(html.match(/<svg[^>]*role="img"/g)).toHaveLength(2)
  expect(html).toMatch(/<th scope="row">Two weeks<\/th><td class="number">2<\/td>/)
  expect(html).toContain('href="/admin/reports?from=offers%40shop.example"')
  expect(html).toContain('href="/admin/counters?type=author-domain&amp;value=shop.example"')
  expect(html).toMatch(/\d+ pieces have no counts/)
  const held = await page({ value: 'deals@else.example' })
  expect(held.html).toContain('(in checked mail, counted from the third occurrence on)')
})

test('a warning appears only if the value itself has complaints', async () => {
  const [asked, shared] = ['offers@shop.example', 'others@shop.example']
  expect((await page({ value: asked })).html).toContain('class="note warn"')
  const { html } = await page({ value: shared })
  expect(html).toContain('its author domain “shop.example”, which others may share')
  expect(html).not.toContain('class="note warn"')
  const claimed = await page({ type: 'origin-helo', value: 'mail7.shop.example' })
  expect(claimed.html).toContain('judged spam twice')
  expect(claimed.html).not.toContain('class="note warn"')
})

test('a piece in the table links to its own page', async () => {
  const { status, html } = await page({ type: 'author-domain', value: 'shop.example' })
  expect(status).toBe(200)
  expect(html).toContain(
    '<span lang="en">author domain</span> <span class="stranger">shop.example</span>',
  )
})

test('the reports of a subject are searched by the subject as written', async () => {
  const { html } = await page({ kind: 'subject', value: written.subject })
  expect(html).toContain('href="/admin/reports?subject=Your+%3Cb%3Eparcel%3C%2Fb%3E+waits"')
  expect(html).not.toContain('<b>parcel')
})

test('the page of an unknown value says so, and lists its pieces', async () => {
  const { status, html } = await page({ value: '198.51.100.99' })
  expect(status).toBe(200)
  expect(html).toContain('There are no counts for this value in the last two weeks.')
  expect(html).toMatch(/<details open>\n<summary>8 pieces have no counts/)
  expect(html).not.toContain('role="img"')
})

test('a value of the wrong kind is refused, and stays in the form', async () => {
  const { status, html } = await page({ kind: 'ip', value: '"hello"' })
  expect(status).toBe(422)
  expect(html).toMatch(
    /role="alert"[^>]*><p>This is not a value of the kind “ip”\. Example: 192\.0\.2\.7/,
  )
  expect(html).toContain('value="&quot;hello&quot;"')
  expect(html).toContain('<option lang="en" selected>ip</option>')
})

test('without a value the page lists what can be looked up', async () => {
  const { status, html } = await page({})
  expect(status).toBe(200)
  expect(html).toContain('What you can look up')
  expect(html).toContain('<a href="/admin/counters" aria-current="true">Counters</a>')
})

test('the page of a report links to the counts of its pieces', async () => {
  const id = await site.report(ann, sampleMessage('<&"'))
  const html = await (await desk.get(`/admin/reports/${id}`)).text()
  expect(html).toContain('href="/admin/counters?kind=address&amp;value=offers%40shop.example"')
  expect(html).toMatch(/href="\/admin\/counters\?kind=subject&amp;value=Cheap\+watches\+%3C%26%22"/)
})

test('the metrics cover counting: totals, gates, backlog, bytes on disk', async () => {
  await site.app.pool.query(`insert into counter_deltas (shard, id, content) values (7, $1, $2)`, [
    uuidFloor(new Date(Date.now() - 90_000)),
    Buffer.alloc(10),
  ])
  const text = async () => (await fetch(`${site.url}/metrics`)).text()
  const value = (all: string, name: string) =>
    Number(
      all
        .split('\n')
        .find((line) => line.startsWith(`signalpost_counts_${name} `))
        ?.split(' ')[1],
    )
  await expect.poll(text).toContain('rows{shard="7"} 1')
  const all = await text()
  expect(value(all, 'deltas_total')).toBeGreaterThan(100)
  expect(value(all, 'gate_held_back_total')).toBeGreaterThan(10)
  expect(value(all, 'gate_passed_total')).toBe(0)
  expect(value(all, 'gate_false_positive_rate{of="worst"}')).toBeLessThan(0.01)
  expect(value(all, 'gate_fill_ratio{of="worst"}')).toBeGreaterThan(0)
  expect(value(all, 'gate_memory_bytes') % FILTER_BYTES).toBe(0)
  expect(value(all, 'gate_memory_bytes')).toBeGreaterThan(0)
  expect(all).toMatch(/counts_gate_generation_start_seconds\{shard="\d+"\} 1\d{9}\n/)
  expect(value(all, 'backlog_bytes{shard="7"}')).toBe(10)
  expect(value(all, 'backlog_oldest_seconds{shard="7"}')).toBeGreaterThanOrEqual(90)
  expect(value(all, 'backlog_rows{shard="8"}')).toBe(0)
  expect(value(all, 'table_bytes{table="counters"}')).toBeGreaterThan(8_192)
  // A table that is not partitioned.
  expect(value(all, 'table_bytes{table="counter_deltas"}')).toBeGreaterThan(8_192)
  expect(all).toMatch(/# HELP signalpost_counts_backlog_rows \S/)
  expect(all).toContain('# TYPE signalpost_counts_deltas_total counter')
  expect(all.match(/signalpost_counts_deltas_total \d/g)).toHaveLength(1)
  const overview = async () => (await desk.get('/admin')).text()
  await expect.poll(overview).toContain('Statistics</a>:</strong> The oldest has been waiting')
  expect(await overview()).not.toContain('All conditions are good')
})
