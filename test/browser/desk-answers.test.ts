import { expect, test } from 'vitest'
import { importNetworks } from '../../src/processes/import-networks.ts'
import { handleInboundMail } from '../../src/feedback/handle-inbound.ts'
import { answerLinks } from '../../src/mail/verp.ts'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { arrive, reply } from '../support/inbound-mail.ts'
import { sampleNetworks, spamMessage } from '../support/messages.ts'
import { createSentFeedback } from '../support/sent-feedback.ts'
import { clickThrough, openPage, startChromium } from './chromium.ts'

let made = 0

const site = await closeAfterTests(startWebSite({ RETURN_PATH_DOMAIN: 'bounces.test.example' }))
const parser = await closeAfterTests(createParserPool(1))
const browser = await closeAfterTests(startChromium())
await importNetworks(sampleNetworks, site.app)
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })

const screens = [
  ['a wide screen', { viewport: { width: 1280, height: 900 } }],
  ['a narrow dark screen', { colorScheme: 'dark', viewport: { width: 320, height: 700 } }],
  ['a screen without JavaScript', { javaScriptEnabled: false }],
] as const

async function told() {
  const id = await site.report(admin, spamMessage(`browser-${++made}`))
  return createSentFeedback(site.app, parser, id)
}

test.for(screens)(
  'a desk answers, and the reporter reads the answer, on %s',
  async ([, options]) => {
    const feedback = await told()
    const { secret } = site.app.config
    const link = answerLinks(feedback, { publicUrl: site.url, secret }).resolved
    const { page, complaints } = await openPage(browser, options)
    await page.goto(link)
    await page.getByLabel('Anything to add?').fill('The customer was warned.')
    await page.getByRole('button', { name: 'Mark as resolved' }).click()
    expect(await page.getByRole('status').textContent()).toContain('Thank you.')
    await page.getByRole('link', { name: 'The report is wrong' }).click()
    expect(await page.getByRole('button', { name: 'Dispute the report' }).isVisible()).toBe(true)
    await page.goto(`${site.url}/sign-in?next=/reports/${feedback.reportId}`)
    await page
      .locator('input[type=email], input[name="user[email_or_login]"]')
      .first()
      .fill(admin.email)
    await page.locator('input[type=password]').first().fill(admin.password)
    await clickThrough(page, 'main button[type=submit]')
    await page.goto(`${site.url}/reports/${feedback.reportId}`)
    expect(await page.locator('blockquote').textContent()).toContain('The customer was warned.')
    const raw = reply('bob@desk.example', ['Which customer?'], ['Subject: Re: a long subject here'])
    const mail = await arrive(site.app, raw, { ...feedback, purpose: 'feedback-answer' })
    await handleInboundMail(mail, { ...site.app, parser })
    await page.goto(`${site.url}/admin/inbox`)
    await page.getByRole('link', { name: 'Re: a long subject here' }).first().click()
    await page.getByRole('button', { name: 'Mark as handled' }).click()
    expect(await page.getByRole('status').textContent()).toContain('Marked as handled')
    await page.goto(`${site.url}/admin/suppressions`)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Suppressions')
    expect(complaints).toEqual([])
  },
)
