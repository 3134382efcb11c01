import { expect, test } from 'vitest'
import { redactionKey } from '../../../../src/mail/redaction/address-redactor.ts'
import { redactToBytes } from '../../../support/redacted.ts'

const key = redactionKey('a secret of the tests', 'abuse@there.example')

/** Composes a message for Alice Wonderland with the given body; the given fields come first. */
function mail(body: string, { type = 'text/html; charset=utf-8', fields = '' } = {}): Buffer {
  const head = [
    'Received: from a.x.test ([192.0.2.7]) by mx.home.example; Tue, 3 Nov 2026 08:15:00 +0000',
    'To: "Alice Wonderland" <alice.w@home.example>',
    ...(fields === '' ? [] : [fields]),
    `Content-Type: ${type}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}

function redacted(raw: Buffer): string {
  return redactToBytes(raw, { addresses: ['alice.w@home.example'], key, tokens: 'redacted' })
    .raw.toString()
    .split('Content-Type')
    .slice(1)
    .join('')
}

const blanks = [
  0x9, 0xb, 0xc, 0xa0, 0x1680, 0x2000, 0x2002, 0x2003, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f,
  0x205f, 0x3000,
]
const hidden = [
  0xad, 0x34f, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202c, 0x2060,
  0x2063, 0x2066, 0x2069, 0xfe00, 0xfe0f, 0xfeff, 0xe0001, 0xe0100,
]
const hex = (code: number) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`

test.each([...blanks, ...hidden].map((code) => [hex(code), code] as const))(
  'a name is found with %s between its words, plain and escaped',
  (_, code) => {
    const sign = String.fromCodePoint(code)
    const escapes = [
      sign,
      `&#${code};`,
      `&#x${code.toString(16)};`,
      `&#0${code}`,
      `${sign} ${sign}`,
    ]
    for (const escape of escapes) {
      expect(redacted(mail(`<p>Alice${escape}Wonderland!</p>`))).not.toMatch(/alice|wonderland/i)
    }
  },
)

test.each(hidden.map((code) => [hex(code), String.fromCodePoint(code)] as const))(
  'a name is found with %s inside its words',
  (_, sign) => {
    const body = `<p>A${sign}lice Won${sign}${sign}derland!</p>`
    expect(redacted(mail(body))).not.toMatch(/lice|derland/i)
  },
)

const parted = [
  'Alice<br>Wonderland',
  'Alice<br/>\r\n<br/>Wonderland',
  'Alice</b> <i>Wonderland',
  'Alice<!-- x -->Wonderland',
  'Alice<!-- <b> > -->Wonderland',
  `Alice<!--${'x'.repeat(3000)}-->Wonderland`,
  'Alice<span title="a > b">&nbsp;</span>Wonderland',
  '<b>Ali</b>ce <u>Wonder</u>land',
  'Al<!---->ice<wbr>Wonder<wbr/>land',
  'Alice&nbsp;Wonderland',
  'Alice&nbsp Wonderland',
  'Alice&ensp;&emsp;Wonderland',
  'Alice&thinsp;Wonderland',
  'Alice&ZeroWidthSpace;Wonderland',
  'Alice&Tab;Wonderland',
  'Alice&NewLine;Wonderland',
  '&#65;lice Wonderl&#x61;nd',
  'Ali&shy;ce Wonder&zwnj;land',
  'Alice\r\n Wonderland',
  'Alice\r\n\tWonderland',
  'Wonderland,<br>Alice',
  '“Alice Wonderland”',
  '«Alice Wonderland»',
  'Alice Wonderland’s',
  'Alice Wonderland—you',
  '&nbsp;Alice Wonderland&nbsp;',
  'Dear <b>Alice</b>,',
  'Dear&nbsp;Alice,',
  'Dear\u202fAlice,',
]

test.each(parted)('a name is found in %j', (body) => {
  expect(redacted(mail(`<p>${body}</p>`))).not.toMatch(/alice|wonderland|derl/i)
})

test.each([
  ['quoted-printable', 'Alice=C2=A0Wonderland'],
  ['quoted-printable', 'Alice=E2=80=AFWonderland'],
  ['quoted-printable', 'Alice=\r\n Wonder=\r\nland'],
  ['quoted-printable', 'Alice=3Cbr>Wonderland'],
  ['base64', Buffer.from('Alice\u00a0Wonderland').toString('base64')],
])('a name is found in %s: %s', (encoding, body) => {
  const fields = `Content-Transfer-Encoding: ${encoding}`
  expect(redacted(mail(body, { fields }))).not.toMatch(/alice|wonder|QWxpY2/i)
})

test('single bytes are spaces and quotes if the charset defines them so', () => {
  const body = Buffer.concat([
    Buffer.from('To: "Alice Wonderland" <alice.w@home.example>\r\n\r\n'),
    Buffer.from('\x93Alice\xa0Wonderland\x94', 'latin1'),
  ])
  expect(redacted(body)).not.toMatch(/alice/i)
})

test.each([
  'Subject: Alice\r\n Wonderland',
  'Subject: =?utf-8?Q?Alice=C2=A0Wonderland?=',
  'Subject: =?utf-8?Q?Alice=E2=80=8BWonderland?=',
  'Subject: =?utf-8?Q?Alice?=\r\n =?utf-8?Q?_Wonderland?=',
  'X-Note: for Alice\r\n\tWonderland',
])('a name is found in a field: %j', (fields) => {
  expect(redactedHeader(mail('x', { fields }))).not.toMatch(/alice|wonderland/i)
})

test('a name beyond Latin-1 is found in encoded words', () => {
  const named = Buffer.from('Žofie Nováková').toString('base64')
  const raw = Buffer.from(
    `To: =?utf-8?B?${named}?= <zn@home.example>\r\nSubject: =?utf-8?B?${named}?=, hi\r\n\r\nx`,
  )
  const header = redactToBytes(raw, { addresses: ['zn@home.example'], key, tokens: 'redacted' })
  expect(header.raw.toString()).toMatch(/^Subject: +redacted-[a-z2-7]{16}, hi/m)
})

test.each([
  '<td>Alice</td><td>in</td><td>Wonderland</td>',
  'Malice Wonderlands',
  'Alice. Wonderland',
  'The Wonderland of Alice',
])('other words are kept: %j', (body) => {
  expect(redacted(mail(body, { type: 'text/plain' }))).toContain(body)
})

function redactedHeader(raw: Buffer): string {
  const { raw: whole } = redactToBytes(raw, {
    addresses: ['alice.w@home.example'],
    key,
    tokens: 'redacted',
  })
  const [header = ''] = whole.toString().split('\r\n\r\n')
  return header
}
