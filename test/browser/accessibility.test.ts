import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pages, type Viewer } from '../support/pages/page-list.ts'
import { type ShownSite, startShownSite } from '../support/pages/shown-site.ts'
import { faultsOf } from './axe.ts'
import { openPage, startChromium } from './chromium.ts'

let shown: ShownSite
let browser: Browser

beforeAll(async () => {
  shown = await startShownSite()
  browser = await startChromium()
})
afterAll(async () => {
  await browser.close()
  await shown.close()
})

const wide = { viewport: { width: 1280, height: 900 } }
const narrow = { viewport: { width: 320, height: 700 } }

const screens = {
  'in English on a wide light screen': { ...wide, locale: 'en-GB', colorScheme: 'light' },
  'in French on a narrow light screen': { ...narrow, locale: 'fr-FR', colorScheme: 'light' },
  'in Russian on a narrow dark screen': { ...narrow, locale: 'ru-RU', colorScheme: 'dark' },
  'in Russian on a wide dark screen': { ...wide, locale: 'ru-RU', colorScheme: 'dark' },
} as const

type Screen = keyof typeof screens

const runs: { viewer: Viewer; screen: Screen }[] = [
  ...(Object.keys(screens) as Screen[]).flatMap((screen) => [
    { viewer: 'stranger' as const, screen },
    { viewer: 'reporter' as const, screen },
  ]),
  { viewer: 'administrator', screen: 'in English on a wide light screen' },
  { viewer: 'administrator', screen: 'in Russian on a narrow dark screen' },
]

async function signIn(page: Page, viewer: Viewer): Promise<void> {
  if (viewer === 'stranger') return
  const person = viewer === 'reporter' ? shown.ann : shown.admin
  await page.goto(`${shown.site.url}/sign-in`)
  await page.fill('#email', person.email)
  await page.fill('#password', person.password)
  await page.click('main button[type=submit]')
}

test.for(runs)(
  'axe finds nothing on the pages of a $viewer $screen',
  { timeout: 300_000 },
  async (run) => {
    const { page, complaints } = await openPage(browser, screens[run.screen])
    await signIn(page, run.viewer)
    const faults: unknown[] = []
    for (const { at } of pages.filter(({ viewer }) => viewer === run.viewer)) {
      for (const address of at(shown)) {
        await page.goto(`${shown.site.url}${address}`)
        for (const fault of await faultsOf(page)) faults.push({ address, ...fault })
      }
    }
    expect(faults).toEqual([])
    // A refused form answers with a status that the console tells of.
    expect(complaints.filter((one) => !one.includes('status of 4'))).toEqual([])
  },
)
