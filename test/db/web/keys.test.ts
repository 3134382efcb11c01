import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { runOperation, type Operations } from '../../../src/cli/command.ts'
import { pack, type Packed, unpack } from '../../../src/db/rows.ts'
import { maskStoredMail } from '../../../src/feedback/mask-stored-mail.ts'
import { includesRole, type Role, roles } from '../../../src/roles.ts'
import { roleTable } from '../../../src/web/admin/role-table.ts'
import { adminRoutes } from '../../../src/web/admin/router.ts'
import type { Site } from '../../../src/web/site.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { type KeyKind, unsentKinds } from '../../support/keys/every-key.ts'
import { type Holder, startKeyedSite } from '../../support/keys/keyed-site.ts'
import { notSent, type SentForm, sentForms } from '../../support/keys/sent-forms.ts'
import { addressesOf, readAddress } from '../../support/keys/shown-addresses.ts'
import { watchRoutes } from '../../support/pages/route-list.ts'
import { keysIn } from '../../support/seen-keys.ts'
import { Browser, signedInBrowser } from './browser.ts'

const listRoutes = watchRoutes()
const keyed = await closeAfterTests(startKeyedSite())
const routes = listRoutes('get')
const sendingRoutes = (['post', 'put', 'patch', 'delete'] as const).flatMap((method) =>
  listRoutes(method).map((route) => `${method} ${route}`),
)
const { shown, site, keys, needles, texts, sent, report, reported, letters, ids, holders } = keyed
const { ann, links } = shown
const { app } = site
const { pool } = app
// The administrator is the last holder, and the first reader: what this role does not find,
// no other role finds.
const readers = [
  ...holders.toReversed(),
  { role: 'anonymous', browser: new Browser(site.url), token: '' },
]
/** Addresses of the staff at which the administrator found nothing, besides one of each route. */
const missing = new Set<string>()

test('every kind of key is placed, and is found where it is placed', () => {
  expect(Object.values(needles).filter((needle) => needle.length < 16)).toEqual([])
  const inMail = keysIn(Buffer.from(texts.body), needles).toSorted()
  expect(inMail).toEqual(
    Object.keys(keys)
      .filter((kind) => !unsentKinds.some((one) => one === kind))
      .toSorted(),
  )
  for (const part of texts.encodings) {
    expect(keysIn(Buffer.from(part), needles).toSorted()).toEqual(inMail)
  }
})

test.for(readers)('no page, download or answer of the API shows a key: $role', async (reader) => {
  const seen: string[] = []
  const isFirst = reader.role === 'administrator'
  const look = async (address: string) => {
    const answer = await readAddress(address, keyed, reader)
    const bytes = Buffer.from(await answer.arrayBuffer())
    const isOfOthers = /^\/(?:admin|api)/.test(address)
    const isNothing = answer.status === 404 || answer.status === 405
    if (isFirst && isOfOthers && isNothing) missing.add(address)
    if (answer.status !== 200) return
    if (isOfOthers && ids.some((id) => address.includes(id))) seen.push(address)
    expect([address, keysIn(bytes, needles)]).toEqual([address, []])
  }
  for (const route of routes) {
    const addresses = addressesOf(route, keyed).filter((one, n) => n === 0 || !missing.has(one))
    while (addresses.length > 0) await Promise.all(addresses.splice(0, 5).map(look))
  }
  const isStaff = roles.some((role) => role === reader.role)
  if (isStaff) expect(seen.length).toBeGreaterThan(10)
  else expect(seen).toEqual([])
})

/** Ann's own keys. */
const owned: readonly KeyKind[] = [
  ...(['link to a new address', 'link that turns letters off', 'mail-in address'] as const),
  ...(['answer address of a letter', 'return path of a letter'] as const),
  ...(['webhook secret', 'webhook address', 'API token'] as const),
]

test('a reporter sees no key of others in the answer of a desk or in its mail', async () => {
  const said = `Done. ${texts.lines}`
  const answered = await new Browser(site.url).post(links.answer, { said: said.slice(0, 1_900) })
  expect(answered.status).toBeLessThan(400)
  const own = await signedInBrowser(site.url, ann)
  const others = Object.fromEntries(
    Object.entries(needles).filter(([kind]) => !owned.some((one) => one === kind)),
  )
  const ofReport = routes.filter((one) => /^\/(?:api\/v1\/)?reports\/:id/.test(one))
  expect(ofReport.length).toBeGreaterThan(5)
  const headers = { authorization: `Bearer ${ann.token}` }
  for (const route of ofReport) {
    const address = route.replace(':id', shown.told).replace(':number', '1')
    const answer = address.startsWith('/api')
      ? await fetch(`${site.url}${address}`, { headers })
      : await own.get(address)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect([address, keysIn(bytes, others)]).toEqual([address, []])
  }
  expect(await (await own.get(`/reports/${shown.told}`)).text()).toContain('Done.')
})

test('an export of reports shows no key', async () => {
  const operator = holders.find(({ role }) => role === 'operator')
  for (const format of ['csv', 'jsonl', 'mbox']) {
    const answer = await operator?.browser.post('/admin/reports/export', { format, q: 'kind:spam' })
    const text = Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0))
    expect(text.includes(reported[0] ?? '-')).toBe(true)
    expect([format, keysIn(text, needles)]).toEqual([format, []])
  }
})

/** Arguments of the commands that need some. */
const argumentsOf: Record<string, readonly (readonly string[])[]> = {
  explain: [...reported, shown.told].flatMap((id) => [[id], [id, '--json']]),
  'networks show': [['198.51.100.23']],
  'queue jobs': [['dead-letter'], ['send-letter']],
  'reports search': [['kind:spam']],
  'lists show': [['192.0.2.7']],
  'senders show': [['ann']],
  'consumers show': [[shown.consumer]],
  'marketers show': [['sendgrid']],
  'models show': [['1']],
  'models test': [['1']],
  'rule-lists show': [['casino-words']],
  // Reads stored messages, and shows only the given entries.
  'rule-lists try': [],
  // Writes a file with the model.
  'models export': [],
}

test('no command shows a key', async () => {
  const main = await readFile(path.resolve('src/main.ts'), 'utf8')
  const files = [...main.matchAll(/operatorCommand\(\(\) => import\('\.\/(.*?)'\)\)/g)]
  expect(files.length).toBeGreaterThan(10)
  let ran = 0
  for (const [, file = ''] of files) {
    const { operations } = (await import(path.resolve('src', file))) as { operations: Operations }
    for (const operation of operations.filter((one) => !('run' in one) && !one.showsKey)) {
      for (const given of argumentsOf[operation.name] ?? [[]]) {
        let text = ''
        const write = (piece: string) => (text += piece)
        const streams = { stdin: new PassThrough(), stdout: { write }, stderr: { write } }
        const words = operation.name.split(' ').slice(1)
        await runOperation(operations, [...words, ...given], (work) => work(app), streams)
        ran++
        expect([operation.name, keysIn(Buffer.from(text), needles)]).toEqual([operation.name, []])
      }
    }
  }
  expect(ran).toBeGreaterThan(30)
})

test('the desk gets its own keys, and none of the reporter', () => {
  const mail = sent.find((raw) => raw.includes('Feedback-Type: abuse'))
  expect(mail).toBeDefined()
  expect(keysIn(mail ?? Buffer.of(), needles)).toEqual([])
  expect(String(mail)).toMatch(/answer\/[a-z2-7]{28}-[a-z2-7]{10}/)
})

test('reading a letter needs the role of an analyst, and leaves an audit entry', async () => {
  const [id = ''] = letters
  for (const { role, browser } of holders) {
    const page = await browser.get(`/admin/outbox/letters/${id}`)
    const file = await browser.get(`/admin/outbox/letters/${id}/message.eml`)
    const isAllowed = roles.some((one) => one === role) && includesRole(role as Role, 'analyst')
    expect([role, page.status, file.status]).toEqual([
      role,
      ...(isAllowed ? [200, 200] : [403, 403]),
    ])
  }
  const { rows } = await pool.query(
    `select distinct reporter_id from audit_log where action = 'read letter' and detail like $1`,
    [`${id}%`],
  )
  expect(rows).toHaveLength(3)
})

test('a copy that was stored with its keys is masked when shown, and by housekeeping', async () => {
  const [reportId = ''] = reported
  const address = `/admin/outbox/${reportId}/1/message.eml`
  const viewer = holders.find(({ role }) => role === 'viewer')?.browser
  const read = async () =>
    Buffer.from((await (await viewer?.get(address))?.arrayBuffer()) ?? new ArrayBuffer(0))
  const copy = await read()
  const real = sent.find((raw) => raw.includes(`${reportId}.1@`)) ?? Buffer.of()
  expect(copy).toHaveLength(real.length)
  const { encoding, content } = await pack(real)
  await pool.query(
    `update feedback_messages set encoding = $2, content = $3, is_masked = false
     where report_id = $1`,
    [reportId, encoding, content],
  )
  expect((await read()).equals(copy)).toBe(true)
  await maskStoredMail(app)
  const { rows } = await pool.query<Packed & { is_masked: boolean }>(
    'select encoding, content, is_masked from feedback_messages where report_id = $1',
    [reportId],
  )
  expect(rows[0]?.is_masked).toBe(true)
  expect(rows[0] && (await unpack(rows[0])).equals(copy)).toBe(true)
})

test('an analyst who retracts the report of another person sees no key in the answer', async () => {
  const analyst = holders.find(({ role }) => role === 'analyst')
  const headers = { authorization: `Bearer ${analyst?.token}` }
  const url = `${site.url}/api/v1/reports/${await report('retracted-keys', false)}`
  const answer = await fetch(url, { method: 'DELETE', headers })
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, expect.stringContaining('/account/reset/')])
  expect(keysIn(Buffer.from(text), needles)).toEqual([])
})

/** Tables of what the program writes itself. Mail that it received is stored as it arrived. */
const written = [
  ...['audit_log', 'letters', 'report_events', 'feedback_answers'],
  ...['webhook_deliveries', 'report_terms'],
]

test('no queue, and no table besides those of received mail, contains a key', async () => {
  for (const table of written) {
    const { rows } = await pool.query<{ text: string }>(
      `select to_jsonb(one)::text as text from ${table} as one`,
    )
    const text = rows.map((row) => row.text).join('\n')
    expect([table, keysIn(Buffer.from(text), needles)]).toEqual([table, []])
  }
  const { rows } = await pool.query<{ text: string }>(
    `select to_jsonb(job)::text as text from pgboss.job where name <> 'dead-letter'`,
  )
  const jobs = rows.map((row) => row.text).join('\n')
  expect(keysIn(Buffer.from(jobs), needles)).toEqual([])
})

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
  for (const route of sendingRoutes.filter((one) => !sentForms[one] && !notSent[one])) {
    // Routes of the API answer that they have other methods.
    const [method = '', at = ''] = route.split(' ')
    const { status } = await fetch(`${site.url}${at}`, { method: method.toUpperCase() })
    if (status !== 405) open.push(route)
  }
  expect(open).toEqual([])
  const listed = [...Object.keys(sentForms), ...Object.keys(notSent)]
  expect(listed.filter((route) => !sendingRoutes.includes(route))).toEqual([])
})

for (const route of sendingRoutes.filter((one) => sentForms[one])) {
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
  .map((kind) => keys[kind])
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
  for (const route of sendingRoutes.filter((one) => sentForms[one] && isOfOperators(one))) {
    const [method = ''] = route.split(' ')
    for (const form of (await formsOf(route)).flatMap(withPasted)) {
      const answer = await send(method, form, administrator)
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (keysIn(bytes, needles).length > 0) found.add(`${route} ${JSON.stringify(form)}`)
    }
  }
  for (const route of routes.filter((one) => isOfOperators(one))) {
    for (const address of addressesOf(route, keyed).filter((one) => !missing.has(one))) {
      const answer = await readAddress(address, keyed, viewer)
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (answer.status === 200 && keysIn(bytes, needles).length > 0) found.add(address)
    }
  }
  expect([...found]).toEqual([])
})

test('an error that repeats a value masks a key in it', async () => {
  const { token } = ann
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  const url = `${site.url}/api/v1/reports?received_via=${keys['API token']}`
  const answer = await fetch(url, { method: 'POST', headers, body: 'Subject: x\r\n\r\nHello' })
  const { detail } = (await answer.json()) as { detail: string }
  expect([answer.status, detail]).toEqual([422, expect.stringMatching(/sp_\*{43} is/)])
})
