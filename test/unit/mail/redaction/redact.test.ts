import { createHash } from 'node:crypto'
import { simpleParser } from 'mailparser'
import { describe, expect, test } from 'vitest'
import {
  createAddressRedactor,
  redactionKey,
} from '../../../../src/mail/redaction/address-redactor.ts'
import { parseHeader } from '../../../../src/mail/header.ts'
import { leafText, leavesOf, parseMimeTree } from '../../../../src/mail/mime-tree.ts'
import { redactToBytes } from '../../../support/redacted.ts'
import { recipientsIn } from '../../../../src/mail/redaction/redact-fields.ts'
import { corpusFiles } from '../../../support/corpus.ts'
import { expectEffort } from '../../../support/effort.ts'

const key = redactionKey('a secret of the tests', 'abuse@example.net')
const reporter = 'Jane.Doe@mailbox.example'
const redactor = createAddressRedactor([reporter], key)
const code = redactor.codeOf(reporter)

const base64 = (text: string) => Buffer.from(text).toString('base64')
const escapedAll = [...reporter].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
const wide = Buffer.from(reporter, 'utf16le').toString('latin1')

describe('an address is found', () => {
  test.for([
    ['as it is', 'to Jane.Doe@mailbox.example!', `to ${code}@redacted.invalid!`],
    ['in any case', '<JANE.DOE@MAILBOX.EXAMPLE>', `<${code}@redacted.invalid>`],
    [
      'in a link',
      'http://x.test/?u=jane.doe%40mailbox.example&a=1',
      `http://x.test/?u=${code}&a=1`,
    ],
    ['in a link in a link', 'x?u=jane.doe%2540mailbox.example', `x?u=${code}`],
    ['percent-encoded all over', `x?u=${escapedAll}`, `x?u=${code}`],
    ['as quoted-printable', 'jane.doe=40mailbox.example', code],
    ['as twice quoted-printable', 'jane.doe=3D40mailbox.example', code],
    ['across a soft line break', 'jane.d=\r\noe@mailbox.exam=\r\nple', `${code}@redacted.invalid`],
    ['across a fold', 'jane.doe@mail\r\n box.example', `${code}@redacted.invalid`],
    ['with a decimal character reference', 'jane.doe&#64;mailbox.example', code],
    ['with a hexadecimal one', 'jane.doe&#x40;mailbox&#x2e;example', code],
    ['with a named one', 'jane.doe&commat;mailbox.example', code],
    ['in a script', 'jane.doe\\u0040mailbox.example', code],
    ['with an invisible character', 'jane.\u200bdoe@mailbox.example', `${code}@redacted.invalid`],
    ['with a break opportunity', 'jane.doe@<wbr>mailbox.example', `${code}@redacted.invalid`],
    ['in a return path (VERP)', 'b-jane.doe=mailbox.example@x.test', `b-${code}@x.test`],
    [
      'turned around (SRS)',
      'SRS0=Ab=Cd=mailbox.example=jane.doe@x.test',
      `SRS0=Ab=Cd=${code}@x.test`,
    ],
    ['spelled out', 'jane.doe (at) mailbox.example', code],
    ['in UTF-16', wide, `${code}@redacted.invalid\0`],
    ['as base64', `x?u=${base64('id=7&m=jane.doe@mailbox.example')}&y`, `x?u=${code}&y`],
    ['as hexadecimal', `x?u=${Buffer.from(reporter).toString('hex')}&y`, `x?u=${code}&y`],
  ] as const)('%s', ([, text, expected]) => {
    expect(redactor.redact(text)).toBe(expected)
    expect(redactor.finds(text)).toBe(true)
    expect(redactor.finds(expected)).toBe(false)
  })

  test.for([0, 1, 2, 3, 4, 5])('in base64 that begins %i digits into a longer run', (count) => {
    const text = `https://x.test/${'a'.repeat(count)}${base64(reporter)}`
    expect(redactor.finds(text)).toBe(true)
    expect(redactor.finds(redactor.redact(text))).toBe(false)
  })

  test.for(['md5', 'sha1', 'sha256'])('as its %s, which anyone can compute', (algorithm) => {
    const hash = createHash(algorithm).update(reporter.toLowerCase()).digest('hex')
    expect(redactor.redact(`u=${hash}.`)).toBe(`u=${code}.`)
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const written = Buffer.from(hash, 'hex').toString(encoding)
      expect(redactor.redact(`https://x.test/u/${written}/off`)).toBe(
        `https://x.test/u/${code}/off`,
      )
      expect(redactor.redact(`https://x.test/${written}`)).toBe(`https://x.test/${code}`)
    }
  })
})

test.for([
  ['another person there', 'john@mailbox.example'],
  ['the same name elsewhere', 'jane.doe@example.org'],
  ['the domain alone', 'https://mailbox.example/jane'],
  ['name and domain apart', 'jane.doe wrote to mailbox.example'],
  ['some long token', 'https://x.test/0123456789abcdef0123456789abcdef/QUJDREVGR0hJSktMTU5PUFFS'],
] as const)('nothing else is changed: %s', ([, text]) => {
  expect(redactor.redact(text)).toBe(text)
})

test('a code is the same for one consumer however the address is written', () => {
  const [first, second] = redactor
    .redact('Jane.doe@mailbox.example jane.DOE%40mailbox.example')
    .split(' ')
  expect(first).toBe(`${second ?? ''}@redacted.invalid`)
})

test('another consumer gets another code, and so does another address', () => {
  const other = createAddressRedactor([reporter], redactionKey('a secret of the tests', 'x@y.test'))
  expect(other.codeOf(reporter)).not.toBe(code)
  expect(redactor.codeOf('john@mailbox.example')).not.toBe(code)
})

test('without an address nothing is searched', () => {
  const none = createAddressRedactor([], key)
  expect(none.redact('jane.doe@mailbox.example')).toBe('jane.doe@mailbox.example')
})

test('an address with a tag also redacts the address without it', () => {
  const tagged = createAddressRedactor(['jane+shop@mailbox.example'], key)
  expect(tagged.finds('jane@mailbox.example')).toBe(true)
})

test.for([
  ['percent signs', '%25'],
  ['soft line breaks', '=\r\n'],
  ['references', '&#'],
  ['base64 digits', 'QUJD'],
  ['the domain', 'mailbox.example'],
  ['half an address', 'jane.doe@'],
  ['carriage returns', '\r'],
  ['slashes', '/'],
  ['dashes', '-'],
  [
    'hashes of the address',
    `${createHash('md5').update('jane.doe@mailbox.example').digest('hex')}/`,
  ],
  ['base64 over lines', `${'A'.repeat(76)}\r\n${'/'.repeat(76)}!\r\n`],
  ['tags without an end', '<a ="'],
] as const)('hostile text takes linear time: %s', async ([, piece]) => {
  const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
  await expectEffort(() => redactor.redact(text), 3_000)
})

const message = [
  'Delivered-To: jane.doe@mailbox.example',
  'Received: from mail.spam.example (mail.spam.example [192.0.2.7])',
  '\tby mx.mailbox.example with ESMTP id 1 for <jane.doe@mailbox.example>;',
  '\tFri, 20 Nov 2026 11:59:59 +0000',
  'Return-Path: <bounce-jane.doe=mailbox.example@spam.example>',
  'From: Offers <offers@spam.example>',
  'To: "Jane Doe" <jane.doe@mailbox.example>, list@example.org',
  'Subject: =?utf-8?B?' + base64('For jane.doe@mailbox.example only: café') + '?=',
  'List-Unsubscribe: <https://spam.example/u?m=jane.doe%40mailbox',
  ' .example>',
  'X-Mozilla-Status: 0001',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="b-jane.doe@mailbox.example"',
  '',
  '--b-jane.doe@mailbox.example',
  'Content-Type: text/plain',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Hello jane.doe=40mailbox.exam=',
  'ple, caf=C3=A9',
  '--b-jane.doe@mailbox.example',
  'Content-Type: text/html; charset=utf-8',
  'Content-Transfer-Encoding: base64',
  '',
  base64('<a href="https://spam.example/jane.doe@mailbox.example">unsubscribe</a>'),
  '--b-jane.doe@mailbox.example',
  'Content-Type: image/gif',
  'Content-Transfer-Encoding: base64',
  '',
  base64('GIF89a nothing to see'),
  '--b-jane.doe@mailbox.example',
  'Content-Type: application/pdf; name="invoice.pdf"',
  'Content-Transfer-Encoding: base64',
  '',
  base64('%PDF-1.4 who knows'),
  '--b-jane.doe@mailbox.example--',
  '',
].join('\r\n')

function redacted(text: string, addresses: readonly string[] = []) {
  return redactToBytes(Buffer.from(text, 'latin1'), { addresses, key, tokens: 'redacted' })
}

describe('a message', () => {
  test('loses the reporter everywhere, in any encoding', async () => {
    const { raw, form } = redacted(message)
    expect(form).toBe('whole')
    const tree = parseMimeTree(raw)
    const texts = tree ? leavesOf(tree).map(leafText) : []
    expect([raw.toString('latin1'), ...texts].join('\n')).not.toMatch(
      /jane|mailbox\.example.*jane/i,
    )
    const parsed = await simpleParser(raw)
    expect(
      JSON.stringify([parsed.headerLines, parsed.subject, parsed.text, parsed.html]),
    ).not.toMatch(/jane/i)
  })

  test('keeps its structure and its other content', async () => {
    const parsed = await simpleParser(redacted(message).raw)
    expect(parsed.subject).toBe(`For ${code}@redacted.invalid only: café`)
    expect(parsed.text).toContain(`Hello ${code}`)
    expect(parsed.text).toContain('café')
    expect(parsed.html).toContain(`https://spam.example/${code}@redacted.invalid`)
    expect(parsed.from?.text).toBe('"Offers" <offers@spam.example>')
    expect(parsed.attachments[0]?.content.toString()).toBe('GIF89a nothing to see')
  })

  test('names its recipients by their codes, without their names', () => {
    const listed = `${redactor.codeOf('list@example.org')}@redacted.invalid`
    const fields = parseHeader(redacted(message).raw).fields
    expect(fields.find((field) => field.key === 'to')?.value).toBe(
      `${code}@redacted.invalid, ${listed}`,
    )
  })

  test('has no field that exists only for the mailbox', () => {
    const keys = parseHeader(redacted(message).raw).fields.map((field) => field.key)
    expect(keys).not.toContain('delivered-to')
    expect(keys).not.toContain('x-mozilla-status')
    expect(keys).toContain('received')
  })

  test('has a note instead of a part with opaque content', () => {
    const raw = redacted(message).raw.toString('latin1')
    expect(raw).toContain('Content type: application/pdf; name="invoice.pdf"')
    expect(raw).toContain(createHash('sha256').update('%PDF-1.4 who knows').digest('hex'))
    expect(raw).not.toContain(base64('%PDF-1.4 who knows'))
  })

  test('is unchanged if it does not name the reporter', () => {
    const plain = 'From: a@spam.example\r\nSubject: x\r\n\r\nbody \xe9\r\n'
    expect(redacted(plain, [reporter]).raw.toString('latin1')).toBe(plain)
  })

  test('does not contain the reporter’s address that only we know', () => {
    const plain = 'From: a@spam.example\r\n\r\nDear Jane.Doe@Mailbox.Example\r\n'
    expect(redacted(plain, [reporter]).raw.toString()).toContain(`Dear ${code}@redacted.invalid`)
  })

  test('that cannot be searched is reduced to its header', () => {
    const hidden =
      'From: a@spam.example\r\nTo: jane.doe@mailbox.example\r\nContent-Type: text/plain\r\n' +
      'Content-Transfer-Encoding: x-uuencode\r\n\r\nbegin 644 x\r\nsecret\r\n'
    const { raw, form } = redacted(hidden)
    expect(form).toBe('headers')
    expect(raw.toString()).toBe(`From: a@spam.example\r\nTo: ${code}@redacted.invalid\r\n\r\n`)
  })

  test('in UTF-16 that names the reporter is replaced by a note', () => {
    const text = `From: a@spam.example\r\nContent-Type: text/plain; charset=utf-16le\r\n`
    const encoding = `Content-Transfer-Encoding: base64\r\n\r\n`
    const body = Buffer.from(reporter, 'utf16le').toString('base64')
    const { raw } = redacted(`${text}${encoding}${body}\r\n`, [reporter])
    expect(raw.toString()).toContain('This part was removed')
    expect(raw.toString()).not.toContain(body)
  })

  test('has the same codes in links and return paths', () => {
    const { redactText } = redacted(message)
    expect(redactText('https://spam.example/u?m=jane.doe%40mailbox.example')).toBe(
      `https://spam.example/u?m=${code}`,
    )
  })
})

test('the recipient is taken from the header, the provider’s fields first', () => {
  const { fields } = parseHeader(Buffer.from(message))
  const { delivered, claimed } = recipientsIn(fields)
  expect([...new Set([...delivered, ...claimed])]).toEqual([
    'jane.doe@mailbox.example',
    'list@example.org',
  ])
})

const corpus = corpusFiles('phishing', 'spam', 'ham', 'newsletters', 'robustness')

test.skipIf(corpus === undefined)(
  'no real message names its recipient afterwards (skipped without the corpus)',
  () => {
    for (const { name, raw } of corpus ?? []) {
      const { delivered, claimed } = recipientsIn(parseHeader(raw).fields)
      const after = redactToBytes(raw, { addresses: [], key, tokens: 'redacted' })
      const tree = parseMimeTree(after.raw)
      const texts = tree ? leavesOf(tree).map(leafText) : []
      const whole = [after.raw.toString('latin1'), ...texts].join('\n').toLowerCase()
      for (const address of [...delivered, ...claimed]) {
        expect(whole.includes(address.toLowerCase()), `${name}: ${address}`).toBe(false)
      }
    }
  },
)
