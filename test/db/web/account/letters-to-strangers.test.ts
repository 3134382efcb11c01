import { afterAll, beforeAll, expect, test } from 'vitest'
import { lettersTo, linkTo } from '../../../support/letters.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { startWebSite, type WebSite } from '../web-site.ts'

let site: WebSite
beforeAll(async () => {
  site = await startWebSite({ TRUSTED_PROXIES: '127.0.0.1, ::1' })
})
afterAll(() => site.close())

const from = (address: string) => new Browser(site.url, { 'x-forwarded-for': address })
const forgotten = (email: string, address = '192.0.2.1') =>
  from(address).post('/forgotten', { email })
const signUp = (email: string) =>
  from('192.0.2.1').post('/sign-up', { email, agree: 'yes', language: 'en' })
const countOf = async (email: string) => (await lettersTo(site.app.pool, email)).length

/** Makes the counts of letters to an address older by the given number of days. */
async function age(email: string, days: number): Promise<void> {
  await site.app.pool.query(
    `update account_links set
       letters_since = (letters_since at time zone 'UTC' - make_interval(days => $2))
         at time zone 'UTC'
     where address = $1`,
    [email, days],
  )
}

/** Runs a test on a site with the given limits. */
async function withLimits(limits: Record<string, number>, run: () => Promise<void>) {
  const usual = site
  site = await startWebSite({ TRUSTED_PROXIES: '127.0.0.1, ::1' })
  try {
    for (const [name, attemptsMax] of Object.entries(limits)) {
      const values = [name, attemptsMax]
      await site.app.pool.query('update rate_limits set attempts_max = $2 where name = $1', values)
    }
    await run()
  } finally {
    await site.close()
    site = usual
  }
}

test('an address without an account gets this answer once a week', async () => {
  const email = 'stranger@example.org'
  for (let n = 0; n < 4; n++) expect((await forgotten(email)).status).toBe(200)
  expect(await countOf(email)).toBe(1)
  await age(email, 6)
  await forgotten(email)
  expect(await countOf(email)).toBe(1)
  await age(email, 1)
  await forgotten(email)
  expect(await countOf(email)).toBe(2)
})

test('the owner of an account still gets five links a day, the last of which works', async () => {
  const ann = await site.addPerson('ann@example.org')
  for (let n = 0; n < 7; n++) await forgotten(ann.email)
  expect(await countOf(ann.email)).toBe(5)
  expect((await from('192.0.2.1').get(await linkTo(site.app.pool, ann.email))).status).toBe(200)
})

test('sign-ups bring at most three letters in three days', async () => {
  for (let n = 0; n < 5; n++) expect((await signUp('new@example.org')).status).toBe(200)
  expect(await countOf('new@example.org')).toBe(3)
  const link = await linkTo(site.app.pool, 'new@example.org')
  expect((await from('192.0.2.1').get(link)).status).toBe(200)
})

test.for([
  ['a network', 'reset-network', (n: number) => `198.51.100.${n}`],
  ['a network of IPv6', 'reset-network', (n: number) => `2001:db8:7:${n}::1`],
  ['a wider network', 'reset-wide-network', (n: number) => `203.0.${n}.1`],
  ['a wider network of IPv6', 'reset-wide-network', (n: number) => `2001:db9:${n}::1`],
] as const)('the hosts of %s together have the limit %s', async ([, limit, host]) =>
  withLimits({ [limit]: 6 }, async () => {
    const statuses: number[] = []
    for (let n = 1; n <= 8; n++) {
      statuses.push((await forgotten(`n${n}.${limit}@example.org`, host(n))).status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
  }),
)

test('letters to addresses without an account have an hourly total', async () =>
  withLimits({ 'letter-stranger-all': 3 }, async () => {
    const bob = await site.addPerson('bob@example.org')
    const answers = new Set<string>()
    for (let n = 0; n < 5; n++) {
      const email = `flood${n}@example.org`
      answers.add((await (await forgotten(email, `10.${n}.0.1`)).text()).replaceAll(email, 'X'))
    }
    const counts = await Promise.all([0, 1, 2, 3, 4].map((n) => countOf(`flood${n}@example.org`)))
    expect(counts).toEqual([1, 1, 1, 0, 0])
    const owner = await (await forgotten(bob.email, '10.9.0.1')).text()
    answers.add(owner.replaceAll(bob.email, 'X'))
    expect(answers.size).toBe(1)
    expect(await countOf(bob.email)).toBe(1)
    const browser = await signedInBrowser(site.url, bob)
    await browser.post('/account/address', { email: 'far@example.org', now: bob.password })
    expect(await countOf('far@example.org')).toBe(0)
  }))

test('sign-ups have an hourly total', async () =>
  withLimits({ 'sign-up-all': 2 }, async () => {
    expect((await signUp('one@example.org')).status).toBe(200)
    expect((await signUp('two@example.org')).status).toBe(200)
    const refused = await signUp('three@example.org')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await countOf('three@example.org')).toBe(0)
  }))
