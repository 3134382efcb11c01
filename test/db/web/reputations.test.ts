import { expect, test } from 'vitest'
import { describeReputation, parseReputation } from '../../../src/cli/lists.ts'
import { listAudit } from '../../../src/db/audit-log.ts'
import { createReputationReader } from '../../../src/counting/reputation-reader.ts'
import type { Subject } from '../../../src/verdict/reputation/subject.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { append, foldAll, newcomers, reportedBy, vouchedReporters } from '../../support/evidence.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const shop: Subject = { kind: 'link-host', name: 'pills.example' }
const odd: Subject = { kind: 'link', name: 'pills.example/<b>&x' }
const page = '/admin/reputations/subject?kind=link-host&name=pills.example'

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)
const { pool } = site.app
const at = new Date()
const reporters = [...(await vouchedReporters(pool, 9)), ...newcomers(4)]
await append(pool, await reportedBy(pool, reporters, { subjects: [shop, odd], at }), at)
await foldAll(pool, at)

const text = async (path: string) => (await desk.get(path)).text()

async function flagsOf(subject: Subject) {
  const reader = createReputationReader({ pool: site.app.pool, clock: () => new Date() })
  return (await reader.read([subject]))[0]?.flags
}

test('names with that beginning are found, and untrusted text is escaped', async () => {
  const found = await text('/admin/reputations?name=PILLS.example')
  expect(found).toContain('href="/admin/reputations/subject?kind=link-host&amp;name=pills.example"')
  expect(found).toContain('pills.example/&lt;b&gt;&amp;x')
  expect(found).not.toContain('<b>&x')
  expect(await text('/admin/reputations?name=pills&kind=phone')).toContain(
    'No reputation is stored',
  )
  expect(await text('/admin/reputations?name=%25')).toContain('No reputation is stored')
})

test('the page of a subject shows the score, the reasons, and its history', async () => {
  const told = await text(page)
  expect(told).toContain('<strong>−0.76</strong>')
  expect(told).toContain('listed')
  expect(told).toContain('9 proven reporters against it')
  expect(told).toContain('Together they count at most 0.3')
  expect(told).toMatch(/<svg[^]*Against, weighted by karma: Total 9\./)
  expect(told).toContain('<th scope="col" class="number">Against, weighted by karma</th>')
})

test('an override applies, is logged with its reason, and is removed', async () => {
  const said = { kind: shop.kind, name: shop.name, do: 'set', mark: 'exempt', reason: 'Shared.' }
  const until = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10)
  const kept = await desk.post('/admin/reputations/subject', { ...said, until })
  expect(kept.status).toBe(303)
  expect(await flagsOf(shop)).toEqual(['new', 'exempt'])
  expect(await text(page)).toContain('Shared.')
  expect(await text('/admin/reputations')).toContain('Shared.')
  const lifted = await desk.post('/admin/reputations/subject', { ...said, do: 'lift' })
  expect(lifted.headers.get('location')).toContain('done=lifted')
  expect(await flagsOf(shop)).toEqual(['new'])
  const [last, first] = await listAudit(site.app.pool, { before: undefined, limit: 2 })
  expect(first).toMatchObject({ action: 'mark reputation', reporterId: admin.id })
  expect(first?.detail).toContain(`link-host pills.example: exempt until ${until}`)
  expect(last).toMatchObject({ action: 'unmark reputation' })
})

test('an expired override does not apply', async () => {
  const { pool } = site.app
  await pool.query(
    `insert into reputation_marks (key, kind, name, mark, reason, set_at, until_at)
     select key, kind, name, 'welcome', 'Once.', $1, $2 from reputations where name = $3`,
    [new Date(Date.now() - 5_000), new Date(Date.now() - 1_000), shop.name],
  )
  expect(await flagsOf(shop)).toEqual(['new'])
})

test.for([
  ['without a reason', { mark: 'exempt', reason: '' }, 'Please give a reason.'],
  ['of no known kind', { mark: 'loved', reason: 'So.' }, 'Choose an override.'],
  [
    'until yesterday',
    { mark: 'exempt', reason: 'So.', until: '2020-01-01' },
    'must be in the future',
  ],
  ['until never', { mark: 'exempt', reason: 'So.', until: 'soon' }, 'must be in the future'],
] as const)('an override %s is refused, and the form keeps its values', async ([, form, fault]) => {
  const body = { kind: shop.kind, name: shop.name, do: 'set', ...form }
  const answer = await desk.post('/admin/reputations/subject', body)
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain(fault)
})

test('an unknown kind is not found', async () => {
  expect((await desk.get('/admin/reputations/subject?kind=planet&name=mars')).status).toBe(404)
  expect((await desk.get('/admin/reputations/subject?kind=link')).status).toBe(404)
})

test('the karma of a reporter is explained to administrators only', async () => {
  const told = await text(`/admin/reporters/${admin.id}`)
  expect(told).toContain('An operator created this account')
  expect(told).toContain('proven')
  await site.app.pool.query('delete from karmas where reporter_id = $1', [admin.id])
  const unvouched = await text(`/admin/reporters/${admin.id}`)
  expect(unvouched).toContain('The owner created this account')
  expect(unvouched).toContain('not proven')
  expect(unvouched).toContain('signed up on the same day')
  expect(unvouched).toContain('up to 20 reports in 24 hours')
  expect((await desk.get('/admin/reporters/nobody')).status).toBe(404)
  const ann = await site.addPerson('ann@reporters.example')
  const visitor = await signedInBrowser(site.url, ann)
  expect((await visitor.get(`/admin/reporters/${ann.id}`)).status).toBe(403)
})

test('the command prints the same, as text and as JSON', async () => {
  const tell = (...args: string[]) => describeReputation(parseReputation(args), site.app)
  const known = await tell('Pills.example')
  expect(known).toMatchObject({ isKnown: true })
  expect(known.text).toContain('link-host pills.example')
  expect(known.text).toContain('9 proven reporters against it')
  expect(known.text).toContain('link pills.example/<b>&x')
  expect(await tell('file', 'pills.example')).toMatchObject({ isKnown: false })
  expect(await tell('nobody.example')).toMatchObject({
    isKnown: false,
    text: 'No reputation is stored for nobody.example.',
  })
  const [json] = JSON.parse((await tell('pills.example', '--json')).text) as [{ subject: Subject }]
  expect(json.subject).toEqual(shop)
  expect(() => parseReputation([])).toThrow('Use "reputation NAME"')
  expect(() => parseReputation(['planet', 'mars'])).toThrow('Unknown kind "planet"')
})
