import { expect, test } from 'vitest'
import { listRuleLists } from '../../../src/db/rule-lists.ts'
import { listTokens } from '../../../src/db/sessions.ts'
import { addToken } from '../../../src/people/credentials.ts'
import { sureActions } from '../../../src/web/admin/sure-actions.ts'
import { adminRoutes } from '../../../src/web/admin/router.ts'
import { roleTable } from '../../../src/web/admin/role-table.ts'
import type { Site } from '../../../src/web/site.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { watchRoutes } from '../../support/pages/route-list.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const listRoutes = watchRoutes()
const site = await closeAfterTests(startWebSite())
const routes = listRoutes('post')
const table = roleTable(adminRoutes({ ...site.app, publicUrl: site.url } as Site))
const forms = table.flatMap(({ method, path, permissions = {} }) =>
  method === 'post' ? Object.values(permissions).map(({ action }) => action?.name ?? path) : [],
)

/** Actions of operators that are not asked about, and why. */
const unasked: Record<string, readonly string[]> = {
  'It is undone by the opposite action, which loses nothing.': [
    ...['queue demote', 'queue retry', 'queue resume', 'queue pause', 'queue concurrency'],
    ...['queue run', 'queue now', 'queue cancel', 'health set', 'health reset', 'health silence'],
    ...['health unsilence', 'health forget', 'health backup-done', 'bans add', 'bans remove'],
    ...['reports save-search', 'reports decide', 'reports undecide', 'reports undo'],
    ...['account enable', 'account confirm', 'account invite', 'suppressions add'],
    ...['suppressions remove', 'consumers add', 'consumers set', 'consumers pause'],
    ...['consumers resume', 'consumers enroll', 'consumers contract', 'consumers end-contract'],
    ...['networks set', 'reputations mark', 'reputations unmark', 'senders close', 'sources add'],
    ...['sources remove', 'mail-servers add', 'mail-servers remove', 'simulations add'],
    ...['models promote', 'models rollback', 'models automatic', 'rule-lists create'],
    ...['rule-lists add', 'rule-lists remove', 'lists exempt', 'lists unexempt', 'limits save'],
    ...['marketers proposals take', 'marketers proposals dismiss', 'marketers set'],
    ...['statistics publish', 'deletions withdraw', 'samples fill', 'samples remove'],
    ...['/admin/reports/export', '/admin/rule-lists/:list/try', 'pages contacts set'],
  ],
  'Its page says what follows and names the person, the mail or the reports.': [
    ...['reports act', 'reports delete', 'reports stop', 'account role', 'account erase'],
    ...['account rename', 'consumers stop', 'enrollments accept', 'enrollments refuse'],
    ...['lists accept', 'lists refuse', 'inbox handle', 'inbox answer', 'bans release'],
    ...['outbox retry', 'outbox release', 'outbox resend', 'pages clear'],
    ...['pages confirm', 'pages undecide', 'partners enable', 'partners disable'],
    ...['/admin/rules/edit', '/admin/rules/versions/:version'],
  ],
}

/** The forms of people without a role, and why they ask or not. */
const personal: Record<string, readonly string[]> = {
  'It asks by the shared page.': ['/account/sessions', '/account/tokens', '/settings'].concat(
    '/settings/webhooks',
  ),
  'It has a page of its own, or asks for the password.': [
    ...['/account/address', '/account/erase', '/account/password', '/account/second-step'],
    ...['/account/move/:token', '/account/reset/:token', '/reports/:id/retract'],
    ...['/reports/:id/original', '/reports/:id/unsubscribe', '/answer/:token/:kind'],
  ],
  'It loses nothing.': [
    ...['/account/confirm/:token', '/account/export', '/advice/off/:token', '/consumers/:token'],
    ...['/consumers/:token/reports', '/consumers/enroll', '/consumers/enroll/:token'],
    ...['/forgotten', '/language', '/letters/off/:token', '/lookup/delist', '/relays', '/report'],
    ...['/report/look', '/report/share', '/reports/:id/answer', '/reports/:id/confirm'],
    ...['/reports/:id/restore', '/sign-in', '/sign-in/code', '/sign-out', '/sign-up'],
  ],
}

test('every form asks before something final, or has a reason not to', () => {
  const known = [...Object.keys(sureActions), ...Object.values(unasked).flat()]
  expect([...new Set(forms)].toSorted()).toEqual(known.toSorted())
  const isPersonal = (route: string) => !/^\/(?:admin|api|openapi)\b/.test(route)
  expect(routes.filter(isPersonal)).toEqual(Object.values(personal).flat().toSorted())
})

const ann = await site.addPerson('ann@reporters.example')
const admin = await site.addPerson('admin@operators.example', { role: 'administrator' })
const [own, operator] = [
  await signedInBrowser(site.url, ann),
  await signedInBrowser(site.url, admin),
]
own.isSure = false
operator.isSure = false

/** The fields of the only form on a page that asks. */
function fieldsOf(page: string): Record<string, string> {
  const [form = ''] = /<form method="post"[^>]*>(?:(?!<\/form>)[^])*name="sure"[^]*?<\/form>/.exec(
    page,
  ) ?? ['']
  const hidden = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...hidden].map(([, name = '', value = '']) => [name, value]))
}

/** Sends a form, reads the page that asks, and sends the form of that page. */
async function askedBy(browser: typeof own, path: string, fields: Record<string, string>) {
  const asked = await browser.post(path, fields)
  const page = await asked.text()
  return { page, go: () => browser.post(path, fieldsOf(page)) }
}

test('a token is revoked by its name, only after the page that asks', async () => {
  const made = { name: 'Mutt <b>', scopes: ['report'], role: null } as const
  await addToken({ pool: site.app.pool, clock: site.app.clock }, ann.id, made)
  const tokens = async () =>
    (await listTokens(site.app.pool, ann.id)).filter(({ name }) => name === made.name)
  const [{ id } = { id: '' }] = await tokens()
  const { page, go } = await askedBy(own, '/account/tokens', { end: String(id) })
  expect(page).toContain('The token “Mutt &lt;b&gt;” is revoked.')
  expect(page).toContain('Programs that use it can no longer act for you.')
  expect(page).toContain('href="/account/tokens"')
  expect(await tokens()).toHaveLength(1)
  expect((await go()).headers.get('location')).toBe('/account/tokens?done=ended')
  expect(await tokens()).toEqual([])
})

test('a list of rules is deleted by its name, only after the page that asks', async () => {
  await operator.post('/admin/rule-lists', {
    do: 'add',
    list: 'casino-words',
    kind: 'words',
    note: 'A test.',
  })
  const lists = async () => (await listRuleLists(site.app.pool)).map(({ name }) => name)
  const form = { do: 'delete', list: 'casino-words' }
  const { page, go } = await askedBy(operator, '/admin/rule-lists', form)
  expect(page).toContain('The list “casino-words” and all its entries are deleted.')
  expect(await lists()).toEqual(['casino-words'])
  expect((await go()).status).toBe(303)
  expect(await lists()).toEqual([])
})

test('an account is named by its address before the password is asked for', async () => {
  const path = `/admin/accounts/${ann.id}`
  const { page, go } = await askedBy(operator, path, { do: 'disable' })
  expect(page).toContain('The account ann@reporters.example is disabled.')
  expect((await go()).status).toBe(303)
})

test('a browser is named before it is signed out', async () => {
  const bob = await site.addPerson('bob@reporters.example')
  const [here, there] = [await signedInBrowser(site.url, bob), await signedInBrowser(site.url, bob)]
  here.isSure = false
  const { page, go } = await askedBy(here, '/account/sessions', { end: 'others' })
  expect(page).toContain('You sign out of all other browsers')
  expect((await there.get('/reports')).status).toBe(200)
  expect((await go()).status).toBe(303)
  expect((await there.get('/reports')).status).toBe(303)
})
