import { expect, test } from 'vitest'
import { startWork } from '../../src/processes/work.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { spamMessage } from '../support/messages.ts'
import { faultsOf } from './axe.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())
const admin = await site.addPerson('root@signalpost.example', { role: 'administrator' })
const ann = await site.addPerson('ann@reporters.example')
for (const mark of ['one', 'two', 'three']) await site.report(ann, spamMessage(mark))
await closeAfterTests(startWork(site.app, ['act-on-reports']))

test.for([
  ['a wide screen', { viewport: { width: 1200, height: 800 } }],
  ['a narrow dark screen', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
  ['a screen without JavaScript', { javaScriptEnabled: false }],
] as const)('an operator searches, selects, acts and undoes on %s', async ([, options]) => {
  const { page, complaints } = await openPage(browser, options)
  await page.goto(`${site.url}/sign-in`)
  await signInHere(page, admin)
  await page.goto(`${site.url}/admin/reports`)
  await page.getByRole('searchbox').fill('subject:watches')
  await page.getByRole('button', { name: 'Search' }).click()
  expect(await page.getByRole('status').first().textContent()).toBe('3 reports found.')
  await page.getByRole('checkbox').nth(0).check()
  await page.getByRole('checkbox').nth(2).check()
  await page.locator('fieldset select[name=kind]').selectOption('retract')
  await page.getByRole('button', { name: 'Preview for the selected' }).click()
  expect(await page.locator('.lead').textContent()).toContain('2 reports selected')
  await page.getByLabel('Reason').fill('Our own newsletter.')
  await page.getByRole('button', { name: 'Start' }).click()
  const sees = (text: string) => page.getByText(text).first().waitFor()
  await sees('2 changed')
  if (!('javaScriptEnabled' in options)) expect(await faultsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).click()
  await sees('2 reports undone')
  expect(complaints).toEqual([])
  await page.context().close()
})
