import { expect, test } from 'vitest'
import { listAudit } from '../../../src/db/audit-log.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'operator' })
const desk = await signedInBrowser(site.url, admin)
const viewer = await site.addPerson('viewer@desk.example', { role: 'viewer' })

const page = async (path = '') => (await desk.get(`/admin/rule-lists${path}`)).text()
const entries = 'bad.example\n<b>.example'

test('a list is created and described with the condition that uses it', async () => {
  const list = { list: 'bad-hosts', kind: 'hosts', note: 'Seen in <phishing>', do: 'add' }
  const answer = await desk.post('/admin/rule-lists', list)
  expect(answer.headers.get('location')).toBe('/admin/rule-lists/bad-hosts?done=created')
  const html = await page('/bad-hosts?done=created')
  expect(html).toContain('List created.')
  expect(html).toContain('content.link_hosts.listed("bad-hosts")')
  expect(html).toContain('Seen in &lt;phishing&gt;')
  expect((await desk.get('/admin/rule-lists/none')).status).toBe(404)
})

test('entries are tested before the button that adds them is shown', async () => {
  expect(await page('/bad-hosts/add')).not.toContain('>Add entries</button>')
  const wrong = await desk.post('/admin/rule-lists/bad-hosts/try', { entries })
  expect(wrong.status).toBe(422)
  expect(await wrong.text()).toContain('Line 2 is not valid.')
  const given = { entries: 'bad.example', note: 'Reported', days: '30' }
  const tried = await (await desk.post('/admin/rule-lists/bad-hosts/try', given)).text()
  expect(tried).toContain('No entry was found.')
  expect(tried).toContain('>Add entries</button>')
  const added = await desk.post('/admin/rule-lists/bad-hosts/add', given)
  expect(added.headers.get('location')).toBe('/admin/rule-lists/bad-hosts?done=added&count=1')
  expect(await page('/bad-hosts?part=bad')).toContain('bad.example')
  const [entry] = await listAudit(site.app.pool, { before: undefined, limit: 1 })
  expect(entry).toMatchObject({ action: 'add list entries', reporterId: admin.id })
})

test('an entry is removed from the page', async () => {
  const answer = await desk.post('/admin/rule-lists/bad-hosts', {
    ...{ entries: 'bad.example', do: 'remove' },
  })
  expect(answer.headers.get('location')).toBe('/admin/rule-lists/bad-hosts?done=removed&count=1')
  expect(await page('/bad-hosts')).toContain('No entries found.')
})

test('a viewer reads the lists and changes nothing', async () => {
  const other = await signedInBrowser(site.url, viewer)
  const html = await (await other.get('/admin/rule-lists/bad-hosts/add')).text()
  expect(html).not.toContain('formaction')
  const answer = await other.post('/admin/rule-lists/bad-hosts/try', { entries: 'bad.example' })
  expect(answer.status).toBe(403)
})
