import { expect, test } from 'vitest'
import { operations } from '../../../../src/cli/accounts.ts'
import { openBytes, sealBytes } from '../../../../src/db/sealed-bytes.ts'
import { codeAt } from '../../../../src/people/second-step.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { runCommand } from '../../../support/command.ts'
import { lettersTo } from '../../../support/letters.ts'
import { secretOf } from '../../../support/second-step.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { sampleMessage, startWebSite, type Person } from '../web-site.ts'
import { ringOf } from '../../../support/key-ring.ts'

const site = await closeAfterTests(startWebSite())

const page = '/account/second-step'

async function withSecondStep(email: string) {
  const person = await site.addPerson(email)
  const browser = await signedInBrowser(site.url, person)
  const begun = await browser.post(page, { do: 'begin', now: person.password })
  const secret = secretOf(await begun.text())
  const now = site.app.clock()
  const done = await browser.post(page, { do: 'on', code: codeAt(secret, now) })
  const text = await done.text()
  const codes = [...text.matchAll(/<li><code>([0-9a-f-]+)<\/code>/g)].map(([, code = '']) => code)
  return { person, browser, secret, codes, usedAt: now }
}

async function givePassword({ email, password }: Person): Promise<Browser> {
  const browser = new Browser(site.url, { 'accept-language': 'en' })
  const fields = { 'user[email_or_login]': email, 'user[password]': password }
  const answer = await browser.post('/sign-in', fields)
  expect(answer.headers.get('location')).toContain('/sign-in/code')
  return browser
}

const later = (at: Date, seconds: number) => new Date(at.getTime() + seconds * 1_000)

test('with two-step sign-in the password needs a code', async () => {
  const { person, secret, codes, usedAt } = await withSecondStep('ann@example.org')
  expect(codes).toHaveLength(10)
  const browser = await givePassword(person)
  expect((await browser.get('/settings')).status).toBe(303)
  const used = await browser.post('/sign-in/code', { code: codeAt(secret, usedAt) })
  expect(used.status).toBe(401)
  const next = await browser.post('/sign-in/code', { code: codeAt(secret, later(usedAt, 30)) })
  expect(next.status).toBe(303)
  expect((await browser.get('/settings')).status).toBe(200)
})

test('a code works once, also for another browser', async () => {
  const { person, secret, usedAt } = await withSecondStep('once@example.org')
  const code = codeAt(secret, later(usedAt, 30))
  const [one, other] = [await givePassword(person), await givePassword(person)]
  const answers = await Promise.all(
    [one, other].map((browser) => browser.post('/sign-in/code', { code })),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 401])
})

test('a recovery code works once, however it is written', async () => {
  const { person, codes } = await withSecondStep('bea@example.org')
  const [code = ''] = codes
  const written = code.replaceAll('-', ' ').toUpperCase()
  expect((await (await givePassword(person)).post('/sign-in/code', { code: written })).status).toBe(
    303,
  )
  expect((await (await givePassword(person)).post('/sign-in/code', { code })).status).toBe(401)
})

test('after five wrong codes the password is required again', async () => {
  const { person, codes } = await withSecondStep('cy@example.org')
  const browser = await givePassword(person)
  for (let count = 0; count < 5; count++) {
    expect((await browser.post('/sign-in/code', { code: '000000' })).status).toBe(401)
  }
  const right = await browser.post('/sign-in/code', { code: codes[0] ?? '' })
  expect(right.headers.get('location')).toBe('/sign-in?done=over')
})

test('the second step cannot be reached without the first', async () => {
  const browser = new Browser(site.url)
  expect((await browser.get('/sign-in/code')).headers.get('location')).toBe('/sign-in?done=over')
  const answer = await browser.post('/sign-in/code', { code: '123456' })
  expect(answer.headers.get('location')).toBe('/sign-in?done=over')
})

test('the session has a new id after each step', async () => {
  const { person, codes } = await withSecondStep('ids@example.org')
  const browser = await givePassword(person)
  const between = browser.cookies()
  await browser.post('/sign-in/code', { code: codes[0] ?? '' })
  expect(browser.cookies()).not.toBe(between)
})

test('programs then need a token, and the error says so', async () => {
  const { person } = await withSecondStep('dan@example.org')
  const report = (authorization: string) =>
    fetch(`${site.url}/api/v1/reports`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'message/rfc822' },
      body: sampleMessage('second-step'),
    })
  const refused = await report(person.basic)
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('token') as string })
  expect((await report(`Bearer ${person.token}`)).status).toBe(202)
})

test('it is switched on only with the password and a code of the secret', async () => {
  const eve = await site.addPerson('eve@example.org')
  const browser = await signedInBrowser(site.url, eve)
  expect((await browser.post(page, { do: 'begin', now: 'wrong' })).status).toBe(422)
  expect((await browser.post(page, { do: 'on', code: '123456' })).status).toBe(303)
  await browser.post(page, { do: 'begin', now: eve.password })
  expect((await browser.post(page, { do: 'on', code: '12345' })).status).toBe(422)
  expect(await (await signedInBrowser(site.url, eve)).get('/settings')).toMatchObject({
    status: 200,
  })
})

test('it is switched off by password and code, and a letter says so', async () => {
  const { person, browser, codes } = await withSecondStep('fay@example.org')
  expect((await browser.post(page, { do: 'off', now: person.password })).status).toBe(422)
  const [code = ''] = codes
  await browser.post(page, { do: 'off', now: person.password, now_code: code })
  expect((await signedInBrowser(site.url, person)).cookies()).not.toBe('')
  const subjects = (await lettersTo(site.app.pool, person.email)).map(({ subject }) => subject)
  expect(subjects).toEqual([
    'Signing in no longer requires a code',
    'Signing in now requires a code',
  ])
})

test('the command line removes it for someone who lost everything', async () => {
  const { person } = await withSecondStep('gil@example.org')
  const off = () => runCommand(operations, ['no-second-step', person.email], site.app)
  expect(await off()).toMatchObject({ code: 0 })
  expect(await off()).toMatchObject({ code: 1 })
  const browser = await signedInBrowser(site.url, person)
  expect((await browser.get('/settings')).status).toBe(200)
})

test('the secret is encrypted: another account or another SECRET cannot read it', () => {
  const secret = Buffer.from('12345678901234567890')
  const sealed = sealBytes(secret, { purpose: 'second step', owner: 'one' }, ringOf('a secret'))
  expect(openBytes(sealed, { purpose: 'second step', owner: 'one' }, ringOf('a secret'))).toEqual(
    secret,
  )
  expect(
    openBytes(sealed, { purpose: 'second step', owner: 'other' }, ringOf('a secret')),
  ).toBeUndefined()
  expect(
    openBytes(sealed, { purpose: 'second step', owner: 'one' }, ringOf('another secret')),
  ).toBeUndefined()
  expect(sealed.includes(secret)).toBe(false)
})

test('codes follow RFC 6238', () => {
  const secret = Buffer.from('12345678901234567890')
  expect(codeAt(secret, new Date(59_000))).toBe('287082')
  expect(codeAt(secret, new Date(1_111_111_109_000))).toBe('081804')
})

test('switching it on signs out browsers that signed in by password alone', async () => {
  const person = await site.addPerson('others@example.org')
  const there = await signedInBrowser(site.url, person)
  const here = await signedInBrowser(site.url, person)
  const secret = secretOf(
    await (await here.post(page, { do: 'begin', now: person.password })).text(),
  )
  await here.post(page, { do: 'on', code: codeAt(secret, site.app.clock()) })
  expect((await here.get('/settings')).status).toBe(200)
  expect((await there.get('/settings')).status).toBe(303)
})

test.for([
  [
    'password',
    `password_hash = (select password_hash from reporters where email = 'x@example.org')`,
  ],
  ['account', `state = 'disabled'`],
] as const)(
  'an earlier password no longer leads to the code after the %s changed',
  async ([what, set]) => {
    await site.addPerson('x@example.org').catch(() => undefined)
    const { person, codes } = await withSecondStep(`before-${what}@example.org`)
    const browser = await givePassword(person)
    await site.app.pool.query(`update reporters set ${set} where id = $1`, [person.id])
    const answer = await browser.post('/sign-in/code', { code: codes[0] ?? '' })
    expect(answer.headers.get('location')).toBe('/sign-in?done=over')
    expect((await browser.get('/settings')).status).toBe(303)
  },
)
