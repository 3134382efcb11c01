import { expect, test } from 'vitest'
import { operations } from '../../../../src/cli/accounts.ts'
import { createCredentials } from '../../../../src/people/credentials.ts'
import { findAccount } from '../../../../src/db/reporters.ts'
import { closeAfterTests, closeAfterThisTest } from '../../../support/after-tests.ts'
import { runCommand } from '../../../support/command.ts'
import { lettersTo, linkTo } from '../../../support/letters.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { startWebSite } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())
const boss = await site.addPerson('boss@example.org', { role: 'administrator' })
const admin = await signedInBrowser(site.url, boss)

const page = '/admin/accounts'

test('accounts are listed by address, searched by prefix, fifty per page', async () => {
  for (let count = 10; count < 65; count++) {
    await site.app.pool.query(`insert into reporters (id, email, created_at) values ($1, $2, $3)`, [
      `00000000-0000-7000-8000-0000000000${count}`,
      `row${count}@example.net`,
      new Date(),
    ])
  }
  const found = await (await admin.get(`${page}?begin=ROW`)).text()
  expect(found).toContain('row10@example.net')
  expect(found).not.toContain('Disable boss@example.org')
  expect(found).not.toContain('row60@example.net')
  const next = /href="(\/admin\/accounts\?[^"]*after[^"]*)"/.exec(found)?.[1] ?? ''
  const rest = await (await admin.get(next.replaceAll('&amp;', '&'))).text()
  expect(rest).toContain('row60@example.net')
  expect(rest).not.toContain('row10@example.net')
  expect(await (await admin.get(`${page}?begin=ro%25`)).text()).toContain('No accounts found.')
})

test('a disabled account is signed out at once, and unchanged when enabled', async () => {
  const ann = await site.addPerson('ann@example.org')
  const browser = await signedInBrowser(site.url, ann)
  await admin.post(page, { do: 'disable', id: ann.id })
  expect((await browser.get('/settings')).status).toBe(303)
  expect(await createCredentials(site.app.pool).byToken(ann.token)).toBeUndefined()
  expect(await createCredentials(site.app.pool).byPassword(ann.email, ann.password)).toBeUndefined()
  await admin.post(page, { do: 'enable', id: ann.id })
  expect(await createCredentials(site.app.pool).byToken(ann.token)).toMatchObject({ id: ann.id })
  const { rows } = await site.app.pool.query(
    `select action, detail, reporter_id from audit_log where detail = $1 order by id`,
    [ann.id],
  )
  expect(rows).toEqual([
    { action: 'disable account', detail: ann.id, reporter_id: boss.id },
    { action: 'enable account', detail: ann.id, reporter_id: boss.id },
  ])
})

test('the last administrator cannot be disabled, but one of two can', async () => {
  const answer = await admin.post(page, { do: 'disable', id: boss.id })
  expect(answer.headers.get('location')).toContain('last-admin')
  expect((await findAccount(site.app.pool, boss.id))?.state).toBe('active')
  const second = await site.addPerson('second@example.org', { role: 'administrator' })
  const done = await admin.post(page, { do: 'disable', id: second.id })
  expect(done.headers.get('location')).toContain('disabled')
})

test('an account that is being erased cannot be enabled', async () => {
  const bea = await site.addPerson('bea@example.org')
  await (
    await signedInBrowser(site.url, bea)
  ).post('/account/erase', {
    how: 'keep',
    now: bea.password,
  })
  await admin.post(page, { do: 'enable', id: bea.id })
  expect((await findAccount(site.app.pool, bea.id))?.state).toBe('erasing')
})

test('a waiting sign-up is shown, and its link can be sent once more', async () => {
  const visitor = new Browser(site.url)
  await visitor.post('/sign-up', { email: 'cy@example.org', agree: 'yes', language: 'en' })
  const older = await linkTo(site.app.pool, 'cy@example.org')
  expect(await (await admin.get(page)).text()).toContain('cy@example.org')
  await admin.post(page, { do: 'write', address: 'cy@example.org' })
  expect(await lettersTo(site.app.pool, 'cy@example.org')).toHaveLength(2)
  expect((await visitor.get(older)).status).toBe(404)
  expect((await visitor.get(await linkTo(site.app.pool, 'cy@example.org'))).status).toBe(200)
  await admin.post(page, { do: 'write', address: 'nobody@example.org' })
  expect(await lettersTo(site.app.pool, 'nobody@example.org')).toEqual([])
})

test('the page is for administrators', async () => {
  const dan = await site.addPerson('dan@example.org')
  const browser = await signedInBrowser(site.url, dan)
  expect((await browser.get(page)).status).toBe(403)
  expect((await browser.post(page, { do: 'disable', id: boss.id })).status).toBe(403)
})

test('the command line has the same effect', async () => {
  const eve = await site.addPerson('eve@example.org')
  const run = (...args: string[]) => runCommand(operations, args, site.app)
  expect((await run('list', 'eve')).stdout).toMatch(/^\d{4}-\d\d-\d\d\tactive\treporter\teve@ex/)
  expect(await run('disable', 'EVE@example.org')).toMatchObject({ code: 0 })
  expect(await run('disable', eve.email)).toMatchObject({ code: 1 })
  expect((await findAccount(site.app.pool, eve.id))?.state).toBe('disabled')
  expect(await run('enable', eve.email)).toMatchObject({ code: 0 })
  expect(await run('disable', 'nobody@example.org')).toMatchObject({ code: 1 })
  await expect(run('disable')).rejects.toThrow('EMAIL: Enter the email address')
  await expect(run('explode', 'a@b.example')).rejects.toThrow('Use "account list"')
})

test('the privacy page names the operator, the days and the version', async () => {
  const named = await closeAfterThisTest(
    startWebSite({
      OPERATOR_NAME: 'Example <Association>',
      OPERATOR_CONTACT: 'privacy@example.org',
      RETENTION_DAYS: '90',
    }),
  )
  const english = await (await new Browser(named.url).get('/privacy')).text()
  for (const says of ['Example &lt;Association&gt;', 'privacy@example.org', '90 days', '2026-11']) {
    expect(english).toContain(says)
  }
  const french = await (await new Browser(named.url).get('/privacy?lang=fr')).text()
  expect(french).toContain('90 jours')
  expect(await (await new Browser(site.url).get('/privacy')).text()).toContain(
    'has not given a name yet',
  )
})
