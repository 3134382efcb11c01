import { expect, test } from 'vitest'
import { complaintIn } from '../../../../src/mail/inbound/complaint.ts'

/** The message that the complaints are about. */
const header = [
  'Received: from mail.shop.example (mail.shop.example [198.51.100.23])',
  ' by mx.provider.example with ESMTP id 4ABC; Mon, 16 Nov 2026 10:00:00 +0000',
  'From: offers@shop.example',
  'To: undisclosed',
  'Subject: Cheap',
]
const original = lines(...header, '', 'Buy ann@provider.example a watch.', '')
const body = original.toString()

function lines(...texts: readonly string[]): Buffer {
  return Buffer.from(texts.join('\r\n'))
}

type Part = [type: string, content: string, ...fields: string[]]

function mail(type: string, fields: readonly string[], ...parts: readonly Part[]): Buffer {
  return lines(
    ...['From: fbl@provider.example', 'Date: Mon, 16 Nov 2026 11:00:00 +0000', ...fields],
    ...[`Content-Type: ${type}; boundary=b`, ''],
    ...parts.flatMap(([partType, content, ...more]) => {
      return ['--b', `Content-Type: ${partType}`, ...more, '', content]
    }),
    ...['--b--', ''],
  )
}

const words: Part = ['text/plain', 'This is a complaint about a message.']
const feedback = (...fields: string[]): Part => ['message/feedback-report', fields.join('\r\n')]
const attached: Part = ['message/rfc822', body]
const report = 'multipart/report; report-type=feedback-report'
const to = 'Delivered-To: ann@provider.example\r\n'
const json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')

const xarf4 = {
  ...{ xarf_version: '4.2.0', category: 'messaging', type: 'spam', protocol: 'smtp' },
  ...{ source_identifier: '198.51.100.23', smtp_to: 'ann@provider.example' },
  evidence: [
    { content_type: 'image/png', payload: 'aaaa' },
    { content_type: 'message/rfc822', payload: original.toString('base64') },
  ],
}
const xarf3 = {
  Version: '3',
  Report: {
    ...{ ReportClass: 'Activity', ReportType: 'Phishing', SourceIp: '198.51.100.23' },
    Samples: [{ ContentType: 'message/rfc822', Base64Encoded: false, Payload: body }],
  },
}

test.for([
  {
    name: 'the Abuse Reporting Format of RFC 5965',
    raw: mail(report, [], words, feedback('Feedback-Type: abuse', 'Version: 1'), attached),
    expected: ['spam', body],
  },
  {
    name: 'that of Yahoo, which names the recipient',
    raw: mail(
      report,
      [],
      words,
      feedback('Feedback-Type: abuse', 'Version: 0.1', 'Original-Rcpt-To: ann@provider.example'),
      attached,
    ),
    expected: ['spam', `${to}${body}`],
  },
  {
    name: 'a report of phishing with other case, in multipart/mixed',
    raw: mail('multipart/mixed', [], feedback('', 'FEEDBACK-TYPE: Fraud'), attached, words),
    expected: ['phishing', body],
  },
  {
    name: 'a message that was no spam',
    raw: mail(report, [], words, feedback('Feedback-Type: not-spam'), attached),
    expected: ['not-spam', body],
  },
  {
    name: 'only the header of the message',
    raw: mail(report, [], words, feedback('Feedback-Type: abuse'), [
      'text/rfc822-headers',
      header.join('\r\n'),
    ]),
    expected: ['spam', `${header.join('\r\n')}\r\n\r\n`],
  },
  {
    name: "Microsoft's program, with the recipient in the message",
    raw: mail(
      'multipart/mixed',
      ['Subject: complaint about message from 198.51.100.23'],
      ['message/rfc822', `X-HmXmrOriginalRecipient: ann@provider.example\r\n${body}`],
    ),
    expected: ['spam', `${to}X-HmXmrOriginalRecipient: ann@provider.example\r\n${body}`],
  },
  {
    name: 'XARF 4',
    raw: mail(report, [], words, feedback('Feedback-Type: xarf'), [
      'application/json; name=xarf.json',
      json(xarf4),
      'Content-Transfer-Encoding: base64',
    ]),
    expected: ['spam', `${to}${body}`],
  },
  {
    name: 'XARF 3',
    raw: mail('multipart/mixed', [], words, ['application/json', JSON.stringify(xarf3)]),
    expected: ['phishing', body],
  },
  {
    name: 'XARF 0.2',
    raw: mail(
      'multipart/mixed',
      ['X-XARF: PLAIN'],
      words,
      [
        'text/plain; name=report.txt',
        'Category: abuse\r\nReport-Type: "spam"\r\nSource: 192.0.2.1',
      ],
      attached,
    ),
    expected: ['spam', body],
  },
])('$name', ({ raw, expected }) => {
  const { kind, message } = complaintIn(raw) ?? {}
  expect([kind, message?.toString().replace(/\r\n$/, '')]).toEqual([
    expected[0],
    expected[1]?.replace(/\r\n$/, ''),
  ])
})

test('a message without servers gets the source that the provider saw', () => {
  const bare: Part = ['message/rfc822', 'From: a@shop.example\nSubject: x\n\nText']
  const fields = [
    'Feedback-Type: abuse',
    'Source-IP: 198.51.100.23',
    'Reporting-MTA: dns; mx.p.example',
  ]
  const raw = mail(
    report,
    [],
    words,
    feedback(...fields, 'Arrival-Date: 2026-11-16T10:00:00Z'),
    bare,
  )
  expect(complaintIn(raw)?.message.toString()).toBe(
    'Received: from [198.51.100.23] ([198.51.100.23]) by mx.p.example with ESMTP\n' +
      '\t; Mon, 16 Nov 2026 10:00:00 +0000\n' +
      'From: a@shop.example\nSubject: x\n\nText',
  )
})

test('what could break the header of the message is left out', () => {
  const forged = ['Source-IP: 10.0.0.1', 'Original-Rcpt-To: <a\u0000@b.example>']
  const raw = mail(report, [], words, feedback('Feedback-Type: abuse', ...forged), attached)
  expect(complaintIn(raw)?.message.toString()).toMatch(/^Received: from mail\.shop\.example/)
})

test.for([
  ['failed authentication', mail(report, [], feedback('Feedback-Type: auth-failure'), attached)],
  ['an opt-out', mail(report, [], feedback('Feedback-Type: opt-out'), attached)],
  ['a type that every object has', mail(report, [], feedback('Feedback-Type: toString'), attached)],
  ['a complaint without a message', mail(report, [], words, feedback('Feedback-Type: abuse'))],
  [
    'a bounce',
    mail('multipart/report', [], words, ['message/delivery-status', 'Action: failed'], attached),
  ],
  [
    'a login attack',
    mail(
      'multipart/mixed',
      ['X-XARF: PLAIN'],
      ['text/plain', 'Report-Type: login-attack'],
      attached,
    ),
  ],
  ['another JSON', mail('multipart/mixed', [], words, ['application/json', '{"type":"spam"}'])],
  ['a question of the provider', lines('From: fbl@provider.example', '', 'Please confirm.')],
  ['nothing', Buffer.alloc(0)],
] as const)('%s is not a complaint about spam', ([, raw]) => {
  expect(complaintIn(raw)).toBeUndefined()
})
