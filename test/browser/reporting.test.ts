import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { relayedMessage } from '../support/messages.ts'
import { sampleMessage, startWebSite, type Person } from '../db/web/web-site.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'
import { analyzeReports } from '../support/judge.ts'

const site = await closeAfterTests(startWebSite({ ORIGIN_CONFIDENCE_MIN: '1' }))
const parser = await closeAfterTests(createParserPool(1))
const browser = await closeAfterTests(startChromium())
const ann = await site.addPerson('ann@reporters.example')
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })

async function signIn(page: Page, person: Person, path: string): Promise<void> {
  await page.goto(`${site.url}/sign-in?next=${encodeURIComponent(path)}`)
  await signInHere(page, person)
}

const visitors = [
  ['in English', { locale: 'en-GB' }, 'Your report has been recorded', 'You took this report back'],
  [
    'in French',
    { locale: 'fr-FR' },
    'Votre signalement a été enregistré',
    'Vous avez retiré ce signalement',
  ],
  [
    'without JavaScript',
    { locale: 'en-GB', javaScriptEnabled: false },
    'Your report has been recorded',
    'You took this report back',
  ],
  [
    'on a narrow dark screen',
    { locale: 'fr-FR', colorScheme: 'dark', viewport: { width: 320, height: 700 } },
    'Votre signalement a été enregistré',
    'Vous avez retiré ce signalement',
  ],
] as const

test.for(visitors)('a visitor %s signs in, reports and retracts', async (visitor) => {
  const [mark, options, recorded, takenBack] = visitor
  const { page, complaints } = await openPage(browser, options)
  await signIn(page, ann, '/report')
  expect(new URL(page.url()).pathname).toBe('/report')
  await page.click('details:has(#raw) > summary')
  await page.fill('#raw', sampleMessage(`pasted ${mark}`).toString())
  await page.setInputFiles('#messages', [
    { name: 'one.eml', mimeType: 'message/rfc822', buffer: sampleMessage(`file ${mark}`) },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('not a mail') },
  ])
  await page.click('main button[type=submit]')
  // The form marks the bad file itself before.
  await page.waitForSelector('main .results .badge.bad')
  expect(await page.textContent('main')).toContain(recorded)
  expect(await page.locator('main .results a[href^="/reports/"]').count()).toBe(2)
  expect(await page.locator('main .results .badge.bad').count()).toBe(1)
  await page.click('main .results a[href^="/reports/"]')
  expect(await page.textContent('h1')).toContain(`Cheap watches pasted ${mark}`)
  await page.click('main a[href$="/retract"]')
  await page.click('main form[action$="/retract"] button')
  expect(await page.textContent('main .headline')).toContain(takenBack)
  expect(complaints).toEqual([])
})

/**
 * Reports a message that came through an unknown relay, so that its origin is uncertain, and has it
 * analyzed.
 */
async function askedReport(mark: string, raw = relayedMessage(mark)): Promise<string> {
  const answer = await fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    body: raw,
    headers: { authorization: ann.basic, 'content-type': 'message/rfc822' },
  })
  const { id } = (await answer.json()) as { id: string }
  await analyze(id)
  return id
}

function analyze(reportId: string) {
  return analyzeReports({ ...site.app, parser }, [reportId])
}

test.for(visitors)('a visitor %s sees the route as a picture', async ([mark, options]) => {
  // A user of the relay submitted it, so the relay is the origin.
  const raw = relayedMessage(`picture ${mark}`)
    .toString()
    .replace('ESMTPS id 4ABD', 'ESMTPSA id 4ABD')
  const id = await askedReport(`picture ${mark}`, Buffer.from(raw))
  const { page, complaints } = await openPage(browser, options)
  await signIn(page, ann, `/reports/${id}`)
  await page.goto(`${site.url}/reports/${id}`)
  await page.click('#technical > summary')
  const stations = page.locator('ol.walk > li')
  const kinds = await page.evaluate(
    `[...document.querySelectorAll('ol.walk > li')].map((one) => one.className)`,
  )
  expect(kinds).toEqual(['mailbox', 'ours', 'origin', 'border', 'claimed'])
  expect(await stations.nth(2).textContent()).toContain('relay.provider.example')
  const marks = await page.evaluate(
    `[...document.querySelectorAll('ol.walk .machine')].map((machine) => {
       const { borderRadius, transform, borderTopStyle } = getComputedStyle(machine, '::before')
       return [borderRadius, transform, borderTopStyle].join(' ')
     })`,
  )
  // The four marks (the mailbox, one of our machines, the origin and a claim) differ without color.
  expect(new Set(marks as string[]).size).toBe(4)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(
    await page.evaluate('document.documentElement.clientWidth'),
  )
  expect(complaints).toEqual([])
})

test('the question is answered by keyboard, and the report is analyzed again', async () => {
  const id = await askedReport('question')
  const { page, complaints } = await openPage(browser, {})
  await signIn(page, ann, '/sign-in')
  await page.goto(`${site.url}/reports`)
  await page.click('main a[href$="#question"]')
  expect(await page.textContent('#question')).toContain('relay.provider.example')
  await page.getByRole('button', { name: 'Yes' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/reports/${id}?done=1`)
  expect(await page.locator('#question').count()).toBe(0)
  await analyze(id)
  await page.reload()
  expect(await page.locator('li.origin').textContent()).toContain('198.51.100.23')
  await page.goto(`${site.url}/settings`)
  await page.click('main a[href="/relays"]')
  expect(await page.textContent('main table')).toContain('192.0.2.10')
  await page.getByRole('button', { name: /Remove 192\.0\.2\.10/ }).click()
  expect(await page.locator('main table').count()).toBe(0)
  expect(complaints).toEqual([])
})

const publicPaths = ['/', '/sign-in', '/problems', '/report', '/reports', '/relays']
const adminPaths = ['/admin', '/admin/reports', '/admin/outbox', '/admin/dead-letters']

test('no page is wider than a narrow screen, and every field has a name', async () => {
  const { page, complaints } = await openPage(browser, { viewport: { width: 320, height: 700 } })
  await signIn(page, admin, '/sign-in')
  for (const path of [...publicPaths, ...adminPaths]) {
    await page.goto(`${site.url}${path}`)
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect([path, width]).toEqual([path, 320])
    const nameless = await page.evaluate(
      `[...document.querySelectorAll('input:not([type=hidden]), textarea, select')]
         .filter((field) => field.labels.length === 0 && !field.ariaLabel)
         .map((field) => field.name)`,
    )
    expect([path, nameless]).toEqual([path, []])
    expect(await page.title()).toMatch(/.+ – Signalpost$/)
    expect(await page.locator('h1').count()).toBe(1)
  }
  expect(complaints).toEqual([])
})

test('the keyboard alone reaches the content and shows where it is', async () => {
  const { page } = await openPage(browser, {})
  await page.goto(`${site.url}/sign-in`)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.className')).toBe('skip')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.id')).toBe('email')
  expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).not.toBe(
    'none',
  )
})

test('a form of another site has no effect in a visitor’s name', async () => {
  const { page } = await openPage(browser, {})
  await signIn(page, ann, '/sign-in')
  const before = await site.app.pool.query('select id from reports')
  const attack = `<form method="post" action="${site.url}/report">
    <textarea name="reporting[raw_email]">${sampleMessage('forged').toString()}</textarea>
    <button>go</button></form>`
  await page.route('http://evil.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: attack }),
  )
  await page.goto('http://evil.example/')
  await page.click('button')
  await page.waitForURL(`${site.url}/report`)
  const after = await site.app.pool.query('select id from reports')
  expect(after.rows).toEqual(before.rows)
})
