import { expect, test } from 'vitest'
import { phrase } from '../../../../src/phrase.ts'
import type { ReportKind, ReportState } from '../../../../src/db/reports.ts'
import { signedInBrowser } from '../browser.ts'
import { keepAnalysis } from '../kept-analysis.ts'
import { sampleMessage, startWebSite } from '../web-site.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { addReports, newReport } from '../../../support/rows.ts'
import { insertEvents } from '../../../../src/db/report-events.ts'
import { ensurePartitions } from '../../../../src/db/partitions.ts'
import { inTransaction } from '../../../../src/db/pool.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const browser = await signedInBrowser(site.url, ann)

const minute = 60_000
let made = 0

/** Adds reports by Ann, each a minute older than the previous one. */
async function add(fields: { subject: string; kind?: ReportKind; state?: ReportState }) {
  const receivedAt = new Date(Date.now() - ++made * minute)
  const { state, ...rest } = fields
  const [id = ''] = await addReports(site.app.pool, [
    newReport({ reporterId: ann.id, receivedAt, author: 'a@b.example', ...rest }),
  ])
  if (state) await site.app.pool.query('update reports set state = $2 where id = $1', [id, state])
  return id
}

async function shown(query: string, by = browser) {
  const page = await (await by.get(`/reports${query}`)).text()
  const [body = ''] = /<tbody>[^]*<\/tbody>/.exec(page) ?? []
  const link = (rel: string) =>
    new RegExp(`href="/reports(\\?[^"]*)" rel="${rel}"`).exec(page)?.[1]?.replaceAll('&amp;', '&')
  const lines = [...body.matchAll(/<bdi>(.*?)<\/bdi>/g)].map(([, subject]) => subject)
  return { page, lines, older: link('next'), newer: link('prev') }
}

test('a reporter without reports is led to the form, not to filters', async () => {
  const eve = await site.addPerson('eve@reporters.example')
  const { page } = await shown('', await signedInBrowser(site.url, eve))
  expect(page).toContain('You have not reported anything yet.')
  expect(page).not.toContain('type="search"')
})

test('a filter shows exactly the matching reports, and keeps its values', async () => {
  await add({ subject: 'told one', state: 'forwarded' })
  await add({ subject: 'kept one', state: 'kept' })
  await add({ subject: 'a Phish', kind: 'phishing' })
  await add({ subject: 'wrong one', state: 'retracted' })
  expect((await shown('?outcome=told')).lines).toEqual(['told one'])
  expect((await shown('?outcome=kept')).lines).toEqual(['kept one'])
  expect((await shown('?outcome=retracted')).lines).toEqual(['wrong one'])
  expect((await shown('?outcome=open')).lines).toEqual(['a Phish'])
  expect((await shown('?kind=phishing')).lines).toEqual(['a Phish'])
  const both = await shown('?words=ONE&outcome=kept')
  expect(both.lines).toEqual(['kept one'])
  expect(both.page).toContain('value="ONE"')
  expect(both.page).toContain('<option value="kept" selected>')
  expect((await shown('?words=B.EXAMPLE')).lines).toHaveLength(4)
})

test.for(['?words=zebra', '?kind=nonsense&words=zebra', '?from=2020-01-01&to=2020-01-31'])(
  'without matches the page says so: %s',
  async (query) => {
    const { page, lines } = await shown(query)
    expect(lines).toEqual([])
    expect(page).toContain('No report matches.')
    expect(page).toContain('href="/reports">Show all again')
  },
)

test('both days of a range are included as a whole', async () => {
  const day = new Date().toISOString().slice(0, 10)
  const other = new Date(Date.now() - 10 * 86_400_000)
  await ensurePartitions(site.app.pool, other, 2)
  await addReports(site.app.pool, [
    newReport({ reporterId: ann.id, receivedAt: other, subject: 'ten days ago' }),
  ])
  const then = other.toISOString().slice(0, 10)
  expect((await shown(`?from=${then}&to=${then}`)).lines).toEqual(['ten days ago'])
  expect((await shown(`?from=${then}&to=${day}`)).lines).toContain('ten days ago')
  expect((await shown(`?from=${day}&to=${day}`)).lines).not.toContain('ten days ago')
})

test('pages link back and forth, and keep the filter', async () => {
  for (let n = 0; n < 60; n++) await add({ subject: `many ${n}` })
  const first = await shown('?words=many')
  expect(first.lines).toHaveLength(25)
  expect(first.newer).toBeUndefined()
  const second = await shown(first.older ?? '')
  const third = await shown(second.older ?? '')
  expect([...first.lines, ...second.lines, ...third.lines]).toEqual(
    Array.from({ length: 60 }, (_, n) => `many ${n}`),
  )
  expect(third.older).toBeUndefined()
  const back = await shown(third.newer ?? '')
  expect(back.lines).toEqual(second.lines)
  expect((await shown(back.newer ?? '')).lines).toEqual(first.lines)
  expect(third.newer).toContain('words=many')
})

test('a row says whether there is a question, and what the desks answered', async () => {
  const told = await add({ subject: 'answered one', state: 'forwarded' })
  const event = { reportId: told, at: new Date(), event: 'desk-resolved', phrases: [] } as const
  await inTransaction(site.app.pool, (tx) => insertEvents(tx, [event]))
  const answered = await shown('?outcome=answered')
  expect(answered.lines).toEqual(['answered one'])
  expect(answered.page).toContain('They say it is solved')

  const asking = await add({ subject: 'asking one', state: 'kept' })
  await keepAnalysis(site.app.pool, asking, sampleMessage('asking'))
  expect((await shown('?outcome=asking')).lines).toEqual([])
  await site.app.pool.query(
    `update analyses set judgment = jsonb_set(judgment, '{consequence,action}', '"ask"')
     where id = $1`,
    [asking],
  )
  const found = await shown('?outcome=asking')
  expect(found.lines).toEqual(['asking one'])
  expect(found.page).toContain('We have a question')
})

test('held reports are listed among the others', async () => {
  const id = await add({ subject: 'held back' })
  await site.app.pool.query(`update reports set shadow = 'held' where id = $1`, [id])
  expect((await shown('?words=held')).lines).toEqual(['held back'])
})

test('untrusted text is shown as text, in the list and in the form', async () => {
  await add({ subject: '<script>alert(1)</script>' })
  const { page } = await shown('?words=%3Cscript%3Ealert')
  expect(page).not.toContain('<script>alert')
  expect(page).toContain('&lt;script&gt;alert(1)')
})

test('retracting a report asks first, and explains the effect', async () => {
  const id = await add({ subject: 'I was wrong', state: 'failed' })
  const asked = await (await browser.get(`/reports/${id}/retract`)).text()
  expect(asked).toContain('For an hour you can undo this.')
  expect(asked).toContain('No one was notified, so no correction is needed.')
  expect((await browser.post(`/reports/${id}/retract`, {})).status).toBe(303)
  const story = await (await browser.get(`/reports/${id}`)).text()
  expect(story).toContain('You took the report back.')
  expect(story).not.toContain(`/reports/${id}/retract`)
  expect((await browser.get(`/reports/${id}/retract`)).status).toBe(303)
  expect(story).toContain(`action="/reports/${id}/restore"`)
  expect((await browser.post(`/reports/${id}/restore`, {})).status).toBe(303)
  const restored = await (await browser.get(`/reports/${id}`)).text()
  expect(restored).toContain('You restored the report.')
  expect(restored).toContain(`/reports/${id}/retract`)
})

test('the list, the receipt, the story and the API say why no one was notified', async () => {
  const id = await add({ subject: 'why not', state: 'kept' })
  await keepAnalysis(site.app.pool, id, sampleMessage('why-not'))
  const consequence = { action: 'keep', why: [{ code: 'looks-wanted' }, { code: 'others-needed' }] }
  const own = [{ name: 'REPORT', weight: 2, basis: 'word' }]
  await site.app.pool.query(
    `update analyses set judgment = jsonb_set(
       jsonb_set(judgment, '{consequence}', $2::jsonb), '{verdict,symbols}', $3::jsonb)
     where id = $1`,
    [id, JSON.stringify(consequence), JSON.stringify(own)],
  )
  const reason = 'The complaint is forwarded only if other people report the message too.'
  const receipt = await (await browser.get(`/report/sent?id=${id}`)).text()
  expect(receipt).toContain(reason)
  const list = (await shown('?words=why+not')).page
  expect(list).toMatch(new RegExp(`>No one notified<.*${reason}`, 's'))
  expect(list).not.toContain('Too few signs')
  const story = await (await browser.get(`/reports/${id}`)).text()
  expect(story).toMatch(new RegExp(`No one was notified.*${reason}`))
  // The verdict is spam.
  expect(story).not.toContain('Too few signs suggest that it is unwanted.')
  expect(story).toContain('Your report itself counts as a sign')
  const init = { headers: { authorization: ann.basic } }
  const answer = await fetch(`${site.url}/api/v1/reports/${id}`, init)
  expect(await answer.json()).toMatchObject({ reasons: [{ code: 'others-needed', text: reason }] })
  await browser.post(`/reports/${id}/retract`, {})
  const takenBack = await (await browser.get(`/reports/${id}`)).text()
  expect(takenBack).not.toContain('Your report itself counts as a sign')
  expect(takenBack).toContain('Click and reply only if you know the sender.')
})

test('a report that was taken back more than an hour ago cannot be restored', async () => {
  const id = await add({ subject: 'Long ago', state: 'retracted' })
  expect((await browser.post(`/reports/${id}/restore`, {})).status).toBe(303)
  const story = await (await browser.get(`/reports/${id}`)).text()
  expect(story).toContain('To undo this, report the message again.')
  expect(story).not.toContain(`/reports/${id}/restore`)
})

test.for(['fr', 'ru'])('a timeline in %s has no English sentence of ours', async (language) => {
  const id = await site.report(ann, sampleMessage(`told-in-${language}`))
  await keepAnalysis(site.app.pool, id, sampleMessage('x'))
  await site.app.pool.query(`update reports set state = 'kept' where id = $1`, [id])
  const events = ['analyzed', 'answered'].map((event) => ({
    ...{ reportId: id, at: new Date() },
    event: event as 'analyzed' | 'answered',
    phrases: [phrase('machines-foreign')],
  }))
  await inTransaction(site.app.pool, (tx) => insertEvents(tx, events))
  const reader = await signedInBrowser(site.url, ann, language)
  const page = await (await reader.get(`/reports/${id}`)).text()
  const [main = ''] = /<main[^]*<\/main>/.exec(page) ?? []
  expect(main).toContain('timeline')
  expect(main).not.toContain('lang="en"')
})

test('statistics have charts, and a table with the same numbers', async () => {
  const day = new Date().toISOString().slice(0, 10)
  await site.app.pool.query(
    `insert into reporter_days (reporter_id, day, counted_at, spam, phishing, told, kept, asked,
       retracted, mails, answered, networks, countries)
     values ($1, $2, now(), 7, 2, 4, 3, 1, 1, 5, 2,
       '[{"asn": 64500, "name": "Net <b>", "country": "FR", "reports": 6}]', '{"FR": 6}')`,
    [ann.id, day],
  )
  const page = await (await browser.get('/reports/statistics')).text()
  expect(page).toContain('10 reports')
  expect(page).toMatch(/<tr class="sum">(?:(?!<\/tr>).)*<td class="number">10<\/td>/)
  expect(page).toContain('Net &lt;b&gt;, AS64500')
  expect(page).toContain('France')
  expect(page).toContain('An abuse team was notified about 4 of your reports, and answered 2.')
  expect(page).toMatch(/<th scope="row"><time[^>]*>[^<]*<\/time><\/th><td class="number">7<\/td>/)
  // The chart of the year would be the same.
  expect(page).toContain('id="month-caption"')
  expect(page).not.toContain('id="year-caption"')
  await site.app.pool.query(
    `insert into reporter_days (reporter_id, day, counted_at, spam, phishing, told, kept, asked,
       mails, answered, networks, countries)
     values ($1, $2, now(), 1, 0, 0, 1, 0, 0, 0, '[]', '{}')`,
    [ann.id, new Date(Date.now() - 60 * 86_400_000).toISOString().slice(0, 10)],
  )
  const longer = await (await browser.get('/reports/statistics')).text()
  expect(longer).toContain('id="year-caption"')
  const eve = await signedInBrowser(site.url, {
    ...ann,
    email: 'eve@reporters.example',
    password: 'pass of eve@reporters.example',
  })
  expect(await (await eve.get('/reports/statistics')).text()).toContain('There is nothing to count')
})
