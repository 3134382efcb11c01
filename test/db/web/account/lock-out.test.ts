import { expect, test } from 'vitest'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { startWebSite, type Person, usualLimits } from '../web-site.ts'
/** More attempts than are allowed per hour for a name, or for a name from one network. */
const TRIES = 26
const site = await closeAfterTests(startWebSite({ TRUSTED_PROXIES: '127.0.0.1, ::1' }))
await usualLimits(site)
const fewer = `update rate_limits set attempts_max = $1 where name = $2`
await site.app.pool.query(fewer, [TRIES - 2, 'sign-in-name'])
await site.app.pool.query(fewer, [TRIES - 4, 'sign-in-near'])

/** Returns an address of the documentation networks, numbered by `network` and `host`. */
const at = (network: number, host = 1) => ({
  'x-forwarded-for': `2001:db8:${network.toString(16)}:${host.toString(16)}::1`,
})

const signIn = async (browser: Browser, { email }: Person, password: string) =>
  (await browser.post('/sign-in', { 'user[email_or_login]': email, 'user[password]': password }))
    .status

const guessAt = (person: Person, network: number, host: number) =>
  signIn(new Browser(site.url, at(network, host)), person, 'a wrong guess')

/** Returns a browser with only the cookies that outlive a session. */
function withoutSession(browser: Browser, headers: Record<string, string>): Browser {
  const kept = browser
    .cookies()
    .split('; ')
    .filter((one) => one.includes('-device='))
  return new Browser(site.url, { ...headers, cookie: kept.join('; ') })
}

test('one /48 cannot lock the owner of a name out', async () => {
  const ann = await site.addPerson('ann@example.org')
  const statuses = new Set<number>()
  for (let n = 0; n < TRIES; n++) statuses.add(await guessAt(ann, 1, n))
  expect([...statuses]).toEqual([401, 429])
  expect(await signIn(new Browser(site.url, at(2)), ann, ann.password)).toBe(303)
})

test('a browser that signed in before is let in after others used up the name', async () => {
  const bob = await site.addPerson('bob@example.org')
  const home = at(99)
  const before = new Browser(site.url, home)
  expect(await signIn(before, bob, bob.password)).toBe(303)
  for (let n = 0; n < TRIES; n++) await guessAt(bob, 10 + (n % 10), n)
  expect(await signIn(new Browser(site.url, home), bob, bob.password)).toBe(429)
  expect(await signIn(withoutSession(before, home), bob, bob.password)).toBe(303)
  expect(
    await signIn(withoutSession(before, home), await site.addPerson('cy@example.org'), 'x'),
  ).toBe(401)
})

test('attempts of a known browser are limited too, and its cookie is for one name', async () => {
  const [dan, eve] = [
    await site.addPerson('dan@example.org'),
    await site.addPerson('eve@example.org'),
  ]
  const browser = await signedInBrowser(site.url, dan)
  const again = () => withoutSession(browser, at(120))
  const statuses: number[] = []
  for (let n = 0; n < 21; n++) statuses.push(await signIn(again(), dan, `wrong ${n}`))
  expect(statuses.slice(0, 20).every((status) => status === 401)).toBe(true)
  expect(statuses.at(-1)).toBe(429)
  for (let n = 0; n < TRIES; n++) await guessAt(eve, 130 + (n % 10), n)
  expect(await signIn(again(), eve, eve.password)).toBe(429)
})

test('a forged or changed cookie has no effect', async () => {
  const fay = await site.addPerson('fay@example.org')
  const browser = await signedInBrowser(site.url, fay)
  const good = /signalpost-device=([^;]+)/.exec(browser.cookies())?.[1] ?? ''
  const [id = '', day = '', mac = ''] = good.split('.')
  for (let n = 0; n < TRIES; n++) await guessAt(fay, 150 + (n % 10), n)
  const tryWith = (value: string) => {
    const headers = { ...at(170), cookie: `signalpost-device=${value}` }
    return signIn(new Browser(site.url, headers), fay, fay.password)
  }
  for (const bad of [
    `${id}.${Number(day) + 1}.${mac}`,
    `${'A'.repeat(22)}.${day}.${mac}`,
    '',
    '~',
  ]) {
    expect([bad, await tryWith(bad)]).toEqual([bad, 429])
  }
  expect(await tryWith(`~x~${good}`)).toBe(303)
})

test('a browser that signs in with several accounts is known for each', async () => {
  const [gil, hal] = [
    await site.addPerson('gil@example.org'),
    await site.addPerson('hal@example.org'),
  ]
  const browser = await signedInBrowser(site.url, gil)
  await signIn(browser, hal, hal.password)
  for (const person of [gil, hal]) {
    for (let n = 0; n < TRIES; n++) await guessAt(person, 180 + (n % 10), n)
    expect(await signIn(withoutSession(browser, at(199)), person, person.password)).toBe(303)
  }
})

const byBasic = async (email: string, password: string, headers: Record<string, string>) => {
  const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const answer = await fetch(`${site.url}/api/v1/account`, {
    headers: { ...headers, authorization },
  })
  return answer.status
}

test('Basic credentials may fail as often as the sign-in page, counted together', async () => {
  const ida = await site.addPerson('ida@example.org')
  const here = at(210)
  for (let n = 0; n < 10; n++) expect(await byBasic(ida.email, `no ${n}`, here)).toBe(401)
  for (let n = 0; n < 10; n++) {
    expect(await signIn(new Browser(site.url, here), ida, `no ${n}`)).toBe(401)
  }
  expect(await byBasic(ida.email, 'one more', here)).toBe(429)
  expect(await byBasic(ida.email, ida.password, here)).toBe(429)
  expect(await byBasic(ida.email, ida.token, here)).toBe(200)
})

test('a correct password by Basic never counts, sequentially or concurrently', async () => {
  const jo = await site.addPerson('jo@example.org')
  const here = at(220)
  const atOnce = Array.from({ length: 60 }, () => byBasic(jo.email, jo.password, here))
  expect(new Set(await Promise.all(atOnce))).toEqual(new Set([200]))
  // Each spelling of the address is verified anew.
  const ways = Array.from({ length: 30 }, (_, n) =>
    [...jo.email].map((char, place) => ((n >> place) & 1 ? char.toUpperCase() : char)).join(''),
  )
  for (const way of ways) expect(await byBasic(way, jo.password, here)).toBe(200)
})
