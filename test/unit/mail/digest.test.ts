import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import {
  composeFeedbackReport,
  type FeedbackReportInput,
  reportLine,
} from '../../../src/mail/arf.ts'
import { composeDigest, type DigestContent, type DigestReport } from '../../../src/mail/digest.ts'
import { messageCopy } from '../../support/message-copy.ts'

function reportOf(
  number: string,
  changes: { sourceIp?: string; size?: number } = {},
): DigestReport {
  const { sourceIp = '192.0.2.7', size = 10 } = changes
  const input: FeedbackReportInput = {
    from: 'feedback@here.example',
    to: 'abuse@there.example',
    date: new Date('2026-11-20T13:00:00Z'),
    token: number,
    domain: 'here.example',
    original: messageCopy(`Subject: Buy ${sourceIp}\r\n\r\n${'buy now\r\n'.repeat(size)}`),
    facts: {
      feedbackType: 'abuse',
      userAgent: 'Signalpost/0.1',
      sourceIp,
      incidents: 3,
      arrivedAt: new Date('2026-11-20T12:00:00Z'),
    },
    explanation: {
      reportNumber: number,
      service: 'here.example',
      network: { cidr: '192.0.2.0/24' },
      why: ['mx.example.org says so.'],
    },
  }
  const raw = composeFeedbackReport(input)
  return { raw, line: reportLine(input), number, campaign: sourceIp }
}

function digestOf(reports: readonly DigestReport[], changes: Partial<DigestContent> = {}): Buffer {
  return composeDigest({
    from: 'feedback@here.example',
    to: 'abuse@there.example',
    date: new Date('2026-11-21T00:00:00Z'),
    messageId: '<digest.1@here.example>',
    service: 'here.example',
    unsubscribe: 'https://here.example/answer/token/stop',
    reports,
    ...changes,
  })
}

const two = [reportOf('1.1'), reportOf('2.1'), reportOf('3.1', { sourceIp: '192.0.2.8' })]

test('a digest contains every report as if it were sent separately', async () => {
  const parsed = await simpleParser(digestOf(two))
  expect(parsed.attachments.map(({ contentType }) => contentType)).toEqual(
    Array.from({ length: 3 }, () => 'message/rfc822'),
  )
  const contents = parsed.attachments.map(({ content }) => content.toString('latin1').trimEnd())
  expect(contents.sort()).toEqual(two.map(({ raw }) => raw.toString('latin1').trimEnd()).sort())
})

test('its text has the kind, address, count, times and numbers of each campaign', async () => {
  const { text } = await simpleParser(digestOf(two))
  expect(text).toContain(
    [
      'Unsolicited mail from 192.0.2.7',
      '  Messages:       6',
      '  First:          2026-11-20T12:00:00Z',
      '  Last:           2026-11-20T12:00:00Z',
      '  Subject:        Buy 192.0.2.7',
      '  Number:         1.1',
      '  Number:         2.1',
    ].join('\n'),
  )
  expect(text).toContain('Unsolicited mail from 192.0.2.8')
})

test('one click stops digests', async () => {
  const { headers } = await simpleParser(digestOf(two))
  expect(JSON.stringify(headers.get('list'))).toContain('https://here.example/answer/token/stop')
  expect(digestOf(two).toString()).toContain(
    '\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click',
  )
})

test('reports that do not fit are only listed, and each campaign has a sample first', async () => {
  const many = Array.from({ length: 120 }, (_, index) => reportOf(`${String(index)}.1`))
  const parsed = await simpleParser(digestOf([...many, reportOf('x.1', { sourceIp: '192.0.2.9' })]))
  expect(parsed.attachments).toHaveLength(100)
  expect(parsed.text?.replace(/\s+/g, ' ')).toContain('100 of them are attached')
  expect(parsed.attachments.some(({ content }) => content.includes('Buy 192.0.2.9'))).toBe(true)
  const large = Array.from({ length: 10 }, (_, index) =>
    reportOf(`${String(index)}.1`, { size: 200_000 }),
  )
  expect(digestOf(large).length).toBeLessThan(9 * 1024 * 1024)
})

test('the same content gives the same bytes', () => {
  expect(digestOf(two).equals(digestOf(two))).toBe(true)
})

test('a line break in an address or a link is refused', () => {
  expect(() => digestOf(two, { to: 'a@b.example\r\nBcc: c@d.example' })).toThrow(RangeError)
  const unsubscribe = 'https://x.example/\r\nBcc: c@d'
  expect(() => digestOf(two, { unsubscribe })).toThrow(RangeError)
})
