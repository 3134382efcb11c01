import { expect, test } from 'vitest'
import { insertToken, type TokenScope, scopes } from '../../../src/db/sessions.ts'
import { apiOperations } from '../../../src/web/api/contract/document.ts'
import type { Operation } from '../../../src/web/api/contract/operation.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sampleMessage, startWebSite, type Person } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const admin = await site.addPerson('admin@desk.example', { isAdmin: true })
const id = await site.report(ann, sampleMessage('scopes'))

async function tokenOf(person: Person, ...allowed: TokenScope[]): Promise<string> {
  const { token, hash } = createToken()
  const made = { hash, reporterId: person.id, name: 'test', createdAt: new Date() }
  await insertToken(site.app.pool, { ...made, scopes: allowed })
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
  expect(await statusOf(operation, await tokenOf(admin, ...others))).toBe(403)
  expect([401, 403]).not.toContain(await statusOf(operation, await tokenOf(admin, scope)))
})

test('every operation that changes something needs more than the scope "report"', () => {
  const changing = apiOperations.filter(({ method }) => !['get', 'post'].includes(method))
  expect(changing.filter(({ need }) => need === 'report' || need === 'read')).toEqual([])
})

test('only the scope "admin" lets an administrator’s token read data of others', async () => {
  const read = async (path: string, token: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${site.url}/api/v1${path}`, { method, headers })).status
  }
  const [narrow, wide] = [
    await tokenOf(admin, 'read', 'retract'),
    await tokenOf(admin, 'read', 'admin'),
  ]
  for (const path of [`/reports/${id}`, `/reports/${id}/raw`]) {
    expect([path, await read(path, narrow), await read(path, wide)]).toEqual([path, 404, 200])
  }
  expect(await read(`/reports/${id}`, narrow, 'DELETE')).toBe(404)
})

test('a scope "admin" on the token of anyone else allows nothing', async () => {
  const token = await tokenOf(ann, ...scopes)
  for (const { operation } of scoped.filter(({ scope }) => scope === 'admin')) {
    expect(await statusOf(operation, token)).toBe(403)
  }
})
