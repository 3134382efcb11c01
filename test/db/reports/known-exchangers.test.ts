import { expect, test } from 'vitest'
import { runKeepHouse } from '../../../src/reports/keep-house.ts'
import { createKnownExchangers } from '../../../src/reports/known-exchangers.ts'
import type { DnsAnswer, Resolve } from '../../../src/world.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'

const unknown: DnsAnswer = { is: 'unknown', why: 'No name server answered in time.' }

/** A site whose clock can be set, and a zone with one MX record that can be changed. */
async function site() {
  const app = await closeAfterThisTest(openTestApp())
  let now = new Date()
  let host: string | undefined = 'mx.old.example.net'
  let questions = 0
  const resolve: Resolve = async (_name, type) => {
    if (type !== 'MX') return { is: 'found', records: [type === 'A' ? '203.0.113.7' : '::1'] }
    questions++
    return host === undefined ? unknown : { is: 'found', records: [host] }
  }
  const needs = { ...app, clock: () => now, resolve }
  return {
    ...{ app: needs, exchangersOf: createKnownExchangers(needs) },
    later: (days: number) => void (now = new Date(now.getTime() + days * 86_400_000)),
    setHost: (its: string | undefined) => void (host = its),
    questions: () => questions,
  }
}

const reader = 'Reader@Home.example.net'
const raw = { encoding: 'identity', content: Buffer.from('Subject: x\r\n\r\n') } as const

test('hosts are asked for once in a while, and stay known after a change', async () => {
  const { exchangersOf, later, setHost, questions } = await site()
  const domain = 'home.example.net'
  const old = { domain, names: ['mx.old.example.net'], addresses: ['203.0.113.7'] }
  expect(await Promise.all([exchangersOf(reader, raw), exchangersOf(reader, raw)])).toEqual([
    old,
    old,
  ])
  expect(questions()).toBe(1)
  setHost('mx.new.example.net')
  later(1)
  expect((await exchangersOf(reader, raw))?.names.toSorted()).toEqual([
    'mx.new.example.net',
    'mx.old.example.net',
  ])
  // Longer than a reported message may be old.
  later(20)
  expect((await exchangersOf(reader, raw))?.names).toEqual(['mx.new.example.net'])
})

test('without an answer, the earlier hosts are used, and the DNS is asked again soon', async () => {
  const { exchangersOf, later, setHost } = await site()
  setHost(undefined)
  expect(await exchangersOf(reader, raw)).toBeUndefined()
  setHost('mx.old.example.net')
  later(0.01)
  expect((await exchangersOf(reader, raw))?.names).toEqual(['mx.old.example.net'])
  setHost(undefined)
  later(1)
  expect((await exchangersOf(reader, raw))?.names).toEqual(['mx.old.example.net'])
})

test('a machine that greeted as one of the gateway is known by its address', async () => {
  const { exchangersOf, setHost } = await site()
  setHost('us-smtp-inbound-1.mimecast.com')
  const content = Buffer.from(
    'Received: from us-smtp-delivery-1.mimecast.com (203.0.113.7) by\r\n' +
      ' A.mail.protection.outlook.com (10.1.1.1) with Microsoft SMTP Server id 15; x\r\n' +
      'Received: from elsewhere.example.net (203.0.113.7) by relay.mimecast.com id 1; x\r\n\r\n',
  )
  expect(await exchangersOf(reader, { encoding: 'identity', content })).toEqual({
    domain: 'home.example.net',
    names: ['us-smtp-inbound-1.mimecast.com'],
    addresses: ['203.0.113.7'],
  })
  expect((await exchangersOf(reader, raw))?.addresses).toEqual([])
})

test('old records are deleted', async () => {
  const { app, exchangersOf, later } = await site()
  await exchangersOf(reader, raw)
  const stored = async () => (await app.rows('select host from mail_exchangers')).length
  await runKeepHouse(app)
  expect(await stored()).toBe(2)
  later(20)
  await runKeepHouse(app)
  expect(await stored()).toBe(0)
})
