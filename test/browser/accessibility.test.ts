import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/after-tests.ts'
import type { Viewer } from '../support/pages/page-list.ts'
import { startShownSite } from '../support/pages/shown-site.ts'
import { lookAtAll } from './all-pages.ts'
import { faultsOf, layoutFaultsOf } from './axe.ts'
import { openPage, startChromium } from './chromium.ts'

const shown = await closeAfterTests(startShownSite())
const browser = await closeAfterTests(startChromium())

const wide = { viewport: { width: 1280, height: 900 } }
const narrow = { viewport: { width: 320, height: 700 } }

/**
 * Axe reads roles, names, colors and structure, which differ by color scheme and barely by language
 * and width: two screens are enough for it. The layout is measured on all four.
 */
const screens = {
  'in English on a wide light screen': { ...wide, locale: 'en-GB', colorScheme: 'light' },
  'in French on a narrow light screen': { ...narrow, locale: 'fr-FR', colorScheme: 'light' },
  'in Russian on a narrow dark screen': { ...narrow, locale: 'ru-RU', colorScheme: 'dark' },
  'in Russian on a wide dark screen': { ...wide, locale: 'ru-RU', colorScheme: 'dark' },
} as const

type Screen = keyof typeof screens

const seenByAxe: readonly Screen[] = [
  'in English on a wide light screen',
  'in Russian on a narrow dark screen',
]
const viewers: readonly Viewer[] = ['stranger', 'reporter', 'administrator']
const runs = (Object.keys(screens) as Screen[])
  .flatMap((screen) => viewers.map((viewer) => ({ viewer, screen })))
  // The pages for administrators are only in English.
  .filter(({ viewer, screen }) => viewer !== 'administrator' || !screen.includes('French'))

test.concurrent.for(runs)(
  'the pages of a $viewer $screen have no problem',
  async ({ viewer, screen }, { expect }) => {
    const look = seenByAxe.includes(screen) ? faultsOf : layoutFaultsOf
    const seen = await lookAtAll(browser, shown, { viewer, options: screens[screen] }, look)
    expect(seen).toEqual({ found: [], complaints: [] })
  },
)

test('axe does find a problem', async () => {
  const { page } = await openPage(browser, {})
  await page.goto(`${shown.site.url}/sign-in`)
  await page.evaluate(`(() => {
    document.querySelector('label').remove()
    document.querySelector('h1').outerHTML = '<p id="gray">Hard to read</p>'
    document.querySelector('#gray').style.color = '#ddd'
    document.documentElement.lang = ''
  })()`)
  const rules = (await faultsOf(page)).map(({ rule }) => rule)
  expect(rules).toEqual(expect.arrayContaining(['label', 'color-contrast', 'html-has-lang', 'h1']))
})

/** The largest text spacing that users may set (WCAG 1.4.12), and the largest text size (1.4.4). */
const stretches = {
  'with its text spaced out': `* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
    word-spacing: 0.16em !important } p { margin-bottom: 2em !important }`,
  'with its text twice as large': 'html { font-size: 200% !important }',
} as const

const overflow = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  const faults = scrollWidth > clientWidth ? [{ where: 'page', by: scrollWidth - clientWidth }] : []
  for (const one of document.querySelectorAll('main *, header *, footer *')) {
    const { overflowX, overflowY } = getComputedStyle(one)
    const isCut = (overflowX === 'hidden' && one.scrollWidth > one.clientWidth + 1) ||
      (overflowY === 'hidden' && one.scrollHeight > one.clientHeight + 1)
    if (!isCut || one.closest('svg, .unseen')) continue
    faults.push({ where: one.outerHTML.slice(0, 100), by: 0 })
  }
  return faults
})()`

test.concurrent.for(
  (['stranger', 'reporter'] as const).flatMap((viewer) =>
    (Object.keys(stretches) as (keyof typeof stretches)[]).map((how) => ({ viewer, how })),
  ),
)('no text of a $viewer’s pages is cut or lost $how', async (run, { expect }) => {
  const options = { viewport: { width: 640, height: 700 }, locale: 'ru-RU', bypassCSP: true }
  const look = async (page: Page) => {
    await page.addStyleTag({ content: stretches[run.how] })
    return (await page.evaluate(overflow)) as { where: string; by: number }[]
  }
  const { found } = await lookAtAll(browser, shown, { viewer: run.viewer, options }, look)
  expect(found).toEqual([])
})

const clipped = `[...document.querySelectorAll('main .scroll')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => ({ where: one.outerHTML.slice(0, 100) }))`

test('no list of a reporter is cut on a phone', async () => {
  const options = { viewport: { width: 360, height: 700 }, locale: 'fr-FR' }
  const look = async (page: Page) => (await page.evaluate(clipped)) as { where: string }[]
  const { found } = await lookAtAll(browser, shown, { viewer: 'reporter', options }, look)
  expect(found).toEqual([])
})
