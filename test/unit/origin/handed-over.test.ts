import { expect, test } from 'vitest'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'

const client = { ip: '203.0.113.9', helo: 'mx.shop.example' }
const options = { trustedRelays: [], ignoreStamps: false }
const body = ['From: offers@shop.example', 'Subject: Offers', '', 'See all of them.', '']
const withLines = (...lines: string[]) => Buffer.from([...lines, ...body].join('\r\n'))

test('the connecting client is the origin if no line describes it yet', async () => {
  const older =
    'Received: from a.example (a.example [198.51.100.7]) by mx.shop.example with ESMTP id 1;' +
    ' Mon, 16 Nov 2026 10:00:00 +0000'
  const { origin, hops } = await analyzePlainly(withLines(older), { ...options, client })
  expect(origin?.ip).toBe('203.0.113.9')
  expect(hops.map(({ from, trust }) => [from.ip, trust])).toEqual([
    ['203.0.113.9', 'injection'],
    ['198.51.100.7', 'claimed'],
  ])
})

test('the line of the asking mail server is not listed twice', async () => {
  const own =
    'Received: from mx.shop.example ([203.0.113.9]) by mx.home.example with esmtp (Exim 4.96)' +
    ' id 1vM8xQ-1 for you@home.example; Mon, 16 Nov 2026 10:00:00 +0000'
  const { origin, hops } = await analyzePlainly(withLines(own), { ...options, client })
  expect(origin?.ip).toBe('203.0.113.9')
  expect(hops).toHaveLength(1)
})

test('a relay of the mail server itself is not the origin', async () => {
  const older =
    'Received: from a.example (a.example [198.51.100.7]) by mx.shop.example with ESMTP id 1;' +
    ' Mon, 16 Nov 2026 10:00:00 +0000'
  const trusted = { ...options, trustedRelays: ['203.0.113.0/24'], client }
  const { origin } = await analyzePlainly(withLines(older), trusted)
  expect(origin?.ip).toBe('198.51.100.7')
})

const at = 'Mon, 16 Nov 2026 10:00:00 +0000'
const victim = `Received: from a.example (a.example [198.51.100.7]) by mx.shop.example; ${at}`

test.for([
  ['no line at all', []],
  ['lines below what its author wrote', ['From: offers@shop.example', victim]],
  [
    'a line that says the mail was fetched',
    [`Received: from a.example ([203.0.113.9]) by shop.example with POP3 id 1; ${at}`, victim],
  ],
  [
    'a line that makes it a machine of the receiver',
    [
      `Received: from mx.shop.example (mx.shop.example [203.0.113.9]) by shop.example; ${at}`,
      victim,
    ],
  ],
] as const)('a client that brings %s is certainly the origin, under its own name', async (one) => {
  const named = { ...client, rdns: 'mx.shop.example' }
  for (const seen of [client, named]) {
    const { origin, hops } = await analyzePlainly(withLines(...one[1]), {
      ...options,
      client: seen,
    })
    expect(origin).toMatchObject({ ip: '203.0.113.9', hop: 0 })
    expect(origin?.confidence).toBeGreaterThanOrEqual(0.9)
    expect(hops[0]?.from.rdns ?? undefined).toBe('rdns' in seen ? seen.rdns : undefined)
  }
})

test('a relay in the mail server’s network is passed because of its line', async () => {
  const inner =
    'Received: from gate.home.example (gate.home.example [10.0.0.5]) by mx.home.example' +
    ` with ESMTP id 1; ${at}`
  const outer = `Received: from a.example (a.example [198.51.100.7]) by gate.home.example; ${at}`
  const gate = { ip: '10.0.0.5', helo: 'gate.home.example' }
  const found = await analyzePlainly(withLines(inner, outer), { ...options, client: gate })
  expect(found.origin).toMatchObject({ ip: '198.51.100.7', hop: 1 })
  expect(found.hops).toHaveLength(2)
})

test('a great provider’s own letter comes from it, though all lines are its own', async () => {
  const google = { ip: '209.85.220.41', helo: 'mail-sor-f41.google.com' }
  const own =
    'Received: from mail-sor-f41.google.com (mail-sor-f41.google.com. [209.85.220.41])' +
    ` by mx.google.com with SMTPS id 1; ${at}`
  for (const lines of [[], [own], [own, own]]) {
    const found = await analyzePlainly(withLines(...lines), { ...options, client: google })
    expect(found.origin?.ip).toBe(google.ip)
  }
})
