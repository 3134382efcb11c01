import { afterEach, expect, test } from 'vitest'
import { Browser } from '../db/web/browser.ts'
import { commandLines, readDocument } from '../support/documents.ts'
import { freePort } from '../support/free-port.ts'
import { makeSite, siteSettings } from '../support/parts.ts'
import { runProgram } from '../support/process.ts'

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

const password = 'a password of the tests'
const email = 'eve@reporters.example'

test('the secret is changed by the steps of the page while several processes run', async () => {
  const [prepare, rotate, show] = commandLines(readDocument('docs/operators/secret.md')).map(
    (line) => line.replace('npm run --silent signalpost -- ', '').split(' '),
  )
  if (!prepare || !rotate || !show) throw new Error('The page has other commands.')
  const site = await makeSite()
  closers.push(site.clear)
  const other = `http://127.0.0.1:${await freePort()}`
  const second = { HTTP_PORT: new URL(other).port }
  await runProgram(['account', 'add', '--email', email, '--password'], site.env, `${password}\n`)

  /** Signs in at one process, and returns whether the session is valid at another one. */
  async function signsIn(at: string, shownAt: string): Promise<boolean> {
    const browser = new Browser(at)
    await browser.post('/sign-in', { 'user[email_or_login]': email, 'user[password]': password })
    return isSignedIn(browser, shownAt)
  }

  const programs = await Promise.all([site.start('web'), site.start('web', second)])
  const before = new Browser(site.url)
  await before.post('/sign-in', { 'user[email_or_login]': email, 'user[password]': password })

  const prepared = await runProgram(prepare, site.env)
  const [, secret = ''] = /^A new secret: (\S+)$/m.exec(prepared.stdout) ?? []
  const fresh = { SECRET: secret, SECRET_PREVIOUS: JSON.stringify([siteSettings.secret]) }
  const env = { ...site.env, ...fresh }

  await programs[1].stop()
  programs[1] = await site.start('web', { ...fresh, ...second })
  expect(await signsIn(site.url, other)).toBe(true)
  expect(await signsIn(other, site.url)).toBe(true)
  const early = await runProgram(rotate, env)
  expect(early.code).toBe(1)
  expect(early.stderr).toMatch(/Restart these processes with the new SECRET first: web on \S+\. /)

  await programs[0].stop()
  programs[0] = await site.start('web', fresh)
  const rotated = await runProgram(rotate, env)
  expect(rotated).toMatchObject({ code: 0, stderr: '' })
  expect(rotated.stdout).toContain('SECRET is in force.')
  expect(await isSignedIn(before, site.url)).toBe(true)
  expect(await isSignedIn(before, other)).toBe(true)
  expect(await signsIn(site.url, other)).toBe(true)

  const wrong = await runProgram(['count'], site.env)
  expect(wrong.code).toBe(78)
  expect(wrong.stderr + wrong.stdout).toContain('SECRET is not the secret that this installation')

  expect((await runProgram(show, env)).stdout).toMatch(/^Sessions in browsers: until \d{4}-/m)
  await Promise.all(programs.map((program) => program.stop()))
  const after = new Browser(site.url)
  await site.start('web', { SECRET: secret })
  await after.post('/sign-in', { 'user[email_or_login]': email, 'user[password]': password })
  expect(await isSignedIn(after, site.url)).toBe(true)
  expect(await isSignedIn(before, site.url)).toBe(false)
})

async function isSignedIn(browser: Browser, at: string): Promise<boolean> {
  const headers = { cookie: browser.cookies() }
  return (await fetch(`${at}/settings`, { headers, redirect: 'manual' })).status === 200
}
