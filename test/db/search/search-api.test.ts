import { expect, test } from 'vitest'
import { runActOnReports } from '../../../src/search/mass-actions.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { spamMessage } from '../../support/messages.ts'
import { type Person, startWebSite } from '../web/web-site.ts'

const site = await closeAfterTests(startWebSite())
const viewer = await site.addPerson('viewer@desk.example', { role: 'viewer' })
const operator = await site.addPerson('operator@desk.example', { role: 'operator' })
const ann = await site.addPerson('ann@reporters.example')
const ids: string[] = []
for (const mark of ['a', 'b', 'c']) ids.push(await site.report(ann, spamMessage(mark)))
const newest = ids.toReversed()
const search = `reporter:${ann.email}`

type Answer = {
  status: number
  body: Record<string, unknown> & { reports: { id: string }[]; next: string | null }
}

async function call(person: Person, path: string, body?: object): Promise<Answer> {
  const url = path.startsWith('http') ? path : `${site.url}/api/v1${path}`
  const headers = { authorization: `Bearer ${person.token}` }
  const post = body && { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(url, { headers, ...post })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

test('a viewer pages through what a search finds', async () => {
  const query = new URLSearchParams({ q: search, limit: '2' })
  const first = await call(viewer, `/search?${query}`)
  expect(first.body).toMatchObject({ count: 3, is_count_exact: true, complete_until: null })
  expect(first.body.reports.map(({ id }) => id)).toEqual(newest.slice(0, 2))
  const { pathname, search: rest } = new URL(first.body.next ?? '')
  const second = await call(viewer, `${site.url}${pathname}${rest}`)
  expect(second.body).toMatchObject({ reports: [{ id: newest[2] }], next: null })
  expect((await call(ann, '/search')).status).toBe(403)
})

test('an operator starts, follows and undoes an action, a viewer only looks', async () => {
  const choice = { action: 'retract', search }
  const preview = await call(viewer, '/mass-actions/preview', choice)
  expect(preview).toMatchObject({ status: 200, body: { reports: 3, may_start: true } })
  const order = { ...choice, reason: 'a test' }
  expect((await call(viewer, '/mass-actions', order)).status).toBe(403)
  const { status, body } = await call(operator, '/mass-actions', order)
  expect([status, body['state']]).toEqual([202, 'running'])
  const actionId = String(body['id'])
  while ((await runActOnReports({ actionId }, site.app)) !== 'done');
  const at = `/mass-actions/${actionId}`
  const counts = { waiting: 0, changed: 3, unchanged: 0, undone: 0 }
  expect((await call(viewer, at)).body).toMatchObject({
    ...{ state: 'done', may_undo: true, reports: counts },
  })
  expect((await call(viewer, `${at}/undo`, {})).status).toBe(403)
  expect(await call(operator, `${at}/undo`, {})).toMatchObject({
    ...{ status: 202, body: { state: 'undoing' } },
  })
  expect((await call(operator, `${at}/stop`, {})).body).toMatchObject({ state: 'stopped' })
  expect((await call(viewer, '/mass-actions')).body['actions']).toHaveLength(1)
})

test('an action needs a search or ids, and reports', async () => {
  const start = (given: object) => call(operator, '/mass-actions', { reason: 'x', ...given })
  for (const given of [
    { action: 'retract' },
    { action: 'retract', search, ids },
    { action: 'retract', search: 'shape:round' },
    { action: 'retract', search: 'kind:phishing' },
    { action: 'drop', search },
    { action: 'retract', search, reason: '' },
  ]) {
    expect([given, (await start(given)).status]).toEqual([given, 422])
  }
})
