import { expect, test } from 'vitest'
import { adminRoutes } from '../../../src/web/admin/router.ts'
import { roleTable } from '../../../src/web/admin/role-table.ts'
import type { Site } from '../../../src/web/site.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { type Holder, startKeyedSite } from '../../support/keys/keyed-site.ts'
import { addressesOf, readAddress } from '../../support/keys/shown-addresses.ts'
import { notSent, type SentForm, sentForms } from '../../support/keys/sent-forms.ts'
import { watchRoutes } from '../../support/pages/route-list.ts'
import { keysIn } from '../../support/seen-keys.ts'

const listRoutes = watchRoutes()
const keyed = await closeAfterTests(startKeyedSite())
const { site, needles, holders } = keyed
const routes = (['post', 'put', 'patch', 'delete'] as const).flatMap((method) =>
  listRoutes(method).map((route) => `${method} ${route}`),
)
const permissions = new Map(
  roleTable(adminRoutes({ ...site.app, publicUrl: site.url } as Site)).flatMap((row) =>
    row.method === 'post' ? [[`post ${row.path}`, Object.keys(row.permissions ?? {})]] : [],
  ) as [string, string[]][],
)

/** The requests of a route, one for each thing that its form may do. */
async function formsOf(route: string): Promise<SentForm[]> {
  const forms = (await sentForms[route]?.(keyed)) ?? []
  const words = permissions.get(route) ?? ['']
  return forms.flatMap((form) =>
    form.fields?.['do'] !== undefined || words.length === 1
      ? [form]
      : words.map((word) => ({ ...form, fields: { ...form.fields, do: word } })),
  )
}

function send(method: string, { at, fields, json }: SentForm, { browser, person, token }: Holder) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = json && JSON.stringify(json)
  if (!at.startsWith('/api/')) return browser.post(at, { now: person.password, ...fields })
  const content = body === undefined ? {} : { body }
  return fetch(`${site.url}${at}`, { method: method.toUpperCase(), headers, ...content })
}

/** Searches an answer with its header, and the page to which it leads. */
async function look(name: string, answer: Response, { browser }: Holder): Promise<void> {
  const header = JSON.stringify([...answer.headers])
  const bytes = Buffer.concat([Buffer.from(header), Buffer.from(await answer.arrayBuffer())])
  expect([name, keysIn(bytes, needles)]).toEqual([name, []])
  const next = answer.headers.get('location')
  if (answer.status !== 303 || next === null) return
  const page = await browser.get(next)
  expect([name, keysIn(Buffer.from(await page.arrayBuffer()), needles)]).toEqual([name, []])
}

test('every route that takes a request is sent one, or has a reason', async () => {
  const open: string[] = []
  for (const route of routes.filter((one) => !sentForms[one] && !notSent[one])) {
    // Routes of the API answer that they have other methods.
    const [method = '', at = ''] = route.split(' ')
    const { status } = await fetch(`${site.url}${at}`, { method: method.toUpperCase() })
    if (status !== 405) open.push(route)
  }
  expect(open).toEqual([])
  const listed = [...Object.keys(sentForms), ...Object.keys(notSent)]
  expect(listed.filter((route) => !routes.includes(route))).toEqual([])
})

for (const route of routes.filter((one) => sentForms[one])) {
  test(`no answer to a request shows a key: ${route}`, async () => {
    const [method = ''] = route.split(' ')
    for (const form of await formsOf(route)) {
      const statuses: number[] = []
      for (const holder of holders) {
        const answer = await send(method, form, holder)
        statuses.push(answer.status)
        await look(JSON.stringify([holder.role, form]), answer, holder)
      }
      expect(statuses.filter((status) => status >= 500)).toEqual([])
      const isTaken = statuses.some((status) => status < 400)
      expect([form, statuses, isTaken]).toEqual([form, statuses, form.isRefused !== true])
    }
  })
}

/** What a person pastes into a field: links of others, as from a mail. */
const pasted = (
  ['reset link', 'answer link', 'mail-in address', 'webhook secret', 'API token'] as const
)
  .map((kind) => keyed.keys[kind])
  .join(' ')

/** A form with keys in one of its fields, for each field. */
function withPasted(form: SentForm): SentForm[] {
  const given = Object.entries({ ...form.fields, ...form.json }).filter(
    ([name, value]) => name !== 'do' && typeof value === 'string',
  )
  return given.map(([name, value]) => {
    const changed = { [name]: `${String(value)} ${pasted}` }
    return form.json
      ? { ...form, json: { ...form.json, ...changed } }
      : { ...form, fields: { ...form.fields, ...changed } }
  })
}

test('keys that an operator pastes into a form are masked, also for the next reader', async () => {
  const administrator = holders.find(({ role }) => role === 'administrator')
  const viewer = holders.find(({ role }) => role === 'viewer')
  if (!administrator || !viewer) throw new Error('There is a person for each role.')
  const isOfOperators = (route: string) => /\/admin|mass-actions|queues|outgoing/.test(route)
  const found = new Set<string>()
  for (const route of routes.filter((one) => sentForms[one] && isOfOperators(one))) {
    const [method = ''] = route.split(' ')
    for (const form of (await formsOf(route)).flatMap(withPasted)) {
      const answer = await send(method, form, administrator)
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (keysIn(bytes, needles).length > 0) found.add(`${route} ${JSON.stringify(form)}`)
    }
  }
  for (const route of listRoutes('get').filter((one) => isOfOperators(one))) {
    for (const address of addressesOf(route, keyed)) {
      const answer = await readAddress(address, keyed, viewer)
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (answer.status === 200 && keysIn(bytes, needles).length > 0) found.add(address)
    }
  }
  expect([...found]).toEqual([])
})

test('an error that repeats a value masks a key in it', async () => {
  const { token } = keyed.shown.ann
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  const url = `${site.url}/api/v1/reports?received_via=${keyed.keys['API token']}`
  const answer = await fetch(url, { method: 'POST', headers, body: 'Subject: x\r\n\r\nHello' })
  const { detail } = (await answer.json()) as { detail: string }
  expect([answer.status, detail]).toEqual([422, expect.stringMatching(/sp_\*{43} is/)])
})
