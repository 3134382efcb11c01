import { describe, expect, test } from 'vitest'
import { readInbound } from '../../../../src/mail/inbound/read-inbound.ts'

const usual = {
  From: 'Desk <abuse@example.net>',
  To: 're-token@signalpost.example',
  Subject: 'Re: Offers',
  'Message-ID': '<answer.1@example.net>',
}

function mail(
  fields: Readonly<Record<string, string>>,
  body = 'We are looking into it.',
  lineEnd = '\r\n',
): Buffer {
  const header = Object.entries({ ...usual, ...fields }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([...header, '', ...body.split('\n'), ''].join(lineEnd))
}

const kindOf = (raw: Buffer, mailFrom = 'abuse@example.net') => readInbound(raw, mailFrom).kind

const returnedHeader = [
  'Return-Path: <FB-token@signalpost.example>',
  'Received: from a by b; Mon, 16 Nov 2026 10:00:00 +0000',
  'Message-ID: <report.1@signalpost.example>',
  'Subject: 550 5.1.1 no such user',
]

function notification(returned: readonly string[], type = 'message/rfc822'): Buffer {
  return Buffer.from(
    [
      'From: MAILER-DAEMON@mx.example.net',
      'Subject: Undelivered Mail Returned to Sender',
      'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
      '',
      '--b',
      '',
      'Your message could not be delivered.',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example.net',
      'Original-Envelope-Id: report+2B1',
      '',
      'Final-Recipient: rfc822; abuse@example.net',
      'Action: failed',
      'Status: 5.1.1',
      '--b',
      `Content-Type: ${type}`,
      '',
      ...returned,
      '',
      '--b--',
      '',
    ].join('\r\n'),
  )
}

describe('a bounce', () => {
  test.for(['message/rfc822', 'text/rfc822-headers'])(
    'names the recipient that %s returns',
    (type) => {
      expect(readInbound(notification(returnedHeader, type), '')).toMatchObject({
        kind: 'bounce',
        results: [{ recipient: 'abuse@example.net', status: '5.1.1', hard: true }],
        returned: {
          messageIds: ['report.1@signalpost.example'],
          envelopeIds: ['report+1'],
          returnPaths: ['fb-token@signalpost.example'],
        },
        answer: undefined,
        isAutomatic: true,
      })
    },
  )

  test('in a text names the recipient in its quoted lines', () => {
    const text = ['550 5.1.1 <abuse@example.net>: User unknown', '', '--- Returned message ---']
    const body = [...text, '', ...returnedHeader].join('\n')
    const raw = mail({ From: 'MAILER-DAEMON@mx.example.net', Subject: 'failure notice' }, body)
    expect(readInbound(raw, '')).toMatchObject({
      kind: 'bounce',
      returned: {
        messageIds: ['report.1@signalpost.example'],
        returnPaths: ['fb-token@signalpost.example'],
      },
    })
  })

  test('is not a postmaster’s mail about a bounce', () => {
    const raw = mail(
      { From: 'postmaster@example.net', Subject: 'Re: Delivery of your report' },
      'That user does not exist any more.\n\n> 550 5.1.1 User unknown, could not be delivered',
    )
    expect(kindOf(raw, 'postmaster@example.net')).toBe('reply')
  })
})

test('a complaint about our own mail has its fields and the mail it is about', () => {
  const raw = Buffer.from(
    notification(returnedHeader)
      .toString()
      .replace('report-type=delivery-status', 'report-type=feedback-report')
      .replace('message/delivery-status', 'message/feedback-report')
      .replace('Reporting-MTA: dns; mx.example.net', 'Feedback-Type: abuse\r\nVersion: 1'),
  )
  expect(readInbound(raw, 'fbl@example.net')).toMatchObject({
    kind: 'complaint',
    results: [],
    feedback: { fields: [['Feedback-Type', 'abuse'], ['Version', '1'], expect.anything()] },
    returned: { messageIds: ['report.1@signalpost.example'], envelopeIds: ['report+1'] },
    isAutomatic: true,
  })
})

describe('an automatic answer', () => {
  test.for([
    ['by RFC 3834', { 'Auto-Submitted': 'auto-replied' }],
    ['of older machines', { 'X-Autoreply': 'yes' }],
    ['of older lists', { Precedence: 'auto_reply' }],
    ['of Apple', { 'X-Apple-Action': 'VACATION' }],
    ['in English', { Subject: 'Automatic reply: Offers' }],
    ['in English of people', { Subject: 'Out of Office: Offers' }],
    ['in French', { Subject: '=?utf-8?Q?R=C3=A9ponse_automatique_=3A_Offers?=' }],
    ['in German', { Subject: 'Abwesenheitsnotiz: Offers' }],
    [
      'in Russian',
      { Subject: `=?utf-8?B?${Buffer.from('Автоответ: Offers').toString('base64')}?=` },
    ],
    [
      'in Spanish',
      { Subject: `=?utf-8?B?${Buffer.from('Respuesta automática').toString('base64')}?=` },
    ],
    [
      'in Japanese',
      { Subject: `=?utf-8?B?${Buffer.from('自動返信: Offers').toString('base64')}?=` },
    ],
  ] as const)('is detected by %s', ([, fields]) => {
    expect(readInbound(mail(fields, 'Resolved'), 'abuse@example.net')).toMatchObject({
      kind: 'auto-reply',
      answer: undefined,
      isAutomatic: true,
    })
  })

  test('that thanks for the message is not an acknowledgment of a ticket system', () => {
    const raw = mail(
      { Subject: 'Automatic reply: Offers' },
      'Thank you for your message. I am away.',
    )
    expect(kindOf(raw)).toBe('auto-reply')
  })

  test.for([
    ['Auto-Submitted says no', { 'Auto-Submitted': 'no' }],
    ['the subject only speaks of one', { Subject: 'Your automatic reply rules' }],
    ['a person answers one', { Subject: 'Re: Automatic reply: Offers', 'User-Agent': 'Mutt' }],
    ['X-Autoreply says no', { 'X-Autoreply': 'no' }],
  ] as const)('is not detected if %s', ([, fields]) => {
    expect(kindOf(mail(fields))).toBe('reply')
  })
})

describe('an acknowledgment', () => {
  test.for([
    [
      'Request Tracker',
      { 'RT-Ticket': 'example.net #1234', Subject: '[example.net #1234] AutoReply: Offers' },
      'Your request has been received.',
    ],
    [
      'OTRS',
      { 'X-OTRS-Loop': 'yes', Precedence: 'bulk', Subject: '[Ticket#2026111610000011] RE: Offers' },
      'Thank you for your e-mail.',
    ],
    ['Zendesk', { 'X-Mailer': 'Zendesk Mailer' }, 'Your request (8812) has been received.'],
    [
      'Jira, without words',
      { 'X-JIRA-FingerPrint': '1f', 'Auto-Submitted': 'auto-generated', Subject: '[ABUSE-1042]' },
      'Created.',
    ],
    ['some other system', { Subject: 'Ticket #88123' }, 'Your report has been received.'],
    ['a French one', { 'Auto-Submitted': 'auto-generated' }, 'Nous avons bien reçu votre message.'],
    ['a German one', { Precedence: 'bulk' }, 'Ihre Meldung ist bei uns eingegangen.'],
    ['a Russian one', { 'Auto-Submitted': 'auto-replied' }, 'Ваше обращение зарегистрировано.'],
  ] as const)('of %s is filed', ([, fields, body]) => {
    expect(
      readInbound(
        mail({ ...fields, 'Content-Type': 'text/plain; charset=utf-8' }, body),
        'a@b.example',
      ),
    ).toMatchObject({
      kind: 'acknowledgment',
      answer: undefined,
      isAutomatic: true,
    })
  })

  test.for([
    [
      'a person answers within a ticket',
      { Subject: 'Re: [Ticket#12345] Offers' },
      'We have received your report and blocked him.',
    ],
    [
      'a person writes through a ticket system',
      { 'RT-Ticket': 'example.net #1234' },
      'Which header is that?',
    ],
    ['a person only thanks', {}, 'Thank you for your report.'],
  ] as const)('is not detected if %s', ([, fields, body]) => {
    expect(kindOf(mail(fields, body))).toBe('reply')
  })
})

test('a reply has the mail it answers, its text and its author', () => {
  const raw = mail({
    'In-Reply-To': '<report.1@signalpost.example>',
    References: '<first@signalpost.example> <report.1@signalpost.example>',
    From: '"Desk" <Abuse@EXAMPLE.net>',
  })
  expect(readInbound(raw, 'abuse@example.net')).toEqual({
    kind: 'reply',
    results: [],
    feedback: undefined,
    returned: { messageIds: [], envelopeIds: [], returnPaths: [] },
    references: ['report.1@signalpost.example', 'first@signalpost.example'],
    answer: undefined,
    messageId: 'answer.1@example.net',
    author: 'Abuse@example.net',
    subject: 'Re: Offers',
    text: 'We are looking into it.',
    isAutomatic: false,
  })
})

test.for(['\r\n', '\n', '\r'])('an answer is parsed with line ends %j', (lineEnd) => {
  const raw = mail({}, 'Resolved.\n\n> Please say what you did.', lineEnd)
  expect(readInbound(raw, 'abuse@example.net')).toMatchObject({
    kind: 'reply',
    answer: 'resolved',
    text: 'Resolved.',
  })
})

describe('automatic mail is not answered', () => {
  test.for([
    ['mail without a return path', {}, ''],
    ['mail that a machine made', { 'Auto-Submitted': 'auto-generated' }, 'a@example.net'],
    ['bulk', { Precedence: 'bulk' }, 'a@example.net'],
    ['lists', { 'List-Id': '<desk.example.net>' }, 'a@example.net'],
    ['who asks for no answers', { 'X-Auto-Response-Suppress': 'All' }, 'a@example.net'],
    ['addresses that nobody reads', { From: 'no-reply@example.net' }, 'no-reply@example.net'],
  ] as const)('%s', ([, fields, mailFrom]) => {
    expect(readInbound(mail(fields), mailFrom).isAutomatic).toBe(true)
  })

  test('but mail of a person may be answered', () => {
    const fields = { 'Auto-Submitted': 'no', Precedence: 'first-class' }
    expect(readInbound(mail(fields), 'a@example.net').isAutomatic).toBe(false)
  })
})
