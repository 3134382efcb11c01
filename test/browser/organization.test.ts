import { mkdir } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freePort } from '../support/free-port.ts'
import { settingsFor, startProvider } from '../support/oidc-provider.ts'
import { openPage, startChromium } from './chromium.ts'

const port = await freePort()
const url = `http://localhost:${port}`
const provider = await closeAfterTests(startProvider(url))
const site = await closeAfterTests(
  startWebSite({
    HTTP_PORT: String(port),
    ...settingsFor(provider),
    OIDC_ROLES: 'admins=administrator',
    OIDC_LOCAL_ACCOUNTS: 'emergency@example.org',
  }),
)
const browser = await closeAfterTests(startChromium())

test('a browser without JavaScript signs in at the provider, confirms and signs out', async () => {
  provider.people.set('ada', {
    ...{ email: 'ada@acme.example', email_verified: true, groups: ['admins'] },
  })
  provider.next = 'ada'
  const victim = await site.addPerson('victim@example.org')
  const { page, complaints } = await openPage(browser, { javaScriptEnabled: false })
  await page.goto(`${url}/sign-in?next=/admin/accounts`)
  await keep(page, 'sign-in')
  await page.click('main a[role=button]')
  expect(new URL(page.url()).pathname).toBe('/admin/accounts')
  await site.app.pool.query(`update sessions
    set sess = jsonb_set(sess::jsonb, '{provenAt}', '"2020-01-01T00:00:00Z"')::json`)
  await page.reload()
  await page.locator(`form:has(input[value="${victim.id}"]) button[value=disable]`).click()
  expect(await page.textContent('main .lead')).toContain('victim@example.org')
  await page.click('main form button[type=submit]')
  await keep(page, 'confirm')
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.click('main a[target=_blank]'),
  ])
  await tab.waitForLoadState()
  await keep(tab, 'confirmed')
  await tab.close()
  await page.click('main form button[type=submit]')
  expect(new URL(page.url()).searchParams.get('done')).toBe('disabled')
  await page.goto(`${url}/account/organization`)
  await keep(page, 'organization')
  await page.click('form[action="/sign-out"] button')
  await keep(page, 'signed-out')
  // The page that asks for the confirmation has the status 403, which browsers note.
  expect(complaints.filter((text) => !text.includes('403'))).toEqual([])
})

/** Keeps pictures of a page in the folder that PICTURES names, for people who look at them. */
async function keep(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES']
  if (folder === undefined) return
  await mkdir(folder, { recursive: true })
  for (const width of [1_280, 360]) {
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true })
  }
}
