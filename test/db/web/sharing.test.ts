import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { spamMessage } from '../../support/messages.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const browser = await signedInBrowser(site.url, ann)

type Manifest = {
  icons: { src: string }[]
  share_target: { action: string; params: { files: { name: string }[] } }
}

const manifest = (await (await fetch(`${site.url}/manifest.webmanifest`)).json()) as Manifest
const { action, params } = manifest.share_target

/** Sends what a telephone shares: a request of the browser itself, without the token of a page. */
async function share(form: FormData, by: Browser, headers: Record<string, string> = {}) {
  const given = { 'sec-fetch-site': 'none', cookie: by.cookies(), ...headers }
  const answer = await fetch(`${site.url}${action}`, { method: 'POST', body: form, headers: given })
  return { status: answer.status, page: await answer.text() }
}

function withFile(content: Buffer): FormData {
  const form = new FormData()
  form.append(params.files[0]?.name ?? '', new File([new Uint8Array(content)], 'a <b>.eml'))
  return form
}

const valueOf = (page: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? ''

test('the app can be installed, and its icon is there', async () => {
  const page = await (await fetch(`${site.url}/`)).text()
  expect(page).toContain('<link rel="manifest" href="/manifest.webmanifest">')
  expect((await fetch(`${site.url}${manifest.icons[0]?.src}`)).status).toBe(200)
})

test('a shared file fills in the form, and is reported with the same bytes', async () => {
  const raw = Buffer.concat([spamMessage('shared'), Buffer.from([0xe9, 0x0d, 0x0a])])
  const { status, page } = await share(withFile(raw), browser)
  expect(status).toBe(200)
  expect(page).toContain('a &lt;b&gt;.eml')
  const { rows: none } = await site.app.pool.query('select id from reports')
  expect(none).toEqual([])
  const form = new FormData()
  for (const name of ['shared', 'shared_name']) form.append(name, valueOf(page, name))
  const sent = await (await browser.postForm('/report', form)).text()
  const [, id = ''] = /href="\/reports\/([0-9a-f-]{36})"/.exec(sent) ?? []
  const stored = await browser.get(`/reports/${id}/message.eml`)
  expect(Buffer.from(await stored.arrayBuffer())).toEqual(raw)
})

test('a visitor who is not signed in can sign in with the shared file in the form', async () => {
  const { status, page } = await share(withFile(spamMessage('stranger')), new Browser(site.url))
  expect(status).toBe(200)
  expect(page).toContain('name="user[password]"')
  const wrong = { 'user[email_or_login]': ann.email, 'user[password]': 'wrong' }
  const again = await new Browser(site.url).post('/report', {
    ...wrong,
    shared: valueOf(page, 'shared'),
    shared_name: 'a.eml',
  })
  expect(again.status).toBe(401)
  expect(valueOf(await again.text(), 'shared')).toBe(valueOf(page, 'shared'))
})

test('a shared text goes into the field for a pasted message', async () => {
  const form = new FormData()
  form.append('text', 'From: <a>\nSubject: b')
  expect((await share(form, browser)).page).toMatch(/From: &lt;a&gt;\r?\nSubject: b<\/textarea>/)
})

test('what cannot be shared says what to do instead', async () => {
  const large = await share(withFile(Buffer.alloc(1_000_001, 'x')), browser)
  expect(large.page).toContain('This file is too large to be shared.')
  const nothing = await share(new FormData(), browser)
  expect([nothing.status, nothing.page]).toEqual([
    422,
    expect.stringContaining('Nothing was shared that can be reported.') as string,
  ])
})

test('another site cannot share anything', async () => {
  for (const from of ['cross-site', 'same-site', 'same-origin']) {
    const form = withFile(spamMessage('forged'))
    expect([from, (await share(form, browser, { 'sec-fetch-site': from })).status]).toEqual([
      from,
      403,
    ])
  }
})
