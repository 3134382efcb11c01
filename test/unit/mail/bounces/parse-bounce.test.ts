import { describe, expect, test } from 'vitest'
import { bounceReason, isHardBounce } from '../../../../src/mail/bounces/bounce-reason.ts'
import { recipientsInText } from '../../../../src/mail/bounces/recipients-in-text.ts'
import { parseBounce } from '../../../../src/mail/bounces/parse-bounce.ts'

function notification(groups: readonly string[][], text = 'Your message could not be delivered.') {
  return [
    'From: MAILER-DAEMON@mx.example.net',
    'Subject: Undelivered Mail Returned to Sender',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    text,
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.net',
    'Arrival-Date: Fri, 20 Nov 2026 12:00:00 +0000',
    ...groups.flatMap((group) => ['', ...group]),
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    'Subject: 550 5.1.1 no such user',
    '',
    '--b--',
    '',
  ].join('\r\n')
}

const unknownUser = [
  'Final-Recipient: rfc822; abuse@example.net',
  'Action: failed',
  'Status: 5.1.1',
  'Diagnostic-Code: smtp; 550 5.1.1 <abuse@example.net>: Recipient address',
  '    rejected: User unknown in local recipient table',
]

const unknownUserResult = {
  recipient: 'abuse@example.net',
  action: 'failed',
  status: '5.1.1',
  isStatusInferred: false,
  replyCode: 550,
  reason: 'userunknown',
  hard: true,
}

test.for([
  ['CRLF', '\r\n'],
  ['LF', '\n'],
  ['CR', '\r'],
] as const)(
  'a notification in the format of RFC 3464 is parsed with %s line ends',
  ([, lineEnd]) => {
    const raw = Buffer.from(notification([unknownUser]).replaceAll('\r\n', lineEnd))
    expect(parseBounce(raw)).toEqual({ results: [unknownUserResult] })
  },
)

test('each recipient has its own result', () => {
  const full = ['Final-Recipient: rfc822;noc@example.net', 'Action: delayed', 'Status: 4.2.2']
  const { results = [] } = parseBounce(Buffer.from(notification([unknownUser, full]))) ?? {}
  expect(results).toMatchObject([
    unknownUserResult,
    { recipient: 'noc@example.net', action: 'delayed', reason: 'mailboxfull', hard: false },
  ])
})

describe('a recipient group', () => {
  test.for([
    [
      'delivered is no failure',
      ['Action: delivered', 'Status: 2.0.0'],
      { action: 'delivered', reason: 'delivered', hard: false, status: '2.0.0' },
    ],
    [
      'delayed is never hard',
      ['Action: delayed', 'Status: 4.1.1', 'Diagnostic-Code: smtp; 450 user unknown'],
      { action: 'delayed', hard: false },
    ],
    [
      'a vague status gives way to the one that was said',
      ['Action: failed', 'Status: 5.0.0', 'Diagnostic-Code: smtp; 5.2.2 over quota'],
      { status: '5.2.2' },
    ],
    [
      'the far server’s reply is nearer to the cause than a queue’s timeout',
      [
        'Action: failed',
        'Status: 4.4.7',
        'Diagnostic-Code: smtp; 450 4.7.1 Client host rejected: cannot find your hostname',
      ],
      { status: '4.7.1', replyCode: 450, reason: 'requireptr' },
    ],
    [
      'a reply over several lines is one',
      [
        'Action: failed',
        'Status: 5.7.1',
        'Diagnostic-Code: smtp; 550-5.7.1 This message fails',
        ' 550 5.7.1 DMARC',
      ],
      { status: '5.7.1', replyCode: 550, reason: 'authfailure' },
    ],
    [
      'a comment is not part of the action',
      ['Action: failed (permanent)', 'Status: 5.1.2 (host unknown)'],
      { action: 'failed', status: '5.1.2', reason: 'hostunknown', hard: true },
    ],
    [
      'an address is not a status',
      ['Action: failed', 'Diagnostic-Code: smtp; 550 host 192.0.2.5.1 said no'],
      { status: '5.0.901', isStatusInferred: true, replyCode: 550 },
    ],
    [
      'nothing said is no reason',
      ['Action: failed'],
      { status: '5.0.900', isStatusInferred: true, replyCode: undefined, reason: 'undefined' },
    ],
  ] as const)('%s', ([, group, expected]) => {
    const lines = ['Final-Recipient: rfc822; abuse@example.net', ...group]
    const { results = [] } = parseBounce(Buffer.from(notification([lines], ''))) ?? {}
    expect(results).toMatchObject([expected])
  })

  test('without a diagnostic takes the cause from the text', () => {
    const group = ['Final-Recipient: rfc822; abuse@example.net', 'Action: failed', 'Status: 5.0.0']
    const other = ['Final-Recipient: rfc822; noc@example.net', 'Action: failed', 'Status: 5.0.0']
    const text =
      'abuse@example.net: 550 5.2.2 Mailbox full\r\nnoc@example.net: 550 5.1.1 No such user'
    const { results = [] } = parseBounce(Buffer.from(notification([group, other], text))) ?? {}
    expect(results.map(({ reason }) => reason)).toEqual(['mailboxfull', 'userunknown'])
  })
})

const loose = [
  'From: Mail Delivery System <Mailer-Daemon@mx.example.net>',
  'Subject: Mail delivery failed: returning message to sender',
  'X-Failed-Recipients: abuse@example.net',
  '',
  'A message that you sent could not be delivered:',
  '',
  '  abuse@example.net',
  '    SMTP error from remote server after RCPT TO: 550 5.1.1 unknown user',
  '',
  '------ This is a copy of the message ------',
  '',
  'From: feedback@signalpost.example',
  'To: abuse@example.net',
  '',
].join('\r\n')

describe('a notification in its own text format', () => {
  test('is parsed for recipient, status and reply', () => {
    expect(parseBounce(Buffer.from(loose))).toEqual({ results: [unknownUserResult] })
  })

  test('takes its recipient from the text if no field has it', () => {
    const raw = Buffer.from(loose.replace(/X-Failed.*\r\n/, ''))
    expect(parseBounce(raw)).toEqual({ results: [unknownUserResult] })
  })

  test.for([
    [
      'a person writes about a bounce',
      loose.replace(
        /From: Mail.*\r\nSubject.*\r\nX-Failed.*\r\n/,
        'From: a@example.org\r\nSubject: Undeliverable?\r\n',
      ),
    ],
    [
      'an answer to a vacation',
      'From: a@example.org\r\nReturn-Path: <>\r\nSubject: Out of office\r\n\r\nBack on Monday\r\n',
    ],
    ['any message', 'From: a@example.org\r\nSubject: hello\r\n\r\n550 5.1.1 user unknown\r\n'],
    ['nothing', ''],
  ] as const)('is not detected if %s', ([, text]) => {
    expect(parseBounce(Buffer.from(text))).toBeUndefined()
  })
})

test.for([
  ['552 5.2.2 mailbox is full', '5.2.2', 'mailboxfull', false],
  ['550 5.7.1 Relaying denied', '5.7.1', 'norelaying', false],
  ['Host or domain name not found', '5.4.4', 'hostunknown', true],
  ['554 blocked using zen.spamhaus.org', '5.7.1', 'blocked', false],
  ['550 account disabled', '5.2.1', 'suspend', false],
  ['message size exceeds fixed maximum', '5.3.4', 'mesgtoobig', false],
  ['delivery temporarily suspended: connection timed out', '4.4.1', 'expired', false],
  ['user has moved', '5.1.6', 'hasmoved', true],
  ['not a word', '5.1.1', 'userunknown', true],
  ['not a word', undefined, 'onhold', false],
  ['', undefined, 'undefined', false],
  ['User unknown (in reply to RCPT TO command)', undefined, 'userunknown', true],
  ['User unknown (in reply to end of DATA command)', undefined, 'filtered', false],
  ['host does not accept mail', '5.3.2', 'notaccept', true],
  ['sender address has null MX', '5.7.27', 'notaccept', false],
  ['host not found, try again (Host or domain name not found)', undefined, 'hostunknown', true],
  ['Host or domain name not found. Host not found, try again', undefined, 'networkerror', false],
  ['<a@example.net> sender rejected', '5.1.0', 'rejected', false],
  ['553 https://www.spamhaus.org/query/ip/192.0.2.1', '5.1.3', 'blocked', false],
  ['551 user not local; please try <new@example.net>', undefined, 'hasmoved', true],
  ['550 mailbox is inactive (in reply to RCPT TO command)', undefined, 'suspend', false],
  ['host does not accept mail', '4.3.2', 'notaccept', false],
] as const)('"%s" with %s means %s', ([text, status, reason, isHard]) => {
  expect(bounceReason({ text, status, replyCode: undefined })).toBe(reason)
  expect(isHardBounce(reason, status)).toBe(isHard)
})

test('only recipients before the returned message count', () => {
  const text =
    'To <a@example.net> and\n<b@example.net> from <postmaster@example.org>\n\n' +
    '--- Original message ---\n<c@example.net>'
  expect(recipientsInText(text)).toEqual(['a@example.net', 'b@example.net'])
})
