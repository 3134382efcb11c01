import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../../../src/cli/accounts.ts'
import { findAccount } from '../../../../src/db/reporters.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { runCommand } from '../../../support/command.ts'
import { type Browser, signedInBrowser } from '../browser.ts'
import { startWebSite } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())
const boss = await site.addPerson('boss@example.org', { role: 'administrator' })
const ann = await site.addPerson('ann@example.org')
const page = '/admin/roles'
let admin: Browser

beforeAll(async () => {
  admin = await signedInBrowser(site.url, boss)
})

const roleOf = async (id: string) => (await findAccount(site.app.pool, id))?.role
const give = (account: string, role: string, more = {}) =>
  admin.post(page, { account, role, ...more })

/** Lets time pass since the password was entered. */
async function age(minutes: number): Promise<void> {
  const then = new Date(Date.now() - minutes * 60_000).toISOString()
  await site.app.pool.query(
    `update sessions set sess = jsonb_set(sess::jsonb, '{provenAt}', to_jsonb($1::text))`,
    [then],
  )
}

test('an administrator gives a role, which works at once, and takes it away', async () => {
  const browser = await signedInBrowser(site.url, ann)
  expect((await browser.get('/admin')).status).toBe(403)
  const given = await give(ann.email, 'analyst')
  expect(given.headers.get('location')).toBe(`${page}?done=granted`)
  expect((await browser.get('/admin')).status).toBe(200)
  expect((await browser.get(page)).status).toBe(403)
  expect(await (await admin.get(page)).text()).toContain('ann@example.org')
  await give(ann.email, 'none')
  expect((await browser.get('/admin')).status).toBe(403)
  const { rows } = await site.app.pool.query(
    `select detail from audit_log where action = 'grant role' and reporter_id = $1 order by id`,
    [boss.id],
  )
  expect(rows).toEqual([
    { detail: `${ann.id}: analyst, was none` },
    { detail: `${ann.id}: none, was analyst` },
  ])
})

test('ten minutes after the password, a dangerous action asks for it again', async () => {
  await age(9)
  expect((await give(ann.email, 'viewer')).status).toBe(303)
  await age(11)
  const asked = await give(ann.email, 'operator')
  expect(asked.status).toBe(403)
  const html = await asked.text()
  expect(html).toContain('<input type="hidden" name="role" value="operator">')
  expect(html).toContain('name="now"')
  expect(await roleOf(ann.id)).toBe('viewer')
  const wrong = await give(ann.email, 'operator', { now: 'a wrong password' })
  expect([wrong.status, await roleOf(ann.id)]).toEqual([403, 'viewer'])
  expect(await wrong.text()).toContain('The password or the code is not right.')
  const right = await give(ann.email, 'operator', { now: boss.password })
  expect([right.status, await roleOf(ann.id)]).toEqual([303, 'operator'])
  // The password counts for the next action too.
  expect((await give(ann.email, 'none')).status).toBe(303)
})

test('an action that is not dangerous never asks for the password', async () => {
  await age(60)
  const answer = await admin.post('/admin/accounts', { do: 'enable', id: ann.id })
  expect(answer.status).toBe(303)
  const disable = await admin.post('/admin/accounts', { do: 'disable', id: ann.id })
  expect([disable.status, (await findAccount(site.app.pool, ann.id))?.state]).toEqual([
    403,
    'active',
  ])
})

test('the last administrator keeps the role', async () => {
  const kept = await give(boss.email, 'none', { now: boss.password })
  expect(kept.headers.get('location')).toBe(`${page}?done=last-admin`)
  expect(await roleOf(boss.id)).toBe('administrator')
})

test('an unknown account or role is refused', async () => {
  const unknown = await give('nobody@example.org', 'viewer', { now: boss.password })
  expect(unknown.status).toBe(422)
  expect(await unknown.text()).toContain('No active account has this address.')
  expect((await give(ann.email, 'king')).status).toBe(422)
})

test('the command line gives roles without a password', async () => {
  const run = (...args: string[]) => runCommand(operations, ['role', ...args], site.app)
  expect(await run('ann@example.org', 'analyst')).toMatchObject({ code: 0 })
  expect(await roleOf(ann.id)).toBe('analyst')
  await expect(run('ann@example.org', 'king')).rejects.toThrow('ROLE: Choose one of viewer')
})
