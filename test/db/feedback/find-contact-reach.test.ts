import { beforeEach, expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { runFindContact } from '../../../src/feedback/find-contact.ts'
import { entity, network, recordedAnswer } from '../../support/rdap-answers.ts'
import type { RdapPlace } from '../../support/rdap-client.ts'
import { openLookUps, waiting } from '../jobs/look-ups.ts'

const DAY_MS = 86_400_000
let place: RdapPlace

const at = await openLookUps()
const app = at.app

beforeEach(async () => void (place = await at.renew()))

test('without a contact the report is kept, and the network is not queried for a day', async () => {
  place.server.reply('ip/192.0.2.7', { body: network('192.0.2.0', '192.0.2.255') })
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  await runFindContact([report], at.tools())
  const why = phrase('network-unregistered', { network: '192.0.2.0/24 (EXAMPLE-NET)' })
  expect(await at.standing(report)).toMatchObject({ state: 'kept', action: 'keep', said: [why] })
  const [next = { reportId: '' }] = await at.analyzed('192.0.2.99')
  expect(await at.standing(next)).toMatchObject({ state: 'kept', action: 'keep', said: [] })
  place.pass(DAY_MS)
  const [last = { reportId: '' }] = await at.analyzed('192.0.2.99')
  expect(await at.standing(last)).toMatchObject({ action: 'look-up' })
})

async function announce(...blocks: (readonly [cidr: string, asn: number, name: string])[]) {
  for (const row of blocks) {
    await app.pool.query(
      `insert into networks (cidr, source, asn, name, contacts, imported_at)
       values ($1, 'table.tsv', $2, $3, '{}', '2026-11-20')`,
      [...row],
    )
  }
}

const deskOf = (address: string) => ({ entities: [entity('D', ['abuse'], [address])] })

test('a registry’s answer for a wide block does not apply to another AS in it', async () => {
  await announce(['198.51.0.0/16', 64_500, 'WIDE'], ['198.51.100.0/24', 64_501, 'NARROW'])
  const wide = { ...deskOf('abuse@wide.example'), name: 'WIDE-ORG' }
  const narrow = { ...deskOf('abuse@narrow.example'), name: 'NARROW-ORG' }
  place.server.reply('ip/198.51.1.1', { body: network('198.51.0.0', '198.51.255.255', wide) })
  place.server.reply('ip/198.51.100.8', { body: network('198.51.100.0', '198.51.100.255', narrow) })
  const [first = { reportId: '' }] = await at.analyzed('198.51.1.1')
  await runFindContact([first], at.tools())
  expect(await at.standing(first)).toMatchObject({ told: ['abuse@wide.example'] })
  const [second = { reportId: '' }] = await at.analyzed('198.51.100.8')
  expect(await at.standing(second)).toMatchObject({ ...waiting, cidr: '198.51.100.0/24' })
  await runFindContact([second], at.tools())
  expect(await at.standing(second)).toMatchObject({
    told: ['abuse@narrow.example'],
    said: [phrase('network-has-contact', { network: 'NARROW-ORG (198.51.100.0/24)' })],
  })
  const [third = { reportId: '' }] = await at.analyzed('198.51.2.2')
  expect(await at.standing(third)).toMatchObject({ told: ['abuse@wide.example'] })
  expect(place.server.asked).toEqual(['ip/198.51.1.1', 'ip/198.51.100.8'])
})

test('the same is true if both are queried at once', async () => {
  await announce(['198.51.0.0/16', 64_500, 'WIDE'], ['198.51.100.0/24', 64_501, 'NARROW'])
  const body = network('198.51.0.0', '198.51.255.255', deskOf('abuse@wide.example'))
  const narrow = network('198.51.100.0', '198.51.100.255', deskOf('abuse@narrow.example'))
  place.server.reply('ip/198.51.1.1', { body })
  place.server.reply('ip/198.51.100.8', { body: narrow })
  const reports = await at.analyzed('198.51.1.1', '198.51.100.8')
  await runFindContact(reports, at.tools())
  const told = (await Promise.all(reports.map(at.standing))).map(({ told }) => told)
  expect(told).toEqual([['abuse@wide.example'], ['abuse@narrow.example']])
})

test('one block announced by several AS gives each of them the answer', async () => {
  await announce(['198.51.0.0/24', 64_500, 'A'], ['198.51.1.0/24', 64_501, 'B'])
  const body = network('198.51.0.0', '198.51.255.255', deskOf('abuse@wide.example'))
  for (const ip of ['198.51.0.1', '198.51.1.1']) place.server.reply(`ip/${ip}`, { body })
  const reports = await at.analyzed('198.51.0.1', '198.51.1.1')
  await runFindContact(reports, at.tools())
  for (const one of await Promise.all(reports.map(at.standing))) {
    expect(one).toMatchObject({ told: ['abuse@wide.example'], forwards: 1 })
  }
  await at.analyzed('198.51.0.2', '198.51.1.2')
  expect(place.server.asked).toHaveLength(2)
})

test('an answer is queried again if the tables assign the block to another AS', async () => {
  place.server.reply('ip/192.0.2.7', { body: recordedAnswer('arin') })
  await runFindContact(await at.analyzed('192.0.2.7'), at.tools())
  await announce(['192.0.2.0/24', 64_500, 'NEW'])
  const [next = { reportId: '' }] = await at.analyzed('192.0.2.8')
  expect(await at.standing(next)).toMatchObject({ ...waiting, cidr: '192.0.2.0/24' })
})

test('a registry that answers with the whole address space affects no other network', async () => {
  const body = network('0.0.0.0', '255.255.255.255')
  place.server.reply('ip/192.0.2.7', { body })
  place.server.reply('ip/192.0.2.8', { body: recordedAnswer('arin') })
  const [lost = { reportId: '' }] = await at.analyzed('192.0.2.7')
  await runFindContact([lost], at.tools())
  expect(await at.standing(lost)).toMatchObject({ state: 'kept', cidr: '192.0.2.7/32' })
  const [next = { reportId: '' }] = await at.analyzed('192.0.2.8')
  await runFindContact([next], at.tools())
  expect(await at.standing(next)).toMatchObject({ action: 'forward', forwards: 1 })
})

test('a missing contact for a wide network applies to nearby addresses only', async () => {
  const body = network('198.0.0.0', '198.255.255.255')
  place.server.reply('ip/198.51.100.7', { body })
  await runFindContact(await at.analyzed('198.51.100.7'), at.tools())
  const [near = { reportId: '' }] = await at.analyzed('198.51.100.99')
  expect(await at.standing(near)).toMatchObject({ state: 'kept', cidr: '198.51.0.0/16' })
  const [far = { reportId: '' }] = await at.analyzed('198.52.100.7')
  expect(await at.standing(far)).toMatchObject(waiting)
})

test('a registry cannot make us write to ourselves or to the reporter', async () => {
  const desks = ['ann@reporters.example', 'v-1@bounces.test.example', app.config.mailFrom]
  const entities = [entity('D', ['abuse'], desks)]
  place.server.reply('ip/192.0.2.7', { body: network('192.0.2.0', '192.0.2.255', { entities }) })
  const [report = { reportId: '' }] = await at.analyzed('192.0.2.7')
  await runFindContact([report], at.tools())
  expect(await at.standing(report)).toMatchObject({
    state: 'kept',
    said: [{ code: 'contact-is-own' }],
  })
  const [next = { reportId: '' }] = await at.analyzed('192.0.2.8')
  expect(await at.standing(next)).toMatchObject({ state: 'kept', told: [] })
})
