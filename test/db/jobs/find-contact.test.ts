import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { keepRegistryRows } from '../../../src/db/registry-answers.ts'
import { retractReport } from '../../../src/intake/retract-report.ts'
import { analyzeReports } from '../../../src/jobs/analyze-report.ts'
import { findContacts } from '../../../src/jobs/find-contact.ts'
import { createParserPool, type ParserPool } from '../../../src/jobs/parser-pool.ts'
import { createRdap } from '../../../src/outbound/rdap.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'
import { entity, network, recordedAnswer } from '../../support/rdap-answers.ts'
import { openRdapPlace, type RdapPlace } from '../../support/rdap-client.ts'

const DAY_MS = 86_400_000

let app: TestApp
let parser: ParserPool
let place: RdapPlace

beforeAll(async () => {
  app = await openTestApp()
  parser = createParserPool(1)
})
afterAll(async () => {
  await parser.close()
  await app.close()
})
beforeEach(async () => {
  place = await openRdapPlace()
  await app.pool.query('delete from networks')
})
afterEach(() => place.close())

/** The application at the instant of the registry's clock. */
function tools() {
  return { ...app, parser, rdap: place.rdap, clock: place.now }
}

type Payload = { reportId: string }
let made = 0

/** Reports of spam from these addresses, analyzed. */
async function analyzed(...ips: string[]): Promise<Payload[]> {
  const payloads: Payload[] = []
  for (const ip of ips) {
    const { id } = await app.report(spamMessage(`look-up-${++made}`, { ip }))
    payloads.push({ reportId: id })
  }
  await analyzeReports(payloads, tools())
  return payloads
}

function jobsOf({ reportId }: Payload, queue: string) {
  return app.rows(
    `select data, start_after as "startAfter" from pgboss.job
     where name = $1 and data ->> 'reportId' = $2 order by created_on`,
    [queue, reportId],
  )
}

async function standing({ reportId }: Payload) {
  const id = [reportId]
  const [report] = await app.rows('select state from reports where id = $1', id)
  const [analysis] = await app.rows(
    `select network_cidr::text as cidr, network_abuse as abuse,
       judgment #>> '{consequence,action}' as action
     from analyses where id = $1`,
    id,
  )
  const feedback = await app.rows('select address from feedback_reports where report_id = $1', id)
  const events = await app.rows(
    `select detail from report_events where report_id = $1 and event = 'looked-up'`,
    id,
  )
  return {
    state: report?.['state'],
    ...analysis,
    told: feedback.map(({ address }) => address),
    said: events.map(({ detail }) => detail),
    forwards: (await jobsOf({ reportId }, 'forward-report')).length,
  }
}

const waiting = { state: 'analyzed', action: 'look-up', told: [], said: [], forwards: 0 }

test('a report from an unknown network waits for the registry, and is then told', async () => {
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  const [report = { reportId: '' }] = await analyzed('192.0.2.7')
  expect(await standing(report)).toEqual({ ...waiting, cidr: null, abuse: null })
  expect(await jobsOf(report, 'find-contact')).toHaveLength(1)
  expect(await findContacts([report], tools())).toEqual(['done'])
  expect(await standing(report)).toEqual({
    state: 'analyzed',
    cidr: '192.0.2.0/24',
    abuse: 'network-abuse@arin-holder.example',
    action: 'forward',
    told: ['network-abuse@arin-holder.example'],
    said: ['EXAMPLE-ARIN answers for the origin and has an abuse contact.'],
    forwards: 1,
  })
})

test('a second run changes nothing, nor do two at once', async () => {
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  const reports = await analyzed('192.0.2.7', '192.0.2.8')
  await Promise.all([findContacts(reports, tools()), findContacts(reports.toReversed(), tools())])
  const before = await Promise.all(reports.map(standing))
  expect(before.map(({ forwards }) => forwards)).toEqual([1, 1])
  await findContacts(reports, tools())
  expect(await Promise.all(reports.map(standing))).toEqual(before)
})

test('reports of one network need one question, now and for a week', async () => {
  const answer = { body: recordedAnswer('arin') }
  for (const host of [7, 8, 9]) place.server.reply(`ip/192.0.2.${host}`, answer)
  await findContacts(await analyzed('192.0.2.7', '192.0.2.8', '192.0.2.9'), tools())
  expect(place.server.asked).toHaveLength(1)
  place.pass(6 * DAY_MS)
  const [next = { reportId: '' }] = await analyzed('192.0.2.8')
  expect(await standing(next)).toMatchObject({ action: 'forward', forwards: 1, said: [] })
  place.pass(2 * DAY_MS)
  const [last = { reportId: '' }] = await analyzed('192.0.2.9')
  expect(await standing(last)).toMatchObject({ action: 'look-up' })
  expect(place.server.asked).toHaveLength(1)
})

test('another process that has the answer saves the question', async () => {
  const [report = { reportId: '' }] = await analyzed('192.0.2.7')
  const answer = {
    cidr: '192.0.2.0/25',
    name: 'ASKED-BEFORE',
    country: null,
    contacts: ['abuse@before.example'],
    expiresAt: new Date(place.now().getTime() + DAY_MS),
  }
  await keepRegistryRows(app.pool, [answer], place.now())
  await findContacts([report], tools())
  expect(place.server.asked).toEqual([])
  expect(await standing(report)).toMatchObject({ told: ['abuse@before.example'], forwards: 1 })
})

test('a network without a contact keeps the report, and is not asked about for a day', async () => {
  place.server.reply('ip/192.0.2.7', { body: network('192.0.2.0', '192.0.2.255') })
  const [report = { reportId: '' }] = await analyzed('192.0.2.7')
  await findContacts([report], tools())
  const why = 'No abuse contact is registered for 192.0.2.0/24 (EXAMPLE-NET).'
  expect(await standing(report)).toMatchObject({ state: 'kept', action: 'keep', said: [why] })
  const [next = { reportId: '' }] = await analyzed('192.0.2.99')
  expect(await standing(next)).toMatchObject({ state: 'kept', action: 'keep', said: [] })
  place.pass(DAY_MS)
  const [last = { reportId: '' }] = await analyzed('192.0.2.99')
  expect(await standing(last)).toMatchObject({ action: 'look-up' })
})

test('a registry that asks for patience gets it, without a retry being spent', async () => {
  const busy = { status: 429, headers: { 'retry-after': '600' }, body: {} }
  place.server.reply('ip/192.0.2.7', busy)
  const [report = { reportId: '' }] = await analyzed('192.0.2.7')
  expect(await findContacts([report], tools())).toEqual(['done'])
  expect(await standing(report)).toMatchObject(waiting)
  const [, putOff] = await jobsOf(report, 'find-contact')
  expect(putOff?.['startAfter']).toEqual(new Date(place.now().getTime() + 600_000))
  place.pass(600_000)
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  await findContacts([report], tools())
  expect(await standing(report)).toMatchObject({ action: 'forward', forwards: 1 })
})

test('after a day without an answer the report is kept, not sooner', async () => {
  place.server.reply('ip/192.0.2.7', { status: 503, headers: { 'retry-after': '86400' }, body: {} })
  const [report = { reportId: '' }] = await analyzed('192.0.2.7')
  place.pass(DAY_MS - 60_000)
  await findContacts([report], tools())
  const [, putOff] = await jobsOf(report, 'find-contact')
  expect(putOff?.['startAfter']).toEqual(new Date(place.now().getTime() + 60_000))
  expect(await standing(report)).toMatchObject(waiting)
  place.pass(60_000)
  await findContacts([report], tools())
  expect(await standing(report)).toMatchObject({
    state: 'kept',
    said: ['No registry could be asked who answers for the origin.'],
  })
})

test('a report that was retracted while it waited is left alone', async () => {
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  const [report = { reportId: '' }] = await analyzed('192.0.2.7')
  await retractReport(app, report.reportId, { isReporter: true })
  expect(await findContacts([report], tools())).toEqual(['done'])
  expect(await standing(report)).toMatchObject({ state: 'retracted', told: [], forwards: 0 })
  expect(place.server.asked).toEqual([])
})

test('one that is retracted while the registry is asked is not told of either', async () => {
  const [report = { reportId: '' }] = await analyzed('192.0.2.7')
  place.server.reply('ip/192.0.2.7', (_req, res) => {
    void retractReport(app, report.reportId, { isReporter: true }).then(() => {
      res.writeHead(200, { 'content-type': 'application/rdap+json' })
      res.end(JSON.stringify(recordedAnswer('arin')))
    })
  })
  await findContacts([report], tools())
  expect(await standing(report)).toMatchObject({ state: 'retracted', told: [], forwards: 0 })
})

async function importRow(source: string, contacts: string[], isMuted = false) {
  await app.pool.query(
    `insert into networks (cidr, source, asn, name, contacts, abuse, imported_at, is_muted)
     values ('192.0.2.0/24', $1, 64500, 'Imported', $2, $3, $4, $5)`,
    [source, contacts, contacts[0] ?? null, place.now(), isMuted],
  )
}

test('a network that a table knows without a contact is completed by the registry', async () => {
  await importRow('table.csv', [])
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  const [report = { reportId: '' }] = await analyzed('192.0.2.7')
  expect(await standing(report)).toMatchObject({ ...waiting, cidr: '192.0.2.0/24' })
  await findContacts([report], tools())
  const told = ['network-abuse@arin-holder.example']
  const said = ['EXAMPLE-ARIN answers for the origin and has an abuse contact.']
  expect(await standing(report)).toMatchObject({ told, said })
})

test('no registry is asked where a table has a contact, or an operator said none', async () => {
  await importRow('table.csv', ['abuse@table.example'])
  const [known = { reportId: '' }] = await analyzed('192.0.2.7')
  expect(await standing(known)).toMatchObject({ told: ['abuse@table.example'] })
  await app.pool.query('delete from networks')
  await importRow('manual', [], true)
  const [silenced = { reportId: '' }] = await analyzed('192.0.2.7')
  expect(await standing(silenced)).toMatchObject({ state: 'kept', action: 'keep' })
})

test('without RDAP, or for addresses it may not ask about, nobody waits', async () => {
  const world = { clock: place.now, fetch, wait: () => Promise.resolve() }
  for (const rdap of [undefined, createRdap('https://data.iana.org/rdap', world)]) {
    const { id } = await app.report(spamMessage(`no-rdap-${++made}`, { ip: '192.0.2.7' }))
    await analyzeReports([{ reportId: id }], { ...tools(), rdap })
    expect(await standing({ reportId: id })).toMatchObject({ state: 'kept', action: 'keep' })
  }
})

test('what would be kept anyway is not looked up', async () => {
  const { id } = await app.report(spamMessage('ham', { ip: '192.0.2.7' }), { kind: 'not-spam' })
  await analyzeReports([{ reportId: id }], tools())
  expect(await jobsOf({ reportId: id }, 'find-contact')).toEqual([])
})

test('the first contact that does not bounce is written to; when all do, nobody', async () => {
  const entities = [entity('D', ['abuse'], ['dead@desk.example', 'second@desk.example'])]
  const body = network('192.0.2.0', '192.0.2.255', { entities })
  place.server.reply('ip/192.0.2.7', { body })
  const bounces = (address: string, until: Date) =>
    app.pool.query(
      `insert into consumers (id, address, state, created_at, health, health_until)
       values ($1, $2, 'found', $3, 'dead', $3)
       on conflict (address) do update set health = 'dead', health_until = excluded.health_until`,
      [`01999999-0000-7000-8000-${String(++made).padStart(12, '0')}`, address, until],
    )
  const soon = new Date(place.now().getTime() + DAY_MS)
  await bounces('dead@desk.example', soon)
  const [first = { reportId: '' }] = await analyzed('192.0.2.7')
  await findContacts([first], tools())
  expect(await standing(first)).toMatchObject({ told: ['second@desk.example'] })
  await bounces('second@desk.example', soon)
  const [second = { reportId: '' }] = await analyzed('192.0.2.7')
  const [event] = await app.rows(
    `select detail from report_events where report_id = $1 and event = 'analyzed'`,
    [second.reportId],
  )
  expect(event?.['detail']).toMatch(/Every known abuse address of this network bounces\.$/)
  place.pass(DAY_MS)
  const [third = { reportId: '' }] = await analyzed('192.0.2.7')
  expect(await standing(third)).toMatchObject({ told: ['dead@desk.example'] })
})
