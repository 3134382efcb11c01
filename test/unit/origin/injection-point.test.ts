import { expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { type AnalysisOptions, analyzeMessage } from '../../../src/pieces/analyze.ts'
import { relayCandidates } from '../../../src/verdict/relays.ts'

const analyze = (lines: readonly string[], options: Partial<AnalysisOptions> = {}, rest = '') => {
  const received = lines.map((line) => `Received: ${line}; Tue, 3 Nov 2026 08:15:00 +0000\r\n`)
  const raw = Buffer.from(`${received.join('')}${rest}From: a@example.com\r\n\r\nbody`)
  return analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true, ...options })
}

const atPostfix =
  'from foo (foo.example.com [192.0.2.7]) by mx.example.net (Postfix) with ESMTP id 1'
const below = 'from bar (bar.example.com [203.0.113.9]) by foo.example.com with ESMTP id 2'
const outlookInner =
  'from AB1.eop-eur01.prod.protection.outlook.com (2603:10a6:1::1) by ' +
  'AB2.eurprd01.prod.outlook.com (2603:10a6:1::2) with Microsoft SMTP Server id 15'
const atBorder = 'by AB1.mail.protection.outlook.com (10.1.1.1) with Microsoft SMTP Server id 15'
const outlookBorder = `from foo.example.com (192.0.2.7) ${atBorder}`
const outlookOut = 'from AB3.outbound.protection.outlook.com (ab3.outbound.example [40.107.1.1])'

test.for([
  ['the first stranger is the origin', [atPostfix, below], '192.0.2.7'],
  [
    'a loopback hand-over is passed',
    ['from localhost (localhost [127.0.0.1]) by mx.example.net with ESMTP id 0', atPostfix],
    '192.0.2.7',
  ],
  [
    'a hand-over in an internal network is passed',
    ['from mx.example.net (mx [10.0.0.2]) by imap.example.net with LMTP id 0', atPostfix],
    '192.0.2.7',
  ],
  [
    'a line without a peer is passed',
    ['by imap.example.net (Dovecot) with LMTP id 0', atPostfix],
    '192.0.2.7',
  ],
  [
    'fetched mail begins below the line of the fetcher',
    ['from pop.example.net [198.51.100.1] by localhost with POP3 (fetchmail-6.4)', atPostfix],
    '192.0.2.7',
  ],
  [
    'a relay of the same domain that wrote the line below is passed',
    [
      'from mx.example.net (mx.example.net [198.51.100.1]) by imap.example.net with ESMTP id 0',
      atPostfix,
    ],
    '192.0.2.7',
  ],
  [
    'a customer of the same domain that relays is not named',
    [
      'from x (dsl-198-51-100-1.example.net [198.51.100.1]) by imap.example.net with ESMTP id 0',
      atPostfix,
    ],
    undefined,
  ],
  [
    'a peer that only calls itself by the same domain is neither passed nor named',
    ['from mx.example.net (unknown [198.51.100.1]) by imap.example.net with ESMTP id 0', atPostfix],
    undefined,
  ],
  ['Microsoft inside a Microsoft mailbox is passed', [outlookInner, outlookBorder], '192.0.2.7'],
  [
    'Microsoft at a Microsoft border is a stranger',
    [
      outlookInner,
      `from AB3.outbound.protection.outlook.com (40.107.1.1) ${atBorder}`,
      outlookBorder,
    ],
    '40.107.1.1',
  ],
  [
    'Microsoft at a Google border is a stranger',
    [
      'by 2002:a05:6a10:1:b0:4aa:1:2 with SMTP id 0',
      `${outlookOut} by mx.google.com with ESMTPS id 1`,
      outlookBorder,
    ],
    '40.107.1.1',
  ],
  [
    'an outbound address deep inside its own provider is passed',
    [
      'from AB1.prod.protection.outlook.com (2a01:111:f400:7e1f::205) by ' +
        'AB2.outlook.office365.com (2603:1026::1) with Microsoft SMTP Server id 15',
      outlookBorder,
    ],
    '192.0.2.7',
  ],
] as const)('%s', async ([, lines, expected]) => {
  expect((await analyze(lines)).origin?.ip).toBe(expected)
})

test.for([
  ['no line at all', [], 'no-received-lines'],
  ['an unreadable line', ['nonsense', atPostfix], 'line-unreadable'],
  [
    'a peer without an address',
    ['from foo by mx.example.net with SMTP id 1'],
    'line-without-address',
  ],
  ['a lone line without a peer', ['by mx.example.net (Postfix) id 1'], 'line-without-client'],
  ['a message from inside', ['from a (a [10.0.0.1]) by mx.example.net'], 'began-internal'],
  ['a reserved address', ['from a (a [240.0.0.1]) by mx.example.net'], 'address-unroutable'],
  ['a message from inside Microsoft', [outlookInner], 'began-inside'],
  [
    "a stranger's line where the provider's should stand",
    [outlookInner, below],
    'line-not-by-provider',
  ],
] as const)('%s has no origin, and has a reason', async ([, lines, reason]) => {
  const { origin, originObstacle } = await analyze(lines)
  expect(origin).toBeNull()
  expect(originObstacle?.code).toBe(reason)
})

test('a learned relay is passed, but trusted less than a configured one', async () => {
  const lines = ['from r (r [198.51.100.9]) by mx.example.net with ESMTP id 0', below]
  const { origin } = await analyze(lines, { learnedRelays: ['198.51.100.9/32'] })
  expect(origin).toMatchObject({ ip: '203.0.113.9', confidence: 0.77 })
  expect(origin?.why).toContainEqual(phrase('relay-learned', { ip: '198.51.100.9' }))
})

const inDomain = [
  'from mx.example.net (mx.example.net [198.51.100.9]) by mbx.example.net with ESMTP id 1',
  'from foo.example.com (foo.example.com [192.0.2.7]) by mx.example.net with ESMTP id 2',
]
const calledInDomain = [
  'from mx.example.net (198.51.100.9) by mbx.example.net with Microsoft SMTP Server id 1',
  'from foo.example.com (192.0.2.7) by mx.example.net with Microsoft SMTP Server id 2',
]

test.for([
  ['by its reverse name', inDomain],
  ['by its greeting at Exchange', calledInDomain],
] as const)('a peer of the same domain %s is asked about', async ([, lines]) => {
  const relay = '198.51.100.9'
  const found = await analyze(lines)
  expect(found.origin?.ip).toBe('192.0.2.7')
  expect(found.origin?.confidence).toBeLessThan(0.7)
  expect(relayCandidates(found.hops)[0]?.ip).toBe(relay)
  const mine = await analyze(lines, { trustedRelays: [`${relay}/32`] })
  expect(mine.origin).toMatchObject({ ip: '192.0.2.7', confidence: 0.9 })
  const notMine = await analyze(lines, { deniedRelays: [`${relay}/32`] })
  expect(notMine.origin).toBeNull()
  expect(notMine.originObstacle?.code).toBe('peer-denied-but-near')
})

test('denying an internal machine accuses nobody', async () => {
  const lines = [
    'from x (unknown [10.0.0.5]) by mx.example.net with ESMTP id 1',
    'from foo.example.com (foo.example.com [192.0.2.7]) by x with ESMTP id 2',
  ]
  const denied = await analyze(lines, { deniedRelays: ['10.0.0.5/32'] })
  expect(denied).toEqual(await analyze(lines))
  expect(denied.origin?.confidence).toBeLessThan(0.7)
})

test('Received lines below the author’s fields are not trusted', async () => {
  const raw = `From: a@example.com\r\nSubject: x\r\nReceived: ${atPostfix}\r\n\r\nbody`
  const { origin } = await analyzeMessage(Buffer.from(raw), {
    trustedRelays: [],
    ignoreStamps: true,
  })
  expect(origin?.confidence).toBeLessThan(0.5)
  expect(origin?.why.at(-1)).toEqual({ code: 'trace-misplaced' })
})

const spf = { ip: '192.0.2.7', domain: 'example.com' }
const listing = { zone: 'bl.example', codes: ['127.0.0.2'], meaning: 'It sends spam.' }

test.for([
  ['SPF that passes', { spf: { ...spf, result: 'pass' } }, 0.94],
  ['SPF that fails', { spf: { ...spf, result: 'fail' } }, 0.9],
  ['SPF that passes for another', { spf: { ...spf, ip: '192.0.2.8', result: 'pass' } }, 0.9],
  ['a blacklist', { listings: [{ ...listing, subject: '192.0.2.7', category: 'spam' }] }, 0.94],
  [
    'a list of dynamic addresses',
    { listings: [{ ...listing, subject: '192.0.2.7', category: 'dynamic' }] },
    0.9,
  ],
  [
    'a list that lists another',
    { listings: [{ ...listing, subject: '192.0.2.8', category: 'spam' }] },
    0.9,
  ],
] as const)('%s gives a confidence of %s', async ([, told, confidence]) => {
  const dns = { answers: {}, spf: undefined, listings: [], ...told }
  const { origin } = await analyze([atPostfix, below], { dns })
  expect(origin?.confidence).toBe(confidence)
  expect(origin?.why).toHaveLength(confidence > 0.9 ? 3 : 2)
})

test('a configured relay is passed, its neighbor is not', async () => {
  const lines = ['from r (r [198.51.100.9]) by mx.example.net with ESMTP id 0', below]
  const given = (cidr: string) => analyze(lines, { trustedRelays: [cidr] })
  expect((await given('198.51.100.8/31')).origin?.ip).toBe('203.0.113.9')
  expect((await given('198.51.100.10/31')).origin?.ip).toBe('198.51.100.9')
})

test.for([
  ['has a name that was looked up', 'mx.example.net (mx.example.net [172.17.0.1])', 0.9],
  ['only calls itself of the same domain', 'mx.example.net (unknown [172.17.0.1])', 0.63],
  ['is called otherwise', 'x (x [172.17.0.1])', 0.45],
] as const)('an internal peer that %s has a specific confidence', async ([, peer, left]) => {
  const gateway = `from ${peer} by imap.example.net with ESMTP id 0`
  expect((await analyze([gateway, atPostfix])).origin?.confidence).toBe(left)
})

const filtered = [
  `${outlookOut} by mx.example.net (Postfix) with ESMTPS id 1`,
  outlookInner,
  outlookBorder,
]

test.for([
  ['that names another customer than the author is followed', 'example.net', '192.0.2.7'],
  ['that names the author as its customer is the origin', 'mail.example.com', '40.107.1.1'],
] as const)('a filter %s', async ([, tenant, expected]) => {
  const { origin } = await analyze(filtered, {}, `X-OriginatorOrg: ${tenant}\r\n`)
  expect(origin?.ip).toBe(expected)
})

test('a filter whose lines do not reach its border is the origin', async () => {
  const [first = '', second = ''] = filtered
  const { origin } = await analyze([first, second, below], {}, 'X-OriginatorOrg: example.net\r\n')
  expect(origin?.ip).toBe('40.107.1.1')
})

test('the origin has its line, its confidence and its reasons', async () => {
  const { origin } = await analyze([outlookInner, outlookBorder])
  expect(origin).toMatchObject({ hop: 1, confidence: 0.98 })
  expect(origin?.why).toEqual([
    phrase('received-by', { provider: 'Microsoft' }),
    phrase('relay-of-provider', { ip: '2603:10a6:1::1', provider: 'Microsoft' }),
    phrase('entry-foreign', {
      line: 2,
      client: '192.0.2.7 (foo.example.com)',
      witness: 'Microsoft',
    }),
  ])
})
