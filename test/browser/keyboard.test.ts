import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/after-tests.ts'
import { startShownSite } from '../support/pages/shown-site.ts'
import { lookAtAll } from './all-pages.ts'
import { openPage, startChromium } from './chromium.ts'

const shown = await closeAfterTests(startShownSite())
const browser = await closeAfterTests(startChromium())

/** The number of focusable elements on a page, radio buttons with one name counted once. */
const reachable = `(() => {
  const names = new Set()
  return [...document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]',
  )].filter((one) => {
    if (one.disabled || !one.checkVisibility()) return false
    if (one.closest('details:not([open]) > :not(summary)')) return false
    if (one.type !== 'radio') return true
    const isNew = !names.has(one.name)
    names.add(one.name)
    return isNew
  }).length
})()`

/** The focused element, its position on the page, and whether it is visible. */
const focused = `(() => {
  const one = document.activeElement
  if (one === null || one === document.body) return null
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one)
  const { top, bottom, left, right, width } = one.getBoundingClientRect()
  const isShown = (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) || boxShadow !== 'none'
  const isInView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth && width > 0
  const place = [...document.querySelectorAll('*')].indexOf(one)
  return { place, isShown, isInView, where: one.outerHTML.slice(0, 100) }
})()`

type Focus = { place: number; isShown: boolean; isInView: boolean; where: string }

/** Moves through a page with the Tab key alone, from its beginning until the focus leaves it. */
async function walkThrough(page: Page): Promise<{ fault: string; where: string }[]> {
  const count = (await page.evaluate(reachable)) as number
  // Starts at the first element, because an alert may have the focus.
  await page.focus('.skip')
  const faults: { fault: string; where: string }[] = []
  const places = [((await page.evaluate(focused)) as Focus).place]
  for (let presses = 0; presses < count + 40; presses++) {
    await page.keyboard.press('Tab')
    const focus = (await page.evaluate(focused)) as Focus | null
    // The parts of a date count as one field.
    if (focus?.place === places.at(-1)) continue
    if (focus === null || places.includes(focus.place)) break
    places.push(focus.place)
    if (!focus.isShown) faults.push({ fault: 'the focus does not show', where: focus.where })
    if (!focus.isInView) faults.push({ fault: 'it is out of sight', where: focus.where })
  }
  const isInOrder = places.every((place, at) => at === 0 || place > (places[at - 1] ?? 0))
  if (!isInOrder) faults.push({ fault: 'another order than on the page', where: places.join(' ') })
  if (places.length < count) {
    faults.push({ fault: 'not all is reached', where: `${places.length} of ${count}` })
  }
  return faults
}

test.for(['stranger', 'reporter'] as const)(
  'the Tab key reaches all controls of a %s, in order and visibly',
  async (viewer) => {
    const options = { viewport: { width: 1000, height: 800 }, javaScriptEnabled: true }
    const { found } = await lookAtAll(browser, shown, { viewer, options }, walkThrough)
    expect(found).toEqual([])
  },
)

test('the first Tab leads to the link that skips the header', async () => {
  const { page } = await openPage(browser, {})
  await page.goto(`${shown.site.url}/`)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.className')).toBe('skip')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(`document.activeElement.closest('main') !== null`)).toBe(true)
})

test('after a refused form the focus is on the error', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const { page } = await openPage(browser, { javaScriptEnabled })
    await page.goto(`${shown.site.url}/sign-in`)
    await page.focus('#email')
    await page.keyboard.type('nobody@reporters.example')
    await page.keyboard.press('Tab')
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await page.waitForSelector('main [role=alert]')
    expect(await page.locator('main [role=alert]:focus').count()).toBe(1)
  }
})

test('a password can be pasted, and no puzzle is required', async () => {
  const { page } = await openPage(browser, {})
  await page.goto(`${shown.site.url}/sign-in`)
  const field = page.locator('#password')
  await field.focus()
  await page.keyboard.insertText('pasted from a password manager')
  expect(await field.inputValue()).toBe('pasted from a password manager')
  expect(await field.getAttribute('autocomplete')).toBe('current-password')
  expect(await page.getAttribute('#email', 'autocomplete')).toBe('username')
})
