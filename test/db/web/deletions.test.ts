import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { adminRoutes } from '../../../src/web/admin/router.ts'
import { proposableActions } from '../../../src/web/admin/deletions.ts'
import { roleTable } from '../../../src/web/admin/role-table.ts'
import type { Site } from '../../../src/web/site.ts'
import { runActOnReports, startDeletion } from '../../../src/search/mass-actions.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ FOUR_EYES: 'required' }))
const { pool } = site.app
const reporter = await site.addPerson('ann@example.org')
const [oda, otto] = [
  await site.addPerson('oda@desk.example', { role: 'operator' }),
  await site.addPerson('otto@desk.example', { role: 'operator' }),
]
const [first, second] = [
  await signedInBrowser(site.url, oda),
  await signedInBrowser(site.url, otto),
]
const path = '/admin/deletions'
let made = 0
const report = () => site.report(reporter, sampleMessage(`four eyes ${++made}`))
const messages = async (id: string) =>
  (await pool.query('select from raw_messages where id = $1', [id])).rowCount
const begun = async () => {
  const text = 'select id, reporter_id as by from mass_actions order by id desc'
  return (await pool.query<{ id: string; by: string }>(text)).rows
}
const audit = async (action: string) => {
  const text = 'select reporter_id as by, detail from audit_log where action = $1'
  return (await pool.query<{ by: string; detail: string }>(text, [action])).rows
}

/** The first person proposes to delete the message of a new report. */
async function propose() {
  const reportId = await report()
  const fields = { do: 'delete', kind: 'delete-messages', q: '', ids: reportId, reason: 'a test' }
  const answer = await first.post('/admin/reports/actions', fields)
  const { rows } = await pool.query<{ id: string }>(
    'select id from proposed_deletions order by id desc limit 1',
  )
  return { reportId, location: answer.headers.get('location'), id: rows[0]?.id ?? '' }
}

test('a deletion runs when a second person confirms it; the audit log names both', async () => {
  const { reportId, location, id } = await propose()
  expect([location, await begun()]).toEqual([`${path}?done=proposed`, []])
  const own = await first.post(path, { do: 'confirm', id })
  expect(own.headers.get('location')).toBe(`${path}?done=own`)
  expect(await (await first.get(path)).text()).not.toContain('value="confirm"')
  expect(await (await second.get('/admin')).text()).toContain('1 action to confirm')
  const page = await (await second.get(path)).text()
  expect(page).toContain('delete-messages, 1 reports selected: a test')
  expect(page).toContain('oda@desk.example')
  expect([await begun(), await messages(reportId)]).toEqual([[], 1])
  const confirmed = await second.post(path, { do: 'confirm', id })
  expect(confirmed.headers.get('location')).toContain('done=confirmed')
  const [action] = await begun()
  while ((await runActOnReports({ actionId: action?.id ?? '' }, site.app)) !== 'done');
  expect(await messages(reportId)).toBe(0)
  expect(await audit('propose deletion')).toMatchObject([{ by: oda.id }])
  const detail = `${id}, reports delete, proposed by ${oda.id}`
  expect(await audit('confirm deletion')).toEqual([{ by: otto.id, detail }])
  expect(await audit('mass action')).toMatchObject([{ by: otto.id }])
  const again = await second.post(path, { do: 'confirm', id })
  expect(again.headers.get('location')).toBe(`${path}?done=over`)
  expect(await begun()).toHaveLength(1)
})

test('two people who confirm at the same time begin one deletion', async () => {
  const third = await site.addPerson('tess@desk.example', { role: 'administrator' })
  const { id } = await propose()
  const before = (await begun()).length
  const browsers = [second, await signedInBrowser(site.url, third)]
  await Promise.all(browsers.map((browser) => browser.post(path, { do: 'confirm', id })))
  expect(await begun()).toHaveLength(before + 1)
})

test('a proposal that has expired or was withdrawn cannot be confirmed', async () => {
  const before = await begun()
  const [old, given] = [await propose(), await propose()]
  await pool.query('update proposed_deletions set expires_at = now() where id = $1', [old.id])
  await first.post(path, { do: 'withdraw', id: given.id })
  for (const { id } of [old, given]) {
    const answer = await second.post(path, { do: 'confirm', id })
    expect(answer.headers.get('location')).toBe(`${path}?done=over`)
  }
  expect(await begun()).toEqual(before)
  expect(await (await second.get('/admin')).text()).not.toContain('to confirm')
})

test('the command line proposes too, and wrong input is refused at once', async () => {
  const fields = { kind: 'delete-messages', reason: 'a test' }
  const run = (more: object) => runAction(startDeletion, { ...fields, ...more }, site.app, null)
  expect(await run({ q: 'kind:nothing-like-this' })).toHaveProperty('problems')
  expect(await run({ q: 'subject:nothing-has-this' })).toEqual({ unchanged: 'none' })
  const before = (await begun()).length
  const outcome = await run({ ids: [await report()] })
  expect([Object.keys(outcome), (await begun()).length]).toEqual([['proposed'], before])
  await second.post(path, { do: 'confirm', id: (outcome as { proposed: string }).proposed })
  expect(await begun()).toHaveLength(before + 1)
})

test('a contract for originals needs a second person, too', async () => {
  const [{ id: consumer = '' } = {}] = (
    await pool.query<{ id: string }>(
      `insert into consumers (id, address, state, created_at)
       values (gen_random_uuid(), 'abuse@hoster.example', 'found', now()) returning id`,
    )
  ).rows
  const since = async () => {
    const text = 'select originals_since is not null as runs from consumers where id = $1'
    return (await pool.query<{ runs: boolean }>(text, [consumer])).rows
  }
  const fields = { do: 'contract', reason: 'Contract 17', days: '30' }
  const answer = await first.post(`/admin/consumers/${consumer}`, fields)
  expect(answer.headers.get('location')).toBe(`${path}?done=proposed`)
  expect(await since()).toEqual([{ runs: false }])
  const text = 'select id from proposed_deletions order by id desc limit 1'
  const [{ id } = { id: '' }] = (await pool.query<{ id: string }>(text)).rows
  expect((await first.post(path, { do: 'confirm', id })).headers.get('location')).toContain('own')
  const page = await (await second.get(path)).text()
  expect(page).toContain('<h2>Send originals to an abuse team</h2>')
  expect(page).toMatch(/until \d{4}-\d\d-\d\d: Contract 17/)
  await second.post(path, { do: 'confirm', id })
  expect(await since()).toEqual([{ runs: true }])
  expect(await audit('propose action')).toMatchObject([{ by: oda.id }])
  expect(await audit('confirm action')).toMatchObject([{ by: otto.id }])
  expect(await audit('set contract')).toMatchObject([{ by: otto.id }])
})

test('an action that deletes nothing needs no second person', async () => {
  const fields = { do: 'start', kind: 'retract', q: '', ids: await report(), reason: 'a test' }
  const answer = await first.post('/admin/reports/actions', fields)
  expect(answer.headers.get('location')).toMatch(/actions\/[\w-]+\?done=started/)
})

test('every action of the administration that needs a second person can be confirmed', () => {
  const table = roleTable(adminRoutes({ ...site.app, publicUrl: site.url } as Site))
  const actions = table.flatMap(({ permissions }) => Object.values(permissions ?? {}))
  const deleting = actions.flatMap(({ action }) =>
    action?.deletesEvidence || action?.needsSecond ? [action.name] : [],
  )
  expect([...new Set(deleting)]).toEqual(proposableActions.map(({ name }) => name))
})
