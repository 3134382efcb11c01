import { expect, test } from 'vitest'
import { refusalSubject, type RelayReply } from '../../../../src/mail/bounces/relay-refusal.ts'

type Case = [RelayReply['step'], string]

function subjectOf([step, text]: Case) {
  return refusalSubject({ step, replyCode: Number(text.slice(0, 3)), text })
}

test.each<Case>([
  ['rcpt', '554 5.7.1 <abuse@there.example>: Relay access denied'],
  ['rcpt', '454 4.7.1 <abuse@there.example>: Relay access denied'],
  ['rcpt', '550 relay not permitted'],
  ['rcpt', '550 5.7.1 Unable to relay'],
  ['rcpt', '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain'],
  ['rcpt', "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"],
  ['rcpt', '550 5.4.1 [a@b.example]: Relay Access Denied'],
  ['rcpt', '550 5.1.1 relaying denied'],
  ['rcpt', '513 Relaying denied.'],
  ['rcpt', '550 5.7.1 <client[192.0.2.1]>: Client host rejected: Access denied'],
  ['rcpt', '553 5.7.1 <fb@here.example>: Sender address rejected: not owned by user'],
  ['rcpt', '550 5.1.8 <fb@here.example>: Sender address rejected: Domain not found'],
  ['rcpt', '530 5.7.0 Must issue a STARTTLS command first'],
  ['rcpt', '503 This mail server requires authentication'],
  ['rcpt', '550 Authentication required'],
  ['rcpt', '554 5.7.1 Access denied'],
  ['rcpt', '550 5.7.26 Unauthenticated email is not accepted'],
  ['rcpt', '550 administrative prohibition'],
  ['rcpt', '554 No'],
  ['rcpt', '550 5.3.2 System not accepting network messages'],
  ['mail', '550 5.1.0 Sender denied'],
  ['mail', '535 5.7.8 Authentication credentials invalid'],
  ['mail', '553 5.1.7 Bad sender'],
  ['mail', '451 4.3.0 Try later'],
  ['session', '554 5.7.1 Client host blocked'],
  ['session', '535 5.7.8 Error: authentication failed'],
  ['dot', '554 Message rejected: Email address is not verified.'],
  ['dot', '550 5.7.60 Client does not have permissions to send as this sender'],
  ['dot', '550 5.7.1 Authentication required'],
  ['data', '554 5.5.1 Error'],
])('at %s, %j is about our own server', (...one) => {
  expect(subjectOf(one)).toBe('us')
})

test.each<Case>([
  ['rcpt', '550 5.1.1 <abuse@there.example>: Recipient address rejected: User unknown'],
  ['rcpt', '550 5.1.2 <a@nowhere.example>: Recipient address rejected: Domain not found'],
  ['rcpt', '556 5.1.10 <a@b.example>: Recipient address rejected: Domain does not accept mail'],
  ['rcpt', '550 no such user'],
  ['rcpt', '550 5.1.6 The mailbox has moved'],
  ['dot', '550 5.1.1 No such user'],
])('at %s, %j says that the address does not exist', (...one) => {
  expect(subjectOf(one)).toBe('gone')
})

test.each<Case>([
  ['rcpt', '552 5.2.2 Mailbox full'],
  ['rcpt', '550 5.2.1 The mailbox is disabled'],
  ['rcpt', '550 5.2.1 <a@b.example> disabled'],
  ['dot', '552 5.2.2 The user is over quota'],
])('at %s, %j is about the mailbox', (...one) => {
  expect(subjectOf(one)).toBe('unreachable')
})

test.each<Case>([
  ['mail', '552 5.3.4 Message size exceeds fixed limit'],
  ['dot', '552 5.2.3 Message too long'],
  ['dot', '554 5.7.1 This message contains a virus'],
  ['dot', '550 5.7.1 Message identified as SPAM'],
  ['dot', '554 5.6.0 Message contains bare LF'],
  ['rcpt', '450 4.7.1 Greylisted'],
  ['rcpt', '451 Try again later'],
])('at %s, %j is about the message', (...one) => {
  expect(subjectOf(one)).toBe('message')
})
