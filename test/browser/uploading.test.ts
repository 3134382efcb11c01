import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { sampleMessage, startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { outlookFile } from '../support/containers/outlook-file.ts'
import { zipFile } from '../support/containers/zip-file.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '2000000' }))
const browser = await closeAfterTests(startChromium())
const ann = await site.addPerson('ann@reporters.example')

async function openForm(page: Page): Promise<void> {
  await page.goto(`${site.url}/sign-in?next=/report`)
  await signInHere(page, ann)
  await page.waitForSelector('#messages')
}

/** Drops files on the form, as from a file manager. */
async function drop(page: Page, files: readonly { name: string; text: string }[]): Promise<void> {
  await page.evaluate(`{
    const files = ${JSON.stringify(files)}
    const dataTransfer = new DataTransfer()
    for (const { name, text } of files) dataTransfer.items.add(new File([text], name))
    document.querySelector('#drop').dispatchEvent(
      new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
  }`)
}

test('files are dropped, listed, removed and sent with progress, and each has a line', async () => {
  const { page, complaints } = await openPage(browser, {})
  await openForm(page)
  await drop(page, [
    { name: 'dropped.eml', text: sampleMessage('dropped').toString() },
    { name: 'mistake.eml', text: sampleMessage('mistake').toString() },
    { name: 'huge.eml', text: 'x'.repeat(2_000_001) },
  ])
  expect(await page.textContent('.status')).toBe('huge.eml is bigger than 2 MB and was left out.')
  await page.getByRole('button', { name: 'Remove mistake.eml' }).press('Enter')
  await page.setInputFiles('#messages', [
    {
      name: 'all.zip',
      mimeType: 'application/zip',
      buffer: zipFile([{ name: 'in.eml', content: sampleMessage('in a zip') }]),
    },
    { name: 'sent.msg', mimeType: '', buffer: outlookFile({ text: 'never traveled' }) },
  ])
  expect(await page.locator('.files li').count()).toBe(3)
  await page.evaluate(`{
    window.seen = []
    new MutationObserver(() => window.seen.push([
      document.querySelector('.status')?.textContent,
      document.querySelector('progress')?.hidden === false]))
      .observe(document.querySelector('#report'),
        { subtree: true, childList: true, attributes: true })
  }`)
  await page.check('input[value=phishing]')
  await page.click('main button[type=submit]')
  await page.waitForSelector('.results')
  const lines = await page.locator('.results li').allTextContents()
  expect(lines.map((line) => line.replace(/\s+/g, ' ').trim().slice(0, 24))).toEqual([
    'Cheap watches droppedoff',
    'Cheap watches in a zipof',
    'sent.msg: This Outlook f',
  ])
  expect(await page.title()).toBe('Your report – Signalpost')
  expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN')
  const seen = JSON.stringify(await page.evaluate('window.seen'))
  expect(seen).toMatch(/\["Sending: \d+%",true\]/)
  const { rows } = await site.app.pool.query<{ kind: string }>('select kind from reports')
  expect(rows.map(({ kind }) => kind)).toEqual(['phishing', 'phishing'])
  expect(complaints).toEqual([])
})

test('an upload can be stopped, and sent again', async () => {
  const { page, complaints } = await openPage(browser, {})
  await openForm(page)
  await drop(page, [{ name: 'slow.eml', text: sampleMessage('slow').toString() }])
  let goOn: () => void = () => undefined
  const held = new Promise<void>((resolve) => (goOn = resolve))
  await page.route('**/report', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await held
    await route.abort().catch(() => undefined)
  })
  await page.click('main button[type=submit]')
  await page.getByRole('button', { name: 'Stop sending' }).click()
  expect(await page.textContent('.status')).toBe('Stopped. Nothing was reported.')
  goOn()
  await page.unroute('**/report')
  await page.click('main button[type=submit]')
  await page.waitForSelector('.results')
  expect(await page.locator('.results a[href^="/reports/"]').count()).toBe(1)
  expect(complaints).toEqual([])
})

test('the same form works without JavaScript, in French', async () => {
  const { page, complaints } = await openPage(browser, {
    locale: 'fr-FR',
    javaScriptEnabled: false,
  })
  await openForm(page)
  await page.setInputFiles('#messages', [
    {
      name: 'tout.zip',
      mimeType: 'application/zip',
      buffer: zipFile([{ name: 'un.eml', content: sampleMessage('sans script') }]),
    },
    { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('rien') },
  ])
  await page.click('main button[type=submit]')
  expect(await page.textContent('main')).toContain('Votre signalement a été enregistré')
  expect(await page.locator('.results li').count()).toBe(2)
  await page.click('.results a[href="/help"]')
  await page.click('a[href="/help/source/thunderbird"]')
  expect(await page.textContent('h1')).toBe('Enregistrer un message dans Thunderbird')
  expect(complaints).toEqual([])
})
