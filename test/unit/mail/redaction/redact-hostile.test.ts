import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { redactionKey } from '../../../../src/mail/redaction/address-redactor.ts'
import { parseMimeTree } from '../../../../src/mail/mime-tree.ts'
import { redactMessage } from '../../../../src/mail/redaction/redact.ts'
import { expectEffort } from '../../../support/effort.ts'

const key = redactionKey('a secret of the tests', 'abuse@there.example')
const address = 'jane.doe@mailbox.example'
const head = `Received: from a.x.test ([192.0.2.7]) by mx.home.example\r\nTo: ${address}\r\n`

function redact(raw: Buffer) {
  return redactMessage(raw, { addresses: [address], key, tokens: 'redacted' })
}

const times = (piece: string, bytes: number) => piece.repeat(Math.ceil(bytes / piece.length))
const md5 = createHash('md5').update(address).digest('hex')
const people = Array.from({ length: 300 }, (_, n) => `n${n}@h${n}.example`).join(', ')

/** A megabyte each: 50 ms for each 100 KB are allowed. */
const hostile: readonly (readonly [string, string])[] = [
  ['a line of dashes', `Content-Type: text/plain\r\n\r\n${times('-', 1e6)}`],
  ['a line of slashes', `Content-Type: text/html\r\n\r\n${times('/', 1e6)}`],
  ['hashes', `\r\n${times(`${md5}-`, 1e6)}`],
  ['hashes in either case', `\r\n${times(`${md5.toUpperCase()}/${md5}/`, 1e6)}`],
  [
    'an endless boundary',
    `Content-Type: multipart/mixed; boundary="${times('-', 8000)}"\r\n\r\n${times('-', 1e6)}`,
  ],
  [
    'tags whose quoted values hide their ends',
    `Content-Type: text/html\r\n\r\n${times('<a "=">', 1e6)}`,
  ],
  ['an open bracket in folds', `X-A: <${times('a\r\n ', 1e6)}\r\n\r\nx`],
  ['three hundred recipients', `Cc: ${people}\r\n\r\n${times('h7.example n7@h', 1e6)}`],
  ['a thousand names', `${times(`To: Ann Bee <${address}>\r\n`, 1e5)}\r\n${times('bee ', 9e5)}`],
  [
    'messages under encodings in one another',
    times(
      'Content-Type: message/rfc822\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n',
      1e6,
    ),
  ],
]

test.each(hostile)('redaction takes linear time: %s', async (_, rest) => {
  const raw = Buffer.from(head + rest, 'latin1')
  const { form } = await expectEffort(() => redact(raw), 1_000)
  expect(['whole', 'headers']).toContain(form)
})

test('many invisible characters in a row cost little', async () => {
  const raw = Buffer.from(`${head}\r\n${times('\xe2\x80\x8b', 1e6)}${address}`, 'latin1')
  const { form, raw: redacted } = await expectEffort(() => redact(raw), 100)
  expect(form).toBe('whole')
  expect(redacted.includes(address)).toBe(false)
})

test('a boundary has at most 70 characters', () => {
  const mail = (boundary: string) => {
    const header = `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n`
    return parseMimeTree(Buffer.from(`${header}--${boundary}\r\n\r\nx\r\n--${boundary}--\r\n`))
  }
  expect(mail('b'.repeat(70))?.body.kind).toBe('multipart')
  expect(mail('b'.repeat(71))?.body.kind).toBe('leaf')
})

test('what has more than 20,000 fields is sent with its header alone', () => {
  const part = `--b\r\n${'a:b\r\n'.repeat(20_001)}\r\nx\r\n--b--\r\n`
  const raw = `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part}`
  expect(redact(Buffer.from(raw)).form).toBe('headers')
})
