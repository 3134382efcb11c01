import { expect, test } from 'vitest'
import { insertAudit } from '../../../src/db/audit-log.ts'
import { runSealAudit } from '../../../src/people/audit-seals.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const oda = await site.addPerson('oda@desk.example', { role: 'operator' })
const desk = await signedInBrowser(site.url, oda)
const dayAfter = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const [day, next] = [dayAfter(1), dayAfter(2)]
const add = (
  time: string,
  reporterId: string | null,
  action: 'purge' | 'redrive',
  detail: string,
) => insertAudit(site.app.pool, { at: new Date(`${time}Z`), reporterId, action, detail })
await add(`${day}T08:00:00`, oda.id, 'purge', 'Waiting jobs of analyze-report')
await add(`${day}T09:00:00`, null, 'redrive', '=1+1 of "forward-report"')
await add(`${next}T00:00:00`, oda.id, 'redrive', 'All')
const text = async (query: string) => (await desk.get(`/admin/audit${query}`)).text()

test.for([
  ['?person=oda@desk.example', ['Waiting jobs', 'All']],
  ['?person=command+line', ['of &quot;forward']],
  ['?action=redrive', ['of &quot;forward', 'All']],
  ['?text=WAITING', ['Waiting jobs']],
  [`?since=${day}&until=${day}`, ['Waiting jobs', 'of &quot;forward']],
  [`?since=${next}`, ['All']],
] as const)('%s finds the entries', async ([query, expected]) => {
  const html = (await text(query)).replace(/<form[^]*?<\/form>/g, '')
  const found = ['Waiting jobs', 'of &quot;forward', ': All'].filter((one) => html.includes(one))
  expect(found.map((one) => one.replace(': ', ''))).toEqual(expected)
})

test('an unknown person or day is named, and nothing is shown', async () => {
  const html = await text('?person=nobody@x.example&since=yesterday')
  expect(html).toContain('No account has this address.')
  expect(html).toContain('Write days as in 2026-11-20.')
  expect(html).toContain('No entries found.')
})

test('what a search finds is exported as CSV and as JSON lines', async () => {
  const csv = await desk.get('/admin/audit/export.csv?action=redrive')
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"')
  const lines = (await csv.text()).trimEnd().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[2]).toContain(`,${day}T09:00:00.000Z,command line,,redrive,"'=1+1 of ""forward`)
  const json = await (await desk.get('/admin/audit/export.jsonl?text=all')).text()
  expect(JSON.parse(json)).toMatchObject({ person: oda.email, account: oda.id, detail: 'All' })
})

test('the page says since when the log is intact', async () => {
  expect(await text('?check=1')).toContain('There is no seal yet.')
  await runSealAudit({ ...site.app, clock: () => new Date(`${dayAfter(5)}T00:00:00Z`) })
  expect(await text('?check=1')).toMatch(/1 seal of 3 entries/)
})
