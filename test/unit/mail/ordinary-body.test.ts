import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import type { MessageBody } from '../../../src/mail/message-body.ts'
import { readOrdinaryBody } from '../../../src/mail/ordinary-body.ts'
import { withShortBlankRuns } from '../../../src/mail/seven-bit.ts'
import { corpusFiles } from '../../support/corpus.ts'
import { mailparserBody } from '../../support/mailparser-body.ts'
import { baseMessages, nastyMail } from '../../support/nasty-mail.ts'

function ordinaryBody(raw: Buffer): MessageBody | undefined {
  const { fields, bodyOffset, lineEnd } = parseHeader(raw)
  if (lineEnd !== 'lf') return undefined
  return readOrdinaryBody(fields, withShortBlankRuns(raw.subarray(bodyOffset)))
}

const plain = (body: MessageBody | undefined) =>
  body && {
    ...body,
    attachments: body.attachments.map(({ name, type, content }) => [
      name,
      type,
      content.toString('base64'),
    ]),
  }

async function expectSame(raw: Buffer): Promise<void> {
  await isReadSame(raw)
}

/** Whether the message is ordinary; fails if it is and mailparser reads another body. */
async function isReadSame(raw: Buffer): Promise<boolean> {
  const body = ordinaryBody(raw)
  if (!body) return false
  expect(plain(body)).toEqual(plain(await mailparserBody(raw, parseHeader(raw))))
  return true
}

const real = corpusFiles('ham', 'newsletters', 'phishing', 'robustness', 'spam', 'bounces')

test.skipIf(!real)('ordinary bodies of real mail are read as mailparser reads them', async () => {
  const known: boolean[] = []
  for (const { raw } of real ?? []) known.push(await isReadSame(raw))
  // Otherwise, the faster reader would be of no use.
  expect(known.filter(Boolean).length).toBeGreaterThan(known.length * 0.8)
})

test('bodies of damaged mail are read as mailparser reads them', async () => {
  const numRuns = 500
  await fc.assert(fc.asyncProperty(nastyMail(baseMessages()), expectSame), { numRuns })
})

const lineEnd = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\n', '\r', '')
const lines = (...texts: string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...texts), lineEnd), { maxLength: 30 })
    .map((all) => all.flat().join(''))

const contents = [
  ...['', '', ' ', 'text ', 'a\rb', '\0', 'caf\xe9', '-- ', 'a ', '=41=\xe9', '=C3=A9 ', '=', '=='],
  ...['a=', '=4', '=4=', '= ', '=\t', 'QUJD', 'QUI=', 'Q', 'QQ==', '\x98\x81', ' stuffed'],
]
const types = [
  ...['text/html', 'text/plain; charset=iso-8859-1', 'text/plain; charset="KOI8-R"', 'image/gif'],
  ...['text/plain; format=flowed', 'text/plain; format=flowed; delsp=yes', 'text/html; charset'],
  ...['text/plain;\r\n charset="windows-1255"', 'application/pdf; name="\\"a b\\".pdf"', 'x', ''],
  ...['application/octet-stream; name="a.Zip"', "application/octet-stream; name*=utf-8''%E2.doc"],
  ...['image/png; name="=?utf-8?Q?=C3=A9=2E?= =?utf-8?B?eA==?="', 'text/plain; name*1=b; name*0=a'],
  ...['message/rfc822', 'message/delivery-status', 'multipart/mixed', 'text/plain; boundary=a'],
]
const part = fc
  .record({
    type: fc.option(fc.constantFrom(...types)),
    encoding: fc.option(
      fc.constantFrom('base64', 'quoted-printable', '8bit', 'Base64 ', '(x)7bit'),
    ),
    disposition: fc.option(
      fc.constantFrom('attachment; filename=a.b', 'inline', 'other', 'INLINE;'),
    ),
    content: lines(...contents),
  })
  .map(({ type, encoding, disposition, content }) => {
    const fields = [
      ...(type === null ? [] : [`Content-Type: ${type}\r\n`]),
      ...(encoding === null ? [] : [`Content-Transfer-Encoding: ${encoding}\r\n`]),
      ...(disposition === null ? [] : [`content-disposition: ${disposition}\r\n`]),
    ]
    return `${fields.join('')}\r\n${content}`
  })

const multipart = (boundary: string, inner: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.constantFrom('mixed', 'alternative', 'related'), fc.array(inner, { maxLength: 4 }))
    .map(([kind, parts]) => {
      const all = parts.map((text) => `\r\n--${boundary}\r\n${text}`).join('')
      const header = `Content-Type: multipart/${kind}; boundary=${boundary}\r\n`
      return `${header}\r\npreamble${all}\r\n--${boundary}--\r\nepilogue`
    })
const nested = multipart('a', fc.oneof(part, multipart('b', part)))

const delimiters = [
  ...['--a', '--a--', '--b', '--b--', '--a ', '--a-', '--', 'x--a', '\r--a', '--a\r', '--a--x'],
  ...['Content-Type: multipart/mixed; boundary=b', 'Content-Type: text/html', 'Content-Type'],
  ...[' : text/html', 'Content-Type: multipart/alternative; boundary=a', 'Content-Type: image/gif'],
]
const loose = lines(...contents, ...delimiters, ...delimiters).map(
  (text) => `Content-Type: multipart/mixed; boundary=a\r\n\r\n${text}`,
)

test.for([
  ['a single part', part],
  ['nested parts', nested],
  ['loose delimiters', loose],
] as const)('generated bodies are read as mailparser reads them: %s', async ([, made]) => {
  const raw = made.map((text) => Buffer.from(`From: a@example.com\r\n${text}`, 'latin1'))
  await fc.assert(fc.asyncProperty(raw, expectSame), { numRuns: 1_000 })
})

test('every byte of a charset is decoded as by mailparser', async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64')
  const pages = [1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map((n) => `Windows-${n}`)
  const parts = [1, 2, 5, 7, 9, 15].map((number) => `ISO-8859-${number}`)
  for (const charset of [...pages, ...parts, 'latin1', 'KOI8-R', 'us-ascii', 'UTF-8', 'utf_8']) {
    const type = `Content-Type: text/plain; charset=${charset}\r\n`
    const raw = Buffer.from(`${type}Content-Transfer-Encoding: base64\r\n\r\n${bytes}\r\n`)
    expect([charset, await isReadSame(raw)]).toEqual([charset, true])
  }
})

test.for([
  ['a rare charset', 'Content-Type: text/plain; charset=gb2312\r\n\r\ntext'],
  ['a name in 8-bit letters', 'Content-Type: text/plain; name=\xe9\r\n\r\ntext'],
  ['an unfinished multipart', 'Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\ntext'],
  [
    'an attached message that is shown',
    'Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\nFrom: a@example.com\r\n\r\n',
  ],
  [
    'base64 with other characters',
    'Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nQUJD\r\n-- list\r\n',
  ],
] as const)('what is not ordinary is left to the other reader: %s', ([, text]) => {
  expect(ordinaryBody(Buffer.from(text))).toBeUndefined()
})
