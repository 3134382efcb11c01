import { expect, test } from 'vitest'
import { operations } from '../../../../src/cli/accounts.ts'
import { findAccount, findReporterByEmail } from '../../../../src/db/reporters.ts'
import { addAccount } from '../../../../src/processes/add-account.ts'
import { runEraseAccount } from '../../../../src/reports/erase-account.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { runCommand } from '../../../support/command.ts'
import { tablesWith } from '../../../support/find-text.ts'
import { lettersTo, linkTo } from '../../../support/letters.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { sampleMessage, startWebSite } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())
const { pool } = site.app
const boss = await site.addPerson('boss@example.org', { role: 'administrator' })
const admin = await signedInBrowser(site.url, boss)
const list = '/admin/accounts'
const pageOf = ({ id }: { id: string }) => `${list}/${id}`

const audit = async (action: string, db = pool) => {
  const text = 'select reporter_id as by, detail from audit_log where action = $1 order by id'
  return (await db.query<{ by: string; detail: string }>(text, [action])).rows
}

/** Runs the job to its end, a day later. */
async function finish(erasureId: string, app = site.app): Promise<void> {
  for (let run = 1; run <= 20; run++) {
    const now = new Date(Date.now() + run * 86_400_000)
    if ((await runEraseAccount({ erasureId }, { ...app, clock: () => now })) === 'done') return
  }
  throw new Error('The erasure did not end.')
}

test('an invited person chooses a password by the link of the letter', async () => {
  const email = 'new@example.org'
  const fields = { do: 'invite', address: 'New@example.org', role: 'analyst', language: 'fr' }
  expect((await admin.post(list, fields)).headers.get('location')).toContain('done=invited')
  const account = await findReporterByEmail(pool, email)
  expect(account).toMatchObject({ role: 'analyst', passwordHash: null, language: 'fr' })
  expect(await audit('add account')).toEqual([
    { by: boss.id, detail: `${account?.id}: analyst, trust new` },
  ])
  const old = await linkTo(pool, email)
  expect((await admin.post(list, fields)).headers.get('location')).toContain('done=again')
  const link = await linkTo(pool, email)
  const browser = new Browser(site.url)
  expect((await browser.get(old)).status).toBe(404)
  const password = 'correct horse battery'
  expect((await browser.post(link, { password })).headers.get('location')).toContain('/sign-in')
  const again = await admin.post(list, fields)
  expect(again.headers.get('location')).toContain('done=has-account')
  const person = await signedInBrowser(site.url, { email, password })
  expect((await person.get('/admin')).status).toBe(200)
})

test('a changed address belongs to one account, and the old one gets a letter', async () => {
  const ann = await site.addPerson('ann@example.org')
  const change = (address: string) => admin.post(pageOf(ann), { do: 'rename', address })
  const taken = await change('BOSS@example.org')
  expect([taken.status, await taken.text()]).toEqual([
    422,
    expect.stringContaining('Another account has this address.'),
  ])
  expect((await change('ann@example.net')).headers.get('location')).toContain('done=renamed')
  expect((await findAccount(pool, ann.id))?.email).toBe('ann@example.net')
  expect(await lettersTo(pool, 'ann@example.org')).toHaveLength(1)
  expect(await audit('rename account')).toEqual([{ by: boss.id, detail: ann.id }])
})

test('a page names who loses a role, and the last administrator loses none', async () => {
  const ben = await site.addPerson('ben@example.org', { role: 'operator' })
  const roles = await (await admin.get('/admin/roles')).text()
  expect(roles).toContain(`href="${pageOf(ben)}/role"`)
  expect(roles).not.toContain('value="none"')
  const page = await (await admin.get(`${pageOf(ben)}/role`)).text()
  expect(page).toContain('ben@example.org has the role “operator”.')
  await admin.post(pageOf(ben), { do: 'role', role: 'none' })
  expect((await findAccount(pool, ben.id))?.role).toBe(null)
  for (const step of ['role', 'erase']) {
    const refused = await (await admin.get(`${pageOf(boss)}/${step}`)).text()
    expect(refused).toContain('This is the last administrator')
    expect(refused).not.toContain('name="do"')
  }
  for (const fields of [
    { do: 'role', role: 'viewer' },
    { do: 'erase', how: 'keep' },
  ]) {
    const refused = await admin.post(pageOf(boss), fields)
    expect(refused.headers.get('location')).toContain('done=last-admin')
  }
  const demoted = addAccount(
    { email: boss.email, password: undefined, role: 'viewer', wantsToken: false },
    site.app,
  )
  await expect(demoted).rejects.toMatchObject({
    problems: [expect.stringContaining('last administrator')],
  })
  expect(await findAccount(pool, boss.id)).toMatchObject({ role: 'administrator' })
})

test('a person who asked in writing is erased, and gets a receipt without their name', async () => {
  const email = 'written@example.org'
  const person = await site.addPerson(email)
  const id = await site.report(person, sampleMessage('written request'))
  const page = await (await admin.get(`${pageOf(person)}/erase`)).text()
  expect(page).toContain(`The account ${email}`)
  const missing = await admin.post(pageOf(person), { do: 'erase' })
  expect(missing.status).toBe(422)
  const begun = await admin.post(pageOf(person), { do: 'erase', how: 'keep' })
  const receipt = begun.headers.get('location') ?? ''
  const [, erasureId = ''] =
    /^\/admin\/accounts\/erasures\/([\w-]+)\?done=started/.exec(receipt) ?? []
  expect(await (await admin.get(receipt)).text()).toContain('The deletion is not done yet.')
  expect((await findAccount(pool, person.id))?.state).toBe('erasing')
  await finish(erasureId)
  expect(await findAccount(pool, person.id)).toBeUndefined()
  expect((await pool.query('select from reports where id = $1', [id])).rowCount).toBe(1)
  for (const mark of [email, person.id]) expect(await tablesWith(pool, mark)).toEqual([])
  const done = await (await admin.get(receipt)).text()
  expect(done).toMatch(/You asked us to delete[\s\S]*Your reports remain without your name/)
  expect(done).toMatch(/Vous nous avez demandé[\s\S]*Вы попросили/)
  expect(done).toContain(`Reference: ${erasureId}`)
  expect(await (await admin.get(`${list}/erasures`)).text()).toContain(`erasures/${erasureId}`)
  expect(await audit('erase account')).toEqual([
    { by: boss.id, detail: 'On request. Erasure of an account started; its reports are kept.' },
  ])
})

test('the command line erases too', async () => {
  const person = await site.addPerson('command@example.org')
  const { code } = await runCommand(operations, ['erase', person.email, 'remove'], site.app)
  expect(code).toBe(0)
  expect((await findAccount(pool, person.id))?.state).toBe('erasing')
})

test('with four eyes, a second administrator confirms an erasure, and no operator', async () => {
  const other = await startWebSite({ FOUR_EYES: 'required' })
  try {
    const people = [
      await other.addPerson('one@desk.example', { role: 'administrator' }),
      await other.addPerson('two@desk.example', { role: 'administrator' }),
      await other.addPerson('op@desk.example', { role: 'operator' }),
    ]
    const [one, two, operator] = await Promise.all(
      people.map((person) => signedInBrowser(other.url, person)),
    )
    const person = await other.addPerson('ann@example.org')
    const path = '/admin/deletions'
    const asked = await one?.post(pageOf(person), { do: 'erase', how: 'remove' })
    expect(asked?.headers.get('location')).toBe(`${path}?done=proposed`)
    expect((await findAccount(other.app.pool, person.id))?.state).toBe('active')
    const page = await (await two?.get(path))?.text()
    expect(page).toMatch(/Delete a person’s data[\s\S]*ann@example\.org/)
    const { rows } = await other.app.pool.query<{ id: string }>('select id from proposed_deletions')
    const id = rows[0]?.id ?? ''
    for (const word of ['graver-confirm', 'confirm', 'graver-withdraw', 'withdraw']) {
      await operator?.post(path, { do: word, id })
    }
    expect((await findAccount(other.app.pool, person.id))?.state).toBe('active')
    const confirmed = await two?.post(path, { do: 'graver-confirm', id })
    expect(confirmed?.headers.get('location')).toContain('done=confirmed')
    expect((await findAccount(other.app.pool, person.id))?.state).toBe('erasing')
    const entries = await audit('erase account', other.app.pool)
    expect(entries).toMatchObject([{ by: people[1]?.id }])
  } finally {
    await other.close()
  }
})
