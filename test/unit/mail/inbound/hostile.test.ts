import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readInbound } from '../../../../src/mail/inbound/read-inbound.ts'
import { expectEffort } from '../../../support/effort.ts'

const bounce = [
  'From: MAILER-DAEMON@mx.example.net',
  'Subject: Undelivered Mail Returned to Sender',
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
  '',
  '--b',
  '',
  'This is the mail system.',
  '<abuse@example.net>: host mx.example.net said: 550 5.1.1 User unknown (in reply to RCPT TO)',
  '--b',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx.example.net',
  '',
  'Final-Recipient: rfc822; abuse@example.net',
  'Action: failed',
  'Status: 5.1.1',
  'Diagnostic-Code: smtp; 550 5.1.1 User unknown',
  '--b',
  'Content-Type: message/rfc822',
  '',
  'Message-ID: <1@signalpost.example>',
  '',
  '--b--',
].join('\r\n')

test('any bytes are parsed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), fc.string(), (bytes, mailFrom) => {
      readInbound(Buffer.from(bytes), mailFrom)
    }),
  )
})

test('a bounce with any part replaced is parsed', () => {
  fc.assert(
    fc.property(fc.nat(bounce.length), fc.nat(80), fc.string(), (at, length, piece) => {
      const text = bounce.slice(0, at) + piece + bounce.slice(at + length)
      const { text: own } = readInbound(Buffer.from(text, 'latin1'), '')
      expect(own.length).toBeLessThanOrEqual(8000)
    }),
    { numRuns: 500 },
  )
})

const head = 'From: MAILER-DAEMON@mx.example.net\r\nReturn-Path: <>\r\nSubject: failure notice\r\n'
const megabyte = 1024 * 1024

test.for([
  ['one letter', 'a'.repeat(50 * megabyte)],
  ['one letter below a header', `${head}\r\n${'a'.repeat(50 * megabyte)}`],
  ['nothing but line ends', `${head}\r\n${'\r\n'.repeat(4 * megabyte)}`],
  ['angle brackets', `${head}Content-Type: text/html\r\n\r\n${'<p<'.repeat(megabyte)}`],
  ['comments that do not end', `${head}Content-Type: text/html\r\n\r\n${'<!--'.repeat(megabyte)}`],
  ['addresses', `${head}\r\n${'a@b.example '.repeat(megabyte)}`],
  ['broken addresses', `${head}\r\n${'a@'.repeat(2 * megabyte)}`],
  ['words of quotations', `${head}\r\n${'On Mon, 1 wrote '.repeat(megabyte)}`],
  ['quotation lines', `${head}\r\n${'On Mon, 16 Nov 2026, X wrote:\n'.repeat(megabyte / 4)}`],
  ['refusals', `${head}\r\n${'550 5.1.1 user unknown '.repeat(megabyte / 8)}`],
  ['commands', `${head}\r\n${'>>> RCPT TO:<a@b.example>\n<<< 550 no\n'.repeat(megabyte / 8)}`],
  ['fields', `${head}${'Auto: a\r\n'.repeat(megabyte / 4)}\r\n`],
  ['deep parts', 'Content-Type: message/rfc822\r\n\r\n'.repeat(100_000)],
  [
    'recipients',
    `${head}Content-Type: message/delivery-status\r\n\r\n${'Action: failed\r\n\r\n'.repeat(megabyte / 8)}`,
  ],
  ['JSON', `${head}\r\n{"notificationType":${'['.repeat(megabyte)}`],
] as const)('megabytes of %s take seconds at most', async ([, text]) => {
  const raw = Buffer.from(text, 'latin1')
  await expectEffort(() => readInbound(raw, ''), 5_000)
})
