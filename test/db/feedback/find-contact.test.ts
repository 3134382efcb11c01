import { beforeEach, expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { insertLayers } from '../../../src/db/networks.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runFindContact } from '../../../src/feedback/find-contact.ts'
import { createRdap } from '../../../src/net/rdap/rdap.ts'
import { spamMessage } from '../../support/messages.ts'
import { entity, network, recordedAnswer } from '../../support/rdap-answers.ts'
import type { RdapPlace } from '../../support/rdap-client.ts'
import { openLookUps, waiting } from '../jobs/look-ups.ts'

const DAY_MS = 86_400_000
let place: RdapPlace
let made = 0

const at = await openLookUps()
const app = at.app

beforeEach(async () => void (place = await at.renew()))

test('a report from an unknown network waits for the registry, and is then forwarded', async () => {
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  expect(await at.standing(report)).toEqual({ ...waiting, cidr: null, abuse: null })
  expect(await at.jobsOf(report, 'find-contact')).toHaveLength(1)
  expect(await runFindContact([report], at.tools())).toEqual(['done'])
  expect(await at.standing(report)).toEqual({
    state: 'analyzed',
    cidr: '192.0.2.0/24',
    abuse: 'network-abuse@arin-holder.example',
    action: 'forward',
    told: ['network-abuse@arin-holder.example'],
    said: [phrase('network-has-contact', { network: 'EXAMPLE-ARIN (192.0.2.0/24)' })],
    forwards: 1,
  })
})

test('a second run changes nothing, nor do two concurrent ones', async () => {
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  const reports = await at.analyzed('192.0.2.7', '192.0.2.8')
  await Promise.all([
    runFindContact(reports, at.tools()),
    runFindContact(reports.toReversed(), at.tools()),
  ])
  const before = await Promise.all(reports.map(at.standing))
  expect(before.map(({ forwards }) => forwards)).toEqual([1, 1])
  await runFindContact(reports, at.tools())
  expect(await Promise.all(reports.map(at.standing))).toEqual(before)
})

test('reports of one network need one query, also for the next week', async () => {
  const answer = { body: recordedAnswer('arin') }
  for (const host of [7, 8, 9]) place.server.reply(`ip/192.0.2.${host}`, answer)
  await runFindContact(await at.analyzed('192.0.2.7', '192.0.2.8', '192.0.2.9'), at.tools())
  expect(place.server.asked).toHaveLength(1)
  place.pass(6 * DAY_MS)
  const [next = { reportId: '' }] = await at.analyzed('192.0.2.8')
  expect(await at.standing(next)).toMatchObject({ action: 'forward', forwards: 1, said: [] })
  place.pass(2 * DAY_MS)
  const [last = { reportId: '' }] = await at.analyzed('192.0.2.9')
  expect(await at.standing(last)).toMatchObject({ action: 'look-up' })
  expect(place.server.asked).toHaveLength(1)
})

test('another process with the answer saves the query', async () => {
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  const answer = {
    cidr: '192.0.2.0/25',
    asn: null,
    name: 'ASKED-BEFORE',
    country: null,
    contacts: ['abuse@before.example'],
    expiresAt: new Date(place.now().getTime() + DAY_MS),
  }
  await insertLayers(app.pool, 'registry', [answer], place.now())
  await runFindContact([report], at.tools())
  expect(place.server.asked).toEqual([])
  expect(await at.standing(report)).toMatchObject({ told: ['abuse@before.example'], forwards: 1 })
})

/** The seconds that a job waits by the clock of the database, which is not that of the test. */
function waitOf(job: Record<string, unknown> | undefined): number {
  return (Number(job?.['startAfter']) - Date.now()) / 1_000
}

test('a registry that asks for a pause gets it, and no retry is used up', async () => {
  const busy = { status: 429, headers: { 'retry-after': '600' }, body: {} }
  place.server.reply('ip/192.0.2.7', busy)
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  expect(await runFindContact([report], at.tools())).toEqual(['done'])
  expect(await at.standing(report)).toMatchObject(waiting)
  const [, successor] = await at.jobsOf(report, 'find-contact')
  expect(waitOf(successor)).toBeCloseTo(600, -2)
  place.pass(600_000)
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  await runFindContact([report], at.tools())
  expect(await at.standing(report)).toMatchObject({ action: 'forward', forwards: 1 })
})

test('a report is kept a day after the first failed query, not sooner', async () => {
  const away = { status: 503, headers: { 'retry-after': '86400' }, body: {} }
  place.server.reply('ip/192.0.2.7', away)
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  place.pass(2 * DAY_MS)
  const firstAskedAt = place.now().toISOString()
  await runFindContact([report], at.tools())
  const [, successor] = await at.jobsOf(report, 'find-contact')
  expect(successor?.['data']).toEqual({ ...report, firstAskedAt })
  place.pass(DAY_MS - 60_000)
  await runFindContact([{ ...report, firstAskedAt }], at.tools())
  const [, , again] = await at.jobsOf(report, 'find-contact')
  expect(again?.['data']).toEqual({ ...report, firstAskedAt })
  expect(waitOf(again)).toBeCloseTo(60, -2)
  expect(await at.standing(report)).toMatchObject(waiting)
  place.pass(60_000)
  await runFindContact([{ ...report, firstAskedAt }], at.tools())
  expect(await at.standing(report)).toMatchObject({
    state: 'kept',
    said: [{ code: 'registry-unreachable' }],
  })
})

test('a report with a dead look-up leaves the state failed when that is redriven', async () => {
  place.server.reply('ip/192.0.2.8', { status: 503, body: {} })
  const [dead = { reportId: '' }, away = { reportId: '' }] = await at.analyzed(
    '192.0.2.7',
    '192.0.2.8',
  )
  const id = [dead.reportId, away.reportId]
  await app.pool.query(`update reports set state = 'failed' where id = any($1)`, [id])
  await runFindContact([away], at.tools())
  expect(await at.standing(away)).toMatchObject(waiting)
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  place.pass(60_000)
  await runFindContact([dead], at.tools())
  expect(await at.standing(dead)).toMatchObject({
    state: 'analyzed',
    action: 'forward',
    forwards: 1,
  })
})

test('a report retracted while it waits is not changed', async () => {
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  await retractReport(app, report.reportId, { isReporter: true })
  expect(await runFindContact([report], at.tools())).toEqual(['done'])
  expect(await at.standing(report)).toMatchObject({ state: 'retracted', told: [], forwards: 0 })
  expect(place.server.asked).toEqual([])
})

test('a report retracted during the query is not forwarded either', async () => {
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  place.server.reply('ip/192.0.2.7', (_req, res) => {
    void retractReport(app, report.reportId, { isReporter: true }).then(() => {
      res.writeHead(200, { 'content-type': 'application/rdap+json' })
      res.end(JSON.stringify(recordedAnswer('arin')))
    })
  })
  await runFindContact([report], at.tools())
  expect(await at.standing(report)).toMatchObject({ state: 'retracted', told: [], forwards: 0 })
})

async function importRow(source: string, contacts: string[], isMuted = false) {
  await app.pool.query(
    `insert into networks (cidr, source, asn, name, contacts, abuse, imported_at, is_muted)
     values ('192.0.2.0/24', $1, 64500, 'Imported', $2, $3, $4, $5)`,
    [source, contacts, contacts[0] ?? null, place.now(), isMuted],
  )
}

test('a network that a table has without a contact is completed by the registry', async () => {
  await importRow('table.csv', [])
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  expect(await at.standing(report)).toMatchObject({ ...waiting, cidr: '192.0.2.0/24' })
  await runFindContact([report], at.tools())
  const told = ['network-abuse@arin-holder.example']
  const said = [phrase('network-has-contact', { network: 'EXAMPLE-ARIN (192.0.2.0/24)' })]
  expect(await at.standing(report)).toMatchObject({ told, said })
})

test('no registry is queried if a table has a contact or an operator set none', async () => {
  await importRow('table.csv', ['abuse@table.example'])
  const [known = { reportId: '' }] = await at.analyzed('192.0.2.7')
  expect(await at.standing(known)).toMatchObject({ told: ['abuse@table.example'] })
  await app.pool.query('delete from networks')
  await importRow('manual', [], true)
  const [silenced = { reportId: '' }] = await at.analyzed('192.0.2.7')
  expect(await at.standing(silenced)).toMatchObject({ state: 'kept', action: 'keep' })
})

test('without RDAP, or for addresses outside it, no report waits', async () => {
  const world = { clock: place.now, fetch, wait: () => Promise.resolve() }
  for (const rdap of [undefined, createRdap('https://data.iana.org/rdap', world)]) {
    const { id } = await app.report(spamMessage(`no-rdap-${++made}`, { ip: '192.0.2.7' }))
    await runAnalyzeReport([{ reportId: id }], { ...at.tools(), rdap })
    expect(await at.standing({ reportId: id })).toMatchObject({ state: 'kept', action: 'keep' })
  }
})

test('a report that would be kept anyway is not looked up', async () => {
  const { id } = await app.report(spamMessage('ham', { ip: '192.0.2.7' }), { kind: 'not-spam' })
  await runAnalyzeReport([{ reportId: id }], at.tools())
  expect(await at.jobsOf({ reportId: id }, 'find-contact')).toEqual([])
})

test('the first contact that does not bounce is used, or none if all bounce', async () => {
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
  const [first = { reportId: '' }] = await at.analyzed('192.0.2.7')
  await runFindContact([first], at.tools())
  expect(await at.standing(first)).toMatchObject({ told: ['second@desk.example'] })
  await bounces('second@desk.example', soon)
  const [second = { reportId: '' }] = await at.analyzed('192.0.2.7')
  const [event] = await app.rows(
    `select phrases from report_events where report_id = $1 and event = 'analyzed'`,
    [second.reportId],
  )
  expect(event?.['phrases']).toContainEqual({ code: 'contacts-bounce' })
  place.pass(DAY_MS)
  const [third = { reportId: '' }] = await at.analyzed('192.0.2.7')
  expect(await at.standing(third)).toMatchObject({ told: ['dead@desk.example'] })
})
