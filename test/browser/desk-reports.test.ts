import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findFeedback } from '../../src/db/feedback-reports.ts'
import { consumerLink } from '../../src/feedback/enroll.ts'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { importNetworks } from '../../src/processes/import-networks.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { sampleNetworks, spamMessage } from '../support/messages.ts'
import { createSentFeedback, keepCopy } from '../support/sent-feedback.ts'
import { faultsOf } from './axe.ts'
import { openPage, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite({ RETURN_PATH_DOMAIN: 'bounces.test.example' }))
const parser = await closeAfterTests(createParserPool(1))
const browser = await closeAfterTests(startChromium())
await importNetworks(sampleNetworks, site.app)
const you = await site.addPerson('you@provider.example')
const { pool, config } = site.app

/** Set to a folder, keeps pictures of the pages there. */
const folder = process.env['PICTURES_FOLDER']

async function told(mark: string, daysAgo: number): Promise<string> {
  const id = await site.report(you, spamMessage(mark))
  const sent = await createSentFeedback(site.app, parser, id, daysAgo * 24 + 0.1)
  await keepCopy(site.app, parser, sent)
  const { consumerId = '' } = (await findFeedback(pool, sent)) ?? {}
  return consumerLink(consumerId, { ...config, publicUrl: site.url }).url
}

async function keepPicture(page: Page, name: string): Promise<void> {
  if (folder === undefined) return
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true })
}

let link = ''
for (const [at, mark] of ['watches', 'pills', 'prizes', 'loans', 'crypto', 'visas'].entries()) {
  link = await told(`${mark} for you`, at * 2)
}

const screens = [
  ['a wide screen', { viewport: { width: 1280, height: 900 } }],
  ['a narrow dark screen', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
  [
    'a screen without JavaScript',
    { viewport: { width: 360, height: 740 }, javaScriptEnabled: false },
  ],
] as const

test.for(screens)(
  'a desk reads its reports and answers two at once, on %s',
  async ([name, options]) => {
    await pool.query('delete from feedback_answers')
    const { page, complaints } = await openPage(browser, options)
    const check = async (view: string) => {
      if (!name.includes('without')) expect(await faultsOf(page)).toEqual([])
      await keepPicture(page, `${view}-${name.replaceAll(' ', '-')}`)
    }
    await page.goto(link)
    await page.getByRole('button', { name: 'Your reports and answers' }).click()
    await check('reports')
    await page.getByRole('link', { name: 'Cheap watches pills for you' }).click()
    expect(await page.locator('mark').count()).toBeGreaterThan(0)
    await check('report')
    await page.getByRole('link', { name: 'All reports' }).click()
    const boxes = page.getByRole('checkbox', { name: /^Choose the report/ })
    await boxes.nth(1).check()
    await boxes.nth(2).check()
    await page.getByLabel('Answer', { exact: true }).selectOption('The problem is resolved')
    await page.getByLabel('Anything to add?').fill('The customer was warned.')
    await page.getByRole('button', { name: 'Send the answer' }).click()
    expect(await page.getByRole('status').textContent()).toContain('Your answer to 2 reports')
    await check('answered')
    await page.getByRole('link', { name: 'Without an answer' }).click()
    expect(await boxes.count()).toBe(4)
    await page.getByLabel('All reports on this page').check()
    await page.getByRole('button', { name: 'Send the answer' }).click()
    expect(await page.locator('main').textContent()).toContain('You have answered all reports.')
    expect(complaints).toEqual([])
  },
)

test('a desk sees a sample before it enrolls', async () => {
  const { page, complaints } = await openPage(browser, { viewport: { width: 360, height: 740 } })
  await page.goto(`${site.url}/consumers/enroll`)
  await page.locator('main').getByRole('link', { name: 'See a sample report' }).click()
  expect(await page.locator('pre').first().textContent()).toContain('192.0.2.23')
  expect(await faultsOf(page)).toEqual([])
  await keepPicture(page, 'sample')
  await page.getByRole('button', { name: 'Get our reports' }).click()
  expect(new URL(page.url()).pathname).toBe('/consumers/enroll')
  expect(complaints).toEqual([])
})
