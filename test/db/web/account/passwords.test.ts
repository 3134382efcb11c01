import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { findAccount } from '../../../../src/db/reporters.ts'
import { closeAfterTests, closeAfterThisTest } from '../../../support/after-tests.ts'
import { lettersTo, linkTo } from '../../../support/letters.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { startWebSite, type Person, usualLimits } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())

const fresh = 'green lamp over water'
const visitor = () => new Browser(site.url, { 'accept-language': 'en' })
const signsIn = async ({ email }: { email: string }, password: string) => {
  const fields = { 'user[email_or_login]': email, 'user[password]': password }
  return (await visitor().post('/sign-in', fields)).status === 303
}
const isIn = async (browser: Browser) => (await browser.get('/settings')).status === 200

async function expireLinks(email: string, minutes: number): Promise<void> {
  await site.app.pool.query(
    `update account_links set
       expires_at = (expires_at at time zone 'UTC' - make_interval(mins => $2)) at time zone 'UTC'
     where address = $1`,
    [email, minutes],
  )
}

test('a forgotten password is reset through the link, which ends every session', async () => {
  const ann = await site.addPerson('ann@example.org')
  const [one, other] = [await signedInBrowser(site.url, ann), await signedInBrowser(site.url, ann)]
  await visitor().post('/forgotten', { email: 'ANN@example.org' })
  const path = await linkTo(site.app.pool, ann.email)
  expect((await visitor().get(path)).status).toBe(200)
  expect(await signsIn(ann, ann.password)).toBe(true)
  const set = await visitor().post(path, { password: fresh })
  expect(set.headers.get('location')).toBe('/sign-in?done=reset')
  expect(await signsIn(ann, fresh)).toBe(true)
  expect([await isIn(one), await isIn(other)]).toEqual([false, false])
  const [letter] = await lettersTo(site.app.pool, ann.email)
  expect(letter?.subject).toBe('Your password has been changed')
  expect((await visitor().post(path, { password: 'once more, please' })).status).toBe(404)
})

test.for([
  [59, 200],
  [61, 404],
] as const)('a password link that is %i minutes old gets %i', async ([age, status]) => {
  const person = await site.addPerson(`age${age}@example.org`)
  await visitor().post('/forgotten', { email: person.email })
  const path = await linkTo(site.app.pool, person.email)
  await expireLinks(person.email, age)
  expect((await visitor().get(path)).status).toBe(status)
})

test('the answer to a forgotten password is the same with and without an account', async () => {
  await site.addPerson('known@example.org')
  const answers = await Promise.all(
    ['known@example.org', 'nobody@example.org'].map(async (email) => {
      const answer = await visitor().post('/forgotten', { email })
      const text = (await answer.text()).replaceAll(email, 'X')
      return { status: answer.status, names: [...answer.headers.keys()], text }
    }),
  )
  expect(answers[0]).toEqual(answers[1])
  const [letter] = await lettersTo(site.app.pool, 'nobody@example.org')
  expect(letter?.subject).toBe('There is no account with this address')
  expect(letter?.text).not.toContain('/account/')
})

test('both need the same statements, so that timing does not distinguish them', async () => {
  await site.addPerson('timed@example.org')
  const statements = vi.spyOn(pg.Client.prototype, 'query')
  const fewest = async (email: string) => {
    const runs: string[][] = []
    for (let run = 0; run < 5; run++) {
      await site.app.pool.query('delete from account_links')
      statements.mockClear()
      await (await visitor().post('/forgotten', { email })).text()
      runs.push(statements.mock.calls.map(([query]) => textOf(query)).filter(isOurs))
    }
    // The server also reads changed settings from time to time.
    return runs.toSorted((one, other) => one.length - other.length)[0]
  }
  const known = await fewest('timed@example.org')
  const absent = await fewest('absent@example.org')
  statements.mockRestore()
  expect(known).toEqual(absent)
  expect(known).toContainEqual(expect.stringContaining('insert into letters'))
})

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : (query as { text: string }).text
}

/** Excludes the statements of the queue, which also looks for jobs during the requests. */
function isOurs(text: string): boolean {
  return !text.includes('pgboss')
}

test('a password link is invalid after the account changed its address', async () => {
  const dan = await site.addPerson('dan@example.org')
  await visitor().post('/forgotten', { email: dan.email })
  const path = await linkTo(site.app.pool, dan.email)
  await site.app.pool.query(`update reporters set email = 'dan2@example.org' where id = $1`, [
    dan.id,
  ])
  expect((await visitor().post(path, { password: fresh })).status).toBe(404)
})

test('a link of one kind is not valid for another', async () => {
  const eve = await site.addPerson('eve@example.org')
  await visitor().post('/forgotten', { email: eve.email })
  const token = (await linkTo(site.app.pool, eve.email)).split('/').at(-1) ?? ''
  expect((await visitor().get(`/account/confirm/${token}`)).status).toBe(404)
  const browser = await signedInBrowser(site.url, eve)
  expect((await browser.get(`/account/move/${token}`)).status).toBe(404)
})

const change = (browser: Browser, now: string, password: string) =>
  browser.post('/account/password', { now, password })

test('changing a password needs the current one, and signs out all other browsers', async () => {
  const fay = await site.addPerson('fay@example.org')
  const [here, there] = [await signedInBrowser(site.url, fay), await signedInBrowser(site.url, fay)]
  const wrong = await change(here, 'not the password', fresh)
  expect([wrong.status, await wrong.text()]).toEqual([
    422,
    expect.stringContaining('The password or the code is not right') as string,
  ])
  expect((await change(here, fay.password, 'short')).status).toBe(422)
  expect(await isIn(there)).toBe(true)
  expect((await change(here, fay.password, fresh)).status).toBe(303)
  expect([await isIn(here), await isIn(there)]).toEqual([true, false])
  expect(await signsIn(fay, fresh)).toBe(true)
})

const askToMove = (browser: Browser, { password }: Person, email: string) =>
  browser.post('/account/address', { now: password, email })

test('a new address counts once confirmed there, and the old one gets a letter', async () => {
  const gil = await site.addPerson('gil@example.org')
  const browser = await signedInBrowser(site.url, gil)
  expect((await askToMove(browser, { ...gil, password: 'wrong' }, 'gil2@example.org')).status).toBe(
    422,
  )
  await askToMove(browser, gil, 'gil2@example.org')
  const path = await linkTo(site.app.pool, 'gil2@example.org')
  expect((await browser.get(path)).status).toBe(200)
  expect((await findAccount(site.app.pool, gil.id))?.email).toBe('gil@example.org')
  expect((await browser.post(path, {})).headers.get('location')).toContain('moved')
  expect((await findAccount(site.app.pool, gil.id))?.email).toBe('gil2@example.org')
  const [letter] = await lettersTo(site.app.pool, 'gil@example.org')
  expect(letter?.subject).toBe('The address of your account has changed')
  expect(letter?.text).not.toContain('gil2@')
})

test('a link to change the address is valid only for its own account', async () => {
  const [hal, ida] = [
    await site.addPerson('hal@example.org'),
    await site.addPerson('ida@example.org'),
  ]
  const [his, hers] = [await signedInBrowser(site.url, hal), await signedInBrowser(site.url, ida)]
  await askToMove(his, hal, 'hal2@example.org')
  const path = await linkTo(site.app.pool, 'hal2@example.org')
  expect((await hers.post(path, {})).status).toBe(404)
  expect((await visitor().post(path, {})).headers.get('location')).toContain('/sign-in')
  expect((await his.post(path, {})).status).toBe(303)
})

test('asking for another account’s address reveals nothing but to its owner', async () => {
  const [jan, kim] = [
    await site.addPerson('jan@example.org'),
    await site.addPerson('kim@example.org'),
  ]
  const browser = await signedInBrowser(site.url, jan)
  const known = await askToMove(browser, jan, kim.email)
  const unknown = await askToMove(browser, jan, 'kim2@example.org')
  // The token of the forms is masked with other random bytes in each page.
  const textOf = async (answer: Response) =>
    (await answer.text()).replaceAll(/name="form_token" value="[\w-]+"/g, '')
  expect([known.status, await textOf(known)]).toEqual([
    unknown.status,
    (await textOf(unknown)).replaceAll('kim2@', 'kim@'),
  ])
  const [letter] = await lettersTo(site.app.pool, kim.email)
  expect(letter?.subject).toBe('You already have an account')
})

test('a disabled account looks unknown at sign-in, and gets a letter that says so', async () => {
  const lea = await site.addPerson('lea@example.org')
  const browser = await signedInBrowser(site.url, lea)
  await site.app.pool.query(`update reporters set state = 'disabled' where id = $1`, [lea.id])
  expect(await isIn(browser)).toBe(false)
  expect(await signsIn(lea, lea.password)).toBe(false)
  await visitor().post('/forgotten', { email: lea.email })
  const [letter] = await lettersTo(site.app.pool, lea.email)
  expect(letter?.subject).toBe('Your account is disabled')
  expect(letter?.text).not.toContain('/account/')
})

test('password attempts are limited, and the correct one waits too', async () => {
  const tight = await closeAfterThisTest(startWebSite())
  await usualLimits(tight)
  const mia = await tight.addPerson('mia@example.org')
  const attempt = (password: string) =>
    new Browser(tight.url).post('/sign-in', {
      'user[email_or_login]': mia.email,
      'user[password]': password,
    })
  for (let count = 0; count < 20; count++) expect((await attempt('wrong')).status).toBe(401)
  expect((await attempt(mia.password)).status).toBe(429)
})

test('an address taken meanwhile is not used, and no letter says so', async () => {
  const mover = await site.addPerson('mover@example.org')
  const browser = await signedInBrowser(site.url, mover)
  await askToMove(browser, mover, 'taken2@example.org')
  const path = await linkTo(site.app.pool, 'taken2@example.org')
  await site.addPerson('taken2@example.org')
  expect((await browser.post(path, {})).status).toBe(404)
  const letters = await lettersTo(site.app.pool, mover.email)
  expect(letters.map(({ subject }) => subject)).toEqual([])
})

test('a NUL in a sign-in name is a wrong name, not a failure', async () => {
  const fields = { 'user[email_or_login]': 'a\0b@example.org', 'user[password]': 'x' }
  expect((await visitor().post('/sign-in', fields)).status).toBe(401)
  const authorization = `Basic ${Buffer.from('a\0b:x').toString('base64')}`
  const answer = await fetch(`${site.url}/api/v1/account`, { headers: { authorization } })
  expect(answer.status).toBe(401)
})

test('a password beside a form proves nothing if it is not checked', async () => {
  const lea = await site.addPerson('forged@example.org')
  const browser = await signedInBrowser(site.url, lea)
  const without = { 'user[password]': 'anything' }
  const token = { ...without, name: 'stolen', scope: 'read' }
  expect((await send(browser, '/account/tokens', token)).status).toBe(403)
  const report = { ...without, 'reporting[raw_email]': 'Subject: hello\r\n\r\nthere' }
  expect((await send(browser, '/report', report)).status).toBe(401)
})

/** Sends a form as another site would: with the cookie, but without data from our pages. */
const send = (browser: Browser, path: string, fields: Record<string, string>) =>
  fetch(`${site.url}${path}`, {
    method: 'POST',
    headers: { cookie: browser.cookies() },
    body: new URLSearchParams(fields),
    redirect: 'manual',
  })
