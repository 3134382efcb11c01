import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { Browser } from './browser.ts'
import { sampleMessage, startWebSite, type Person } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '1000000' }))
const ann = await site.addPerson('ann@reporters.example')
const bob = await site.addPerson('bob@reporters.example')

async function signedIn(person: Person, headers: Record<string, string> = {}): Promise<Browser> {
  const browser = new Browser(site.url, headers)
  const answer = await browser.post('/sign-in', {
    'user[email_or_login]': person.email,
    'user[password]': person.password,
    'user[remember_me]': '0',
  })
  expect(answer.status).toBe(303)
  return browser
}

test('a robot made for the old form signs in, pastes, and reads its French sentence', async () => {
  const robot = new Browser(site.url)
  const signIn = await (await robot.get('/sign-in')).text()
  const [signInForm = ''] = /<form[^]*?<\/form>/.exec(signIn) ?? []
  for (const name of ['user[email_or_login]', 'user[password]', 'user[remember_me]']) {
    expect(signInForm).toContain(`name="${name}"`)
  }
  const answer = await robot.post('/sign-in', {
    'user[email_or_login]': ann.email,
    'user[password]': ann.password,
    'user[remember_me]': '0',
  })
  expect(answer.headers.get('location')).toBe('/report')
  const page = await (await robot.get('/report')).text()
  const [form = ''] = /<form[^]*?<\/form>/.exec(page) ?? []
  expect(form).toContain('<textarea')
  expect(form).toContain('name="reporting[raw_email]"')
  const body = new FormData()
  body.set('reporting[raw_email]', sampleMessage('robot').toString())
  body.set('messages', new Blob([]), '')
  body.set('kind', 'spam')
  const sent = await (await robot.postForm('/report', body)).text()
  expect(sent).toContain('<p>Votre signalement a été enregistré</p>')
  expect(sent).toContain('<p>Your report has been recorded</p>')
})

test('a report may come with the credentials in one request, urlencoded', async () => {
  for (const path of ['/report', '/sign-in']) {
    const robot = new Browser(site.url, { 'accept-language': 'fr' })
    const answer = await robot.post(path, {
      'user[email_or_login]': ann.email,
      'user[password]': ann.password,
      'reporting[raw_email]': `\r\n${sampleMessage(`one-request${path}`).toString()}`,
    })
    expect(answer.status).toBe(200)
    const page = await answer.text()
    expect(page).toContain('<p>Votre signalement a été enregistré</p>')
    expect(page).toContain('<html lang="fr">')
  }
})

test('a pasted message is stored byte for byte, whatever its charset', async () => {
  const raw = Buffer.concat([sampleMessage('bytes'), Buffer.from([0xe9, 0x2b, 0x26, 0x3d, 0x25])])
  const escaped = [...raw].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const browser = await signedIn(ann)
  const answer = await browser.send('/report', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `kind=phishing&reporting%5Braw_email%5D=${escaped}`,
  })
  const [, id = ''] = /\/reports\/([0-9a-f-]{36})/.exec(await answer.text()) ?? []
  const back = await browser.get(`/reports/${id}/message.eml`)
  expect(Buffer.from(await back.arrayBuffer()).equals(raw)).toBe(true)
})

test('every file of a form has its own result', async () => {
  const browser = await signedIn(ann, { 'accept-language': 'en' })
  const form = new FormData()
  form.append('messages', new Blob([sampleMessage('f1')]), 'good <b>.eml')
  form.append('messages', new Blob([sampleMessage('f1')]), 'same.eml')
  form.append('messages', new Blob(['hello']), 'bad.txt')
  form.append('messages', new Blob([Buffer.alloc(1_000_001, 'x')]), 'big.eml')
  const answer = await browser.postForm('/report', form)
  expect(answer.status).toBe(200)
  const page = await answer.text()
  expect(page).toContain('good &lt;b&gt;.eml')
  expect(page).toContain('you had reported this message before')
  expect(page).toContain('This is not a complete mail message')
  expect(page).toContain('It is too big.')
  expect(page).not.toContain('Votre signalement')
})

test.for([
  ['nothing', {}, 422],
  ['blanks', { 'reporting[raw_email]': ' \r\n' }, 422],
  ['what is no message', { 'reporting[raw_email]': 'hello' }, 400],
  ['an unknown kind', { 'reporting[raw_email]': 'hello', kind: 'x' }, 422],
] as const)('the form says so when it contains %s', async ([, fields, status]) => {
  const browser = await signedIn(ann)
  const answer = await browser.post('/report', fields)
  expect(answer.status).toBe(status)
  const page = await answer.text()
  expect(page).not.toContain('Votre signalement')
  expect(page).toMatch(/<title>.+<\/title>/)
})

test('a message pasted before signing in is not lost', async () => {
  const browser = new Browser(site.url)
  const answer = await browser.post('/report', { 'reporting[raw_email]': 'From: a <b> & c' })
  expect(answer.status).toBe(401)
  const page = await answer.text()
  expect(page).toContain('From: a &lt;b&gt; &amp; c</textarea>')
  expect(page).toContain('name="user[password]"')
})

test('a wrong password and an unknown address get the same answer', async () => {
  const answers = await Promise.all(
    [ann.email, 'nobody@reporters.example'].map(async (email) => {
      const browser = new Browser(site.url)
      const fields = { 'user[email_or_login]': email, 'user[password]': 'wrong' }
      const answer = await browser.post('/sign-in', fields)
      // The address is shown again as it was typed.
      const text = (await answer.text()).replace(` value="${email}"`, ' value="typed"')
      return { status: answer.status, text, cookies: browser.cookies() }
    }),
  )
  expect(answers[0]?.text).toContain(' value="typed"')
  expect(answers[0]).toEqual(answers[1])
  expect(answers[0]?.status).toBe(401)
})

test('the session changes its id on signing in, and ends on signing out', async () => {
  const browser = await signedIn(ann)
  const before = browser.cookies()
  await browser.post('/sign-in', {
    'user[email_or_login]': ann.email,
    'user[password]': ann.password,
  })
  expect(browser.cookies()).not.toEqual(before)
  expect((await browser.get('/reports')).status).toBe(200)
  const old = browser.cookies()
  expect((await browser.post('/sign-out', {})).status).toBe(303)
  const thief = new Browser(site.url, { cookie: old })
  expect((await thief.get('/reports')).status).toBe(303)
})

test('the session cookie is only for our own site', async () => {
  const browser = new Browser(site.url)
  const answer = await browser.post('/sign-in', {
    'user[email_or_login]': ann.email,
    'user[password]': ann.password,
    'user[remember_me]': '1',
  })
  const cookie = answer.headers.getSetCookie().join('\n')
  expect(cookie).toMatch(/HttpOnly/)
  expect(cookie).toMatch(/SameSite=Lax/)
  expect(cookie).toMatch(/Expires=/)
})

test('nothing is stored for a visitor who only reads', async () => {
  const count = async () =>
    (await site.app.pool.query<{ n: number }>('select count(*) as n from sessions')).rows[0]?.n
  const before = await count()
  const answer = await fetch(`${site.url}/?lang=fr`)
  expect(answer.headers.getSetCookie().join()).toMatch(/^lang=fr/)
  expect(await answer.text()).toContain('<html lang="fr">')
  expect(await count()).toBe(before)
})

test.for([
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ 'sec-fetch-site': 'same-origin' }, 303],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{}, 303],
] as const)('a form sent with %j is answered %i', async ([headers, status]) => {
  const browser = await signedIn(ann)
  const answer = await browser.post('/sign-out', {}, headers)
  expect(answer.status).toBe(status)
})

test('a form sent with our own Origin is accepted', async () => {
  const browser = await signedIn(ann)
  const answer = await browser.post('/sign-out', {}, { origin: site.url })
  expect(answer.status).toBe(303)
})

test('reports are listed newest first, page by page, and never those of others', async () => {
  const carl = await site.addPerson('carl@reporters.example')
  const browser = await signedIn(carl)
  for (let number = 1; number <= 30; number++) {
    const form = new FormData()
    form.append('messages', new Blob([sampleMessage(`carl-${number}`)]), 'm.eml')
    await browser.postForm('/report', form)
  }
  const first = await (await browser.get('/reports')).text()
  const subjects = (page: string) =>
    [...page.matchAll(/Cheap watches carl-(\d+)</g)].map(([, n]) => Number(n))
  expect(subjects(first)).toEqual(Array.from({ length: 25 }, (_, index) => 30 - index))
  const [, next = ''] = /href="(\/reports\?before=[^"]+)"/.exec(first) ?? []
  expect(subjects(await (await browser.get(next)).text())).toEqual([5, 4, 3, 2, 1])
  expect(await (await (await signedIn(bob)).get('/reports')).text()).not.toContain('carl')
})

test('only its reporter sees a report, and can retract it there', async () => {
  const browser = await signedIn(ann)
  const answer = await browser.post('/report', {
    'reporting[raw_email]': sampleMessage('story').toString(),
  })
  const [path = ''] = /\/reports\/[0-9a-f-]{36}/.exec(await answer.text()) ?? []
  const story = await (await browser.get(path)).text()
  expect(story).toContain('Cheap watches story')
  expect(story).toContain('noindex')
  const stranger = await signedIn(bob)
  for (const page of [path, `${path}/message.eml`]) {
    expect((await stranger.get(page)).status).toBe(404)
  }
  expect((await stranger.post(`${path}/retract`, {})).status).toBe(404)
  expect((await browser.post(`${path}/retract`, {})).status).toBe(303)
  expect(await (await browser.get(path)).text()).toContain('You took this report back')
})

test('pages allow no scripts but ours, no frames and no foreign forms', async () => {
  for (const path of ['/', '/sign-in', '/nowhere']) {
    const answer = await fetch(`${site.url}${path}`)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('unsafe')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('x-powered-by')).toBeNull()
  }
})

test.for([
  ['/nowhere', 404],
  ['/reports/%E0%A4%A', 400],
  ['/reports/%00', 404],
  ['/..%2f..%2fetc/passwd', 404],
  ['/assets/..%2f..%2fsite.css', 404],
] as const)('%s is an error page', async ([path, status]) => {
  const browser = await signedIn(ann)
  const answer = await browser.get(path)
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const html = await answer.text()
  expect(html).toContain('That did not work')
  // Only a fault of ours has a number to tell the operator.
  expect(html).not.toContain('this number')
})

test('the list of problems names every type that our answers have', async () => {
  const page = await (await fetch(`${site.url}/problems`)).text()
  for (const name of ['not-a-message', 'too-big', 'key-used', 'unavailable']) {
    expect(page).toContain(`id="${name}"`)
  }
})
