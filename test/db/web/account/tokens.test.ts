import { expect, test } from 'vitest'
import { addAccount, parseAccount } from '../../../../src/processes/add-account.ts'
import { createCredentials } from '../../../../src/people/credentials.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { type Browser, signedInBrowser } from '../browser.ts'
import { sampleMessage, startWebSite, type Person } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())

const page = '/account/tokens'

async function makeToken(
  browser: Browser,
  name: string,
  scopes: readonly string[],
  role = '',
): Promise<string> {
  const fields = new URLSearchParams([
    ...Object.entries(await browser.tokenFields()),
    ['name', name],
    ['role', role],
    ...scopes.map((one) => ['scope', one]),
  ])
  const answer = await browser.send(page, { method: 'POST', body: fields })
  return /sp_[A-Za-z0-9_-]{43}/.exec(await answer.text())?.[0] ?? ''
}

const call = (token: string, method: string, path: string) =>
  fetch(`${site.url}/api/v1/reports${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' },
    ...(method === 'POST' && { body: sampleMessage(token) }),
  })

test.for([
  ['report', [202, 403, 403]],
  ['read', [403, 200, 403]],
  ['retract', [403, 403, 200]],
  ['account', [403, 403, 403]],
] as const)('a token for "%s" allows that and nothing else', async ([scope, statuses]) => {
  const person = await site.addPerson(`${scope}@example.org`)
  const id = await site.report(person, sampleMessage(`scope-${scope}`))
  const token = await makeToken(await signedInBrowser(site.url, person), 'mine', [scope])
  const answers = [
    await call(token, 'POST', ''),
    await call(token, 'GET', `/${id}`),
    await call(token, 'DELETE', `/${id}`),
  ]
  expect(answers.map(({ status }) => status)).toEqual(statuses)
  const refused = answers.find(({ status }) => status === 403)
  expect(refused?.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
})

test('a person may give a token a role up to the own one', async () => {
  const ada = await site.addPerson('ada@example.org', { role: 'operator' })
  const bob = await site.addPerson('bob@example.org')
  const { byToken } = createCredentials(site.app.pool)
  for (const [person, role, given] of [
    [ada, 'viewer', 'viewer'],
    [ada, 'administrator', null],
    [bob, 'viewer', null],
  ] as const) {
    const browser = await signedInBrowser(site.url, person)
    const text = await (await browser.get(page)).text()
    expect(text.includes(`value="${role}"`)).toBe(given !== null)
    const token = await makeToken(browser, 'mine', ['read'], role)
    expect(await byToken(token)).toMatchObject({ scopes: ['read'], role: given })
  }
})

test('a token is shown once, listed by its name, and revoked', async () => {
  const ann = await site.addPerson('ann@example.org')
  const browser = await signedInBrowser(site.url, ann)
  const token = await makeToken(browser, 'Thunder <b>bird', ['read'])
  const text = await (await browser.get(page)).text()
  expect(text).toContain('Thunder &lt;b&gt;bird')
  expect(text).not.toContain(token)
  const id = new RegExp(`value="([0-9a-f-]{36})"[^>]*Thunder`).exec(text)?.[1] ?? ''
  const ended = await browser.post(page, { end: id })
  expect(ended.headers.get('location')).toBe(`${page}?done=ended`)
  expect(await createCredentials(site.app.pool).byToken(token)).toBeUndefined()
})

test('the token of another account cannot be revoked', async () => {
  const [bea, cy] = [
    await site.addPerson('bea@example.org'),
    await site.addPerson('cy@example.org'),
  ]
  const { rows } = await site.app.pool.query<{ id: string }>(
    'select id from tokens where reporter_id = $1',
    [bea.id],
  )
  const browser = await signedInBrowser(site.url, cy)
  const answer = await browser.post(page, { end: rows[0]?.id ?? '' })
  expect(answer.headers.get('location')).toBe(page)
  expect(await createCredentials(site.app.pool).byToken(bea.token)).toMatchObject({ id: bea.id })
})

test.for([
  ['a name', { name: '', scope: 'read' }, 'Give it a name'],
  ['a scope', { name: 'x' }, 'Allow it at least one thing'],
  ['a scope we know', { name: 'x', scope: 'everything' }, 'Allow it at least one thing'],
] as const)('a token needs %s', async ([, fields, says]) => {
  const browser = await signedInBrowser(site.url, await someone())
  const answer = await browser.post(page, fields)
  expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining(says)])
})

let once: Promise<Person> | undefined
const someone = () => (once ??= site.addPerson('someone@example.org'))

test('an account has at most a hundred tokens', async () => {
  const dan = await site.addPerson('dan@example.org')
  await site.app.pool.query(
    `insert into tokens (token_hash, id, reporter_id, name, scopes, created_at)
     select sha256(n::text::bytea), ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
       $1, 'many', '{read}', $2 from generate_series(1, 99) as n`,
    [dan.id, new Date()],
  )
  const answer = await (
    await signedInBrowser(site.url, dan)
  ).post(page, {
    name: 'one more',
    scope: 'read',
  })
  expect([answer.status, await answer.text()]).toEqual([
    422,
    expect.stringContaining('as many tokens as there can be'),
  ])
})

async function usedAt(person: Person): Promise<Date | null | undefined> {
  const { rows } = await site.app.pool.query<{ used_at: Date | null }>(
    'select used_at from tokens where reporter_id = $1',
    [person.id],
  )
  return rows[0]?.used_at
}

test('the last use is stored once an hour', async () => {
  const eve = await site.addPerson('thunderbird@example.org')
  const begin = new Date('2026-11-22T12:00:00Z')
  const use = async (minutes: number) => {
    const at = new Date(begin.getTime() + minutes * 60_000)
    const { byToken } = createCredentials(site.app.pool, { clock: () => at })
    expect(await byToken(eve.token)).toMatchObject({ id: eve.id })
    return at
  }
  await use(0)
  await expect.poll(() => usedAt(eve)).toEqual(begin)
  await use(59)
  const last = await use(61)
  await expect.poll(() => usedAt(eve)).toEqual(last)
})

test('the command line gives a token its scopes', async () => {
  const add = (...args: string[]) =>
    addAccount({ ...parseAccount(['add', ...args]), password: undefined }, site.app)
  const { token } = await add('--email', 'fay@example.org', '--token', '--scope', 'read,account')
  const { byToken } = createCredentials(site.app.pool)
  expect(await byToken(token ?? '')).toMatchObject({ scopes: ['read', 'account'] })
  expect(() => parseAccount(['add', '--email', 'a@b.example', '--scope', 'read'])).toThrow(
    '--token',
  )
  const wrong = ['add', '--email', 'a@b.example', '--token', '--scope', 'all']
  expect(() => parseAccount(wrong)).toThrow('may name')
  const tooMuch = ['--email', 'gus@example.org', '--token', '--token-role', 'analyst']
  await expect(add(...tooMuch)).rejects.toThrow('above that of the account')
  const gus = await add(...tooMuch, '--role', 'operator')
  expect(await byToken(gus.token ?? '')).toMatchObject({ role: 'analyst' })
})

test('a program may propose the name of its token', async () => {
  const browser = await signedInBrowser(site.url, await site.addPerson('eve@example.org'))
  const answer = await browser.get(`${page}?name=Thunder%22bird`)
  expect(await answer.text()).toContain('value="Thunder&quot;bird"')
})
