import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { importNetworks } from '../../src/processes/import-networks.ts'
import type { Resolve } from '../../src/world.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { analyzeReports } from '../support/judge.ts'
import { lettersTo, realLetter } from '../support/letters.ts'
import { relayedMessage, sampleNetworks } from '../support/messages.ts'
import { parser } from '../support/parser.ts'
import { faultsOf } from './axe.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const env = { SMTP_URL: 'smtp://127.0.0.1:9', RETURN_PATH_DOMAIN: 'bounces.test.example' }
const site = await closeAfterTests(startWebSite({ ...env, ORIGIN_CONFIDENCE_MIN: '0.7' }))
const browser = await closeAfterTests(startChromium())
await importNetworks(sampleNetworks, site.app)

/** Set to a folder, keeps pictures of the pages there. */
const folder = process.env['PICTURES_FOLDER']

const ours = '203.0.113.99'
const resolve: Resolve = async (name, type) =>
  type === 'TXT' && name === env.RETURN_PATH_DOMAIN
    ? { is: 'found', records: [`v=spf1 ip4:${ours} -all`] }
    : { is: 'none' }

const analyze = (id: string) =>
  analyzeReports({ ...site.app, parser, dns: { resolve, listings: async () => [] } }, [id])

/** The lines above a letter, as the reporter's side writes them. */
const way = [
  `Received: from relay.provider.example (relay.provider.example [192.0.2.10])`,
  ' by mx.home.example (Postfix) with ESMTPS id 4AB1; Mon, 16 Nov 2026 10:00:02 +0000',
  `Received: from relay.test.example (relay.test.example [${ours}])`,
  ' by relay.provider.example (Postfix) with ESMTPS id 4AB0; Mon, 16 Nov 2026 10:00:01 +0000',
  '',
].join('\r\n')

async function look(page: Page, name: string): Promise<void> {
  expect(await faultsOf(page)).toEqual([])
  if (folder !== undefined) {
    await page.screenshot({ path: path.join(folder, `probe-${name}.png`), fullPage: true })
  }
}

test.for([
  ['wide', { viewport: { width: 1280, height: 900 } }],
  ['narrow', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
] as const)(
  'a reporter lets a test letter answer a question, on a %s screen',
  async ([name, options]) => {
    const you = await site.addPerson(`${name}@reporters.example`)
    const { page, complaints } = await openPage(browser, options)
    const asked = await site.report(you, relayedMessage(name))
    await analyze(asked)
    await page.goto(`${site.url}/sign-in`)
    await signInHere(page, you)
    const startedAt = performance.now()
    await page.goto(`${site.url}/reports/${asked}`)
    await look(page, `1-question-${name}`)
    await page.click('#question a[href="/relays#probe"]')
    await look(page, `2-relays-${name}`)
    await page.click('#probe button')
    await page.waitForURL(/\/relays\?done=sent$/)
    expect(await page.textContent('main .note[role=status]')).toContain(you.email)
    await look(page, `3-sent-${name}`)
    const [letter] = await lettersTo(site.app.pool, you.email)
    const raw = await realLetter(site.app.pool, letter?.id ?? '')
    const buffer = Buffer.concat([Buffer.from(way), raw])
    await page.goto(`${site.url}/report`)
    const file = { name: 'test.eml', mimeType: 'message/rfc822', buffer }
    await page.setInputFiles('#messages', [file])
    await page.click('main form[action="/report"] button[type=submit]')
    await page.waitForSelector('main .results a[href^="/reports/"]')
    // Only a newcomer without a test letter gets the offer.
    expect(await page.locator('main a[href="/relays#probe"]').count()).toBe(0)
    const link = await page.getAttribute('main .results a[href^="/reports/"]', 'href')
    const id = link?.split('/').at(-1) ?? ''
    await analyze(id)
    await analyze(id)
    await page.goto(`${site.url}/reports/${id}`)
    expect(await page.textContent('main')).toContain('We now know 1 mail server')
    expect(await page.textContent('main')).toContain('It is one of our messages')
    await look(page, `4-taken-${name}`)
    await page.goto(`${site.url}/relays`)
    expect(await page.textContent('main')).toContain('relay.provider.example receives your mail')
    await look(page, `5-found-${name}`)
    await page.click('#probe button[value=forget]')
    await page.waitForSelector('#probe button[value=forget]', { state: 'detached' })
    await analyze(asked)
    await page.goto(`${site.url}/reports/${asked}`)
    expect(await page.locator('#question').count()).toBe(0)
    await look(page, `6-answered-${name}`)
    const seconds = (performance.now() - startedAt) / 1_000
    if (folder !== undefined) console.log(`${name}: ${seconds.toFixed(1)} s`)
    expect(complaints).toEqual([])
  },
)
