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

const base64 = 'Content-Transfer-Encoding: base64'

test.for<Part>([
  ['application/octet-stream; name=m.eml', original.toString('base64'), base64],
  ['application/octet-stream', `\r\n${body}`],
  ['text/plain', body],
  [
    'text/plain; charset=utf-8',
    body.replaceAll('=', '=3D'),
    'Content-Transfer-Encoding: quoted-printable',
  ],
  ['text/plain', `------ Original message ------\r\n\r\n${body}`],
  ['text/rfc822', body],
  ['application/x-message', body],
  ['image/x-unknown; name="Original.EML"', original.toString('base64'), base64],
  ['message/rfc822', original.toString('base64'), base64],
])('a message as %s is found', ([type, content, ...fields]) => {
  const raw = mail(report, [], words, feedback('Feedback-Type: abuse'), [type, content, ...fields])
  const message = complaintIn(raw)?.message.toString().trimEnd()
  expect(message).toBe(body.trimEnd())
})

test('a header as a text is found', () => {
  const text: Part = ['text/plain', header.join('\r\n')]
  const raw = mail(report, [], words, feedback('Feedback-Type: abuse'), text)
  expect(complaintIn(raw)?.message.toString()).toBe(`${header.join('\r\n')}\r\n\r\n`)
})

const source = 'Email from 198.51.100.23 / Mon, 16 Nov 2026 10:00:00 +0000'
const from = 'From: 1@reports.spamcop.example'

/** SpamCop's report as a text. */
function spamCop(title: string, about: string, message: string): string {
  return [
    title,
    'This message is brief for your comfort.',
    about,
    '',
    '[ Offending message ]',
    message,
  ].join('\r\n')
}

test.for([
  ['the present form', lines(from, '', spamCop('[ SpamCop V5 ]', source, body))],
  ['an older form', lines(from, '', spamCop('[ SpamCop V1.3.4 ]', source, body))],
  ['a blank line', lines(from, '', spamCop('[ SpamCop V5.0.0 ]', source, `\r\n${body}`))],
  [
    'a complaint about a link',
    lines(from, '', spamCop('[ SpamCop V5 ]', 'Spamvertised web site: http://x.example/', body)),
  ],
  [
    'another encoding',
    lines(
      from,
      base64,
      '',
      Buffer.from(spamCop('[ SpamCop V5 ]', source, body)).toString('base64'),
    ),
  ],
  ['a part', mail('multipart/mixed', [], ['text/plain', spamCop('[ SpamCop V5 ]', source, body)])],
] as const)("the message is found in SpamCop's text: %s", ([, raw]) => {
  const complaint = complaintIn(raw)
  expect(complaint?.kind).toBe('spam')
  expect(complaint?.message.toString().trimEnd()).toBe(body.trimEnd())
})

test("a message without servers gets the source that SpamCop's text names", () => {
  const raw = lines(
    from,
    '',
    spamCop('[ SpamCop V5 ]', source, 'From: a@b.example\r\nSubject: x\r\n\r\nText'),
  )
  expect(complaintIn(raw)?.message.toString()).toMatch(
    /^Received: from \[198\.51\.100\.23\] .*\r\n.*; Mon, 16 Nov 2026 10:00:00 \+0000\r\nFrom: a@/,
  )
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

const file: Part = ['application/octet-stream', 'Hello']

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
  ['a file that is no message', mail(report, [], words, feedback('Feedback-Type: abuse'), file)],
  ["SpamCop's text without a message", lines(from, '', spamCop('[ SpamCop V5 ]', source, 'None'))],
  [
    "SpamCop's text as a person quotes it",
    lines(from, '', spamCop('[ SpamCop V5 ]', source, body).replaceAll(/^/gm, '> ')),
  ],
  ['nothing', Buffer.alloc(0)],
] as const)('%s is not a complaint about spam', ([, raw]) => {
  expect(complaintIn(raw)).toBeUndefined()
})
