import { expect, test } from 'vitest'
import { runPublishLists } from '../../src/lists/publish-lists.ts'
import { spamMessage } from '../support/messages.ts'
import { Browser } from '../db/web/browser.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests, makeTestFolder } from '../support/after-tests.ts'
import { know } from '../support/listed.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const folder = await makeTestFolder()
const site = await closeAfterTests(startWebSite({ LISTS_DIR: folder, LISTS_PUBLIC: 'yes' }))
const browser = await closeAfterTests(startChromium())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const ann = await site.addPerson('ann@reporters.example')
for (const mark of ['one', 'two', 'three']) await site.report(ann, spamMessage(mark))
const names = [1, 2, 3, 4, 5].map((n) => `192.0.2.${n}`)
const at = new Date()
await know(
  site.app.pool,
  names.map((name) => ({ kind: 'address', name, bad: 300, at })),
)
await runPublishLists(site.app)
for (const name of names) {
  const wish = { asker: 'Ann', contact: 'ann@host.example', done: 'The account is closed.' }
  await new Browser(site.url).post('/lookup/delist', { list: 'addresses', name, ...wish })
}

async function openDesk(path: string, options = {}) {
  const { page, complaints } = await openPage(browser, options)
  await page.goto(`${site.url}/sign-in?next=${encodeURIComponent(path)}`)
  await signInHere(page, admin)
  await page.waitForURL((url) => url.pathname === path.split('?')[0])
  return { page, complaints }
}

test('a person goes through a list by keys, selects lines, and turns the keys off', async () => {
  const { page, complaints } = await openDesk('/admin/reports?q=kind:spam')
  const press = (key: string) => page.keyboard.press(key)
  const atHand = () => page.locator('.at-hand').textContent()
  await press('j')
  expect(await atHand()).toContain('three')
  await press('j')
  await press('x')
  expect(await atHand()).toContain('two')
  expect(await page.locator('[data-selected]').textContent()).toBe('(1 selected)')
  await press('k')
  expect(await atHand()).toContain('three')
  await page.getByLabel('Select all on this page').check()
  expect(await page.locator('tbody input:checked').count()).toBe(3)
  // A key in a field is a letter.
  await page.fill('[name=q]', '')
  await page.type('[name=q]', 'jx?')
  expect(await page.inputValue('[name=q]')).toBe('jx?')
  await page.locator('h1').click()
  await press('?')
  await page.getByLabel('Use these keys').uncheck()
  await page.getByRole('button', { name: 'Close' }).click()
  await press('j')
  expect(await atHand()).toContain('three')
  await press('?')
  await page.getByLabel('Use these keys').check()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.locator('h1').click()
  await press('j')
  await press('o')
  await page.waitForURL(/\/admin\/reports\/[0-9a-f-]{36}$/)
  // The list is as the person left it.
  await page.click('.menu a[href^="/admin/reports"]')
  expect(new URL(page.url()).search).toBe('?q=kind%3Aspam')
  expect(complaints).toEqual([])
})

test.for([
  ['with JavaScript', {}, ['192.0.2.1', '192.0.2.2'], 3],
  [
    'without JavaScript, on a narrow screen',
    { javaScriptEnabled: false, viewport: { width: 360, height: 700 } },
    ['192.0.2.3', '192.0.2.4'],
    1,
  ],
] as const)(
  'several delisting requests are decided together %s',
  async ([, options, chosen, left]) => {
    const { page } = await openDesk('/admin/delistings', options)
    expect(await page.locator('.decisions').textContent()).toContain('reported it for spam')
    for (const name of chosen) await page.getByLabel(`Select ${name}`).check()
    await page.click('.many summary')
    const refuse = () => page.locator('.many').getByRole('button', { name: 'Refuse' }).click()
    await refuse()
    // The answer is missing, so nothing was decided.
    expect(await page.getByRole('alert').first().textContent()).toContain('Write an answer')
    // What was selected still is, and the form is open.
    expect(await page.locator('.decisions input:checked').count()).toBe(chosen.length)
    for (const name of chosen)
      expect(await page.getByLabel(`Select ${name}`).isChecked()).toBe(true)
    await page.fill('.many textarea', 'The machine still sends spam.')
    await refuse()
    expect(await page.getByRole('status').first().textContent()).toContain(
      '2 requests were refused.',
    )
    expect(await page.locator('.decisions > li').count()).toBe(left)
  },
)
