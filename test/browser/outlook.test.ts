import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findRawMessage } from '../../src/db/reports.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { openPage, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())
const ann = await site.addPerson('ann@reporters.example')
// The script reports to the public address, and Outlook loads its pages from there.
const server = site.url.replace('127.0.0.1', 'localhost')
const raw = readFileSync(new URL('../fixtures/messages/behind-a-filter.eml', import.meta.url))

/**
 * Does what Outlook's library does, as far as the add-in uses it: a mailbox with settings that
 * survive the page, one message, and events to registered handlers.
 */
const officeLibrary = (base64: string) => `
  window.completions = []
  const handlers = {}
  const kept = JSON.parse(localStorage.getItem('mailbox') ?? '{}')
  window.Office = {
    AsyncResultStatus: { Succeeded: 'succeeded', Failed: 'failed' },
    MailboxEnums: { MoveSpamItemTo: { JunkFolder: 'junk', NoMove: 'noMove' } },
    onReady: (run) => addEventListener('DOMContentLoaded', () => run({ host: 'Outlook' })),
    actions: { associate: (name, handler) => void (handlers[name] = handler) },
    context: {
      displayLanguage: navigator.language,
      roamingSettings: {
        get: (name) => kept[name],
        set: (name, value) => void (kept[name] = value),
        remove: (name) => void delete kept[name],
        saveAsync(done) {
          localStorage.setItem('mailbox', JSON.stringify(kept))
          setTimeout(done, 0, { status: 'succeeded' })
        },
      },
      mailbox: {
        item: {
          getAsFileAsync(done) {
            setTimeout(done, 0, { status: 'succeeded', value: '${base64}' })
          },
        },
      },
    },
  }
  window.report = (event) => new Promise((resolve) => {
    handlers.onSpamReport({ type: 'SpamReporting', ...event, completed: resolve })
  })`

async function openOutlook(locale: string) {
  const opened = await openPage(browser, { locale, viewport: { width: 360, height: 700 } })
  await opened.page.route('https://appsforoffice.microsoft.com/**', (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: officeLibrary(raw.toString('base64')),
    }),
  )
  return opened
}

/** Raises the event as Outlook does, and returns what the add-in asks Outlook to do. */
async function report(page: Page, event: object): Promise<Record<string, unknown>> {
  await page.goto(`${server}/outlook/commands.html`)
  return page.evaluate(`report(${JSON.stringify(event)})`)
}

test('from the settings to the first report: the bytes are those of the message', async () => {
  const { page, complaints } = await openOutlook('en-GB')
  const before = await report(page, { options: [false], freeText: '' })
  expect(before).toMatchObject({ moveItemTo: 'noMove', onErrorDeleteItem: false })

  await page.goto(`${server}/outlook/settings.html`)
  await page.fill('#token', 'not a token')
  await page.click('text=Save and test')
  await page.waitForSelector('#result.bad')
  await page.fill('#token', ann.token)
  await page.click('text=Save and test')
  await page.waitForSelector('#result.good')
  expect(await page.textContent('#result')).toBe('Connected. You can report messages now.')

  const outcome = await report(page, { options: [true], freeText: 'They ask for my password.' })
  expect(outcome).toMatchObject({ moveItemTo: 'junk', onErrorDeleteItem: false })
  const { rows } = await site.app.pool.query<{ id: string; kind: string; comment: string }>(
    'select id, kind, comment from reports',
  )
  expect(rows).toMatchObject([{ kind: 'phishing', comment: 'They ask for my password.' }])
  const refused = complaints.filter((text) => !text.includes('401'))
  expect(refused).toEqual([])
  expect(await findRawMessage(site.app.pool, rows[0]?.id ?? '')).toEqual(raw)

  await page.goto(`${server}/outlook/settings.html`)
  await page.click('text=Send me a test message')
  await page.waitForSelector('#said.bad')
  expect(await page.textContent('#said')).toContain('The service sends no mail')
  await page.click('text=Disconnect')
  await page.waitForSelector('text=Outlook no longer has your token')
  expect(await page.isVisible('#letter')).toBe(false)
  expect(await report(page, {})).toMatchObject({ moveItemTo: 'noMove' })
})

test('while the service is away, the message stays and the person learns why', async () => {
  const { page } = await openOutlook('fr-FR')
  await page.goto(`${server}/outlook/settings.html`)
  await page.fill('#token', ann.token)
  await page.click('text=Enregistrer et tester')
  await page.waitForSelector('#result.good')
  await page.route('**/api/v1/reports', (route) => route.abort())
  const outcome = await report(page, { options: [false] })
  expect(outcome).toMatchObject({
    moveItemTo: 'noMove',
    onErrorDeleteItem: false,
    showPostProcessingDialog: { description: expect.stringContaining('plus tard') },
  })
})
