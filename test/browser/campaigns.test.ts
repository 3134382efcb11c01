import { expect, test } from 'vitest'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { rollUpAll } from '../support/counter-rows.ts'
import { messageOf } from '../support/shingles.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'
import { analyzeReports } from '../support/judge.ts'

const LINK = 'https://shop.example/offer'
const text =
  'We have watches of all makes at half of what they cost in your town, sent in a plain box ' +
  `within a week to wherever you are, and you may send them back: ${LINK} is where they are.`

const site = await closeAfterTests(startWebSite())
const parser = await closeAfterTests(createParserPool(1))
const browser = await closeAfterTests(startChromium())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const ids = await Promise.all(
  ['One', 'Two', `A-subject-${'without-a-blank-'.repeat(12)}`].map((subject) =>
    site.report(admin, Buffer.from(messageOf({ subject, text }))),
  ),
)
await analyzeReports({ ...site.app, parser }, ids)
await rollUpAll(site.app.pool, new Date())

test.for([
  ['a wide screen', { viewport: { width: 1280, height: 900 } }],
  ['a narrow dark screen', { colorScheme: 'dark', viewport: { width: 320, height: 700 } }],
  ['a screen without JavaScript', { javaScriptEnabled: false }],
] as const)('campaigns are found and read on %s', async ([, options]) => {
  const { page, complaints } = await openPage(browser, options)
  await page.goto(`${site.url}/admin/campaigns`)
  await signInHere(page, admin)
  const fits = () =>
    page.locator('html').evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)
  expect(await fits()).toBe(true)
  await page.click('tbody a')
  expect(await fits()).toBe(true)
  expect(await page.locator('figure.graph svg.picture').count()).toBe(2)
  expect(await page.locator('pre').textContent()).toContain(LINK)
  expect(await page.locator('a[href^=http]').count()).toBe(0)
  await page.click('#reports ~ .scroll tbody a')
  await page.getByRole('link', { name: 'All reports of this campaign' }).click()
  expect(await page.locator('h1').textContent()).not.toBe('')
  expect(complaints).toEqual([])
  await page.context().close()
})
