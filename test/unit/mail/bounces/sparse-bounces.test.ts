import { expect, test } from 'vitest'
import { parseFeedbackReport } from '../../../../src/mail/mail-parts.ts'
import { readInbound } from '../../../../src/mail/inbound/read-inbound.ts'

function mail(head: readonly string[], parts: readonly (readonly string[])[]): Buffer {
  const type = 'Content-Type: multipart/mixed; boundary="b"'
  const body = parts.flatMap((part) => ['--b', ...part])
  return Buffer.from([...head, type, '', ...body, '--b--', ''].join('\r\n'))
}

const system = ['From: MAILER-DAEMON@mx.example.net', 'Return-Path: <>', 'Subject: Returned mail']
const returned = [
  'Content-Type: message/rfc822',
  '',
  'From: a@example.org',
  'To: Desk <abuse@example.net>',
  '',
  'Hello',
]
const nothingTold = ['Content-Type: text/plain', '', 'Your message could not be delivered.']
const emptyReport = [
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx.example.net',
  '',
]

function resultsOf(raw: Buffer) {
  const { kind, results } = readInbound(raw, '')
  return { kind, results }
}

test('a bounce without a recipient is about the recipient of the returned message', () => {
  expect(resultsOf(mail(system, [nothingTold, returned]))).toMatchObject({
    kind: 'bounce',
    results: [{ recipient: 'abuse@example.net', hard: false }],
  })
  expect(resultsOf(mail(system, [nothingTold, emptyReport, returned]))).toMatchObject({
    kind: 'bounce',
    results: [{ recipient: 'abuse@example.net', reason: 'undefined', status: '5.0.900' }],
  })
})

test('a bounce without a recipient may enclose the bounce that names it', () => {
  const told = 'The following addresses had permanent errors:\r\n<abuse@example.net>'
  const enclosed = [
    'Content-Type: message/rfc822',
    '',
    ...system,
    '',
    told,
    '550 5.1.1 <abuse@example.net>... User unknown',
  ]
  expect(resultsOf(mail(system, [nothingTold, enclosed]))).toMatchObject({
    kind: 'bounce',
    results: [{ recipient: 'abuse@example.net', status: '5.1.1', hard: true }],
  })
})

test('a service that sends no answers may return a message; its other mail is not a bounce', () => {
  const service = ['From: no-reply@example.net', 'Subject: Mail error']
  const told = [...nothingTold.slice(0, 2), 'It could not be delivered to: <abuse@example.net>']
  expect(resultsOf(mail(service, [told, returned]))).toMatchObject({
    kind: 'bounce',
    results: [{ recipient: 'abuse@example.net' }],
  })
  expect(resultsOf(mail(service, [told])).kind).toBe('reply')
})

test('a person who quotes and encloses a bounce writes a reply, not a bounce', () => {
  const person = ['From: Ann <ann@example.net>', 'Subject: Delivery failed? Please look']
  const forged = [
    'Content-Type: text/plain',
    '',
    'I got this:',
    '<abuse@example.net>: host mx.example.net said: 550 5.1.1 User unknown',
    'Final-Recipient: rfc822; abuse@example.net',
    'Status: 5.1.1',
  ]
  const enclosed = ['Content-Type: message/rfc822', '', ...system, '', 'could not be delivered']
  expect(readInbound(mail(person, [forged, enclosed]), 'ann@example.net')).toMatchObject({
    kind: 'reply',
    results: [],
  })
})

test.each(['notificationType', 'eventType'])('the envelope of an event is parsed: %s', (key) => {
  const bouncedRecipients = [
    { emailAddress: 'abuse@example.net', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 gone' },
  ]
  const Message = JSON.stringify({ [key]: 'Bounce', bounce: { bouncedRecipients } })
  const body = JSON.stringify({ Type: 'Notification', Message })
  const head = 'From: no-reply@sns.example.net\r\nSubject: Notification\r\n\r\n'
  expect(resultsOf(Buffer.from(head + body))).toMatchObject({
    kind: 'bounce',
    results: [{ recipient: 'abuse@example.net', status: '5.1.1', hard: true }],
  })
})

test('an unsubscribed address without a named complaint is not written to again', () => {
  const raw = Buffer.from('From: a@example.net\r\nX-Apple-Unsubscribe: true\r\n\r\nBye\r\n')
  expect(parseFeedbackReport(raw)).toEqual({ fields: [] })
  expect(readInbound(raw, 'a@example.net').kind).toBe('complaint')
})
