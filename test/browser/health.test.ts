import { expect, test } from 'vitest'
import { inTransaction } from '../../src/db/pool.ts'
import { createChannels } from '../../src/health/channels.ts'
import { createReadHealth } from '../../src/health/read-health.ts'
import { createAlarmWatch } from '../../src/health/run-alarms.ts'
import { queueLetter } from '../../src/letters/send-letter.ts'
import { createMailer } from '../../src/net/mailer.ts'
import { startWork } from '../../src/processes/work.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { startSmtpSink } from '../support/smtp-sink.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'
import { faultsOf } from './axe.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const mailServer = await closeAfterTests(startSmtpSink())
const operators = await closeAfterTests(startSmtpSink())
const hooks = await closeAfterTests(startWebhookReceiver())
const site = await closeAfterTests(
  startWebSite({
    ...{ SMTP_URL: mailServer.url, ALARM_SMTP_URL: operators.url, DNS_SERVERS: 'none' },
    ...{ ALARM_MAIL: 'operator@ops.example', ALARM_WEBHOOK_URL: hooks.url },
  }),
)
const browser = await closeAfterTests(startChromium())
const admin = await site.addPerson('root@signalpost.example', { role: 'administrator' })
const { app } = site

let ahead = 0
const own = { ...app, clock: () => new Date(Date.now() + ahead * 1_000) }
const channels = createChannels(own, createMailer(operators.url))
const watch = createAlarmWatch(own, { channels, readHealth: createReadHealth(own) })

/** Evaluates every ten seconds of a clock that does not wait. */
async function pass(seconds: number): Promise<void> {
  for (const end = ahead + seconds; ahead < end; ahead += 10) await watch.evaluate()
}

test('a fault turns the light, raises an alarm, and ends by the button on the page', async () => {
  await closeAfterTests(startWork(app, ['send-letter']))
  mailServer.failAll('mail', { code: 554, text: '5.7.1 Relay access denied' })
  await inTransaction(app.pool, (tx) =>
    queueLetter(
      tx,
      {
        ...{ kind: 'account', to: 'ann@there.example', subject: 'Sign up', text: 'Hello.' },
        ...{ language: 'en', autoSubmitted: 'generated' },
      },
      app,
      app.clock(),
    ),
  )
  const { page, complaints } = await openPage(browser, { viewport: { width: 360, height: 740 } })
  await page.goto(`${site.url}/sign-in`)
  await signInHere(page, admin)
  const age = `update mail_relay set refused_since = refused_since - interval '10 seconds'
    where refused_since is not null`
  await expect.poll(async () => (await app.pool.query(age)).rowCount, { timeout: 30_000 }).toBe(1)
  const overview = async () => {
    await page.goto(`${site.url}/admin`)
    return page.locator('main').innerText()
  }
  await expect.poll(overview, { timeout: 30_000 }).toContain('Relay access denied')

  await pass(80)
  expect(hooks.told).toMatchObject([{ data: { kind: 'alarm' } }])
  expect(hooks.told[0]?.data.raised.map(({ code }) => code)).toContain('mail-leaving')
  expect(operators.messages).toHaveLength(1)

  mailServer.failAll('mail', undefined)
  await page.goto(`${site.url}/admin/health`)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  expect(await faultsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Try to send now: Outgoing mail' }).click()
  await page.getByRole('status').filter({ hasText: 'tried now' }).waitFor()
  await mailServer.received(1)
  await expect.poll(overview, { timeout: 30_000 }).not.toContain('Relay access denied')
  await pass(110)
  const last = hooks.told.at(-1)
  expect(last?.data.over.map(({ code }) => code)).toContain('mail-leaving')
  expect(operators.messages.length).toBe(hooks.told.length)
  expect(complaints).toEqual([])
})

test('bounds are changed and a condition is silenced on the page', async () => {
  const { page } = await openPage(browser, { viewport: { width: 1_200, height: 900 } })
  await page.goto(`${site.url}/sign-in`)
  await signInHere(page, admin)
  await page.goto(`${site.url}/admin/health`)
  await page.locator('#fine > summary').click()
  const open = () => page.locator('#certificate summary').click()
  await open()
  await page.getByLabel('Warning bound of Certificate, days').fill('30')
  await page.getByRole('button', { name: 'Save the bounds of Certificate' }).click()
  await page.getByText('Bounds changed.').waitFor()
  expect(await page.locator('#certificate summary').innerText()).toContain('30 d')
  await open()
  await page.getByLabel('Reason to silence Certificate').fill('renewed tonight')
  await page.getByRole('button', { name: 'Silence Certificate' }).click()
  await page.getByText('Silenced.', { exact: false }).first().waitFor()
  expect(await page.locator('#certificate').innerText()).toContain('Silenced until')
  await open()
  await page.getByLabel('Critical bound of Certificate, days').fill('60')
  await page.getByRole('button', { name: 'Save the bounds of Certificate' }).click()
  expect(await page.getByRole('alert').innerText()).toContain('must not be above the warning')
})
