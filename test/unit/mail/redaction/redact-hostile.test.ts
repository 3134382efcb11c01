import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { redactionKey } from '../../../../src/mail/redaction/address-redactor.ts'
import { parseMimeTree } from '../../../../src/mail/mime-tree.ts'
import { redactToBytes } from '../../../support/redacted.ts'
import { expectEffort } from '../../../support/effort.ts'

const key = redactionKey('a secret of the tests', 'abuse@there.example')
const address = 'jane.doe@mailbox.example'
const head = [
  'Received: from a.x.test ([192.0.2.7]) by mx.home.example',
  `To: "Jane Doe" <${address}>`,
  '',
].join('\r\n')

function redact(raw: Buffer) {
  return redactToBytes(raw, { addresses: [address], key, tokens: 'redacted' })
}

const times = (piece: string, bytes: number) => piece.repeat(Math.ceil(bytes / piece.length))
const md5 = createHash('md5').update(address).digest('hex')
const people = Array.from({ length: 300 }, (_, n) => `n${n}@h${n}.example`).join(', ')

/** Messages of a megabyte each; 50 ms per 100 KB are allowed. */
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

test('many invisible characters in a row take little time', async () => {
  const raw = Buffer.from(`${head}\r\n${times('\xe2\x80\x8b', 1e6)}${address}`, 'latin1')
  const { form, raw: redacted } = await expectEffort(() => redact(raw), 100)
  expect(form).toBe('whole')
  expect(redacted.includes(address)).toBe(false)
})

const runOf = (text: string) => Buffer.from(text).toString('base64').replaceAll('=', '')
const held = runOf(`mail=${address}`)
const otherRuns = Array.from({ length: 33_000 }, (_, n) => `${runOf(`u${n}v${n * 7919}w${n}x`)} `)
const page = '<b>Jane</b> Doe &#64; jane.doe=40mailbox.example %20 '

/**
 * Messages of a megabyte each, with the expected form of the redacted message and the time limit in
 * milliseconds.
 */
const naming: readonly (readonly [string, string, 'whole' | 'headers', number])[] = [
  ['a field of runs of digits', `X-A: ${held} ${otherRuns.join('')}\r\n\r\nx`, 'headers', 150],
  ['a body of runs of digits', `\r\n${held} ${otherRuns.join('')}`, 'whole', 280],
  ['a field of addresses', `X-A: ${times(`${address} `, 1e6)}\r\n\r\nx`, 'headers', 80],
  ['a page of names', `Content-Type: text/html\r\n\r\n${times(page, 1e6)}`, 'headers', 90],
]

test.each(naming)('a text is not searched again and again: %s', async (_, rest, form, msMax) => {
  const raw = Buffer.from(`Subject: Hello\r\n${head}${rest}`, 'latin1')
  const redacted = await expectEffort(() => redact(raw), msMax)
  expect(redacted.form).toBe(form)
  expect(redacted.raw.includes('Subject: Hello')).toBe(true)
  expect(redacted.raw.includes('jane.doe')).toBe(false)
  expect(redacted.raw.includes(held)).toBe(false)
})

test('a message that names its recipient over 1,000 times is sent as its header alone', () => {
  const mail = (count: number) => Buffer.from(`${head}\r\n${`${address}\r\n`.repeat(count)}`)
  expect(redact(mail(1_000)).form).toBe('whole')
  expect(redact(mail(1_001)).form).toBe('headers')
  const parts = (count: number) => {
    const part = `--b\r\n\r\n${`${address}\r\n`.repeat(count)}`
    return Buffer.from(
      `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part}${part}--b--`,
    )
  }
  expect(redact(parts(499)).form).toBe('whole')
  expect(redact(parts(501)).form).toBe('headers')
})

test('a message that names its recipient in 16 KB of fields is sent as its header alone', () => {
  const field = `X-A: <${address}>${'a '.repeat(500)}`
  const mail = (count: number) => Buffer.from(`${`${field}\r\n`.repeat(count)}${head}\r\nx`)
  expect(redact(mail(15)).form).toBe('whole')
  const { form, raw } = redact(mail(17))
  expect(form).toBe('headers')
  expect(raw.toString().match(/^X-A: /gm)).toHaveLength(15)
  const nested = `${head}Content-Type: message/rfc822\r\n\r\n${mail(17).toString()}`
  expect(redact(Buffer.from(nested)).form).toBe('headers')
})

test('a name counts in a run of digits beside one with an address', () => {
  const run = runOf('Dear Zoe and Jane Doe, good day')
  const { form, raw } = redact(Buffer.from(`${head}\r\n${run} ${held}`))
  expect(form).toBe('whole')
  expect(raw.includes(run)).toBe(false)
})

test('a boundary has at most 70 characters', () => {
  const mail = (boundary: string) => {
    const header = `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n`
    return parseMimeTree(Buffer.from(`${header}--${boundary}\r\n\r\nx\r\n--${boundary}--\r\n`))
  }
  expect(mail('b'.repeat(70))?.body.kind).toBe('multipart')
  expect(mail('b'.repeat(71))?.body.kind).toBe('leaf')
})

test('a message with more than 20,000 fields is sent as its header alone', () => {
  const part = `--b\r\n${'a:b\r\n'.repeat(20_001)}\r\nx\r\n--b--\r\n`
  const raw = `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part}`
  expect(redact(Buffer.from(raw)).form).toBe('headers')
})
