import { expect, test } from 'vitest'
import { parseFeedbackReport } from '../../../src/mail/mail-parts.ts'
import { corpusTruths } from '../../support/corpus.ts'

const report = [
  'From: fbl@example.net',
  'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'Feedback-Type: not here',
  '--b',
  'Content-Type: message/feedback-report',
  '',
  'Feedback-Type: abuse',
  'Authentication-Results: mail.example.com;',
  '   dkim=fail',
  'Reported-Domain: one.example',
  'Reported-Domain: two.example',
  '',
  '--b',
  'Content-Type: message/rfc822',
  '',
  'From: a@spam.example',
  'X-Feedback: no',
  '',
  'body',
  '--b--',
  '',
].join('\r\n')

const fields = [
  ['Feedback-Type', 'abuse'],
  ['Authentication-Results', 'mail.example.com; dkim=fail'],
  ['Reported-Domain', 'one.example'],
  ['Reported-Domain', 'two.example'],
]

test.for([
  ['CRLF', '\r\n'],
  ['LF', '\n'],
  ['CR', '\r'],
] as const)('fields keep their order, repeated and unfolded, with %s line ends', ([, lineEnd]) => {
  const raw = Buffer.from(report.replaceAll('\r\n', lineEnd))
  expect(parseFeedbackReport(raw)?.fields).toEqual(fields)
})

test.for([
  ['a part in base64', (text: string) => base64Part(text), fields],
  [
    'a blank line before the fields',
    (text: string) => text.replace('\r\nFeedback-Type: a', '\r\n\r\nFeedback-Type: a'),
    fields,
  ],
  ['no closing delimiter', (text: string) => text.replace('--b--\r\n', ''), fields],
  [
    'another multipart around it',
    (text: string) => text.replace('report; report-type=feedback-report', 'mixed'),
    fields,
  ],
  [
    'no such part',
    (text: string) => text.replace('message/feedback-report', 'text/plain'),
    undefined,
  ],
  ['a multipart without a boundary', (text: string) => text.replace('; boundary="b"', ''), fields],
] as const)('a report with %s', ([, change, expected]) => {
  expect(parseFeedbackReport(Buffer.from(change(report)))?.fields).toEqual(expected)
})

test('a report inside an attached message is not a report of the outer message', () => {
  const forwarded =
    'From: a@example.org\r\nContent-Type: multipart/mixed; boundary=outer\r\n\r\n--outer\r\n' +
    `Content-Type: message/rfc822\r\n\r\n${report}\r\n--outer--\r\n`
  expect(parseFeedbackReport(Buffer.from(forwarded))).toBeUndefined()
})

test.for(['', '\r\n', 'x', '\0\0', 'Content-Type: multipart/report; boundary=b\r\n\r\n--b'])(
  'no message is too malformed: %j',
  (text) => {
    expect(parseFeedbackReport(Buffer.from(text))).toBeUndefined()
  },
)

const truths = corpusTruths('bounces')

test.skipIf(truths === undefined)(
  'every real report has all its fields (skipped without the corpus)',
  () => {
    for (const { name, raw, truth } of truths ?? []) {
      const expected = truth.feedback_report?.feedback_fields ?? []
      expect(parseFeedbackReport(raw)?.fields ?? [], name).toEqual(expected)
    }
  },
)

function base64Part(text: string): string {
  const start = text.indexOf('Feedback-Type: abuse')
  const end = text.indexOf('\r\n--b\r\nContent-Type: message/rfc822')
  const encoded = Buffer.from(text.slice(start, end)).toString('base64')
  const head = text.slice(0, start - 2)
  return `${head}Content-Transfer-Encoding: base64\r\n\r\n${encoded}${text.slice(end)}`
}
