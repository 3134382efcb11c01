import { expect, test } from 'vitest'
import { packFacts } from '../../src/verdict/facts/facts.ts'
import { uuidv7 } from '../../src/world.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { keepJudgedFacts } from '../support/judged-facts.ts'
import { ruleText } from '../support/rule-facts.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
const browser = await closeAfterTests(startChromium())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const facts = packFacts({
  report: { kind: 'spam', karma: 1 },
  message: { kind: 'message' },
  links: { count: 3 },
})
const at = new Date()
await keepJudgedFacts(site.app.pool, [{ id: uuidv7(at), at, facts }])

test.for([
  ['a wide screen', { viewport: { width: 1280, height: 900 } }],
  ['a narrow dark screen', { colorScheme: 'dark', viewport: { width: 320, height: 700 } }],
  ['a screen without JavaScript', { javaScriptEnabled: false }],
] as const)('rules are edited, tested and applied on %s', async ([, options]) => {
  const { page, complaints } = await openPage(browser, options)
  await page.goto(`${site.url}/admin/rules`)
  await signInHere(page, admin)
  const fits = () =>
    page.locator('html').evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)
  const button = (name: string) => page.getByRole('button', { name }).click()
  expect(await fits()).toBe(true)
  await page.getByRole('link', { name: 'Facts' }).click()
  expect(await fits()).toBe(true)
  await page.goto(`${site.url}/admin/rules`)
  await page.getByRole('link', { name: 'Edit' }).click()
  const rules = page.getByRole('textbox', { name: 'Rules' })
  const acting = await rules.inputValue()
  // `fill` takes half a minute for a thousand lines.
  const edit = (text: string) =>
    rules.evaluate((one, edited) => {
      Object.assign(one, { value: edited }).dispatchEvent(new Event('input', { bubbles: true }))
    }, text)
  await edit(`${acting}\n${ruleText('MANY_LINKS', 'lnks.count > 2')}`)
  if (!('javaScriptEnabled' in options)) {
    // Checked while a person writes, with a mark at the number of the line.
    expect(await page.locator('.check-state li').textContent()).toContain('Did you mean')
    const line = acting.split('\n').length + 4
    expect(await page.locator('.numbered mark').textContent()).toBe(String(line))
    await page.getByRole('button', { name: `Line ${line}` }).click()
    const selected = await rules.evaluate((one) => {
      const area = one as unknown as { value: string; selectionStart: number; selectionEnd: number }
      return area.value.slice(area.selectionStart, area.selectionEnd)
    })
    expect(selected).toContain('when: lnks.count')
    expect(await fits()).toBe(true)
  }
  await button('Check')
  const alert = page.getByRole('alert')
  expect(await alert.textContent()).toContain('Did you mean links.count?')
  expect(await rules.getAttribute('aria-invalid')).toBe('true')
  expect(await fits()).toBe(true)
  await edit(`${acting}\n${ruleText(`MANY_LINKS_${Date.now()}`, 'links.count > 2', -9)}`)
  await button('Test on past reports')
  expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe(
    'Test on the last report',
  )
  expect(await page.locator('pre[tabindex]').textContent()).toContain('+ MANY_LINKS')
  expect(await fits()).toBe(true)
  await button('Apply')
  // A slow browser shows the beginning of the long table before the rest has arrived.
  await page.waitForURL(/\/admin\/rules\?done=\d+$/)
  expect(await page.getByRole('status').textContent()).toContain('applied')
  expect(await page.locator('tbody').textContent()).toContain('MANY_LINKS')
  await page.getByRole('link', { name: 'Versions', exact: true }).click()
  expect(await fits()).toBe(true)
  await page.click('tbody a')
  expect(await fits()).toBe(true)
  // The browser itself logs that the request with the faulty text was refused.
  expect(complaints).toEqual([expect.stringContaining('422')])
  await page.context().close()
})
