import { expect, test } from 'vitest'
import { ticketNumber } from '../../../../src/mail/inbound/acknowledgment.ts'
import { expectEffort } from '../../../support/effort.ts'

test.for([
  ['[desk.example #48151] AutoReply: Cheap watches', '', '48151'],
  ['[Ticket#2026112210000012] We got your mail', '', '2026112210000012'],
  ['[Ticket# 2026112210000012] Re: x', '', '2026112210000012'],
  ['[#ABC-123-45678]: Abuse report', '', 'ABC-123-45678'],
  ['[ABUSE-1234] Re: Cheap watches', '', 'ABUSE-1234'],
  ['Re: Cheap watches (Case Number: 00123456)', '', '00123456'],
  ['Ticket ID: XJK-331-20871', '', 'XJK-331-20871'],
  ['We got it', 'Your request has been received. Reference: AB-2026-77.', 'AB-2026-77'],
  ['We got it', 'It was given the ticket number 4711 today.', '4711'],
  ['Vorgang Nr. 77123 wurde angelegt', '', '77123'],
] as const)('%s %s', ([subject, text, expected]) => {
  expect(ticketNumber(subject, text)).toBe(expected)
})

test.for([
  ['Re: Cheap watches', 'We got your mail of 2026 and look at 198.51.100.23.'],
  ['Re: [SPAM] Cheap watches', ''],
  ['Re: your ticket', 'The ticket is closed.'],
  [null, ''],
] as const)('there is no ticket number in: %s %s', ([subject, text]) => {
  expect(ticketNumber(subject, text)).toBeUndefined()
})

test('hostile text takes no longer than other text', async () => {
  const evil = [
    `${'[a'.repeat(50_000)}#`,
    'ticket '.repeat(20_000),
    `ticket number ${'A-'.repeat(50_000)}`,
    `case${' '.repeat(100_000)}:`,
  ]
  for (const text of evil) await expectEffort(() => ticketNumber(text, text), 200)
})
