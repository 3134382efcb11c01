import { expect, test } from 'vitest'
import { runPublishLists } from '../../src/lists/publish-lists.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests, makeTestFolder } from '../support/after-tests.ts'
import { know } from '../support/listed.ts'
import { openPage, startChromium } from './chromium.ts'

const folder = await makeTestFolder()
const site = await closeAfterTests(startWebSite({ LISTS_DIR: folder, LISTS_PUBLIC: 'yes' }))
const browser = await closeAfterTests(startChromium())
const at = new Date()
await know(site.app.pool, [
  { kind: 'address', name: '192.0.2.7', bad: 300, at },
  { kind: 'link-host', name: 'www.very-long-name-of-a-bad-shop.bad.example', bad: 30, at },
])
await runPublishLists(site.app)

const visitors = [
  ['in English', { locale: 'en-GB' }, 'is listed.', 'A person will read your request.'],
  [
    'in French',
    { locale: 'fr-FR' },
    'figure sur nos listes.',
    'Une personne examinera votre demande.',
  ],
  [
    'without JavaScript, on a narrow dark screen',
    {
      locale: 'en-GB',
      javaScriptEnabled: false,
      colorScheme: 'dark',
      viewport: { width: 320, height: 700 },
    },
    'is listed.',
    'A person will read your request.',
  ],
] as const

test.for(visitors)(
  'a visitor %s looks up a name, requests delisting, and sees its state',
  async (visitor) => {
    const [, options, listed, waits] = visitor
    const { page, complaints } = await openPage(browser, options)
    await page.goto(site.url)
    await page.click('footer a[href="/lookup"]')
    await page.fill('#q', '192[.]0[.]2[.]7')
    await page.click('main button[type=submit]')
    expect(await page.textContent('main')).toContain(`192.0.2.7 ${listed}`)
    await page.click('main a[role=button]')
    await page.fill('#asker', 'Ann, who runs the machine')
    await page.fill('#contact', 'ann@host.example')
    await page.fill('#done', 'The account was stolen; it is closed.')
    await page.click('main button[type=submit]')
    expect(new URL(page.url()).pathname).toMatch(/^\/lookup\/delist\/[\w-]{32}$/)
    expect(await page.textContent('main')).toContain(waits)
    expect(await page.textContent('main')).not.toContain('ann@host.example')
    expect(complaints).toEqual([])
  },
)

test('no page about lists is wider than a narrow screen, and every field has a name', async () => {
  const { page, complaints } = await openPage(browser, { viewport: { width: 320, height: 700 } })
  const host = 'www.very-long-name-of-a-bad-shop.bad.example'
  const paths = ['/lookup', `/lookup?q=${host}`, `/lookup/delist?list=hosts&name=${host}`, '/lists']
  for (const where of paths) {
    await page.goto(`${site.url}${where}`)
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect([where, width]).toEqual([where, 320])
    const nameless = await page.evaluate(
      `[...document.querySelectorAll('input:not([type=hidden]), textarea, select')]
         .filter((field) => field.labels.length === 0).map((field) => field.name)`,
    )
    expect([where, nameless]).toEqual([where, []])
    expect(await page.locator('h1').count()).toBe(1)
  }
  expect(complaints).toEqual([])
})
