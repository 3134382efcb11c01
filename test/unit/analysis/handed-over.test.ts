import { expect, test } from 'vitest'
import { analyzePlainly } from '../../../src/analysis/analyze.ts'

const client = { ip: '203.0.113.9', helo: 'mx.shop.example' }
const options = { trustedRelays: [], ignoreStamps: false }
const body = ['From: offers@shop.example', 'Subject: Offers', '', 'See all of them.', '']
const withLines = (...lines: string[]) => Buffer.from([...lines, ...body].join('\r\n'))

test('who hands a message over is its origin, where no line tells of it yet', async () => {
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

test('the line of the mail server that asks is not told twice', async () => {
  const own =
    'Received: from mx.shop.example ([203.0.113.9]) by mx.home.example with esmtp (Exim 4.96)' +
    ' id 1vM8xQ-1 for you@home.example; Mon, 16 Nov 2026 10:00:00 +0000'
  const { origin, hops } = await analyzePlainly(withLines(own), { ...options, client })
  expect(origin?.ip).toBe('203.0.113.9')
  expect(hops).toHaveLength(1)
})

test('a relay of the mail server itself is no origin', async () => {
  const older =
    'Received: from a.example (a.example [198.51.100.7]) by mx.shop.example with ESMTP id 1;' +
    ' Mon, 16 Nov 2026 10:00:00 +0000'
  const trusted = { ...options, trustedRelays: ['203.0.113.0/24'], client }
  const { origin } = await analyzePlainly(withLines(older), trusted)
  expect(origin?.ip).toBe('198.51.100.7')
})
