import { expect, test } from 'vitest'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { startWebSite } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
await site.addPerson('eve@reporters.example')
const here = { 'sec-fetch-site': 'same-origin' }
const ban = { email: 'eve@reporters.example', reason: 'Reports "rivals" <a>' }
const path = '/admin/limits/shadow'

/** The hidden fields of the first form of a page with this target. */
function fieldsOf(html: string, action: string): Record<string, string> {
  const [, form = ''] = html.split(`action="${action}"`)
  const [inside = ''] = form.split('</form>')
  const inputs = [...inside.matchAll(/name="([^"]+)" value="([^"]*)"/g)]
  const plain = (text: string) =>
    text
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, plain(value)]))
}

const credentials = (password: string) => ({
  'user[email_or_login]': admin.email,
  'user[password]': password,
})

test('a form sent after the session ended is kept through a wrong password, and sent', async () => {
  const browser = new Browser(site.url)
  browser.isSure = false
  const refused = await browser.post(path, { ...ban, now: 'a password' }, here)
  expect(refused.status).toBe(401)
  const asked = await refused.text()
  expect(asked).toContain('What you entered is kept')
  expect(asked).not.toContain('a password')
  const { kept = '' } = fieldsOf(asked, '/sign-in')
  const wrong = await browser.post('/sign-in', { ...credentials('wrong'), kept }, here)
  expect(wrong.status).toBe(401)
  const again = await wrong.text()
  expect(again).toContain(`value="${admin.email}"`)
  const fields = { ...credentials(admin.password), kept: fieldsOf(again, '/sign-in')['kept'] ?? '' }
  const signedIn = await browser.post('/sign-in', fields, here)
  expect(signedIn.status).toBe(200)
  const page = await signedIn.text()
  expect(page).toContain('Nothing has been sent yet.')
  expect(page).toContain('Reports &quot;rivals&quot; &lt;a&gt;')
  const { form_token: token, ...sent } = fieldsOf(page, path)
  expect(token).toBeTruthy()
  expect(sent).toEqual(ban)
  expect((await browser.get(path)).status).toBe(200)
  const answer = await browser.post(path, sent, here)
  expect(answer.headers.get('location')).toContain('done=banned')
})

test('a form is not kept if it may be of another site, is too large, or has secrets', async () => {
  const browser = new Browser(site.url)
  const location = async (at: string, fields: Record<string, string>, headers = {}) => {
    const answer = await browser.post(at, fields, headers)
    return [answer.status, answer.headers.get('location')]
  }
  const away = (at: string) => [303, `/sign-in?next=${encodeURIComponent(at)}`]
  expect(await location(path, ban)).toEqual(away(path))
  expect(await location(path, { ...ban, reason: 'x'.repeat(100_000) }, here)).toEqual(away(path))
  const passwords = { now: 'old', password: 'new' }
  expect(await location('/account/password', passwords, here)).toEqual(away('/account/password'))
  // Only forms of these pages are shown to a person who signs in.
  for (const target of ['/account/password', '//evil.example', 'https://evil.example/admin/']) {
    const kept = JSON.stringify({ target, fields: [['do', 'x']] })
    const answer = await browser.post('/sign-in', { ...credentials(admin.password), kept }, here)
    expect(answer.status).toBe(303)
    await browser.post('/sign-out', {}, here)
  }
})

/** A browser that signed in again, and the token of the form that it shows since before that. */
async function signedInAgain() {
  const browser = await signedInBrowser(site.url, admin)
  browser.isSure = false
  const { form_token: old = '' } = await browser.tokenFields()
  await browser.post('/sign-out', {})
  await browser.post('/sign-in', credentials(admin.password))
  const sendOld = (at: string, fields: Record<string, string>, headers = {}) =>
    fetch(`${site.url}${at}`, {
      method: 'POST',
      body: new URLSearchParams({ ...fields, form_token: old }),
      headers: { cookie: browser.cookies(), ...headers },
      redirect: 'manual',
    })
  return { browser, sendOld }
}

test('a form of an older session is kept for the person who signed in again', async () => {
  const { browser, sendOld } = await signedInAgain()
  await site.addPerson('zoe@reporters.example')
  const typed = { ...ban, email: 'zoe@reporters.example' }
  const kept = await sendOld(path, typed, here)
  expect(kept.status).toBe(403)
  const page = await kept.text()
  expect(page).toContain('Nothing has been sent yet.')
  const { form_token: token, ...fields } = fieldsOf(page, path)
  expect(token).toBeTruthy()
  expect(fields).toEqual(typed)
  const answer = await browser.post(path, fields, here)
  expect(answer.headers.get('location')).toContain('done=banned')
})

test('a report form of an older session is shown again with what was typed', async () => {
  const { sendOld } = await signedInAgain()
  const typed = {
    'reporting[raw_email]': 'Subject: kept\n\nHello',
    ...{ kind: 'phishing', comment: 'It asked for <my> card.' },
  }
  const answer = await sendOld('/report', typed, here)
  expect(answer.status).toBe(403)
  const page = await answer.text()
  expect(page).toContain('You signed in again since this page was opened.')
  expect(page).toContain('Subject: kept\n\nHello</textarea>')
  expect(page).toContain('It asked for &lt;my&gt; card.')
  expect(page).toMatch(/value="phishing"[^>]* checked/)
})

test('a form with a foreign token is refused if it may be of another site', async () => {
  const { sendOld } = await signedInAgain()
  for (const [at, headers] of [
    ...([
      [path, {}],
      ['/report', {}],
    ] as const),
    ...([
      [path, { 'sec-fetch-site': 'cross-site' }],
      ['/account/erase', here],
    ] as const),
  ]) {
    const answer = await sendOld(at, ban, headers)
    expect([at, answer.status]).toEqual([at, 403])
    const page = await answer.text()
    expect(page).not.toContain('rivals')
  }
})
