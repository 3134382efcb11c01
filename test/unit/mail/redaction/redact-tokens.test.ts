import { describe, expect, test } from 'vitest'
import { redactionKey } from '../../../../src/mail/redaction/address-redactor.ts'
import { parseHeader } from '../../../../src/mail/header.ts'
import { leafText, leavesOf, parseMimeTree } from '../../../../src/mail/mime-tree.ts'
import { createTokenRedactor, looksOpaque } from '../../../../src/mail/redaction/token-redactor.ts'
import { redactToBytes } from '../../../support/redacted.ts'
import { expectEffort } from '../../../support/effort.ts'

const key = redactionKey('a secret of the tests', 'abuse@example.net')
const redactor = createTokenRedactor(key, ['john1985x7@mail.example'])
const code = /redacted-[a-z2-7]{16}/g
const shown = (text: string) => text.replace(code, '*')

test.for([
  ['?u=jane', 'https://x.test/a/jane?u=*&l=en', 'https://x.test/a/jane?u=jane&l=en'],
  ['in other cases, encoded', 'https://x.test/?u=*#to=*', 'https://x.test/?u=JANE#to=%6Aane'],
  [
    'as a part of a value only',
    'https://x.test/?u=janet&v=x-jane',
    'https://x.test/?u=janet&v=x-jane',
  ],
] as const)(
  'the local part is a token when it is the value of a link: %s',
  ([, expected, text]) => {
    const own = createTokenRedactor(key, [], new Set(['jane']))
    expect(shown(own.redactLinks(text))).toBe(expected)
  },
)

test('a link with the recipient’s local part loses it', () => {
  const raw = Buffer.from(
    [
      'Received: from a.test by mx.mail.example for <jane@mail.example>; Thu, 5 Nov 2026 03:41:08 +0000',
      'From: x@shop.example',
      'To: jane@mail.example',
      'Subject: x',
      '',
      'See https://shop.example/?u=jane&page=info now',
      '',
    ].join('\r\n'),
  )
  const { raw: redacted } = redactToBytes(raw, {
    addresses: ['jane@mail.example'],
    key,
    tokens: 'redacted',
  })
  expect(shown(String(redacted))).toContain('See https://shop.example/?u=*&page=info now')
})

describe('a link', () => {
  test.for([
    ['a long number asked for', 'https://x.test/u?id=123456', 'https://x.test/u?id=*'],
    ['a token in the query', 'https://x.test/u?t=Ab3xY9kL&l=en', 'https://x.test/u?t=*&l=en'],
    ['a token as its whole query', 'https://x.test/u?Ab3xY9kLmNpQ', 'https://x.test/u?*'],
    ['a token in HTML', 'https://x.test/u?a=1&amp;t=Ab3xY9kL', 'https://x.test/u?a=1&amp;t=*'],
    ['a token in the path', 'https://x.test/o/Ab3xY9kLmNpQr7/p.gif', 'https://x.test/o/*/p.gif'],
    ['a token with an ending', 'https://x.test/4f3e2d1c9a8b.png', 'https://x.test/*.png'],
    ['a UUID', 'https://x.test/123e4567-e89b-12d3-a456-426614174000/', 'https://x.test/*/'],
    ['a token behind a #', 'https://x.test/a#t=Ab3xY9kLmNpQ', 'https://x.test/a#t=*'],
    [
      'a link in it',
      'https://x.test/?u=https%3A%2F%2Fy.test%2Fa%3Fid%3D123456',
      'https://x.test/?u=https%3A%2F%2Fy.test%2Fa%3Fid%3D*',
    ],
    ['no scheme', 'src="//x.test/o/4f3e2d1c9a8b"', 'src="//x.test/o/*"'],
    [
      'an address',
      'mailto:leave-4f3e2d1c9a8b@x.test?subject=bye',
      'mailto:leave-*@x.test?subject=bye',
    ],
  ] as const)('with %s loses only that', ([, text, expected]) => {
    expect(shown(redactor.redactLinks(text))).toBe(expected)
  })

  test.for([
    ['words', 'https://x.test/winter-sale/great-offers.html?lang=en&page=12'],
    ['a word with its year', 'https://x.test/winter2026/?utm_campaign=winter2026'],
    ['a date', 'https://x.test/2026/11/20261120/'],
    ['what a link shortener gives', 'https://x.test/3Ab9xYz'],
    ['a host that looks drawn', 'https://a1b2c3d4e5f6g7.x.test/'],
    ['camel case', 'https://x.test/myAccountSettingsPage'],
    ['a link without a token in it', 'https://x.test/?u=https%3a%2f%2fy.test%2Fhello'],
    ['text that only begins like one', 'http:// and https://'],
  ] as const)('with %s is unchanged', ([, text]) => {
    expect(redactor.redactLinks(text)).toBe(text)
  })

  test('an existing code is unchanged', () => {
    const text = 'https://x.test/u?m=redacted-abcdefghijklmnop@redacted.invalid&l=en'
    expect(redactor.redactLinks(text)).toBe(text)
  })
})

test('equal tokens have equal codes, however they are written; others have others', () => {
  const [path, query, escaped, other] = [
    'https://x.test/Ab3xY9kLmNpQ-7',
    'https://y.test/?t=Ab3xY9kLmNpQ-7',
    'https://y.test/?t=Ab3xY9kLmNpQ%2D7',
    'https://y.test/?t=Ab3xY9kLmNpQ-8',
  ].map((link) => redactor.redactLinks(link).match(code)?.[0])
  expect(query).toBe(path)
  expect(escaped).toBe(path)
  expect(other).not.toBe(path)
})

test('another consumer gets other codes', () => {
  const another = createTokenRedactor(redactionKey('a secret of the tests', 'x@y.test'), [])
  const link = 'https://x.test/?t=Ab3xY9kLmNpQ'
  expect(another.redactLinks(link)).not.toBe(redactor.redactLinks(link))
})

function fieldOf(line: string): string {
  const [field] = parseHeader(Buffer.from(`${line}\r\n\r\n`)).fields
  return field ? shown(redactor.redactField(field)) : ''
}

describe('a field', () => {
  test.for([
    ['Message-ID: <20261120.4711@x.test>', ' <*@x.test>'],
    ['References: <a@x.test> <b@y.test>', ' <*@x.test> <*@y.test>'],
    ['Return-Path: <bounce+4f3e2d1c9a-77@x.test>', ' <bounce+*-77@x.test>'],
    ['Feedback-ID: 1234567:sale:Ab3xY9kLmNpQ:shop', ' *:sale:*:shop'],
    ['X-Mailing: Ab3xY9kLmNpQ; shop.x.test', ' *; shop.x.test'],
    [
      'DKIM-Signature: d=x.test; i=u4f3e2d1c9@x.test; bh=abc; b=AbC',
      ' d=x.test; i=*@x.test; bh=*; b=*',
    ],
  ] as const)('%s', ([line, expected]) => {
    expect(fieldOf(line)).toBe(expected)
  })

  test.for([
    'CFBL-Address: fbl+Ab3xY9kLmNpQ@x.test; report=arf',
    'CFBL-Feedback-ID: 4f3e2d1c9a8b:4711:1234567',
    'Received: from a.x.test ([192.0.2.7]) by mx.home.example with ESMTP id 4f3e2d1c9a8b',
    'From: John <john1985x7@mail.example>',
    'Return-Path: <john1985x7@mail.example>',
    'Subject: Your code Ab3xY9kLmNpQ',
    'Content-ID: <4f3e2d1c9a8b@x.test>',
  ])('is unchanged: %s', (line) => {
    expect(fieldOf(line)).toBe(line.slice(line.indexOf(':') + 1))
  })
})

test.for([
  ['1234567', true],
  ['20261120', false],
  ['deadbeef01', true],
  ['unsubscribe', false],
  ['internationalization', false],
  ['QUJDREVGR0hJSktMTU5P', true],
] as const)('%s is a token: %s', ([text, expected]) => {
  expect(looksOpaque(text, 'path')).toBe(expected)
})

const message = [
  'Received: from a.x.test ([192.0.2.7]) by mx.home.example; Tue, 3 Nov 2026 08:15:00 +0000',
  'To: "Doe, Jane" <jane.doe77@mailbox.example>',
  'Subject: Jane Doe, a letter for jane.doe77',
  'Message-ID: <4711@x.test>',
  'Content-Type: text/html; charset=utf-8',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from(
    'Dear Jane,<br>Jane&nbsp;Doe, JANE DOE or jane.doe77: ' +
      '<a href="https://x.test/u/Ab3xY9kLmNpQ?m=1">stop</a> for Janet and Doe Inc.',
  ).toString('base64'),
  '',
].join('\r\n')

function redacted(tokens: 'redacted' | 'kept', text = message) {
  const { raw } = redactToBytes(Buffer.from(text), { addresses: [], key, tokens })
  const tree = parseMimeTree(raw)
  const bodies = tree ? leavesOf(tree).map(leafText).join('\n') : ''
  return { header: raw.toString().split('\r\n\r\n')[0] ?? '', body: bodies }
}

test('the recipient’s names become the code of the address, other names are kept', () => {
  const { header, body } = redacted('redacted')
  expect(shown(header)).toContain('Subject: *, a letter for *')
  expect(shown(body)).toBe(
    'Dear *,<br>*, * or *: <a href="https://x.test/u/*?m=1">stop</a> for Janet and Doe Inc.',
  )
  const codes = new Set([...header.matchAll(code), ...body.matchAll(code)].map(String))
  // The codes of the recipient, the link and the Message-ID.
  expect(codes.size).toBe(3)
})

test('the issuer of the tokens keeps them, and gets no name or address', () => {
  const { header, body } = redacted('kept')
  expect(header).toContain('Message-ID: <4711@x.test>')
  expect(body).toContain('https://x.test/u/Ab3xY9kLmNpQ?m=1')
  expect(`${header}${body}`).not.toMatch(/jane\b|jane\.doe/i)
})

test.for([
  ['a usual name of mailboxes', 'info@mailbox.example', 'Our info page'],
  ['a short word', 'paris@mailbox.example', 'A trip to Paris'],
  ['a word of mail itself', 'content-type@mailbox.example', 'The Content-Type of it'],
] as const)('%s is not a personal name', ([, address, subject]) => {
  const { header } = redacted('redacted', `To: ${address}\r\nSubject: ${subject}\r\n\r\nHello.\r\n`)
  expect(header).toContain(`Subject: ${subject}`)
})

test('after a salutation a short name counts', () => {
  const text = 'To: paris@mailbox.example\r\nSubject: x\r\n\r\nDear Paris, a trip to Paris.\r\n'
  expect(shown(redacted('redacted', text).body)).toBe('Dear *, a trip to Paris.\r\n')
})

test('a sender cannot hide a host by naming the recipient after it', () => {
  const text = 'To: "spam example" <a@b.example>\r\n\r\nGo to https://spam.example/ now.\r\n'
  expect(redacted('redacted', text).body).toContain('https://spam.example/')
})

test('a message nested in an encoding that the standard forbids is searched', () => {
  const inner = 'Subject: x\r\nMessage-ID: <4711@x.test>\r\n\r\nhttps://x.test/?t=Ab3xY9kLmNpQ\r\n'
  const text = [
    'Subject: y',
    'Content-Type: message/rfc822',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(inner).toString('base64'),
    '',
  ].join('\r\n')
  const { body } = redacted('redacted', text)
  expect(shown(body)).toContain('https://x.test/?t=*')
  expect(shown(body)).toContain('<*@x.test>')
})

test.for([
  ['slashes', 'https://x.test/' + '/'.repeat(200_000)],
  ['signs of a query', `https://x.test/?${'&='.repeat(100_000)}`],
  ['links', 'https://x.test/a?b=c '.repeat(20_000)],
  ['an endless word', `https://x.test/${'a1'.repeat(200_000)}`],
  ['hosts', 'a.'.repeat(200_000)],
  ['nested links', 'https%3A%2F%2F'.repeat(20_000)],
] as const)('hostile text takes linear time: %s', async ([, text]) => {
  await expectEffort(() => redactor.redact(text), 2_000)
  const [field] = parseHeader(Buffer.from(`X-A: ${text}\r\n\r\n`)).fields
  if (field) await expectEffort(() => redactor.redactField(field), 2_000)
})
