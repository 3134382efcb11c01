import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { readHops } from '../../../src/origin/hop.ts'
import { findWayIn } from '../../../src/origin/way-in.ts'
import type { Resolve } from '../../../src/world.ts'

const ours = '203.0.113.99'
const sender = { domain: 'site.example', relayHost: 'mail.relay.example' }
const policy: Resolve = async () => ({ is: 'found', records: [`v=spf1 ip4:${ours} -all`] })
const time = 'Tue, 3 Nov 2026 08:15:00 +0000'

function hopsOf(...lines: string[]) {
  const received = lines.map((line) => `Received: ${line}; ${time}\r\n`).join('')
  return readHops(parseHeader(Buffer.from(`${received}From: a@site.example\r\n\r\n`)).fields)
}

const inner = 'from mx.hoster.example (mx.hoster.example [192.0.2.10]) by mail.home.example id 3'
const border = `from mail.relay.example (mail.relay.example [${ours}]) by mx.hoster.example id 2`
const relay = 'from signalpost ([198.51.100.9]) by mail.relay.example id 1'

test('what stands above the last machine that sends for us is the reader’s side', async () => {
  expect(await findWayIn(hopsOf(inner, border, relay), sender, policy)).toEqual({
    border: 'mx.hoster.example',
    relays: [{ ip: '192.0.2.10', name: 'mx.hoster.example' }],
  })
})

test.for([
  ['without a resolver', undefined],
  ['without a record', async () => ({ is: 'none' })],
  ['without an answer', async () => ({ is: 'unknown', why: 'No answer.' })],
] as const)('%s, the name of the relay decides', async ([, resolve]) => {
  const found = await findWayIn(hopsOf(inner, border, relay), sender, resolve as Resolve)
  expect(found).toMatchObject({ border: 'mx.hoster.example' })
})

test('a name does not suffice where the record denies the address', async () => {
  const forged = border.replace(ours, '198.51.100.77')
  expect(await findWayIn(hopsOf(inner, forged, relay), sender, policy)).toBeUndefined()
})

test('a record that also covers a machine of the reader shows nothing', async () => {
  const wide: Resolve = async () => ({
    is: 'found',
    records: [`v=spf1 ip4:${ours} ip4:192.0.2.0/24 -all`],
  })
  expect(await findWayIn(hopsOf(inner, border, relay), sender, wide)).toBeUndefined()
  const direct = hopsOf(border, relay.replace('198.51.100.9', '192.0.2.33'))
  expect(await findWayIn(direct, sender, wide)).toMatchObject({ border: 'mx.hoster.example' })
})

test('a name that everybody may use inside is no border', async () => {
  const named = border.replace('by mx.hoster.example', 'by localhost.localdomain')
  expect(await findWayIn(hopsOf(named), sender, policy)).toEqual({ border: undefined, relays: [] })
})

test('machines from which a large provider sends are not its customer’s', async () => {
  const forwarded = [
    'from mail-a1.google.com (mail-a1.google.com [209.85.160.1]) by inner.home.example id 5',
    'from inner ([10.0.0.3]) by mx.google.com id 4',
    border.replace('by mx.hoster.example', 'by mx.google.com'),
  ]
  expect(await findWayIn(hopsOf(...forwarded), sender, policy)).toEqual({
    border: 'mx.google.com',
    relays: [],
  })
})

test('the DNS is not asked on when it does not answer', async () => {
  let asked = 0
  const silent: Resolve = async () => {
    asked++
    return { is: 'unknown', why: 'No answer.' }
  }
  await findWayIn(hopsOf(...Array<string>(30).fill(inner)), sender, silent)
  expect(asked).toBe(1)
})

const loop = [
  'from mx.home.example (localhost [127.0.0.1]) by mx.home.example (Postfix) with ESMTP id 4',
  'from mx.home.example ([127.0.0.1]) by localhost (mx.home.example [127.0.0.1]) (amavis) id 3',
]

test('inner machines are the reader’s, if their lines are of one domain', async () => {
  const direct = border.replace('by mx.hoster.example', 'by mx.home.example')
  const found = await findWayIn(hopsOf(...loop, direct, relay), sender, policy)
  expect(found?.border).toBe('mx.home.example')
  expect(found?.relays.map(({ ip }) => ip)).toEqual(['127.0.0.1', '127.0.0.1'])
  expect(await findWayIn(hopsOf(...loop, border, relay), sender, policy)).toMatchObject({
    relays: [],
  })
})

test.for(['mail.relay.example', 'geopod-7', 'relay.elsewhere.example'])(
  'a router that hides its clients is no machine of the reader: the letter seen by %s',
  async (seer) => {
    const hidden = 'from mail.relay.example (gateway [172.17.0.1]) by mail.home.example id 2'
    const first = relay.replace('198.51.100.9', ours).replace('by mail.relay.example', `by ${seer}`)
    expect(await findWayIn(hopsOf(hidden, first), sender, policy)).toMatchObject({ relays: [] })
  },
)
