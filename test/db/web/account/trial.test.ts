import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { analyzeReports } from '../../../support/judge.ts'
import { importNetworks } from '../../../../src/processes/import-networks.ts'
import { sampleNetworks, spamMessage } from '../../../support/messages.ts'
import { parser } from '../../../support/parser.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { startWebSite, type WebSite } from '../web-site.ts'

const [trial, sending] = [
  await closeAfterTests(startWebSite()),
  await closeAfterTests(startWebSite({ SMTP_URL: 'smtp://127.0.0.1:9' })),
]
await trial.addPerson('known@reporters.example')
for (const { app } of [trial, sending]) await importNetworks(sampleNetworks, app)

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

const band = 'Trial: nothing is sent.'

test('a browser on this machine sees the band, the form, and where the passwords are', async () => {
  const headers = { 'sec-fetch-site': 'same-origin', origin: trial.url, referer: `${trial.url}/` }
  expect(await signUp(trial, 'browser@reporters.example', headers)).toMatch(shownLink)
  const browser = new Browser(trial.url, { 'sec-fetch-site': 'none' })
  const form = await (await browser.get('/report')).text()
  expect(form).toContain(band)
  expect(form).toMatch(/name="messages"[^]*name="user\[password\]"/)
  expect(await (await browser.get('/sign-in')).text()).toContain('accounts.json')
})

test('on a phone, the report form begins with what works there', async () => {
  const phone = 'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/130 Mobile Safari/537.36'
  const form = await new Browser(trial.url, { 'user-agent': phone }).get('/report')
  expect(await form.text()).toMatch(/id="raw"[^]*name="messages"/)
  const desktop = await new Browser(trial.url).get('/report')
  expect(await desktop.text()).toMatch(/name="messages"[^]*id="raw"/)
})

test.for([
  ['a proxy', trial, { via: '1.1 proxy' }],
  ['a proxy with a header of its own', trial, { 'cf-connecting-ip': '192.0.2.1' }],
  ['a page of another host', trial, { referer: 'https://reports.example/' }],
  ['a site that sends mail', sending, {}],
] as const)('no trial is announced to %s', async ([, site, headers]) => {
  const page = await new Browser(site.url, headers).get('/sign-in')
  expect(await page.text()).not.toMatch(/Trial: nothing|accounts.json/)
})

test('no trial is announced to a proxy that adds no header, as nginx does', async () => {
  const { hostname, port } = new URL(trial.url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET /sign-in HTTP/1.0\r\nHost: ${hostname}:${port}\r\n\r\n`)
  const page = await text(socket)
  expect(page).toContain('<h1>')
  expect(page).not.toMatch(/Trial: nothing|accounts.json/)
})

test('a chosen file stays in the form while the password is wrong', async () => {
  const known = await trial.addPerson('chosen@reporters.example')
  const browser = new Browser(trial.url)
  const form = (password: string) => {
    const body = new FormData()
    body.set('user[email_or_login]', known.email)
    body.set('user[password]', password)
    body.set('messages', new Blob([spamMessage('chosen')]), 'chosen.eml')
    body.set('kind', 'phishing')
    return body
  }
  const refused = await (await browser.postForm('/report', form('wrong'))).text()
  const [, content] = /name="shared" value="([^"]+)"/.exec(refused) ?? []
  expect(Buffer.from(content ?? '', 'base64')).toEqual(spamMessage('chosen'))
  expect(refused).toMatch(/value="phishing" checked/)
  const body = form(known.password)
  body.delete('messages')
  body.set('shared', content ?? '')
  const sent = await (await browser.postForm('/report', body)).text()
  expect(sent).toContain('Your report has been recorded')
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

/** Reports, as a new account, a message from a network of the sample tables. */
async function reportAsNewcomer(site: WebSite, email: string) {
  const person = await site.addPerson(email)
  await site.app.pool.query('delete from karmas where reporter_id = $1', [person.id])
  const browser = await signedInBrowser(site.url, person)
  const date = new Date().toUTCString().replace('GMT', '+0000')
  const raw = [
    'Received: from mail.shop.example (mail.shop.example [198.51.100.23])',
    ` by mx.provider.example (Postfix) with ESMTPS id 4ABC for <you@provider.example>; ${date}`,
    ...['From: Shop <hello@shop.example>', 'To: you@provider.example', 'Subject: A parcel'],
    ...[`Date: ${date}`, 'Message-ID: <parcel@shop.example>', '', 'Your parcel is waiting.', ''],
  ].join('\r\n')
  const body = new FormData()
  body.set('messages', new Blob([raw]), 'newcomer.eml')
  body.set('kind', 'spam')
  const sent = await (await browser.postForm('/report', body)).text()
  const [path = '', id = ''] = /\/reports\/([\da-f-]{36})/.exec(sent) ?? []
  await analyzeReports({ ...site.app, parser }, [id])
  return { browser, path }
}

const wouldGet = /href="(\/reports\/[\da-f-]{36}\/told\/0)"/

test('a new account reads what the network would get about its message', async () => {
  const { browser, path } = await reportAsNewcomer(trial, 'newcomer@reporters.example')
  const [, link = ''] = wouldGet.exec(await (await browser.get(path)).text()) ?? []
  const mail = await (await browser.get(link)).text()
  expect(mail).toContain('abuse@access-two.example')
  expect(mail).toContain('198.51.100.23 on')
  expect(mail).toMatch(/-\*{16}\/resolved/)
  expect(mail).toContain('Trial: this feedback report is not sent.')
  const { rows } = await trial.app.pool.query('select from feedback_reports')
  expect(rows).toEqual([])
  const other = await trial.addPerson('nosy@reporters.example')
  const stranger = await signedInBrowser(trial.url, other)
  expect((await stranger.get(link)).status).toBe(404)
})

test('a site that sends mail composes nothing for a report that waits for others', async () => {
  const { browser, path } = await reportAsNewcomer(sending, 'newcomer@reporters.example')
  const page = await browser.get(path)
  expect(page.status).toBe(200)
  expect(await page.text()).not.toMatch(wouldGet)
  expect((await browser.get(`${path}/told/0`)).status).toBe(404)
  expect((await browser.get(`${path}/told/0/message.eml`)).status).toBe(404)
})

test.for([
  ['a person who is not signed in', undefined, '/sign-in'],
  ['a reporter', null, '/reports'],
  ['an administrator', 'administrator', '/admin/outbox'],
] as const)('the band of a trial leads %s to a page that works', async ([who, role, link]) => {
  const email = `${who.replaceAll(' ', '-')}@reporters.example`
  const browser =
    role === undefined
      ? new Browser(trial.url)
      : await signedInBrowser(trial.url, await trial.addPerson(email, role ? { role } : {}))
  const page = await (await browser.get('/help')).text()
  const shown = page.slice(page.indexOf(band), page.indexOf('<main'))
  const links = [...shown.matchAll(/href="([^"]+)"/g)].map(([, href]) => href ?? '')
  expect(links).toContain(link)
  for (const href of links) expect([href, (await browser.get(href)).status]).toEqual([href, 200])
})

test('the page of sample data says how far it is, and when it is complete', async () => {
  const admin = await trial.addPerson('filling@reporters.example', { role: 'administrator' })
  const browser = await signedInBrowser(trial.url, admin)
  const words = async () => (await (await browser.get('/admin/trial')).text()).replaceAll('\n', ' ')
  expect(await words()).not.toContain('sample data is complete')
  await browser.post('/admin/trial', { do: 'fill' })
  expect(await words()).toMatch(/data-live="open">.*Adding sample data: 0 of about \d+ reports/)
  await trial.app.pool.query(
    "update pgboss.job set state = 'completed' where name = 'fill-samples'",
  )
  expect(await words()).toMatch(/data-live>.*The sample data is complete: 0 reports/)
})
