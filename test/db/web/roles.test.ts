import path from 'node:path'
import { expect, test } from 'vitest'
import { insertToken, scopes } from '../../../src/db/sessions.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { includesRole, type Role, roles } from '../../../src/roles.ts'
import { adminRoutes } from '../../../src/web/admin/router.ts'
import { roleTable } from '../../../src/web/admin/role-table.ts'
import { apiOperations } from '../../../src/web/api/contract/document.ts'
import type { Operation } from '../../../src/web/api/contract/operation.ts'
import type { Site } from '../../../src/web/site.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { rolesPage } from '../../support/roles-page.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const table = roleTable(adminRoutes({ ...site.app, publicUrl: site.url } as Site))
const holders = [null, ...roles]
const id = '01999999-0000-7000-8000-000000000000'

type Holder = { role: Role | null; browser: Browser; token: string }

/** A person for each role and one without, with a session and a token of the same role. */
async function hold(role: Role | null): Promise<Holder> {
  const person = await site.addPerson(`${role ?? 'reporter'}@example.org`, role ? { role } : {})
  const { token, hash } = createToken()
  const made = { hash, reporterId: person.id, name: 'test', createdAt: new Date() }
  await insertToken(site.app.pool, { ...made, scopes, role })
  return { role, browser: await signedInBrowser(site.url, person), token }
}

const people = await Promise.all(holders.map(hold))
const stranger = new Browser(site.url)

/** One request for each page and for each thing that a form may do. */
const uses = table.flatMap(({ method, path: route, role, permissions }) => {
  const address = route.replaceAll(/:\w+/g, (name) => (name === ':number' ? '1' : id))
  const opened = { method, route, address, name: `${method} ${route}` }
  if (method === 'get') return [{ ...opened, role, fields: {} }]
  return Object.entries(permissions ?? { '': { role: undefined } }).map(([value, needed]) => {
    return { ...opened, name: `${opened.name} ${value}`, role: needed.role, fields: { do: value } }
  })
})

test('every page and form of the administration declares its role', () => {
  expect(table.length).toBeGreaterThan(70)
  expect(uses.filter(({ role }) => role === undefined)).toEqual([])
})

test.for(uses)('$name is refused below its role and open from it', async (use) => {
  const ask = (browser: Browser, headers = {}) =>
    use.method === 'get'
      ? browser.send(use.address, { headers })
      : browser.post(use.address, use.fields, headers)
  const check = async ({ role, browser, token }: Holder) => {
    const { status } = await ask(browser)
    const isOpen = use.role !== undefined && includesRole(role, use.role)
    expect([role, status === 403]).toEqual([role, !isOpen])
    expect(status).toBeLessThan(500)
    // A token is for the API only: pages treat its holder as a stranger, whatever the role.
    if (role !== null && role !== 'administrator') return
    const byToken = await ask(stranger, { authorization: `Bearer ${token}` })
    expect([byToken.status, byToken.headers.get('location')?.split('?')[0]]).toEqual([
      303,
      '/sign-in',
    ])
  }
  await Promise.all(people.map(check))
  const unknown = await ask(stranger)
  expect(unknown.headers.get('location')).toMatch(/^\/sign-in\?next=/)
})

/** Requests an operation through a proxy, so that being on the same machine has no effect. */
async function statusOf({ method, path: route }: Operation, headers: Record<string, string>) {
  const address = route.replaceAll(/\{\w+\}/g, id)
  const answer = await fetch(`${site.url}${address}`, {
    method: method.toUpperCase(),
    headers: { 'x-forwarded-for': '192.0.2.1', ...headers },
    redirect: 'manual',
  })
  await answer.arrayBuffer()
  return answer.status
}

const guarded = apiOperations.filter(({ need }) => need !== 'nothing' && need !== 'mail-server')

test.for(guarded)('$method $path of the API checks the role of tokens', async (operation) => {
  const { need } = operation
  const needed = roles.find((role) => role === need)
  const check = async ({ role, browser, token }: Holder) => {
    const status = await statusOf(operation, { authorization: `Bearer ${token}` })
    if (needed) expect([role, status === 403]).toEqual([role, !includesRole(role, needed)])
    else
      expect([role, [401, 403].includes(status)]).toEqual([
        role,
        need === 'plug-in' || need === 'desk',
      ])
    // A session opens pages only.
    expect(await statusOf(operation, { cookie: browser.cookies() })).toBe(401)
  }
  await Promise.all(people.map(check))
  expect(await statusOf(operation, {})).toBe(401)
})

test('without a required second step, an operator has the rights of an analyst', async () => {
  const strict = await closeAfterTests(startWebSite({ SECOND_STEP: 'required' }))
  const person = await strict.addPerson('oda@example.org', { role: 'operator' })
  const browser = await signedInBrowser(strict.url, person)
  const api = (path: string) =>
    fetch(`${strict.url}/api/v1${path}`, { headers: { authorization: `Bearer ${person.token}` } })
  const statuses = async () => {
    const [page, audit] = [await browser.get('/admin'), await browser.get('/admin/audit')]
    return [page.status, audit.status, (await (await api('/account')).json()) as object]
  }
  expect(await statuses()).toEqual([200, 303, expect.objectContaining({ role: 'analyst' })])
  const audit = await browser.get('/admin/audit')
  expect(audit.headers.get('location')).toBe('/account/second-step?for=role')
  const led = await (await browser.get('/account/second-step?for=role')).text()
  expect(led).toContain('Your role needs two-step sign-in')
  await strict.app.pool.query(`update reporters set totp_secret = 'x' where id = $1`, [person.id])
  expect((await browser.get('/admin/audit')).status).toBe(200)
  const viewer = await strict.addPerson('vic@example.org', { role: 'viewer' })
  expect((await (await signedInBrowser(strict.url, viewer)).get('/admin/audit')).status).toBe(403)
})

test('buttons and links of the menu that a role may not use are not shown', async () => {
  const [, viewer, , operator, administrator] = people
  const text = async (holder: Holder | undefined, address: string) =>
    await (await holder?.browser.get(address))?.text()
  expect(await text(operator, '/admin/suppressions')).toContain('value="set">Suppress<')
  const read = (await text(viewer, '/admin/suppressions')) ?? ''
  const content = /<main[^]*<\/main>/.exec(read)?.[0] ?? ''
  expect(content).not.toContain('value="set"')
  expect(content).toContain('<fieldset disabled>')
  expect(await text(viewer, '/admin')).not.toMatch(/href="\/admin\/(audit|accounts)"/)
  expect(await text(administrator, '/admin')).toMatch(/href="\/admin\/accounts"/)
})

test('the document about roles shows the table', async () => {
  const page = path.join(import.meta.dirname, '../../../docs/operators/roles.md')
  await expect(rolesPage(table)).toMatchFileSnapshot(page)
})
