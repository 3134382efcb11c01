import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { confirmPages } from '../../support/listed-pages.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const { pool } = site.app
const operator = await site.addPerson('operator@desk.example', { role: 'operator' })
const browser = await signedInBrowser(site.url, operator)
const at = '/admin/partners'
const shown = async (path: string) => await (await browser.get(path)).text()

test('an operator enables and disables partners; the page never shows a key', async () => {
  expect(await shown(at)).not.toContain('enabled since')
  const wrong = await browser.post(at, { do: 'enable', partner: 'urlhaus', secret: 'own-key-7' })
  expect(wrong.status).toBe(422)
  const refused = await wrong.text()
  expect(refused).toContain('Read the documentation of this partner first')
  expect(refused).not.toContain('own-key-7')
  const given = { do: 'enable', partner: 'urlhaus', secret: 'own-key-7', checked: 'yes' }
  expect((await browser.post(at, given)).status).toBe(303)
  const page = await shown(at)
  expect(page).toContain('enabled since')
  expect(page).not.toContain('own-key-7')
  const audit = await pool.query<{ text: string }>(
    `select action || ': ' || detail as text from audit_log order by id desc limit 1`,
  )
  expect(audit.rows[0]?.text).toBe('enable partner: urlhaus')
  await browser.post(at, { do: 'disable', partner: 'urlhaus' })
  expect(await shown(at)).not.toContain('enabled since')
})

test('the entry of a page shows what was sent to partners', async () => {
  const [page] = await confirmPages(pool, [{ url: 'https://sent.example/', at: new Date() }])
  const id = page?.id
  expect(await shown(`/admin/pages/${id}`)).not.toContain('Sent to partners')
  await pool.query(
    `insert into page_submissions (page_id, partner, state, tries, created_at, tried_at, status)
     values ($1, 'urlhaus', 'refused', 1, now(), now(), 400)`,
    [id],
  )
  const text = await shown(`/admin/pages/${id}`)
  expect(text).toContain('Sent to partners')
  expect(text).toContain('HTTP 400')
})
