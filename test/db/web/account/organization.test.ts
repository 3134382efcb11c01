import { expect, test } from 'vitest'
import { createCredentials } from '../../../../src/people/credentials.ts'
import { closeAfterTests, closeAfterThisTest } from '../../../support/after-tests.ts'
import { freePort } from '../../../support/free-port.ts'
import { lettersTo } from '../../../support/letters.ts'
import {
  client,
  settingsFor,
  startProvider,
  visitProvider,
} from '../../../support/oidc-provider.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { startWebSite } from '../web-site.ts'

const port = await freePort()
const provider = await closeAfterTests(startProvider(`http://localhost:${port}`))
const emergency = 'emergency@example.org'
const site = await closeAfterTests(
  startWebSite({
    HTTP_PORT: String(port),
    ...settingsFor(provider),
    OIDC_ROLES: 'readers=viewer, admins=administrator',
    OIDC_MAIL_DOMAINS: 'acme.example',
    OIDC_LOCAL_ACCOUNTS: emergency,
  }),
)
const { pool, config, clock } = site.app
const begin = '/sign-in/organization'

/** Makes a person at the provider, who is the next to sign in there. */
function addToProvider(id: string, groups: string[], more: { email?: string } = {}): void {
  const email = more.email ?? `${id}@acme.example`
  provider.people.set(id, { email, email_verified: true, groups })
  provider.next = id
}

/** Goes to the provider and back; returns the answer of the site, and where the browser was led. */
async function goThrough(browser: Browser, path = begin, cookies = new Map<string, string>()) {
  const sent = await browser.get(path)
  const to = new URL(sent.headers.get('location') ?? '')
  const back = new URL(await visitProvider(to.href, cookies))
  return { to, back, answer: await browser.get(back.pathname + back.search) }
}

/** Signs a new person in, who has these groups. */
async function signInAs(id: string, groups: string[]): Promise<Browser> {
  addToProvider(id, groups)
  const browser = new Browser(site.url, { 'accept-language': 'en' })
  const { answer } = await goThrough(browser)
  expect(answer.headers.get('location')).toBe('/report')
  return browser
}

const roleOf = async (email: string) => {
  const { rows } = await pool.query<{ role: string | null; role_until: Date | null }>(
    'select role, role_until from reporters where email = $1',
    [email],
  )
  return rows[0]
}
const becomeDue = (email: string) =>
  pool.query(
    `update organization_links set check_at = now() - interval '1 second'
     where reporter_id = (select id from reporters where email = $1)`,
    [email],
  )
/** Lets the last sign-in of all sessions be an hour ago. */
const waitAnHour = () =>
  pool.query(`update sessions
    set sess = jsonb_set(sess::jsonb, '{provenAt}', '"2020-01-01T00:00:00Z"')::json`)
const mayAdminister = async (browser: Browser) => (await browser.get('/admin/roles')).status === 200

test('a new person gets an account, with the role of the groups at the provider', async () => {
  addToProvider('ada', ['staff', 'readers', 'admins'])
  const browser = new Browser(site.url)
  const { to, answer } = await goThrough(browser, `${begin}?next=/admin/roles`)
  expect(Object.fromEntries(to.searchParams)).toMatchObject({
    code_challenge_method: 'S256',
    state: expect.stringMatching(/.{20}/) as unknown,
    nonce: expect.stringMatching(/.{20}/) as unknown,
  })
  expect(answer.headers.get('location')).toBe('/admin/roles')
  expect(await mayAdminister(browser)).toBe(true)
  const { rows } = await pool.query(`select detail from audit_log where action = 'grant role'`)
  expect(JSON.stringify(rows)).toContain('administrator, was none, by the provider')
})

test('the sign-in page names the organization, and works without a provider', async () => {
  const page = await (await new Browser(site.url).get('/sign-in?next=/reports')).text()
  expect(page).toContain('href="/sign-in/organization?next=%2Freports"')
  expect(page).toContain('Sign in with Acme')
  expect(page).toContain('name="user[password]"')
})

test('an address at the provider opens no existing account', async () => {
  const victim = await site.addPerson('victim@acme.example', { role: 'administrator' })
  addToProvider('mallory', ['admins'], { email: victim.email })
  const browser = new Browser(site.url)
  const { answer } = await goThrough(browser)
  expect(answer.status).toBe(403)
  expect(await answer.text()).toContain('no account here is connected with you')
  expect((await browser.get('/settings')).status).toBe(303)
  const { rows } = await pool.query('select 1 from organization_links where reporter_id = $1', [
    victim.id,
  ])
  expect(rows).toEqual([])
})

test.for([
  ['not confirmed by the provider', { email: 'stranger@acme.example', email_verified: false }],
  ['at another domain, and the provider does not say', { email: 'x@elsewhere.example' }],
  ['no address', {}],
] as const)('an address that is %s opens no account', async ([, person]) => {
  provider.people.set('stranger', { ...person, groups: ['admins'] })
  provider.next = 'stranger'
  const { answer } = await goThrough(new Browser(site.url))
  expect(answer.status).toBe(403)
})

test('an address at a domain of the organization needs no word of the provider', async () => {
  provider.people.set('otto', { email: 'otto@acme.example', groups: [] })
  provider.next = 'otto'
  const { answer } = await goThrough(new Browser(site.url))
  expect(answer.headers.get('location')).toBe('/report')
})

test('the owner links an account, after a confirmation here and a sign-in there', async () => {
  const owner = await site.addPerson('owner@example.org', { role: 'operator' })
  addToProvider('owner', ['readers'], { email: 'other@acme.example' })
  const browser = await signedInBrowser(site.url, owner)
  const page = '/account/organization'
  const wrong = await browser.post(page, { do: 'begin', now: 'wrong' })
  expect(wrong.status).toBe(422)
  const unasked = await browser.get(`${begin}?for=link&key=guessed`)
  expect(unasked.headers.get('location')).toBe(page)
  const right = await browser.post(page, { do: 'begin', now: owner.password })
  const way = /href="(\/sign-in\/organization\?for=link[^"]*)"/.exec(await right.text())?.[1] ?? ''
  const { answer } = await goThrough(browser, way.replaceAll('&amp;', '&'))
  expect(answer.headers.get('location')).toBe(`${page}?done=linked`)
  expect(await lettersTo(pool, owner.email)).toMatchObject([
    { subject: expect.stringContaining('connected') as unknown },
  ])
  // The groups count from now on, and only after a sign-in there.
  expect(await roleOf(owner.email)).toMatchObject({ role: 'viewer' })
  const again = new Browser(site.url)
  await goThrough(again)
  expect((await again.get('/admin')).status).toBe(200)
  const local = await signedInBrowser(site.url, owner)
  const led = (await local.get('/admin/campaigns')).headers.get('location')
  expect(led).toBe('/sign-in?for=role&next=%2Fadmin%2Fcampaigns')
  expect(await (await local.get(led ?? '')).text()).toContain('Your role on this site comes from')
  // The person cannot be linked to another account too.
  const other = await site.addPerson('other@example.org')
  const second = await signedInBrowser(site.url, other)
  const begun = await (await second.post(page, { do: 'begin', now: other.password })).text()
  const next = /href="(\/sign-in\/organization\?for=link[^"]*)"/.exec(begun)?.[1] ?? ''
  const taken = await goThrough(second, next.replaceAll('&amp;', '&'))
  expect(await taken.answer.text()).toContain('has another account here')
})

test('a role that the provider takes away ends the sessions at the next question', async () => {
  const browser = await signInAs('leaving', ['admins'])
  expect(await mayAdminister(browser)).toBe(true)
  addToProvider('leaving', [])
  expect(await mayAdminister(browser)).toBe(true)
  await becomeDue('leaving@acme.example')
  expect(await mayAdminister(browser)).toBe(false)
  expect((await browser.get('/settings')).status).toBe(303)
  expect(await roleOf('leaving@acme.example')).toEqual({ role: null, role_until: null })
})

test('a person who left the organization is signed out at the next question', async () => {
  const browser = await signInAs('gone', ['admins'])
  provider.people.delete('gone')
  await becomeDue('gone@acme.example')
  await browser.get('/admin')
  expect((await browser.get('/settings')).status).toBe(303)
})

test('concurrent requests ask the provider once, and the next question works too', async () => {
  const browser = await signInAs('busy', ['admins'])
  for (let round = 0; round < 2; round++) {
    const before = provider.tokenRequests()
    await becomeDue('busy@acme.example')
    await Promise.all(Array.from({ length: 5 }, () => browser.get('/admin')))
    expect(provider.tokenRequests()).toBe(before + 1)
  }
  expect(await mayAdminister(browser)).toBe(true)
})

test('while the provider is away, roles hold, and the emergency account signs in', async () => {
  const browser = await signInAs('night', ['admins'])
  const local = await site.addPerson(emergency, { role: 'administrator' })
  const plain = await site.addPerson('plain@example.org', { role: 'administrator' })
  await provider.stop()
  try {
    await becomeDue('night@acme.example')
    expect(await mayAdminister(browser)).toBe(true)
    await pool.query(`update reporters set role_until = now() - interval '1 second'
      where email = 'night@acme.example'`)
    expect((await browser.get('/admin')).headers.get('location')).toContain('/sign-in?for=role')
    expect(await mayAdminister(await signedInBrowser(site.url, local))).toBe(true)
    // A role that was given here counts for the named accounts only.
    expect(await mayAdminister(await signedInBrowser(site.url, plain))).toBe(false)
  } finally {
    await provider.start()
  }
})

test('while the provider is away, the page says so and leads to the sign-in here', async () => {
  const dead = await closeAfterThisTest(
    startWebSite({
      OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
      OIDC_CLIENT_ID: client.id,
      OIDC_CLIENT_SECRET: client.secret,
      OIDC_NAME: 'Acme',
      OIDC_LOCAL_ACCOUNTS: emergency,
    }),
  )
  const answer = await new Browser(dead.url).get(begin)
  expect(answer.status).toBe(503)
  const page = await answer.text()
  expect(page).toContain('Acme does not answer now')
  expect(page).toContain('href="/sign-in"')
})

test('a dangerous action asks for a new sign-in at the provider, by the same person', async () => {
  const victim = await site.addPerson('disabled@example.org')
  const browser = await signInAs('boss', ['admins'])
  const disable = () => browser.post('/admin/accounts', { do: 'disable', id: victim.id })
  await waitAnHour()
  const asked = await disable()
  expect(asked.status).toBe(403)
  const page = await asked.text()
  expect(page).toContain('href="/sign-in/organization?for=confirm" target="_blank"')
  expect(page).not.toContain('type="password"')
  const confirm = `${begin}?for=confirm`
  addToProvider('somebody', ['admins'])
  expect(await (await goThrough(browser, confirm)).answer.text()).toContain('as another person')
  provider.next = 'boss'
  provider.signedInAgo = 3_600
  // A provider that did not ask for the password proves nothing.
  const old = await goThrough(browser, confirm)
  provider.signedInAgo = 0
  expect(old.answer.status).toBe(403)
  expect((await disable()).status).toBe(403)
  const { to, answer } = await goThrough(browser, confirm)
  expect(to.searchParams.get('prompt')).toBe('login')
  expect(answer.status).toBe(200)
  expect((await disable()).status).toBe(303)
  const { rows } = await pool.query('select state from reporters where id = $1', [victim.id])
  expect(rows).toEqual([{ state: 'disabled' }])
})

test('what the provider sends back works once, in the browser that was sent there', async () => {
  addToProvider('eve', [])
  const browser = new Browser(site.url)
  const sent = await browser.get(begin)
  const flow = browser.cookies()
  const back = new URL(await visitProvider(sent.headers.get('location') ?? '', new Map()))
  const path = back.pathname + back.search
  expect((await new Browser(site.url).get(path)).status).toBe(403)
  const other = new Browser(site.url)
  await other.get(begin)
  expect((await other.get(path)).status).toBe(403)
  expect((await browser.get(path)).status).toBe(303)
  expect((await browser.get(path)).status).toBe(403)
  // Also not if someone kept the cookie: the provider redeems each code once.
  const replayed = await fetch(site.url + path, { headers: { cookie: flow }, redirect: 'manual' })
  expect(replayed.status).toBe(403)
})

test('an earlier session is useless afterwards, and no other site is led to', async () => {
  const person = await site.addPerson('fixed@example.org')
  const browser = await signedInBrowser(site.url, person)
  const planted = browser.cookies()
  addToProvider('fixed', [])
  const { answer } = await goThrough(browser, `${begin}?next=//evil.example/`)
  expect(answer.headers.get('location')).toBe('/report')
  const cookie = planted
  const before = await fetch(`${site.url}/settings`, { headers: { cookie }, redirect: 'manual' })
  expect(before.status).toBe(303)
})

test('signing out offers to sign out at the provider too', async () => {
  const browser = await signInAs('tired', [])
  const out = await browser.post('/sign-out', {})
  expect(out.headers.get('location')).toBe('/signed-out')
  expect(await (await browser.get('/signed-out')).text()).toContain('Sign out of Acme')
  const led = new URL((await browser.get('/sign-out/organization')).headers.get('location') ?? '')
  expect(led.origin).toBe(provider.issuer)
  expect(led.searchParams.get('client_id')).toBe(client.id)
  expect(led.searchParams.get('post_logout_redirect_uri')).toMatch(/^http:\/\/localhost:\d+\/$/)
})

test('a person who stops at the provider gets a page that says so', async () => {
  provider.next = undefined
  const { answer } = await goThrough(new Browser(site.url, { 'accept-language': 'fr' }))
  expect(answer.status).toBe(403)
  expect(await answer.text()).toContain('Acme ne vous laisse pas entrer')
})

test('a token has the role of its owner until the provider would have to confirm it', async () => {
  await signInAs('robot', ['admins'])
  const { id } = (
    await pool.query<{ id: string }>(`select id from reporters where email = 'robot@acme.example'`)
  ).rows[0] ?? { id: '' }
  const owner = await site.addPerson('tokens@example.org', { role: 'administrator' })
  await pool.query('update tokens set reporter_id = $1 where reporter_id = $2', [id, owner.id])
  const roleNow = async () =>
    (await createCredentials(pool, { rules: config, clock }).byToken(owner.token))?.role
  expect(await roleNow()).toBe('administrator')
  await pool.query(`update reporters set role_until = now() - interval '1 second' where id = $1`, [
    id,
  ])
  expect(await roleNow()).toBeNull()
})
