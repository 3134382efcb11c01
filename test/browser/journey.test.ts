import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { sampleMessage, startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { linkTo } from '../support/letters.ts'
import { faultsOf } from './axe.ts'
import { openPage, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())

const visitors = [
  ['in English', { locale: 'en-GB' }, 'You took this report back'],
  [
    'in French without JavaScript',
    { locale: 'fr-FR', javaScriptEnabled: false },
    'Vous avez retiré ce signalement',
  ],
  [
    'in Russian on a narrow dark screen',
    { locale: 'ru-RU', colorScheme: 'dark', viewport: { width: 320, height: 700 } },
    'Вы отозвали эту жалобу',
  ],
] as const

const password = 'green lamp over water'

/** Uses only the keyboard: presses Tab until the element has the focus, then Enter. */
async function press(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if ((await page.locator(`${selector}:focus`).count()) > 0) break
    await page.keyboard.press('Tab')
  }
  expect(await page.locator(`${selector}:focus`).count()).toBe(1)
  await page.keyboard.press('Enter')
}

/** Sends the form with the keyboard, and waits for the next page. */
async function send(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), press(page, selector)])
}

test.for(visitors)(
  'a visitor %s signs up, reports three files, views them and retracts one',
  async ([mark, options, takenBack], { task }) => {
    const { page, complaints } = await openPage(browser, options)
    const email = `${task.id.replaceAll(/\W/g, '')}@reporters.example`
    const faults: unknown[] = []
    const look = async (step: string) => {
      const found = await faultsOf(await copyOf(page, options))
      faults.push(...found.map((fault) => ({ step, ...fault })))
    }
    await page.goto(site.url)
    await look('the first page')
    await send(page, 'main a[href="/sign-up"]')
    await page.fill('#email', email)
    await page.focus('#agree')
    await page.keyboard.press('Space')
    await look('signing up')
    await send(page, 'main button[type=submit]')
    await look('the letter is written')
    await page.goto(`${site.url}${await linkTo(site.app.pool, email)}`)
    await page.fill('#password', password)
    await look('choosing a password')
    await send(page, 'main button[type=submit]')
    await look('the form')
    const files = ['one', 'two'].map((name) => ({
      name: `${name}.eml`,
      mimeType: 'message/rfc822',
      buffer: sampleMessage(`${name} ${mark}`),
    }))
    const bad = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('not a mail') }
    await page.setInputFiles('#messages', [...files, bad])
    // With JavaScript the answer replaces the content without a page load.
    await press(page, 'main form[action="/report"] button[type=submit]')
    // The form has marked the bad file itself before.
    await page.waitForSelector('main .results .badge.bad')
    expect(await page.locator('main .results a[href^="/reports/"]').count()).toBe(2)
    expect(await page.locator('main .results .badge.bad').count()).toBe(1)
    await look('the results')
    await page.goto(`${site.url}/reports`)
    await look('the history')
    await send(page, 'main table a[href^="/reports/"]')
    expect(await page.textContent('h1')).toContain(mark)
    await look('the story')
    await takeBack(page)
    expect(await page.textContent('main')).toContain(takenBack)
    await look('the story, taken back')
    expect(faults).toEqual([])
    expect(complaints.filter((one) => !one.includes('status of 4'))).toEqual([])
  },
)

/** Retracts a report through the page that asks for confirmation. */
async function takeBack(page: Page): Promise<void> {
  await send(page, 'main a[href$="/retract"]')
  await send(page, 'main form[action$="/retract"] button')
}

/**
 * Returns the page for axe, which needs JavaScript: for a browser without JavaScript, a copy of the
 * page that allows it.
 */
async function copyOf(page: Page, options: object): Promise<Page> {
  if (!('javaScriptEnabled' in options)) return page
  const html = await page.content()
  const { page: copy } = await openPage(browser, { ...options, javaScriptEnabled: true })
  const address = page.url()
  await copy.route(address, (route) =>
    route.fulfill({ contentType: 'text/html; charset=utf-8', body: html }),
  )
  await copy.goto(address)
  return copy
}
