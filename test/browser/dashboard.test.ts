import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { keepHeartbeat } from '../../src/db/health.ts'
import { uuidv7 } from '../../src/world.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { seedActivity } from '../support/activity.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { faultsOf } from './axe.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())
const viewer = await site.addPerson('viewer@signalpost.example', { role: 'viewer' })
const { pool } = site.app
const now = new Date()
await seedActivity(pool, { now, since: new Date(now.getTime() - 3 * 3_600_000) })

async function signIn(page: Page): Promise<void> {
  await page.goto(`${site.url}/sign-in`)
  await signInHere(page, viewer)
}

test('an open dashboard shows a fault within seconds, without a reload', async () => {
  const { page, complaints } = await openPage(browser, {})
  await signIn(page)
  await page.goto(`${site.url}/admin`)
  expect(await page.getByText('No process “count”').count()).toBe(0)
  await page.evaluate('window.isSamePage = true')
  const its = { id: uuidv7(now), host: 'frozen.example', name: 'work', version: '1', facts: {} }
  await keepHeartbeat(pool, { ...its, startedAt: now, now })
  await pool.query(`update processes set seen_at = seen_at - interval '10 minutes'`)
  await page.locator('#live').getByText('No process “count”').waitFor({ timeout: 30_000 })
  expect(await page.locator('#live .note.bad, #live .note.warn').count()).toBeGreaterThan(0)
  expect(await page.evaluate('window.isSamePage')).toBe(true)
  expect(complaints).toEqual([])
})

test('without JavaScript the menu works by keyboard on a phone', async () => {
  const viewport = { width: 360, height: 800 }
  const { page } = await openPage(browser, { javaScriptEnabled: false, viewport })
  await signIn(page)
  // One line opens the menu, so that the content begins in the first third.
  for (const path of ['/admin', '/admin/activity', '/admin/health', '/admin/pages']) {
    await page.goto(`${site.url}${path}`)
    expect((await page.locator('h1').boundingBox())?.y).toBeLessThan(800 / 3)
  }
  await page.goto(`${site.url}/admin`)
  const menu = page.locator('nav.menu')
  const line = menu.locator('summary', { hasText: 'Administration: Dashboard' })
  expect(await menu.getByRole('link', { name: 'Dashboard' }).isVisible()).toBe(false)
  await line.press('Enter')
  expect(await menu.getByRole('link', { name: 'Dashboard' }).isVisible()).toBe(true)
  expect(await menu.locator('.group summary').count()).toBe(5)
  await menu.locator('summary', { hasText: 'Outgoing' }).focus()
  expect(await menu.getByRole('link', { name: 'Outbox' }).isVisible()).toBe(false)
  await page.keyboard.press('Enter')
  expect(await menu.getByRole('link', { name: 'Outbox' }).isVisible()).toBe(true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/admin\/outbox$/)
  await menu.locator('summary', { hasText: 'Administration: Outbox' }).press('Enter')
  expect(await menu.locator('.group[open]').count()).toBe(1)
  expect(await menu.locator('[aria-current]').textContent()).toBe('Outbox')
  // Another group opens instead.
  await menu.locator('summary', { hasText: 'System' }).press('Enter')
  expect(await menu.locator('.group[open]').count()).toBe(1)
  expect(await menu.getByRole('link', { name: 'Activity' }).isVisible()).toBe(true)
})

test('on a wide screen the menu is open, and marks no page that it does not have', async () => {
  const viewport = { width: 1280, height: 800 }
  const { page } = await openPage(browser, { javaScriptEnabled: false, viewport })
  await signIn(page)
  const menu = page.locator('nav.menu')
  for (const [path, current] of [
    ['/admin', ['Dashboard']],
    ['/admin/health', ['Health']],
    ['/admin/nothing', []],
  ] as const) {
    await page.goto(`${site.url}${path}`)
    expect(await menu.getByRole('link', { name: 'Dashboard' }).isVisible()).toBe(true)
    expect(await menu.getByText('Administration').isVisible()).toBe(false)
    expect(await menu.locator('a[aria-current]').allTextContents()).toEqual(current)
  }
})

test.for([
  { colorScheme: 'light', viewport: { width: 1200, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
] as const)('the dashboard is accessible with %o', async (options) => {
  const { page, complaints } = await openPage(browser, options)
  await signIn(page)
  await page.goto(`${site.url}/admin`)
  expect(await faultsOf(page)).toEqual([])
  expect(await page.locator('figure.graph svg[role=img]').count()).toBe(4)
  expect(complaints).toEqual([])
})
