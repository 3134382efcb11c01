import { expect, test } from 'vitest'
import { insertPageNotices } from '../../../src/db/page-notices.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { confirmPages } from '../../support/listed-pages.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const { pool } = site.app
const operator = await site.addPerson('operator@desk.example', { role: 'operator' })
const browser = await signedInBrowser(site.url, operator)
const at = '/admin/pages/contacts'
const shown = async (path = at) => (await (await browser.get(path)).text()).replace(/\s+/g, ' ')

const [page] = await confirmPages(pool, [{ url: 'https://told.example/', at: new Date() }])
const pageId = page?.id ?? ''
const notice = { pageId, ips: [], isOverride: false, place: 0 }
await insertPageNotices(
  pool,
  [
    {
      ...{ ...notice, role: 'registrar', name: 'A & B Registrar', state: 'spare' },
      contact: 'a@registrar.example',
    },
    {
      ...{ ...notice, role: 'host', name: 'Only a network', state: 'spare' },
      contact: 'n@host.example',
    },
    { ...{ ...notice, role: 'redirector', name: 'Muted', state: 'muted' }, contact: 'm@r.example' },
  ],
  new Date(),
)

test('the list has registrars and platforms with the source of each contact', async () => {
  const html = await shown()
  expect(html).toMatch(/A &amp; B Registrar.*a@registrar\.example.*from the registry/)
  expect(html).toMatch(/Muted.*m@r\.example.*from the list of the program/)
  expect(html).not.toContain('Only a network')
  expect(await shown(`/admin/pages/${pageId}`)).toContain('an operator set “none” as the contact')
})

test('an operator overrides a contact, and removes it again', async () => {
  const whose = { role: 'registrar', name: 'A & B Registrar' }
  const wrong = await browser.post(at, { ...whose, do: 'set', abuse: 'nobody' })
  expect(wrong.status).toBe(422)
  expect(await wrong.text()).toContain('at most ten email addresses')
  const given = { ...whose, do: 'set', abuse: 'new@registrar.example', note: 'From their site' }
  expect((await browser.post(at, given)).status).toBe(303)
  const html = await shown()
  expect(html).toMatch(/new@registrar\.example.*From their site.*operator@desk\.example/)
  const [, link = ''] = /href="([^"]*A\+%26\+B[^"]*)#set"/.exec(html) ?? []
  expect(await shown(link.replaceAll('&amp;', '&'))).toContain('value="new@registrar.example"')
  await browser.post(at, { ...whose, do: 'unset' })
  expect(await shown()).not.toContain('From their site')
  const { rows } = await pool.query('select action, detail from audit_log order by id desc limit 2')
  expect(rows.map(({ action, detail }) => `${action}: ${detail}`)).toEqual([
    'unset contact: registrar A & B Registrar',
    'set contact: registrar A & B Registrar: new@registrar.example (From their site)',
  ])
})
