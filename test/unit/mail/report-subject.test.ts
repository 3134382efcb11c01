import { expect, test } from 'vitest'
import { decodeHeaderText } from '../../../src/mail/encoded-word.ts'
import { composeReportSubject, type FeedbackFacts } from '../../../src/mail/mail-parts.ts'
import { parseHeader } from '../../../src/mail/header.ts'

const facts: FeedbackFacts = {
  feedbackType: 'abuse',
  userAgent: 'Test/1',
  sourceIp: '192.0.2.7',
}

function subjectOf(given: string): string {
  const { fields } = parseHeader(Buffer.from(`Subject: ${given}\r\n\r\n`, 'latin1'))
  const value = composeReportSubject(facts, fields)
  return decodeHeaderText(value.replace(/\r\n/g, ''))
}

test.each([
  ['=?utf-8?Q?Hello=0D=0ABcc:_eve@x.test?=', 'Hello Bcc: eve@x.test'],
  ['=?utf-8?B?SGVsbG8NCkJjYzogeA==?=', 'Hello Bcc: x'],
  ['=?utf-8?Q?Hello=00=07=1B=7Fthere?=', 'Hello there'],
  ['=?utf-8?Q?Hello=C2=85there?=', 'Hello there'],
  ['=?utf-8?Q?Hello=E2=80=A8there=E2=80=AE?=', 'Hello there'],
  ['=?iso-8859-1?Q?Hello=85there?=', 'Hello\u2026there'],
  ['=?utf-16?B?SABlAGwAbABvAAoAIQA=?=', 'Hello !'],
  ['Hello \x00 there', 'Hello   there'],
  ['=?utf-8?Q?Ol=C3=A9?=', 'Ol\u00e9'],
])('the subject of a report is one line: %s', (given, expected) => {
  expect(subjectOf(given)).toBe(expected)
})

test('an overlong subject is cut', () => {
  expect(subjectOf('word '.repeat(100_000)).length).toBeLessThanOrEqual(1_000)
})
