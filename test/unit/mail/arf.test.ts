import { simpleParser } from 'mailparser'
import { describe, expect, test } from 'vitest'
import { composeFeedbackReport, type FeedbackReportInput } from '../../../src/mail/arf.ts'
import { parseHeader } from '../../../src/mail/header.ts'
import { parseFeedbackReport } from '../../../src/mail/mail-parts.ts'
import { corpusFiles } from '../../support/corpus.ts'
import { wrongLines } from '../../support/copied-message.ts'
import { messageCopy } from '../../support/message-copy.ts'

const original = [
  'Return-Path: <offers@spam.example>',
  'Received: from mail.spam.example (mail.spam.example [192.0.2.7])',
  '\tby mx.example.org; Fri, 20 Nov 2026 11:59:59 +0000',
  'From: Offers <offers@spam.example>',
  'To: redacted-abc@redacted.invalid',
  'Subject: Buy now',
  'Message-ID: <1@spam.example>',
  '',
  'Cheap watches at http://spam.example/watch',
  '',
].join('\r\n')

function inputWith(changes: Partial<FeedbackReportInput> = {}): FeedbackReportInput {
  return {
    from: 'feedback@signalpost.example',
    to: 'abuse@example.net',
    date: new Date('2026-11-20T13:00:00Z'),
    token: 'fb.0198c5f0-1234-7abc-8def-0123456789ab.1',
    domain: 'signalpost.example',
    original: messageCopy(original),
    facts: {
      feedbackType: 'abuse',
      userAgent: 'Signalpost/0.1.0',
      sourceIp: '192.0.2.7',
      arrivedAt: new Date('2026-11-20T12:00:00Z'),
      mailFrom: 'offers@spam.example',
      domains: ['spam.example'],
      uris: ['http://spam.example/watch'],
    },
    explanation: {
      reportNumber: '0198c5f0-1234-7abc-8def-0123456789ab',
      service: 'signalpost.example',
      network: { cidr: '192.0.2.0/24', asn: 64500, name: 'Example Hosting', country: 'FR' },
      why: ['mx.example.org says it took the message from 192.0.2.7.'],
    },
    ...changes,
  }
}

/** Splits a composed report into its three parts, at its boundary. */
function cut(raw: Buffer): { header: string; text: string; machine: string; copy: string } {
  const whole = raw.toString('latin1')
  const boundary = /boundary="([^"]+)"/.exec(whole)?.[1] ?? ''
  const [header = '', text = '', machine = '', copy = ''] = whole.split(`--${boundary}\r\n`)
  return { header, text, machine, copy: copy.replace(`\r\n--${boundary}--\r\n`, '') }
}

function withOriginal(message: string) {
  return composeFeedbackReport(inputWith({ original: messageCopy(message) }))
}

test('composing twice gives the same bytes and the same Message-ID', () => {
  const [first, second] = [composeFeedbackReport(inputWith()), composeFeedbackReport(inputWith())]
  expect(second.equals(first)).toBe(true)
  expect(cut(first).header).toContain(
    '\r\nMessage-ID: <fb.0198c5f0-1234-7abc-8def-0123456789ab.1@signalpost.example>\r\n',
  )
})

test('the header follows RFC 5965 and RFC 3834', () => {
  const { header } = cut(composeFeedbackReport(inputWith()))
  expect(header.split('\r\n')).toEqual([
    'From: feedback@signalpost.example',
    'To: abuse@example.net',
    'Subject: Buy now',
    'Date: Fri, 20 Nov 2026 13:00:00 +0000',
    'Message-ID: <fb.0198c5f0-1234-7abc-8def-0123456789ab.1@signalpost.example>',
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report;',
    expect.stringMatching(/^ boundary="=_[0-9a-f]{32}"$/),
    '',
    '',
  ])
})

test('the text alone has all data that an abuse desk needs', () => {
  const { text } = cut(composeFeedbackReport(inputWith()))
  for (const datum of [
    '192.0.2.7',
    '192.0.2.0/24, AS64500, Example Hosting (FR)',
    '2026-11-20T12:00:00Z (Fri, 20 Nov 2026 12:00:00 GMT)',
    'Buy now',
    'Offers <offers@spam.example>',
    'mx.example.org says it took the message from 192.0.2.7.',
    'reply to this mail',
    '0198c5f0-1234-7abc-8def-0123456789ab',
  ]) {
    expect(text).toContain(datum)
  }
})

test('the text begins with the address, the port, the time and the number', () => {
  const facts = { ...inputWith().facts, sourcePort: 4321 }
  const { text } = cut(composeFeedbackReport(inputWith({ facts })))
  expect(text.split('\r\n\r\n')[1]?.split('\r\n')).toEqual([
    '  IP address:     192.0.2.7',
    '  Port:           4321',
    '  Received:       2026-11-20T12:00:00Z (Fri, 20 Nov 2026 12:00:00 GMT)',
    '  Report number:  0198c5f0-1234-7abc-8def-0123456789ab',
  ])
})

test.each([
  ['Example Association', '"Example Association" <feedback@signalpost.example>'],
  ['A "quoted" \\ name, Inc.', '"A \\"quoted\\" \\\\ name, Inc." <feedback@signalpost.example>'],
  ['Évil\r\nBcc: x@y', '=?utf-8?B?w4l2aWwgQmNjOiB4QHk=?= <feedback@signalpost.example>'],
  [' ', 'feedback@signalpost.example'],
])("From has the operator's name %j", async (operator, from) => {
  const raw = composeFeedbackReport(inputWith({ operator }))
  expect(cut(raw).header.split('\r\n')[0]).toBe(`From: ${from}`)
  expect((await simpleParser(raw)).from?.value[0]?.address).toBe('feedback@signalpost.example')
})

test.each(['fraud', 'virus', 'other'] as const)(
  'for a desk that never enrolled the type is abuse, and a field of ours has %s',
  (feedbackType) => {
    const facts = { ...inputWith().facts, feedbackType }
    const { explanation } = inputWith()
    const unsolicited = { ...explanation, isUnsolicited: true }
    const raw = composeFeedbackReport(inputWith({ facts, explanation: unsolicited }))
    const fields = new Map(parseFeedbackReport(raw)?.fields)
    expect(fields.get('Feedback-Type')).toBe('abuse')
    expect(fields.get('X-Signalpost-Type')).toBe(feedbackType)
    const asked = composeFeedbackReport(inputWith({ facts }))
    expect(parseFeedbackReport(asked)?.fields[0]).toEqual(['Feedback-Type', feedbackType])
  },
)

test('a correction keeps the type not-spam for a desk that never enrolled', () => {
  const facts = { ...inputWith().facts, feedbackType: 'not-spam' } as const
  const explanation = { ...inputWith().explanation, isUnsolicited: true }
  const raw = composeFeedbackReport(inputWith({ facts, explanation }))
  expect(parseFeedbackReport(raw)?.fields[0]).toEqual(['Feedback-Type', 'not-spam'])
  expect(raw.toString()).not.toContain('X-Signalpost-Type')
})

test('a shortened list of messages says that it is shortened', () => {
  const listed = [
    { ip: '192.0.2.7', port: 4321, at: new Date('2026-11-20T12:00:00Z') },
    { ip: '2001:db8::1' },
  ]
  const textOf = (total: number) => {
    const explanation = { ...inputWith().explanation, sources: { listed, total } }
    return cut(composeFeedbackReport(inputWith({ explanation }))).text.replaceAll('\r\n', '\n')
  }
  expect(textOf(2)).toContain('All 2 messages: Address, port')
  expect(textOf(2)).toContain('- 192.0.2.7 port 4321, 2026-11-20T12:00:00Z\n- 2001:db8::1\n')
  expect(textOf(3000)).toContain('This list is shortened: it has 2 of the 3000 messages. Address')
  const alone = { listed: listed.slice(0, 1), total: 1 }
  const explanation = { ...inputWith().explanation, sources: alone }
  expect(cut(composeFeedbackReport(inputWith({ explanation }))).text).not.toContain('- 192.0')
})

test('links in the text cannot be clicked by accident', () => {
  const { text } = cut(composeFeedbackReport(inputWith()))
  expect(text).toContain('hxxp://spam[.]example/watch')
  expect(text).not.toContain('http://spam.example')
})

test('the machine-readable part has each field once, with bare values', () => {
  const raw = composeFeedbackReport(inputWith())
  expect(parseFeedbackReport(raw)?.fields).toEqual([
    ['Feedback-Type', 'abuse'],
    ['User-Agent', 'Signalpost/0.1.0'],
    ['Version', '1'],
    ['Original-Mail-From', '<offers@spam.example>'],
    ['Arrival-Date', 'Fri, 20 Nov 2026 12:00:00 +0000'],
    ['Source-IP', '192.0.2.7'],
    ['Reported-Domain', 'spam.example'],
    ['Reported-URI', 'http://spam.example/watch'],
  ])
})

test('every optional fact has a field', () => {
  const facts = {
    feedbackType: 'fraud',
    userAgent: 'Signalpost/0.1.0',
    sourceIp: '2001:db8::7',
    sourcePort: 4321,
    reportingMta: 'mx.example.org',
    mailFrom: '',
    envelopeId: 'QQ314159',
    authenticationResults: ['signalpost.example; dkim=fail header.d=spam.example'],
    domains: ['BÜCHER.example', 'spam.example', 'spam.example'],
    uris: ['http://spam.example/é', `http://spam.example/${'a'.repeat(1000)}`],
    incidents: 12,
  } as const
  const raw = composeFeedbackReport(inputWith({ facts }))
  expect(parseFeedbackReport(raw)?.fields.slice(3)).toEqual([
    ['Original-Envelope-Id', 'QQ314159'],
    ['Original-Mail-From', '<>'],
    ['Reporting-MTA', 'dns; mx.example.org'],
    ['Source-IP', '2001:db8::7'],
    ['Source-Port', '4321'],
    ['Incidents', '12'],
    ['Authentication-Results', 'signalpost.example; dkim=fail header.d=spam.example'],
    ['Reported-Domain', 'xn--bcher-kva.example'],
    ['Reported-Domain', 'spam.example'],
    ['Reported-URI', 'http://spam.example/%C3%A9'],
  ])
})

test('a fact with a line break cannot add a field', () => {
  const facts = { ...inputWith().facts, mailFrom: 'a@spam.example>\r\nFeedback-Type: not-spam' }
  const fields = parseFeedbackReport(composeFeedbackReport(inputWith({ facts })))?.fields ?? []
  expect(fields.filter(([name]) => name === 'Feedback-Type')).toHaveLength(1)
  expect(fields.some(([name]) => name === 'Original-Mail-From')).toBe(false)
})

test.for(['abuse@example.net\r\nBcc: x@example.net', 'Abuse <abuse@example.net>', '', 'a@b, c@d'])(
  'a report is never sent to %j',
  (to) => {
    expect(() => composeFeedbackReport(inputWith({ to }))).toThrow(RangeError)
  },
)

describe('the Subject', () => {
  test.for([
    [
      'encoded words stay as they are',
      'Subject: =?iso-8859-1?Q?caf=E9?=',
      '=?iso-8859-1?Q?caf=E9?=',
    ],
    ['raw UTF-8 is encoded', 'Subject: un café', 'un =?utf-8?B?Y2Fmw6k=?='],
    [
      'a letter that ends in a no-break space byte stays whole',
      'Subject: déjà',
      '=?utf-8?B?ZMOpasOg?=',
    ],
    ['its folds are ours', 'Subject: one\r\n two', 'one two'],
    ['without one the report names the address', 'X-None: 1', 'Unsolicited mail from 192.0.2.7'],
    ['an empty one too', 'Subject:  ', 'Unsolicited mail from 192.0.2.7'],
    ['control characters go', 'Subject: a\0b\x1bc', 'a b c'],
  ] as const)('%s', ([, field, expected]) => {
    const { header } = cut(withOriginal(`From: a@spam.example\r\n${field}\r\n\r\nbody\r\n`))
    const subject = /^Subject: (.*(?:\r\n .*)*)$/m.exec(header)?.[1]
    expect(subject?.replace(/\r\n/g, '')).toBe(expected)
  })

  test('control characters in encoded words are removed', () => {
    const words = '=?utf-8?Q?a=00b=0D=0ABcc:_x=1B=7Fc?='
    const { header } = cut(withOriginal(`From: a@spam.example\r\nSubject: ${words}\r\n\r\n`))
    expect(header).toContain('Subject: a b Bcc: x c\r\n')
  })

  test('a long subject is folded at its own spaces', () => {
    const long = Array.from({ length: 60 }, (_, index) => `word${String(index)}`).join(' ')
    const { header } = cut(withOriginal(`From: a@spam.example\r\nSubject: ${long}\r\n\r\n`))
    expect(Math.max(...header.split('\r\n').map(({ length }) => length))).toBeLessThanOrEqual(78)
    expect(header.replace(/\r\n(?= )/g, '')).toContain(`Subject: ${long}\r\n`)
  })
})

describe('the attached message', () => {
  test('is the copy, unchanged', () => {
    expect(cut(composeFeedbackReport(inputWith())).copy).toBe(
      'Content-Type: message/rfc822\r\n' + `Content-Transfer-Encoding: 7bit\r\n\r\n${original}`,
    )
  })

  test('is only the header where that suffices', () => {
    const raw = composeFeedbackReport(inputWith({ original: messageCopy(original, 'headers') }))
    expect(cut(raw).copy).toContain('Content-Type: text/rfc822-headers\r\n')
    expect(raw.toString()).not.toContain('Cheap watches')
    expect(cut(raw).text.replace(/\s+/g, ' ')).toContain('A copy of its header is attached')
  })
})

test('other programs find the three parts', async () => {
  const report = await simpleParser(composeFeedbackReport(inputWith()))
  expect(report.subject).toBe('Buy now')
  expect(report.attachments.map(({ contentType }) => contentType)).toEqual([
    'message/feedback-report',
    'message/rfc822',
  ])
})

const corpus = corpusFiles('phishing', 'spam', 'ham', 'newsletters', 'robustness', 'bounces')

test.skipIf(corpus === undefined)(
  'a report on a message with any real header is 7-bit and is read back (skipped without the corpus)',
  () => {
    for (const { name, raw } of corpus ?? []) {
      const { fields } = parseHeader(raw)
      const report = composeFeedbackReport(
        inputWith({ original: { ...messageCopy(original), fields } }),
      )
      expect(wrongLines(report), name).toEqual([])
      expect(parseFeedbackReport(report)?.fields, name).toHaveLength(8)
    }
  },
)

test.for([
  ['mailFrom', 'Original-Mail-From'],
  ['envelopeId', 'Original-Envelope-Id'],
  ['reportingMta', 'Reporting-MTA'],
] as const)(
  '%s with a raw or encoded control character does not become a line of its own',
  ([fact, name]) => {
    for (const hostile of ['a\r\nBcc: x@y.example', 'a\0b', 'a\x1b[2J', 'a\x7fb', 'a\nb', 'a\tb']) {
      const facts = { ...inputWith().facts, [fact]: hostile }
      const { machine } = cut(composeFeedbackReport(inputWith({ facts })))
      expect(machine).not.toContain(`${name}:`)
      expect(machine).not.toMatch(/[\0-\x09\x0b\x0c\x0e-\x1f\x7f]|^Bcc/im)
    }
    // Encoded words stay encoded, because readers of these fields do not decode them.
    const words = '=?utf-8?Q?a=0D=0ABcc:_x?='
    const facts = { ...inputWith().facts, [fact]: words }
    const { machine } = cut(composeFeedbackReport(inputWith({ facts })))
    expect(machine).not.toMatch(/^Bcc/im)
  },
)
