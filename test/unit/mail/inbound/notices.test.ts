import { expect, test } from 'vitest'
import { readInbound } from '../../../../src/mail/inbound/read-inbound.ts'

const daemon = 'From: Mail Delivery System <MAILER-DAEMON@mx.desk.example>'
const returned = [
  'Return-Path: <reports@us.example>',
  'From: Us <reports@us.example>',
  'To: abuse@desk.example',
  'Message-ID: <r.1@us.example>',
]
const token = `fb-${'a'.repeat(28)}-${'b'.repeat(16)}@us.example`

function lines(...texts: readonly string[]): Buffer {
  return Buffer.from(texts.join('\r\n'))
}

/** A mail with one text. */
function plain(head: readonly string[], ...text: readonly string[]): Buffer {
  return lines(...head, 'Content-Type: text/plain; charset=utf-8', '', ...text, '')
}

/** A mail with a text and a part of the given type that contains our mail. */
function mixed(head: readonly string[], text: string, type = 'message/rfc822'): Buffer {
  const parts = ['--b', 'Content-Type: text/plain; charset=utf-8', '', text, '--b']
  const end = [`Content-Type: ${type}`, '', ...returned, '', 'Text', '--b--', '']
  return lines(...head, 'Content-Type: multipart/mixed; boundary=b', '', ...parts, ...end)
}

const finnish = 'Viestiä osoitteeseen abuse@desk.example ei voitu toimittaa perille.'
const toReturnPath = { isToReturnPath: true }

test.for([
  ['of MAILER-DAEMON with our mail attached', mixed([daemon], finnish)],
  ['of MAILER-DAEMON with its header attached', mixed([daemon], finnish, 'text/rfc822-headers')],
  [
    'of MAILER-DAEMON with our mail as a file',
    mixed([daemon], finnish, 'application/octet-stream; name=a.eml'),
  ],
  ['of MAILER-DAEMON with our mail as a text', mixed([daemon], finnish, 'text/plain')],
  ['of MAILER-DAEMON that quotes our header', plain([daemon], finnish, '', ...returned)],
  ['of MAILER-DAEMON that names our return path', plain([daemon], `${token}: ${finnish}`)],
  [
    'of a Greek mail system without an address',
    mixed(['From: Σύστημα'], 'Το μήνυμα προς abuse@desk.example δεν παραδόθηκε.'),
  ],
  ['with an empty address', mixed(['From: <>'], 'abuse@desk.example adresine ulaşamadı.')],
  ['without From', mixed(['Subject: Levering'], 'E-posten til abuse@desk.example ble ikke levert')],
  [
    'of a Korean postmaster without a return path',
    mixed(['From: postmaster@desk.example'], '메일을 전달할 수 없습니다: abuse@desk.example'),
  ],
] as const)('a notice %s is a bounce in any language', ([, raw]) => {
  expect(readInbound(raw, '')).toMatchObject({
    kind: 'bounce',
    results: [{ recipient: 'abuse@desk.example', action: 'failed', hard: false }],
    answer: undefined,
  })
})

test.for([
  ['a mail system in an unknown language', plain([daemon], finnish)],
  ['a mail system with an empty text', plain([daemon])],
  ['nobody, who states a cause', plain(['From: <>'], 'abuse@desk.example is no valid user here.')],
  ['a gateway', plain(['From: gw@desk.example'], "Votre message n'a pas pu être délivré à x@y.z")],
  ['a mail system that hides the recipient', plain([daemon], 'An undisclosed address failed.')],
] as const)('mail of %s to our return path is a bounce', ([, raw]) => {
  expect(readInbound(raw, 'gw@desk.example', toReturnPath).kind).toBe('bounce')
})

test.for([
  ['resolves it', ['From: Ann <abuse@desk.example>', 'Subject: Re: Spam'], 'Resolved.', 'reply'],
  [
    'is away',
    ['From: Ann <abuse@desk.example>', 'Subject: Abwesenheitsnotiz: Spam'],
    'Ich bin bis Montag nicht im Büro.',
    'auto-reply',
  ],
  [
    'has a ticket system',
    ['From: Abuse <abuse@desk.example>', 'Subject: [Ticket#12345678] Spam'],
    'Your report has been received.',
    'acknowledgment',
  ],
  [
    'is a postmaster who answers',
    ['From: Postmaster <postmaster@desk.example>', 'Subject: Re: Spam'],
    'We closed the account.',
    'reply',
  ],
] as const)('mail of a desk that %s is no bounce, though it returns our mail', (given) => {
  const [, head, text, kind] = given
  const raw = mixed(head, text)
  expect(readInbound(raw, kind === 'reply' ? 'ann@desk.example' : '').kind).toBe(kind)
  expect(readInbound(raw, 'ann@desk.example', toReturnPath).kind).toBe(kind)
})

test.for([
  ['words of an answer', plain([daemon], 'not ours')],
  ['words of an acknowledgment', plain([daemon], 'Your report has been received.')],
  ['nothing that can be read', plain([daemon], 'Ilmoitus')],
] as const)('mail of a mail system with %s is never an answer', ([, raw]) => {
  expect(readInbound(raw, '')).toMatchObject({ kind: 'auto-reply', answer: undefined })
})

test('a receipt that returns the header of our mail is no bounce', () => {
  const receipt = 'Content-Type: message/disposition-notification\r\n\r\nDisposition: displayed'
  const raw = mixed([daemon], `Luettu\r\n--b\r\n${receipt}`, 'text/rfc822-headers')
  expect(readInbound(raw, '', toReturnPath).kind).not.toBe('bounce')
})

test.for([
  [daemon, 'Subject: Zustellung', 'Die Nachricht konnte noch nicht zugestellt werden.'],
  [daemon, 'Subject: x', 'La remise de votre message à abuse@desk.example est retardée.'],
  [daemon, 'Subject: x', 'Доставка письма для abuse@desk.example задерживается.'],
  [daemon, 'Subject: x', 'El mensaje todavía no se ha podido entregar a abuse@desk.example.'],
  [daemon, 'Subject: x', 'abuse@desk.example への配信が遅延しています。'],
  [daemon, 'Subject: x', 'De aflevering is vertraagd: abuse@desk.example'],
  [daemon, 'Subject: Warning: could not send message for past 4 hours', 'Deferred: timed out'],
  [daemon, 'Subject: Delayed Mail (still being retried)', '<abuse@desk.example>: timed out'],
  ['From: postmaster@desk.example', 'Subject: Delivery Status Notification (Delay)', 'Timed out'],
] as const)('a delay is no failure: %s %s %s', ([from, subject, text]) => {
  const { kind, results } = readInbound(mixed([from, subject], text), '', toReturnPath)
  expect({ kind, actions: results.map(({ action }) => action) }).toEqual({
    kind: 'bounce',
    actions: ['delayed'],
  })
})

test('a returned message about a delay has failed nevertheless', () => {
  const head = [daemon, 'Subject: Undeliverable: Delivery delayed by a week']
  const raw = mixed(head, 'Could not be delivered to abuse@desk.example: user unknown')
  expect(readInbound(raw, '').results).toMatchObject([{ action: 'failed' }])
})

test.for([
  [
    'Exim, each with its cause',
    [
      ...['The following address(es) failed:', '', '  a@one.example', '    host mx.one.example'],
      ...['    after RCPT TO:<a@one.example>:', '    550 5.1.1 no such user'],
      ...['  b@two.example', '    mailbox is full', '', '--- This is a copy of the message ---'],
    ],
    { 'a@one.example': 'userunknown', 'b@two.example': 'mailboxfull' },
  ],
  [
    'qmail',
    [
      ...['<a@one.example>:', 'Sorry, no mailbox here by that name. (#5.1.1)', ''],
      ...['<b@two.example>:', 'Remote host said: 452 4.2.2 Mailbox full', ''],
    ],
    { 'a@one.example': 'userunknown', 'b@two.example': 'mailboxfull' },
  ],
  [
    'a list with bullets',
    ['not delivered to the following recipients:', '', '  * a@one.example', '  * b@two.example'],
    { 'a@one.example': 'onhold', 'b@two.example': 'onhold' },
  ],
  [
    'a French list',
    ["n'a pas pu être remis aux destinataires :", '- a@one.example', '- b@two.example'],
    { 'a@one.example': 'onhold', 'b@two.example': 'onhold' },
  ],
  [
    'a line',
    ['could not be delivered to: a@one.example, b@two.example; c@three.example'],
    { 'a@one.example': 'onhold', 'b@two.example': 'onhold', 'c@three.example': 'onhold' },
  ],
  [
    'KDDI, each with its cause',
    [
      ...['Your mail sent on: Mon, 16 Nov 2026 23:45:22 +0900'],
      ...['     Could not be delivered to: <a@one.example>', '     As their mailbox is full.'],
      ...['     Could not be delivered to: <b@two.example>'],
      ...['     As the remote domain doesnt exist.'],
    ],
    { 'a@one.example': 'mailboxfull', 'b@two.example': 'hostunknown' },
  ],
  [
    'AOL, without their domain',
    [
      'Sorry reports@us.example. Your mail to the following recipients could not be delivered ' +
        'because they are not accepting mail from reports@us.example:',
      ...['\tscreenname', '\tother2'],
    ],
    { 'screenname@mx.desk.example': 'rejected', 'other2@mx.desk.example': 'rejected' },
  ],
] as const)('several recipients are found in the form of %s', ([, text, expected]) => {
  const { results } = readInbound(plain([daemon, 'Subject: Undeliverable'], ...text), '')
  const found = results.map(({ recipient, reason }) => [recipient, reason])
  expect(Object.fromEntries(found)).toEqual(expected)
})

test('the address from which a hidden recipient was made is the recipient', () => {
  const raw = plain([daemon], 'failed:', '  an undisclosed address', '(generated from a@b.example)')
  expect(readInbound(raw, '', toReturnPath).results).toMatchObject([{ recipient: 'a@b.example' }])
})

test('a number that looks like a status of success does not make a failure a success', () => {
  const text = 'Your message about Mailman 2.0.12 could not be delivered to abuse@desk.example'
  const { results } = readInbound(plain([daemon, 'Subject: Undeliverable'], text), '')
  expect(results).toMatchObject([{ action: 'failed', reason: 'onhold', isStatusInferred: true }])
})

function report(...group: readonly string[]): Buffer {
  const status = ['--b', 'Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; mx', '']
  const type = 'Content-Type: multipart/report; report-type=delivery-status; boundary=b'
  const recipient = 'Final-Recipient: rfc822; abuse@desk.example'
  return lines(daemon, type, '', '--b', '', 'Failed.', ...status, recipient, ...group, '', '--b--')
}

test.for([
  ['<192.0.2.32 #5.0.0 smtp; 550 "Unknown User">', 'userunknown', true],
  ['<mx.desk.example #5.1.1 smtp;550-5.1.1 That account\r\n does not exist>', 'userunknown', true],
  ['mx.desk.example #5.0.0 smtp; 550 no such user here', 'userunknown', true],
  ['< #5.2.2 SMTP; 552 5.2.2 mailbox full>', 'mailboxfull', false],
  ['<mx.desk.example #5.7.1 smtp; 550 5.7.1 message looks like spam>', 'spamdetected', false],
  ['<mx.desk.example #4.4.7>', 'onhold', false],
] as const)('X-Supplementary-Info %j means %s', ([info, reason, hard]) => {
  const group = ['Action: failed', 'Status: 5.0.0', `X-Supplementary-Info: ${info}`]
  expect(readInbound(report(...group), '').results).toMatchObject([{ reason, hard }])
  const coded = report(...group, 'Diagnostic-Code: smtp; 5.0.0')
  expect(readInbound(coded, '').results).toMatchObject([{ reason, hard }])
  const clear = report(...group, 'Diagnostic-Code: smtp; 452 4.2.2 Mailbox full')
  expect(readInbound(clear, '').results).toMatchObject([{ reason: 'mailboxfull' }])
})

test.for([
  [['Action: Delay', 'Status: 4.4.1'], 'delayed'],
  [['Action: deferred (retrying)', 'Status: 4.4.1'], 'delayed'],
  [['Status: 4.4.1', 'Will-Retry-Until: Mon, 16 Nov 2026 10:00:00 +0000'], 'delayed'],
  [['Status: 2.0.0'], 'delivered'],
  [['Status: 5.1.1'], 'failed'],
  [['Action: gone', 'Status: 5.1.1'], 'failed'],
] as const)('a report with %j says %s', ([group, action]) => {
  expect(readInbound(report(...group), '').results).toMatchObject([{ action }])
})

test('a delay that a sending service reports as JSON is no failure', () => {
  const delayedRecipients = [{ emailAddress: 'abuse@desk.example', status: '4.4.1' }]
  const event = { eventType: 'DeliveryDelay', mail: {}, deliveryDelay: { delayedRecipients } }
  const raw = plain(['From: no-reply@sns.example'], JSON.stringify(event))
  expect(readInbound(raw, 'x@sns.example').results).toMatchObject([
    { recipient: 'abuse@desk.example', action: 'delayed' },
  ])
})

test.for([
  [
    'a person who says that mail of the customer was not delivered',
    plain(
      ['From: abuse@desk.example', 'Subject: Re: Spam from 192.0.2.1'],
      'The mail of this customer could not be delivered, and we closed the account.',
    ),
    'abuse@desk.example',
    'reply',
  ],
  [
    'a postmaster whose program returns our mail and gives a number',
    mixed(
      ['From: postmaster@desk.example', 'Subject: Ticket 1234'],
      'Thank you for your report. Ticket #1234 was opened.',
    ),
    '',
    'acknowledgment',
  ],
] as const)('the answer of a desk is no bounce: %s', ([, raw, mailFrom, kind]) => {
  expect(readInbound(raw, mailFrom, toReturnPath).kind).toBe(kind)
})
