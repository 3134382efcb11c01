import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/after-tests.ts'
import { sampleMessage, startWebSite } from '../db/web/web-site.ts'
import { clickThrough, openPage, signInHere, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())
const ann = await site.addPerson('ann@reporters.example')
const phone = { viewport: { width: 360, height: 640 } }

async function signIn(page: Page): Promise<void> {
  await page.goto(`${site.url}/sign-in?next=/reports`)
  await signInHere(page, ann)
}

/** Signs out and in again in another tab, so that the forms of other tabs are out of date. */
async function signInElsewhere(page: Page): Promise<void> {
  const other = await page.context().newPage()
  await other.goto(`${site.url}/reports`)
  await clickThrough(other, 'form[action="/sign-out"] button')
  await signIn(other)
  await other.close()
}

/** The text of the focused element, and whether all of it is visible. */
async function focused(page: Page): Promise<{ role: string; text: string; isInView: boolean }> {
  await page.waitForSelector('main [role]:focus')
  return page.evaluate(`(() => {
    const one = document.activeElement
    const { top, bottom } = one.getBoundingClientRect()
    const isInView = top >= 0 && bottom <= innerHeight
    return { role: one.getAttribute('role') ?? '', text: one.innerText.trim(), isInView }
  })()`)
}

const visitors: [string, BrowserContextOptions][] = [
  ['with JavaScript', phone],
  ['without JavaScript', { ...phone, javaScriptEnabled: false }],
]

test.for(visitors)(
  'a report survives that its reporter signs in again in another tab, %s',
  async ([mark, options]) => {
    const { page } = await openPage(browser, options)
    await signIn(page)
    await page.goto(`${site.url}/report`)
    await page.click('details:has(#raw) > summary')
    const pasted = sampleMessage(`pasted ${mark}`).toString()
    await page.fill('#raw', pasted)
    await page.fill('#comment', 'They call every day.')
    await page.check('input[name=kind][value=phishing]')
    const file = sampleMessage(`file ${mark}`)
    const mimeType = 'message/rfc822'
    await page.setInputFiles('#messages', { name: 'one.eml', mimeType, buffer: file })
    await signInElsewhere(page)
    await page.click('#report button[type=submit]')
    await page.waitForSelector('main [role=alert]')
    expect((await page.inputValue('#raw')).trim()).toBe(pasted.trim().replaceAll('\r\n', '\n'))
    expect(await page.inputValue('#comment')).toBe('They call every day.')
    expect(await page.isChecked('input[name=kind][value=phishing]')).toBe(true)
    expect(await page.textContent('main')).toContain('one.eml')
    await page.click('#report button[type=submit]')
    await page.waitForSelector('main .results')
    const subjects = await page.locator('main .results bdi').allTextContents()
    expect(subjects).toEqual([`Cheap watches pasted ${mark}`, `Cheap watches file ${mark}`])
    await page.context().close()
  },
)

test('a form of settings is shown with its labels, and sent with one click', async () => {
  const { page } = await openPage(browser, phone)
  await signIn(page)
  await page.goto(`${site.url}/relays`)
  await page.fill('#cidr', '192.0.2.77')
  await signInElsewhere(page)
  await page.click('form:has(#cidr) button[type=submit]')
  expect(await page.textContent('h1')).toBe('Send your form now')
  const facts = await page.locator('main dl.facts').innerText()
  expect(facts.split(/\s*\n\s*/)).toEqual(['Address or block', '192.0.2.77'])
  await page.click('main form button[type=submit]')
  expect(await page.textContent('main table')).toContain('192.0.2.77')
  const saved = { role: 'status', text: 'Your mail servers were saved.', isInView: true }
  expect(await focused(page)).toEqual(saved)
  await page.context().close()
})

test('what a form did is said at the top of a phone, and has the focus', async () => {
  const { page, complaints } = await openPage(browser, phone)
  await signIn(page)
  const said: unknown[] = []
  const send = async (at: string, button: string, fill?: [string, string]) => {
    await page.goto(`${site.url}${at}`)
    if (fill) await page.fill(...fill)
    await page.click(button)
    const { role, text, isInView } = await focused(page)
    said.push([at, role, isInView, text.split('\n')[0]])
  }
  await send('/settings', 'button[value=save]')
  await send('/settings', 'button[value=address]')
  await send('/account/tokens', '.narrow button', ['#name', 'Mutt'])
  await send('/relays', 'button[value=add]', ['#cidr', '192.0.2.78'])
  await send('/relays', 'button[value=add]', ['#cidr', 'nothing'])
  const id = await site.report(ann, sampleMessage('taken back'))
  await send(`/reports/${id}/retract`, 'form[action$="/retract"] button')
  await send(`/reports/${id}`, 'form[action$="/restore"] button')
  const unreadable = 'Enter an address such as 192.0.2.7, or a block such as 192.0.2.0/24.'
  expect(said).toEqual([
    ['/settings', 'status', true, 'Saved.'],
    ['/settings', 'status', true, 'Your address is ready. Save it as a contact.'],
    ['/account/tokens', 'status', true, 'This is your new token. It is shown only now:'],
    ['/relays', 'status', true, 'Your mail servers were saved.'],
    ['/relays', 'alert', true, unreadable],
    [`/reports/${id}/retract`, 'status', true, 'You took this report back. It no longer counts.'],
    [`/reports/${id}`, 'status', true, 'You restored this report. It counts again.'],
  ])
  expect(complaints.filter((one) => !one.includes('status of 4'))).toEqual([])
  await page.context().close()
})
