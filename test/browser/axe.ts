import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const options = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
}

const ask = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => ({
      rule: id, where: target.join(' '), why: failureSummary,
    })),
  ),
)`

const measure = `(() => {
  const faults = []
  const say = (rule, where, why) => faults.push({ rule, where, why })
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) say('reflow', 'html', scrollWidth + ' > ' + clientWidth)
  const dash = document.documentElement.lang === 'ru' ? '\u00a0—' : ' –'
  if (!document.title.endsWith(dash + ' Signalpost')) say('title', 'title', document.title)
  if (document.querySelectorAll('h1').length !== 1) say('h1', 'h1', 'not one')
  const text = 'p, dd, small, label, td, th, li:not(nav li)'
  const inText = (one) => one.matches('a') && one.closest(text)
  for (const one of document.querySelectorAll('a, button, input, select, textarea, summary')) {
    const { width, height } = one.getBoundingClientRect()
    if (width === 0 || inText(one) || one.classList.contains('skip')) continue
    // WCAG 2.5.8: the target of an element with a label is as large as its label, which it shares.
    const { width: w, height: h } = one.labels?.[0]?.contains(one)
      ? one.labels[0].getBoundingClientRect() : { width, height }
    if (Math.min(w, h) < 24) say('target', one.outerHTML.slice(0, 120), w + ' × ' + h)
  }
  return faults
})()`

/** An accessibility problem on a page. */
export type Fault = { rule: string; where: string; why: string }

/**
 * The problems that axe finds on the shown page by the rules of WCAG 2.2 AA and its own, and those
 * of `layoutFaultsOf`.
 */
export async function faultsOf(page: Page): Promise<Fault[]> {
  await page.evaluate(source)
  return [...((await page.evaluate(ask)) as Fault[]), ...(await layoutFaultsOf(page))]
}

/**
 * Reports a page wider than the screen, a missing title, more or less than one main heading, and
 * targets smaller than 24 pixels.
 */
export async function layoutFaultsOf(page: Page): Promise<Fault[]> {
  return (await page.evaluate(measure)) as Fault[]
}
