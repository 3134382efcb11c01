import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { activityGroups } from '../../src/web/admin/activity-charts.ts'
import { insertMark } from '../../src/db/activity.ts'
import { ensureConsumers } from '../../src/db/consumers.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { seedActivity } from '../support/activity.ts'
import { DAY_MS } from '../../src/durations.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { faultsOf } from './axe.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

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
  await signInHere(page, admin)
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
    const drawn = page.locator('figure.graph')
    expect(await drawn.count()).toBe(group.charts.length)
    for (const figure of await drawn.all()) {
      expect(await figure.locator('path:is(.line, .area)').count()).toBeGreaterThan(0)
      expect(await figure.locator('path.before').count()).toBeGreaterThan(0)
      expect(await figure.getByText('Version 1.2.3 of the program').count()).toBe(1)
      expect(await figure.locator('.legend tbody tr').count()).toBeGreaterThan(0)
    }
  }
  await page.goto(`${site.url}/admin/activity?group=reports&period=day`)
  expect(await page.getByText('Version 1.2.3 of the program').count()).toBeGreaterThan(0)
  // By keyboard: the table is opened, and the first range leads to the reports of that time.
  const figure = page.locator('figure.graph').first()
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
  expect(await visit('queues', '.legend a')).toEqual(['/admin/queues/N', 200])
  expect(await visit('queues', 'figure details a')).toEqual(['/admin/dead-letters?at=N&id=N', 200])
  expect(await visit('desks', '.legend a')).toEqual(['/admin/consumers/N', 200])
})

test('values are read at the pointer and by keyboard, and parts add up', async () => {
  const { page, complaints } = await openPage(browser, {})
  await signIn(page)
  await page.goto(`${site.url}/admin/activity?group=reports&period=day`)
  const figure = page.locator('figure.graph').first()
  const tip = figure.locator('.tip')
  await figure.locator('.plot').hover({ position: { x: 200, y: 50 } })
  await tip.waitFor()
  const values = (await tip.locator('strong').allTextContents()).map((text) =>
    Number(text.replace(',', '')),
  )
  const [sum = 0, ...parts] = values.toReversed()
  expect(parts.length).toBeGreaterThan(2)
  expect(Math.abs(sum - parts.reduce((all, one) => all + one, 0))).toBeLessThan(sum / 100)
  // The other graphs of the page show the same instant.
  expect(await page.locator('figure.graph .cursor:visible').count()).toBeGreaterThan(3)

  const slider = figure.getByRole('slider', { name: 'Reports by channel' })
  await slider.press('Home')
  const first = await slider.getAttribute('aria-valuetext')
  await slider.press('ArrowRight')
  const second = await slider.getAttribute('aria-valuetext')
  expect(first).toMatch(/^\d+ \w+, \d\d:\d0 UTC, .*Total [\d.,]+$/)
  expect(second).not.toBe(first)
  expect(await tip.locator('.when').textContent()).toBe(second?.split(', ').slice(0, 2).join(', '))
  await slider.press('Escape')
  expect(await tip.isVisible()).toBe(false)
  expect(complaints).toEqual([])
})

test('an installation of ten minutes has graphs of ten minutes', async () => {
  const young = await closeAfterTests(startWebSite())
  const since = new Date(now.getTime() - 10 * 60_000)
  await seedActivity(young.app.pool, { now, since })
  const person = await young.addPerson('root@signalpost.example', { role: 'viewer' })
  const { page } = await openPage(browser, { javaScriptEnabled: false })
  await page.goto(`${young.url}/sign-in`)
  await signInHere(page, person)
  await page.goto(`${young.url}/admin/activity?group=reports&period=month`)
  const times = await page.locator('.plot').first().getAttribute('data-times')
  const [, first = ''] = (times ?? '').split('|')[0]?.split(', ') ?? []
  const day = since.toISOString().slice(0, 10)
  // The longest slot that is stored by then may begin before the installation: it has ten minutes,
  // or two hours if these just ended.
  const hours = 2 * 3_600_000
  const isOver = Math.floor(since.getTime() / hours) < Math.floor(now.getTime() / hours)
  const early =
    (since.getTime() - Date.parse(`${day}T${first.replace(' UTC', 'Z')}`) + DAY_MS) % DAY_MS
  expect(early).toBeLessThan(isOver ? hours : 10 * 60_000)
  await page.getByText('Everything that is stored is shown.').waitFor()
})
