import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { activityGroups } from '../../src/web/admin/activity-charts.ts'
import { insertMark } from '../../src/db/activity.ts'
import { ensureConsumers } from '../../src/db/consumers.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { seedActivity } from '../support/activity.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { faultsOf } from './axe.ts'
import { openPage, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())
const admin = await site.addPerson('root@signalpost.example', { role: 'viewer' })
const { pool } = site.app
const now = new Date()
const hourAgo = new Date(now.getTime() - 3_600_000)
const desk = { address: 'abuse@a-network-with-a-long-name.example', source: 'network' } as const
const consumers = await ensureConsumers(pool, [desk], now)
const desks = [...consumers.values()].map(({ id }) => id)
await seedActivity(pool, { now, desks })
await insertMark(pool, { at: hourAgo, kind: 'version', detail: '1.2.3' })

const addresses = activityGroups.map(({ key }) => `/admin/activity?group=${key}&period=day`)

async function signIn(page: Page): Promise<void> {
  await page.goto(`${site.url}/sign-in`)
  await page.fill('#email', admin.email)
  await page.fill('#password', admin.password)
  await page.click('main button[type=submit]')
}

test.for([
  ['in light colors', { colorScheme: 'light', viewport: { width: 1200, height: 900 } }],
  ['in dark colors', { colorScheme: 'dark', viewport: { width: 1200, height: 900 } }],
  ['on a phone', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
] as const)('the graphs are accessible %s, and no page is too wide', async ([, options]) => {
  const { page, complaints } = await openPage(browser, options)
  await signIn(page)
  for (const address of addresses) {
    await page.goto(`${site.url}${address}`)
    expect([address, await faultsOf(page)]).toEqual([address, []])
  }
  expect(complaints).toEqual([])
})

test('without JavaScript a graph is drawn, has figures, and leads to a list', async () => {
  const { page } = await openPage(browser, { javaScriptEnabled: false })
  await signIn(page)
  for (const group of activityGroups) {
    await page.goto(`${site.url}/admin/activity?group=${group.key}&period=week&compare=before`)
    const drawn = page.locator('figure.series')
    expect(await drawn.count()).toBe(group.charts.length)
    for (const figure of await drawn.all()) {
      expect(await figure.locator('path.line:not(.before)').count()).toBeGreaterThan(0)
      expect(await figure.locator('path.line.before').count()).toBeGreaterThan(0)
      expect(await figure.locator('.mark').count()).toBe(1)
      expect(await figure.locator('.figures tbody tr').count()).toBeGreaterThan(0)
    }
  }
  await page.goto(`${site.url}/admin/activity?group=reports&period=day`)
  expect(await page.getByText('Version 1.2.3 of the program').count()).toBeGreaterThan(0)
  // By keyboard: the table is opened, and the first range leads to the reports of that time.
  const figure = page.locator('figure.series').first()
  await figure.locator('summary').focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/admin\/reports\?below=/)
  expect(await page.locator('[role=alert]').count()).toBe(0)
})

test('queues, abuse desks and failed attempts lead to what is behind them', async () => {
  const { page } = await openPage(browser, { javaScriptEnabled: false })
  await signIn(page)
  const visit = async (group: string, link: string) => {
    await page.goto(`${site.url}/admin/activity?group=${group}&period=day`)
    const href = await page.locator(link).first().getAttribute('href')
    const answer = await page.goto(`${site.url}${href}`)
    return [href?.replaceAll(/[\da-f-]{36}|\d{16}|(?<=queues\/).+/g, 'N'), answer?.status()]
  }
  expect(await visit('queues', '.figures a')).toEqual(['/admin/queues/N', 200])
  expect(await visit('queues', 'figure details a')).toEqual(['/admin/dead-letters?at=N&id=N', 200])
  expect(await visit('desks', '.figures a')).toEqual(['/admin/consumers/N', 200])
})

test('with JavaScript a graph can be enlarged, by keyboard too', async () => {
  const { page, complaints } = await openPage(browser, {})
  await signIn(page)
  await page.goto(`${site.url}/admin/activity?group=mail&period=hour`)
  const figure = page.locator('figure.series').first()
  await figure.getByRole('button', { name: 'Zoom' }).press('Enter')
  await figure.locator('.uplot canvas').waitFor()
  expect(await figure.locator('.u-legend .u-series').count()).toBeGreaterThan(2)
  await figure.getByText('Drag over a part to enlarge it.').waitFor()
  expect(complaints).toEqual([])
})
