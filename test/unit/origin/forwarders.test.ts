import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { readHops } from '../../../src/origin/hop.ts'
import { findOrigin, type OriginClues } from '../../../src/origin/origin.ts'

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'

function whence(lines: readonly string[], fields: string, clues: Partial<OriginClues> = {}) {
  const received = lines.map((line) => `Received: ${line}; ${time}\r\n`).join('')
  const { fields: read } = parseHeader(Buffer.from(`${fields}${received}\r\n`))
  return findOrigin(read, readHops(read), { trustedRelays: [], ...clues })
}

const atProton =
  'from mail-a.google.com (mail-a.google.com [209.85.218.41]) by mailin03.protonmail.ch ' +
  '(Postfix) with ESMTPS id 1 for <reader@proton.example>'
const insideGoogle = 'by mail-a.google.com with SMTP id 2 for <reader@proton.example>'
const borderOfGoogle =
  'from foo.example.com (foo.example.com. [192.0.2.7]) by mx.google.com with ESMTPS id 3 ' +
  'for <reader@gmail.example>'
const way = [atProton, insideGoogle, borderOfGoogle]
const forwarded = 'Return-Path: <reader+caf_=reader=proton.example@gmail.com>\r\n'
const seals = [{ domain: 'google.com', clientIp: '192.0.2.7' }]

test.for([
  ['sealed what it saw, for a target that confirmed it', forwarded, { seals }, '192.0.2.7'],
  [
    'took the message in for an address of the reporter',
    '',
    { reporterAddresses: ['reader@gmail.example'] },
    '192.0.2.7',
  ],
  ['only says that it forwards', forwarded, {}, '209.85.218.41'],
  ['seals, but does not say that it forwards', '', { seals }, '209.85.218.41'],
  [
    'sealed another client than its lines name',
    forwarded,
    { seals: [{ domain: 'google.com', clientIp: '192.0.2.8' }] },
    '209.85.218.41',
  ],
  [
    'is sealed by somebody else',
    forwarded,
    { seals: [{ domain: 'example.com', clientIp: '192.0.2.7' }] },
    '209.85.218.41',
  ],
  [
    'forwards to somebody else',
    'Return-Path: <x+caf_=other=proton.example@gmail.com>\r\n',
    { seals },
    '209.85.218.41',
  ],
  [
    'was handed the message by the reporter for another',
    '',
    { reporterAddresses: ['reader@proton.example'] },
    '209.85.218.41',
  ],
] as const)('a mailbox that %s', ([, fields, clues, expected]) => {
  expect(whence(way, fields, clues).origin?.ip).toBe(expected)
})

test('a customer of the forwarder does not count as forwarded', () => {
  const submitted = [
    atProton,
    insideGoogle,
    'from x ([192.0.2.7]) by smtp.gmail.com with ESMTPSA id 3',
  ]
  expect(whence(submitted, forwarded, { seals }).origin?.ip).toBe('209.85.218.41')
})

test('a followed forwarder is trusted and named in the reasons', () => {
  const { origin, hops } = whence(way, forwarded, { seals })
  expect(hops.map(({ trust }) => trust)).toEqual(['trusted', 'trusted', 'injection'])
  expect(origin?.confidence).toBe(0.88)
  expect(origin?.why).toContainEqual({
    code: 'forwarded-to-reporter',
    params: { provider: 'Google' },
  })
})

const fromList =
  'from lists.example.org (lists.example.org [198.51.100.20]) by mx.example.net (Postfix) with ' +
  'ESMTPS id 1'
const toList =
  'from poster.example.com (poster.example.com [192.0.2.7]) by lists.example.org (Postfix) with ' +
  'ESMTPS id 2'
const listId = 'List-Id: Garden <garden.lists.example.org>\r\n'
const listSeal = [{ domain: 'lists.example.org', clientIp: '192.0.2.7' }]

test.for([
  ['sealed whom it saw is followed, with doubt', fromList, listId, listSeal, '192.0.2.7', 0.59],
  ['has no seal is the origin, with doubt', fromList, listId, [], '198.51.100.20', 0.54],
  [
    'sealed somebody else is the origin, with doubt',
    fromList,
    listId,
    [{ domain: 'lists.example.org', clientIp: '192.0.2.8' }],
    '198.51.100.20',
    0.54,
  ],
  [
    'has a name that nobody looked up is the origin, with doubt',
    fromList.replace('(lists.example.org [', '(unknown ['),
    listId,
    listSeal,
    '198.51.100.20',
    0.54,
  ],
] as const)('a mailing list that %s', ([, line, fields, sealedBy, ip, confidence]) => {
  const { origin } = whence([line, toList], fields, { seals: sealedBy })
  expect(origin).toMatchObject({ ip, confidence })
})

test('a list that is of another domain than its List-Id is not named', () => {
  const fields = 'List-Id: <garden.lists.example.com>\r\n'
  const { origin, originObstacle } = whence([fromList, toList], fields, { seals: listSeal })
  expect(origin).toBeNull()
  expect(originObstacle?.code).toBe('peer-may-receive')
})

const poster = { author: 'example.com', names: ['poster.example.com'] }

test.for([
  ['belongs to the author is the origin', { poster }, '192.0.2.7', 0.81],
  [
    'belongs to somebody else is not',
    { poster: { author: 'example.com', names: ['poster.example.net'] } },
    '198.51.100.20',
    0.54,
  ],
  ['has no name is not', { poster: { author: 'example.com', names: [] } }, '198.51.100.20', 0.54],
  [
    'the list did not seal is not',
    { poster, seals: [{ domain: 'lists.example.org', clientIp: '192.0.2.8' }] },
    '198.51.100.20',
    0.54,
  ],
] as const)('the machine that posted to a list and %s', ([, clues, ip, confidence]) => {
  expect(whence([fromList, toList], listId, clues).origin).toMatchObject({ ip, confidence })
})

test('a client in a verified seal of the sender is the submitter, unless it is its own', () => {
  const line = atProton.replace('209.85.218.41', '40.107.1.1')
  const seen = ['40.107.2.2', '192.0.2.44'].map((clientIp) => ({
    domain: 'microsoft.com',
    clientIp,
  }))
  const { submitter } = whence([line], '', { seals: seen })
  expect(submitter).toMatchObject({ ip: '192.0.2.44', confidence: 0.98 })
})
