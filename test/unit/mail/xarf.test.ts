import { createHash } from 'node:crypto'
import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { FeedbackReportInput } from '../../../src/mail/arf.ts'
import { parseFeedbackReport } from '../../../src/mail/mail-parts.ts'
import { composeXarfReport } from '../../../src/mail/xarf.ts'
import { messageCopy } from '../../support/message-copy.ts'

/**
 * The schema of XARF 4 for messaging/spam, as specified: the required properties, and those that we
 * write.
 */
const contact = z.strictObject({
  org: z.string().max(200),
  contact: z.email(),
  domain: z.hostname(),
})
const evidence = z.strictObject({
  content_type: z.string().regex(/^[a-z]+\/[a-z0-9.-]+$/),
  payload: z.base64(),
  description: z.string().max(500),
  hash: z.string().regex(/^(?:md5|sha1|sha256|sha512):[a-fA-F0-9]+$/),
  size: z.int().min(0).max(5_242_880),
})
const xarf = z
  .strictObject({
    xarf_version: z.string().regex(/^4\.\d+\.\d+$/),
    report_id: z.uuidv4(),
    timestamp: z.iso.datetime(),
    reporter: contact,
    sender: contact,
    source_identifier: z.union([z.ipv4(), z.ipv6()]),
    source_port: z.int().min(1).max(65_535).optional(),
    category: z.literal('messaging'),
    type: z.literal('spam'),
    evidence_source: z.literal('user_complaint'),
    protocol: z.enum(['smtp', 'other']),
    smtp_from: z.email().optional(),
    smtp_to: z.email().optional(),
    subject: z.string().max(500).optional(),
    sender_name: z.string().max(200).optional(),
    message_id: z.string().max(200).optional(),
    recipient_count: z.int().min(1).optional(),
    spam_indicators: z.strictObject({ suspicious_links: z.array(z.url()) }).optional(),
    description: z.string().max(1000),
    tags: z.array(z.string().regex(/^[a-z0-9][a-z0-9_+-]*:[a-z0-9][a-z0-9_+-]*$/)).max(20),
    evidence: z.array(evidence).max(50),
  })
  .refine(({ protocol, smtp_from, source_port }) => {
    return protocol !== 'smtp' || (smtp_from !== undefined && source_port !== undefined)
  })

const original = [
  'From: "Offers, daily" <offers@spam.example>',
  'To: redacted-abcdefgh23456777@redacted.invalid',
  'Subject: =?utf-8?Q?Caf=C3=A9?= now',
  'Message-ID: <redacted-abcdefgh23456777@spam.example>',
  '',
  'Cheap watches at http://spam.example/watch',
  '',
].join('\r\n')

const facts: FeedbackReportInput['facts'] = {
  feedbackType: 'fraud',
  userAgent: 'Signalpost/0.1',
  sourceIp: '192.0.2.7',
  sourcePort: 40_123,
  arrivedAt: new Date('2026-11-20T12:00:00Z'),
  mailFrom: 'offers@spam.example',
  recipients: ['redacted-abcdefgh23456777@redacted.invalid'],
  uris: ['http://spam.example/watch', 'javascript:alert(1)'],
  incidents: 12,
}

async function xarfOn(changes: Partial<FeedbackReportInput> = {}) {
  const raw = composeXarfReport({
    from: 'feedback@here.example',
    to: 'abuse@there.example',
    replyTo: 'answers@here.example',
    date: new Date('2026-11-20T13:00:00Z'),
    token: '0198c5f0-1234-7abc-8def-0123456789ab.1',
    domain: 'here.example',
    facts,
    explanation: {
      reportNumber: '0198c5f0-1234-7abc-8def-0123456789ab.1',
      service: 'https://here.example',
      network: { cidr: '192.0.2.0/24' },
      why: ['mx.example.org says so.'],
    },
    original: messageCopy(original),
    ...changes,
  })
  const mail = await simpleParser(raw)
  const json = mail.attachments.find(({ contentType }) => contentType === 'application/json')
  const read: unknown = JSON.parse(json?.content.toString() ?? '')
  return { raw, mail, name: json?.filename, report: xarf.parse(read) }
}

test('a report is valid XARF 4 and says who sent what, when and from where', async () => {
  const { report } = await xarfOn()
  expect(report).toMatchObject({
    timestamp: '2026-11-20T12:00:00.000Z',
    source_identifier: '192.0.2.7',
    source_port: 40_123,
    protocol: 'smtp',
    smtp_from: 'offers@spam.example',
    smtp_to: 'redacted-abcdefgh23456777@redacted.invalid',
    subject: 'Café now',
    sender_name: 'Offers, daily',
    recipient_count: 12,
    tags: ['message:phishing'],
    spam_indicators: { suspicious_links: ['http://spam.example/watch'] },
  })
})

test('the organization is the operator, or else the service', async () => {
  expect((await xarfOn({ operator: 'Example Association' })).report.reporter.org).toBe(
    'Example Association',
  )
})

test('its evidence is the copy of the message, with the correct hash', async () => {
  const { report } = await xarfOn()
  const [sample] = report.evidence
  const bytes = Buffer.from(sample?.payload ?? '', 'base64')
  expect(bytes.toString()).toBe(original)
  expect(sample?.hash).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)
  expect(sample?.size).toBe(bytes.length)
})

test('it is mailed as a feedback report of type xarf, readable without the JSON', async () => {
  const { raw, mail, name } = await xarfOn()
  expect(name).toBe('xarf.json')
  expect(parseFeedbackReport(raw)?.fields).toEqual([
    ['Feedback-Type', 'xarf'],
    ['User-Agent', 'Signalpost/0.1'],
    ['Version', '1'],
  ])
  expect(mail.text).toContain('192.0.2.7')
  expect(mail.text).toContain('XARF 4')
  expect(mail.subject).toBe('Café now')
})

test.for([
  ['the port of the client', { sourcePort: undefined }],
  ['the return path', { mailFrom: undefined }],
  ['anything but the null return path', { mailFrom: '' }],
] as const)('without %s its protocol is one that does not need it', async ([, change]) => {
  const { report } = await xarfOn({ facts: { ...facts, ...change } })
  expect(report.protocol).toBe('other')
})

test('a consumer of headers gets headers, and so do others if the evidence is large', async () => {
  const headers = await xarfOn({ original: messageCopy(original, 'headers') })
  expect(headers.report.evidence[0]?.content_type).toBe('text/rfc822-headers')
  expect(headers.mail.text?.replace(/\s+/g, ' ')).toContain('A copy of its header is attached')
  const large = messageCopy(`${original}${'and so on\r\n'.repeat(500_000)}`)
  const cut = await xarfOn({ original: large })
  expect(cut.report.evidence[0]?.content_type).toBe('text/rfc822-headers')
  expect(cut.report.evidence[0]?.size).toBeLessThan(1000)
})

test('hostile text is kept as text', async () => {
  const { report } = await xarfOn({
    original: messageCopy(`Subject: "},{\\u0000 ${'x'.repeat(2000)}\r\n\r\n`),
  })
  expect(report.subject).toHaveLength(500)
})

test('the same report has the same bytes and the same id', async () => {
  const [first, second] = [await xarfOn(), await xarfOn()]
  expect(first.raw.equals(second.raw)).toBe(true)
  const other = await xarfOn({ token: 'another.1' })
  expect(other.report.report_id).not.toBe(first.report.report_id)
})
