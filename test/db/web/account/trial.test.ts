import { expect, test } from 'vitest'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { Browser } from '../browser.ts'
import { startWebSite, type WebSite } from '../web-site.ts'

const [trial, sending] = [
  await closeAfterTests(startWebSite()),
  await closeAfterTests(startWebSite({ SMTP_URL: 'smtp://127.0.0.1:9' })),
]
await trial.addPerson('known@reporters.example')

const shownLink = /\/account\/(?:confirm|reset|move)\/[\w-]+/

async function signUp(site: WebSite, email: string, headers = {}): Promise<string | undefined> {
  const browser = new Browser(site.url, headers)
  const page = await browser.post('/sign-up', { email, agree: 'yes', language: 'en' })
  expect(page.status).toBe(200)
  return shownLink.exec(await page.text())?.[0]
}

test('on a trial site, the browser that signed up is shown its own link', async () => {
  const link = await signUp(trial, 'new@reporters.example')
  const browser = new Browser(trial.url)
  expect((await browser.get(link ?? '')).status).toBe(200)
  const chosen = await browser.post(link ?? '', { password: 'a long and good password' })
  expect(chosen.headers.get('location')).toBe('/report')
})

test.for([
  ['an address with an account', trial, 'known@reporters.example', {}],
  ['a request through a proxy', trial, 'far@reporters.example', { 'x-forwarded-for': '192.0.2.1' }],
  ['a request for another host', trial, 'host@reporters.example', { 'x-real-ip': '192.0.2.1' }],
  ['a site that sends mail', sending, 'sent@reporters.example', {}],
] as const)('%s is shown no link', async ([, site, email, headers]) => {
  expect(await signUp(site, email, headers)).toBeUndefined()
})

test('a request for a new password shows no link', async () => {
  const browser = new Browser(trial.url)
  const page = await browser.post('/forgotten', { email: 'known@reporters.example' })
  expect(await page.text()).not.toMatch(shownLink)
})

test('a shown link ends as soon as the site sends mail', async () => {
  const link = (await signUp(trial, 'late@reporters.example')) ?? ''
  const { config } = trial.app
  const smtpUrl = config.smtpUrl
  config.smtpUrl = 'smtp://127.0.0.1:9'
  const browser = new Browser(trial.url)
  expect((await browser.get(link)).status).toBe(404)
  expect((await browser.post(link, { password: 'a long and good password' })).status).toBe(404)
  config.smtpUrl = smtpUrl
  expect((await browser.get(link)).status).toBe(200)
})
