import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { codeAt } from '../../src/people/second-step.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { secretOf } from '../support/second-step.ts'
import { faultsOf } from './axe.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())
const ann = await site.addPerson('ann@reporters.example')

async function givePassword(page: Page, path: string): Promise<void> {
  await page.goto(`${site.url}${path}`)
  await signInHere(page, ann)
}

test('two-step sign-in is switched on and used, and axe finds no problem', async () => {
  const { page, complaints } = await openPage(browser, { locale: 'fr-FR' })
  await givePassword(page, '/sign-in?next=/account/second-step')
  await page.fill('main input[name=now]', ann.password)
  await page.click('main button[value=begin]')
  const secret = secretOf(await page.content())
  expect(await faultsOf(page)).toEqual([])
  const now = site.app.clock()
  await page.fill('main input[name=code]', codeAt(secret, now))
  await page.click('main button[value=on]')
  expect(await page.locator('main li code').count()).toBe(10)
  expect(await faultsOf(page)).toEqual([])
  await page.click('form[action="/sign-out"] button')
  await givePassword(page, '/sign-in')
  expect(new URL(page.url()).pathname).toBe('/sign-in/code')
  expect(await faultsOf(page)).toEqual([])
  const next = new Date(now.getTime() + 30_000)
  await page.fill('main input[name=code]', codeAt(secret, next))
  await page.click('main button[type=submit]')
  expect(new URL(page.url()).pathname).toBe('/report')
  expect(complaints).toEqual([])
})
