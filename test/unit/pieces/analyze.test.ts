import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import {
  analyzeForCounting,
  analyzeMessage,
  analyzePlainly,
  analyzeTogether,
  readShownText,
} from '../../../src/pieces/analyze.ts'
import { encodeTransfer } from '../../../src/mail/transfer-encoding.ts'

const root = path.join(import.meta.dirname, '../../..')
const options = { trustedRelays: [], ignoreStamps: true }
const sample = (name: string) => readFileSync(path.join(root, 'scripts/samples', `${name}.eml`))
const analyzeText = (text: string) => analyzeMessage(Buffer.from(text, 'latin1'), options)

test.for([
  ['phish-at-microsoft', '192.0.2.77', 3],
  ['spam-at-gmail', '198.51.100.77', 1],
  ['forged-chain-at-postfix', '203.0.113.88', 1],
  ['newsletter', '192.0.2.112', 1],
  ['spam-over-ipv6', '2001:db8:77:1::25', 1],
  ['origin-unknown', undefined, undefined],
] as const)('the sample %s comes from %s', async ([name, ip, hop]) => {
  const { origin } = await analyzeMessage(sample(name), options)
  expect(origin?.ip).toBe(ip)
  expect(origin?.hop).toBe(hop)
})

test('every sample is tested, and comes from a documentation range or has no origin', async () => {
  for (const name of readdirSync(path.join(root, 'scripts/samples'))) {
    const raw = readFileSync(path.join(root, 'scripts/samples', name))
    const { origin } = await analyzeMessage(raw, options)
    expect(origin?.ip ?? '192.0.2.0').toMatch(/^(192\.0\.2|198\.51\.100|203\.0\.113)\.|^2001:db8:/)
  }
})

test('the lines below the border of the forged sample are forged', async () => {
  const { hops } = await analyzeMessage(sample('forged-chain-at-postfix'), options)
  expect(hops.map(({ trust }) => trust)).toEqual([
    ...['trusted', 'injection', 'forged', 'forged', 'forged'],
  ])
})

test('a message has its size, checksum, kind, fields and attachments', async () => {
  const raw = sample('phish-at-microsoft')
  const analysis = await analyzeMessage(raw, options)
  const content = Buffer.from(
    'JVBERi0xLjQKJSBhIHNhbXBsZSwgbm90IGEgcmVhbCBkb2N1bWVudAolJUVPRgo=',
    'base64',
  )
  expect(analysis).toMatchObject({
    bytes: raw.length,
    sha256: hash('sha256', raw, 'hex'),
    kind: 'message',
    headers: {
      subject: 'Your account was blocked – act now',
      fromAddress: 'security@bank.example.com',
    },
    attachments: [
      {
        name: 'notice.pdf',
        type: 'application/pdf',
        bytes: 47,
        sha256: hash('sha256', content, 'hex'),
      },
    ],
  })
})

test('a newsletter says how to unsubscribe', async () => {
  const { unsubscribe } = await analyzeMessage(sample('newsletter'), options)
  expect(unsubscribe).toEqual({
    https: 'https://mailing.example.net/u/4711/f00d',
    mailto: 'mailto:leave-4711@mailing.example.net?subject=leave',
    oneClick: true,
  })
})

test('fields of later analyses exist and are empty', async () => {
  expect(await analyzeText('From: a@example.com\n\n')).toMatchObject({
    submitter: null,
    authentication: null,
    marketer: null,
    fingerprints: { words: '0' },
    bounce: null,
    feedback: null,
  })
})

test('a body whose lines end in CR alone is read', async () => {
  const { links } = await analyzeText(
    'From: a@example.com\rSubject: x\r\rsee http://example.com/x\r',
  )
  expect(links.map(({ url }) => url)).toEqual(['http://example.com/x'])
})

test('a message with too many parts is analyzed from its header and links', async () => {
  const parts = '--b\n\nhttp://example.com/\n'.repeat(5000)
  const bomb = `Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n${parts}`
  const analysis = await analyzeText(bomb)
  expect(analysis).toMatchObject({ isReduced: true, headers: { subject: 'x' } })
  expect(analysis.links.map(({ url }) => url)).toEqual(['http://example.com/'])
})

test.for([
  [
    'dsn',
    'message/delivery-status',
    'Reporting-MTA: dns; a\n\nFinal-Recipient: rfc822; x@example.com\nAction: failed\nStatus: 5.1.1\n',
  ],
  ['feedback-report', 'message/feedback-report', 'Feedback-Type: abuse\nVersion: 1\n'],
  ['message', 'text/plain', 'Feedback-Type: abuse\nFinal-Recipient: rfc822; x@example.com\n'],
] as const)('a part with its media type makes a %s', async ([kind, type, part]) => {
  const analysis = await analyzeText(
    `From: a@example.com\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: ${type}\n\n${part}\n--b--\n`,
  )
  expect(analysis.kind).toBe(kind)
  expect(analysis.bounce?.results).toEqual(
    kind === 'dsn'
      ? [expect.objectContaining({ recipient: 'x@example.com', status: '5.1.1', hard: true })]
      : undefined,
  )
  expect(analysis.feedback?.fields).toEqual(
    kind === 'feedback-report'
      ? [
          ['Feedback-Type', 'abuse'],
          ['Version', '1'],
        ]
      : undefined,
  )
})

test('provider stamps are used or ignored as requested', async () => {
  const raw = Buffer.from('X-Originating-IP: 192.0.2.1\nAuto-Submitted: no\nX-MS-Exchange: 1\n\n')
  for (const ignoreStamps of [true, false]) {
    expect((await analyzeMessage(raw, { trustedRelays: [], ignoreStamps })).origin).toBeNull()
  }
})

test('an analysis is bounded, and can be cloned and stored', async () => {
  const received = 'Received: from a ([192.0.2.1]) by b\n'.repeat(5000)
  const flood = `${received}Subject: \0\n\n${'http://example.com/\0'.repeat(9)}`
  const links = Array.from({ length: 3000 }, (_, i) => `http://example.com/${i}`).join(' ')
  const analysis = await analyzeText(flood + links)
  expect(analysis.hops).toHaveLength(100)
  expect(analysis.links.length).toBeLessThanOrEqual(200)
  expect(structuredClone(analysis)).toEqual(JSON.parse(JSON.stringify(analysis)))
  expect(JSON.stringify(analysis)).not.toContain('\\u0000')
})

test('an analysis returns the text that a message shows, as reading it alone does', async () => {
  const part = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'
  const bomb = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${part.repeat(1_500)}--b--\r\n`
  const long = `Subject: long\r\n\r\n${'word '.repeat(5_000)}`
  const texts = ['newsletter', 'phish-at-microsoft', 'origin-unknown'].map(sample)
  const lengths: number[] = []
  for (const raw of [...texts, Buffer.from(long), Buffer.from(bomb)]) {
    const { shownText } = await analyzeForCounting(raw, options)
    expect(shownText).toBe(await readShownText(raw))
    lengths.push(shownText.length)
  }
  expect(Math.min(...lengths.slice(0, 3))).toBeGreaterThan(10)
  expect(lengths.slice(3)).toEqual([4_096, 0])
})

test('a message whose analysis fails is analyzed from its header and links', async () => {
  const readFiles = () => Promise.reject(new Error('broken reader'))
  const raw = Buffer.from(
    'From: a@a.example\r\nSubject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n' +
      '--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n' +
      'Words. https://one.example/=\r\npath?id=3D7, too\r\n' +
      '--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n' +
      `${encodeTransfer(`${'words '.repeat(20)} https://two.example/ words`, 'base64')}\r\n--b--\r\n`,
  )
  const { analysis, features, shownText } = await analyzeForCounting(raw, { ...options, readFiles })
  expect(analysis).toMatchObject({ isReduced: true, attachments: [], headers: { subject: 'x' } })
  const links = ['https://one.example/path?id=7', 'https://two.example/']
  expect(analysis.links.map(({ url }) => url)).toEqual(links)
  expect(shownText).toBe(links.join('\n'))
  expect(features.message.is_reduced).toBe(true)
  const whole = await analyzeForCounting(raw, options)
  expect(whole.analysis.isReduced).toBeUndefined()
  expect(whole.features.message.is_reduced).toBe(false)
  const plain = await analyzePlainly(raw, { ...options, readFiles })
  expect(plain.isReduced).toBe(true)
})

test('messages that are analyzed together give the same results as alone', async () => {
  const raws = ['newsletter', 'phish-at-microsoft', 'origin-unknown'].map(sample)
  const broken = {
    raw: Buffer.alloc(0),
    options: {
      trustedRelays: [],
      get ignoreStamps(): boolean {
        throw new Error('broken settings')
      },
    },
  }
  const given = raws.map((raw) => ({ raw, options }))
  const started: number[] = []
  const attempts = await analyzeTogether(given.toSpliced(1, 0, broken), (at) => started.push(at))
  const alone = await Promise.all(raws.map((raw) => analyzeForCounting(raw, options)))
  expect(attempts.toSpliced(1, 1)).toEqual(alone.map((made) => ({ made })))
  expect(attempts[1]).toEqual({ error: new Error('broken settings') })
  // Every step is made for all messages before the next one.
  expect(started.slice(0, 8)).toEqual([0, 1, 2, 3, 0, 1, 2, 3])
})
