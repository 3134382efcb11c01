import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { inTransaction } from '../../src/db/pool.ts'
import { keepExemption } from '../../src/db/listings.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { listByHand } from '../support/listed-by-hand.ts'
import { know } from '../support/listed.ts'
import { openPage, startChromium } from './chromium.ts'

const host = 'www.a-very-long-name-of-a-shop-that-nobody-should-buy-from.example'
const subject = { kind: 'link-host', name: host } as const

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())
const admin = await site.addPerson('root@signalpost.example', { role: 'administrator' })
const { pool } = site.app
await know(pool, [{ ...subject, bad: 30, at: new Date() }])
await listByHand(pool, subject)
const words = { name: host, reason: `See https://${host}/offer?of=the-week-and-more`.repeat(3) }
const term = { expiresAt: null, reporterId: null, createdAt: new Date() }
await inTransaction(pool, (tx) => keepExemption(tx, { ...words, ...term }))

async function signIn(page: Page): Promise<void> {
  await page.goto(`${site.url}/sign-in`)
  await page.fill('input[name="user[email_or_login]"]', admin.email)
  await page.fill('input[name="user[password]"]', admin.password)
  await page.click('main button[type=submit]')
}

test('no page of network data is too wide, and every field has a name', async () => {
  const { page, complaints } = await openPage(browser, { viewport: { width: 320, height: 700 } })
  await signIn(page)
  const paths = [
    `/admin/reputations?name=${host}`,
    `/admin/reputations/subject?kind=link-host&name=${host}`,
    `/admin/reporters/${admin.id}`,
    ...['/admin/accounts', '/admin/accounts/erasures'],
    ...['', '/role', '/erase'].map((step) => `/admin/accounts/${admin.id}${step}`),
    '/admin/senders?user=ann',
    '/admin/sources',
    '/admin/health',
    '/admin/models',
    '/admin/rules',
    '/admin/rules/edit',
    '/admin/rules/facts',
    '/admin/rules/versions',
    '/admin/delistings',
    '/admin/delistings/exemptions',
    '/admin/audit',
  ]
  for (const where of paths) {
    const answer = await page.goto(`${site.url}${where}`)
    expect([where, answer?.status()]).toEqual([where, 200])
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect([where, width]).toEqual([where, 320])
    const nameless = await page.evaluate(
      `[...document.querySelectorAll('input:not([type=hidden]), textarea, select')]
         .filter((field) => field.labels.length === 0 && !field.ariaLabel)
         .map((field) => field.name)`,
    )
    expect([where, nameless]).toEqual([where, []])
    expect(await page.locator('h1').count()).toBe(1)
  }
  expect(complaints).toEqual([])
})
