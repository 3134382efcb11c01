import { expect, test } from 'vitest'
import { insertToken, type TokenScope, scopes } from '../../../src/db/sessions.ts'
import { apiOperations } from '../../../src/web/api/contract/document.ts'
import type { Role } from '../../../src/roles.ts'
import type { Operation } from '../../../src/web/api/contract/operation.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sampleMessage, startWebSite, type Person } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const id = await site.report(ann, sampleMessage('scopes'))

async function tokenOf(
  person: Person,
  allowed: readonly TokenScope[],
  role: Role | null = null,
): Promise<string> {
  const { token, hash } = createToken()
  const made = { hash, reporterId: person.id, name: 'test', createdAt: new Date() }
  await insertToken(site.app.pool, { ...made, scopes: allowed, role })
  return token
}

/** Returns the status of an operation that is requested with only a token, through a proxy. */
async function statusOf({ method, path }: Operation, token: string): Promise<number> {
  const address = path.replace(/\{\w+\}/, '01999999-0000-7000-8000-000000000000')
  const answer = await fetch(`${site.url}${address}`, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.1' },
  })
  await answer.arrayBuffer()
  return answer.status
}

const scoped = apiOperations.flatMap((operation) => {
  const scope = scopes.find((one) => one === operation.need)
  return scope ? [{ operation, scope, name: operation.id }] : []
})

test.for(scoped)('$name needs the scope "$scope", and no other', async ({ operation, scope }) => {
  const others = scopes.filter((one) => one !== scope)
  expect(await statusOf(operation, await tokenOf(admin, others))).toBe(403)
  expect([401, 403]).not.toContain(await statusOf(operation, await tokenOf(admin, [scope])))
})

test('every operation that changes something needs more than the scope "report"', () => {
  const changing = apiOperations.filter(({ method }) => !['get', 'post'].includes(method))
  expect(changing.filter(({ need }) => need === 'report' || need === 'read')).toEqual([])
})

test('only its role lets a token read and retract reports of others', async () => {
  const call = async (path: string, token: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${site.url}/api/v1${path}`, { method, headers })).status
  }
  const none = await tokenOf(admin, ['read', 'retract'])
  const viewer = await tokenOf(admin, ['read', 'retract'], 'viewer')
  const analyst = await tokenOf(admin, ['read', 'retract'], 'analyst')
  const statuses = (path: string) =>
    Promise.all([none, viewer, analyst].map((token) => call(path, token)))
  expect(await statuses(`/reports/${id}`)).toEqual([404, 200, 200])
  // Only an analyst downloads what others reported, because it may contain keys in files.
  expect(await statuses(`/reports/${id}/raw`)).toEqual([404, 404, 200])
  expect(await call(`/reports/${id}`, none, 'DELETE')).toBe(404)
  expect(await call(`/reports/${id}`, viewer, 'DELETE')).toBe(404)
  expect(await call(`/reports/${id}`, analyst, 'DELETE')).toBe(200)
})
