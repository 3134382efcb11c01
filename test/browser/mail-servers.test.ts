import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { listFeedback } from '../../src/db/feedback-reports.ts'
import { importNetworks } from '../../src/processes/import-networks.ts'
import { runDecideAgain } from '../../src/reports/decide-again.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { analyzeReports } from '../support/judge.ts'
import { relayedMessage, sampleNetworks } from '../support/messages.ts'
import { parser } from '../support/parser.ts'
import { faultsOf } from './axe.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite({ ORIGIN_CONFIDENCE_MIN: '0.7' }))
const browser = await closeAfterTests(startChromium())
await importNetworks(sampleNetworks, site.app)

/** Set to a folder, keeps pictures of the pages there. */
const folder = process.env['PICTURES_FOLDER']

const analyze = (id: string) => analyzeReports({ ...site.app, parser }, [id])

async function look(page: Page, name: string): Promise<void> {
  expect(await faultsOf(page)).toEqual([])
  const width = await page.evaluate('document.documentElement.scrollWidth')
  expect(width).toBe(page.viewportSize()?.width)
  if (folder !== undefined) {
    await page.screenshot({ path: path.join(folder, `mail-servers-${name}.png`), fullPage: true })
  }
}

async function signIn(page: Page, person: { email: string; password: string }): Promise<void> {
  await page.goto(`${site.url}/sign-in`)
  await signInHere(page, person)
}

/** A message that came through a border of another domain. */
const spam = (mark: string) =>
  Buffer.from(relayedMessage(mark).toString().replaceAll('relay.provider', 'mx.hoster'))

test.for([
  ['wide', { viewport: { width: 1280, height: 900 } }],
  ['narrow', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
] as const)(
  'an operator’s word ends the questions of a domain, on a %s screen',
  async ([name, options]) => {
    const domain = `${name}.example`
    const operator = await site.addPerson(`operator@${name}.test`, { role: 'operator' })
    const you = await site.addPerson(`ann@${domain}`)
    const asked = await site.report(you, spam(name))
    await analyze(asked)
    const { page, complaints } = await openPage(browser, options)
    await signIn(page, operator)
    const startedAt = performance.now()
    await page.goto(`${site.url}/admin`)
    await page.goto(`${site.url}/admin/mail-servers`)
    await look(page, `1-empty-${name}`)
    await page.fill('input[type=text][name=domain]', domain)
    await page.fill('input[type=text][name=host]', '192.0.2.0')
    await page.fill('input[type=text][name=note]', 'The filter in front of the mailboxes')
    await page.click('button[value=add]')
    await page.fill('input[type=text][name=domain]', domain)
    await page.fill('input[type=text][name=host]', 'no host')
    await page.click('button[value=add]')
    await look(page, `2-refused-${name}`)
    await page.fill('input[type=text][name=host]', '192.0.2.10')
    await page.click('button[value=add]')
    expect(await page.textContent('main')).toContain('The reports of 1 account are decided again.')
    await look(page, `3-added-${name}`)
    const seconds = (performance.now() - startedAt) / 1_000
    await runDecideAgain({ reporterId: you.id }, site.app)
    await analyze(asked)
    const { page: own, complaints: others } = await openPage(browser, options)
    await signIn(own, you)
    await own.goto(`${site.url}/reports/${asked}`)
    expect(await own.locator('#question').count()).toBe(0)
    expect(await listFeedback(site.app.pool, [asked])).toHaveLength(1)
    await look(own, `4-answered-${name}`)
    await page.click('button[value=remove] >> nth=0')
    expect(await page.textContent('main')).toContain('Mail server removed.')
    if (folder !== undefined) console.log(`${name}: ${seconds.toFixed(1)} s`)
    // The browser says that a form was refused.
    expect([complaints.length, others]).toEqual([1, []])
  },
)
