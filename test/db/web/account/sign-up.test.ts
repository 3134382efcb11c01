import { expect, test } from 'vitest'
import { findReporterByEmail } from '../../../../src/db/reporters.ts'
import { runKeepHouse } from '../../../../src/reports/keep-house.ts'
import { closeAfterTests, closeAfterThisTest } from '../../../support/after-tests.ts'
import { readKarmas } from '../../../support/evidence.ts'
import { lettersTo, linkTo } from '../../../support/letters.ts'
import { Browser } from '../browser.ts'
import { startWebSite, usualLimits } from '../web-site.ts'

const site = await closeAfterTests(startWebSite({ SMTP_URL: 'smtp://127.0.0.1:9' }))

const password = 'green lamp over water'
const wish = (email: string, more: Record<string, string> = {}) => ({
  email,
  language: 'fr',
  agree: 'yes',
  ...more,
})
const visitor = () => new Browser(site.url, { 'accept-language': 'en' })

async function backdate(email: string, hours: number): Promise<void> {
  await site.app.pool.query(
    `update account_links set
       expires_at = (expires_at at time zone 'UTC' - make_interval(hours => $2)) at time zone 'UTC'
     where address = $1`,
    [email, hours],
  )
}

test('a sign-up gets a letter, chooses a password through its link, and is signed in', async () => {
  const browser = visitor()
  const asked = await browser.post('/sign-up', wish('Ann@Example.org'))
  expect(asked.status).toBe(200)
  expect(await asked.text()).toContain('We sent a link to ann@example.org')
  const [letter] = await lettersTo(site.app.pool, 'ann@example.org')
  expect(letter).toMatchObject({
    kind: 'account',
    subject: expect.stringMatching(/^Terminez la .* de votre compte Signalpost$/),
  })
  expect(letter?.raw).toContain('Auto-Submitted: auto-generated')
  expect(await findReporterByEmail(site.app.pool, 'ann@example.org')).toBeUndefined()
  const path = await linkTo(site.app.pool, 'ann@example.org')
  const page = await browser.get(path)
  expect(page.status).toBe(200)
  expect(page.headers.get('cache-control')).toBe('no-store')
  const made = await browser.post(path, { password })
  expect([made.status, made.headers.get('location')]).toEqual([303, '/report'])
  expect((await browser.get('/report')).status).toBe(200)
  const ann = await findReporterByEmail(site.app.pool, 'ann@example.org')
  expect(ann).toMatchObject({ role: null, state: 'active', language: 'fr' })
})

test('a new account is not vouched for', async () => {
  const ann = await findReporterByEmail(site.app.pool, 'ann@example.org')
  const vouched = await site.addPerson('vouched@example.org')
  const ids = [ann?.id ?? '', vouched.id]
  const karmas = await readKarmas(site.app.pool, ids, new Date())
  expect(karmas.get(ids[0] ?? '')).toBeLessThan(karmas.get(vouched.id) ?? 0)
})

test('the consent is stored with its version and time', async () => {
  const { rows } = await site.app.pool.query(
    `select version, consents.language, consented_at from consents
     join reporters on reporters.id = reporter_id where email = 'ann@example.org'`,
  )
  expect(rows).toEqual([
    { version: '2026-11-30', language: 'fr', consented_at: expect.any(Date) as Date },
  ])
})

test('viewing the link creates no account, however often; it works once', async () => {
  const browser = visitor()
  await browser.post('/sign-up', wish('bea@example.org'))
  const path = await linkTo(site.app.pool, 'bea@example.org')
  await browser.get(path)
  await visitor().send(path, { method: 'HEAD' })
  expect((await browser.get(path)).status).toBe(200)
  expect(await findReporterByEmail(site.app.pool, 'bea@example.org')).toBeUndefined()
  expect((await browser.post(path, { password })).status).toBe(303)
  expect((await visitor().get(path)).status).toBe(404)
  expect((await visitor().post(path, { password: 'another good one' })).status).toBe(404)
})

test.for([
  [47, 200],
  [49, 404],
] as const)('a confirmation link that is %i hours old gets %i', async ([hours, status]) => {
  const email = `hours${hours}@example.org`
  await visitor().post('/sign-up', wish(email))
  const path = await linkTo(site.app.pool, email)
  await backdate(email, hours)
  expect((await visitor().get(path)).status).toBe(status)
  expect((await visitor().post(path, { password })).status).toBe(status === 200 ? 303 : 404)
})

test('a newer link replaces the older one', async () => {
  await visitor().post('/sign-up', wish('cy@example.org'))
  const older = await linkTo(site.app.pool, 'cy@example.org')
  await visitor().post('/sign-up', wish('cy@example.org'))
  const newer = await linkTo(site.app.pool, 'cy@example.org')
  expect((await visitor().get(older)).status).toBe(404)
  expect((await visitor().get(newer)).status).toBe(200)
})

test('a fourth letter in three days is not sent, and the third link stays valid', async () => {
  for (let count = 0; count < 6; count++) {
    expect((await visitor().post('/sign-up', wish('many@example.org'))).status).toBe(200)
  }
  expect(await lettersTo(site.app.pool, 'many@example.org')).toHaveLength(3)
  const path = await linkTo(site.app.pool, 'many@example.org')
  expect((await visitor().get(path)).status).toBe(200)
})

test('the answer is the same with and without an account, except for the address', async () => {
  await site.addPerson('known1@example.org')
  const answers = await Promise.all(
    ['known1@example.org', 'nobody@example.org'].map(async (email) => {
      const answer = await visitor().post('/sign-up', wish(email))
      const headers = [...answer.headers]
        .filter(([name]) => !['date', 'ratelimit', 'ratelimit-policy'].includes(name))
        .map(([name, value]) => (name === 'content-length' ? [name] : [name, value]))
      return { status: answer.status, headers, text: (await answer.text()).replaceAll(email, 'X') }
    }),
  )
  expect(answers[0]).toEqual(answers[1])
})

test('an existing account gets a letter with a password link, in its language', async () => {
  await site.addPerson('known2@example.org')
  await visitor().post('/sign-up', wish('known2@example.org'))
  const [letter] = await lettersTo(site.app.pool, 'known2@example.org')
  expect(letter?.subject).toContain('=?utf-8?')
  expect(letter?.text).toContain('Vous en avez déjà un')
  expect(await linkTo(site.app.pool, 'known2@example.org')).toMatch(/^\/account\/reset\//)
})

test.for([
  ['no address', { email: 'nobody' }, 'This is not an email address'],
  ['an address that breaks a header', { email: 'a@b.example\r\nBcc: c@d.example' }, 'not an email'],
  ['no consent', { agree: 'no' }, 'Please accept the privacy notice'],
] as const)('%s is reported beside the field, and no letter is sent', async ([, more, says]) => {
  const answer = await visitor().post('/sign-up', wish('fields@example.org', more))
  expect(answer.status).toBe(422)
  const text = await answer.text()
  expect(text).toContain(says)
  expect(text).toContain('aria-invalid="true"')
  expect(await lettersTo(site.app.pool, 'fields@example.org')).toEqual([])
})

test.for([
  ['nine char', 'at least 10 characters'],
  ['password1234', 'Many people use this password'],
  ['QWERTYuiop', 'Many people use this password'],
  ['aaaaaaaaaaaa', 'Many people use this password'],
  ['abcdefghijkl', 'Many people use this password'],
  ['weakling', 'at least 10 characters'],
  ['weak@example.org', 'your address or our name'],
  ['signalpost123', 'your address or our name'],
] as const)('the password "%s" is refused: %s', async ([weak, says]) => {
  const path = await weakLink()
  const answer = await visitor().post(path, { password: weak })
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain(says)
})

test.for(['ten chars!', 'пароль из слов', 'signalpost and three others', '  two blanks  '])(
  'the password "%s" is accepted byte for byte',
  async (fine) => {
    const email = `fine${Buffer.from(fine).toString('hex').slice(0, 12)}@example.org`
    await visitor().post('/sign-up', wish(email))
    const path = await linkTo(site.app.pool, email)
    expect((await visitor().post(path, { password: fine })).status).toBe(303)
    const browser = visitor()
    const fields = { 'user[email_or_login]': email, 'user[password]': fine }
    expect((await browser.post('/sign-in', fields)).status).toBe(303)
    const trimmed = { ...fields, 'user[password]': fine.trim() }
    const status = fine.trim() === fine ? 303 : 401
    expect((await visitor().post('/sign-in', trimmed)).status).toBe(status)
  },
)

let weakPath: string | undefined
async function weakLink(): Promise<string> {
  if (weakPath === undefined) {
    await visitor().post('/sign-up', wish('weak@example.org'))
    weakPath = await linkTo(site.app.pool, 'weak@example.org')
  }
  return weakPath
}

test('an account created meanwhile in another way is not created again', async () => {
  await visitor().post('/sign-up', wish('late@example.org'))
  const path = await linkTo(site.app.pool, 'late@example.org')
  const late = await site.addPerson('late@example.org')
  expect((await visitor().post(path, { password })).status).toBe(404)
  const browser = visitor()
  const fields = { 'user[email_or_login]': late.email, 'user[password]': late.password }
  expect((await browser.post('/sign-in', fields)).status).toBe(303)
})

test('unconfirmed sign-ups are deleted', async () => {
  await visitor().post('/sign-up', wish('gone@example.org'))
  await backdate('gone@example.org', 49)
  await runKeepHouse(site.app)
  const left = () =>
    site.app.pool.query(`select 1 from account_links where address = 'gone@example.org'`)
  expect((await left()).rowCount).toBe(1)
  await backdate('gone@example.org', 24)
  await runKeepHouse(site.app)
  expect((await left()).rowCount).toBe(0)
})

test('a form from another site has no effect', async () => {
  const headers = { 'sec-fetch-site': 'cross-site' }
  const answer = await visitor().post('/sign-up', wish('csrf@example.org'), headers)
  expect(answer.status).toBe(403)
  expect(await lettersTo(site.app.pool, 'csrf@example.org')).toEqual([])
})

test('if operators create the accounts, sign-up is not available', async () => {
  const closed = await closeAfterThisTest(startWebSite({ SIGN_UP: 'closed' }))
  const browser = new Browser(closed.url, { 'accept-language': 'en' })
  const page = await browser.get('/sign-up')
  expect([page.status, await page.text()]).toEqual([
    403,
    expect.stringContaining('Only the operator of this site can create accounts') as string,
  ])
  await browser.post('/sign-up', wish('closed@example.org'))
  expect(await lettersTo(closed.app.pool, 'closed@example.org')).toEqual([])
})

test('too many sign-ups from one address have to wait', async () => {
  const tight = await closeAfterThisTest(startWebSite())
  await usualLimits(tight)
  const ask = (count: number) =>
    new Browser(tight.url).post('/sign-up', wish(`person${count}@example.org`))
  for (let count = 0; count < 20; count++) expect((await ask(count)).status).toBe(200)
  const refused = await ask(20)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await lettersTo(tight.app.pool, 'person20@example.org')).toEqual([])
})
