import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openSaved } from '../../../../src/mail/containers/saved-message.ts'
import { encodeTransfer } from '../../../../src/mail/transfer-encoding.ts'
import { expectEffort } from '../../../support/effort.ts'

const received = [
  'Received: from mail.bulk.example (mail.bulk.example [45.148.10.77])',
  '\tby mx.reader.example (Postfix) with ESMTPS id 4X1',
  '\tfor <me@reader.example>; Sat, 28 Nov 2026 10:00:00 +0000 (UTC)',
]
const rest = [
  'From: "Shop" <x@bulk.example>',
  'To: me@reader.example',
  'Subject: Buy now',
  'Date: Sat, 28 Nov 2026 09:59:00 +0000',
  'Message-ID: <o1@bulk.example>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'DKIM-Signature: v=1; a=rsa-sha256; d=bulk.example; s=k; b=aGVsbG8=',
  '',
  'Buy <caf\u00e9> & more at http://bulk.example/x?a=1&b=2',
  '',
]
const text = [...received, ...rest].join('\r\n')
const message = Buffer.from(text)
const inLf = (value: string) => value.replaceAll('\r\n', '\n')
const bom = '\uFEFF'

function opened(bytes: Buffer | string): string {
  const saved = openSaved(Buffer.from(bytes as string))
  return 'message' in saved ? saved.message.raw.toString() : JSON.stringify(saved)
}

const quotedBy = (mark: string) =>
  text
    .split('\r\n')
    .map((line) => (line === '' ? mark.trimEnd() : mark + line))
    .join('\r\n')

test.for<[string, Buffer | string, string?]>([
  ['a byte order mark', bom + text],
  ['a byte order mark, in LF', bom + inLf(text), inLf(text)],
  ['two byte order marks', bom + bom + text],
  ['a byte order mark after blank lines', `\r\n\r\n${bom}${text}`],
  ['invisible characters', `\u200B\u200E\u00A0${text}`],
  ['one blank line', `\n${text}`],
  ['many blank lines', '\r\n'.repeat(300) + text],
  ['lines of blanks', `   \r\n\t\r\n${text}`],
  ['blanks before the first field', `  ${text}`],
  ['CR alone', `\r\r${text}`],
  ['little-endian UTF-16', Buffer.from(bom + text, 'utf16le')],
  ['little-endian UTF-16 without a mark', Buffer.from(text, 'utf16le')],
  ['big-endian UTF-16', Buffer.from(bom + text, 'utf16le').swap16()],
  ['big-endian UTF-16 without a mark', Buffer.from(text, 'utf16le').swap16()],
  ['UTF-16 in LF after a blank line', Buffer.from(`${bom}\n${inLf(text)}`, 'utf16le'), inLf(text)],
  ['indentation', text.replaceAll(/^/gm, '    ').replaceAll(/^ {4}$/gm, '')],
  ['one mark of a quotation a line', quotedBy('>')],
  ['marks of a quotation', quotedBy('> ')],
])('a message with %s is the message', ([, bytes, expected = text]) => {
  expect(opened(bytes)).toBe(expected)
})

test.for<[string, string]>([
  ['no mark', text],
  ['LF', inLf(text)],
  ['CR', text.replaceAll('\r\n', '\r')],
  ['an mbox line', `From x@bulk.example Sat Nov 28 10:00:00 2026\r\n${text}`],
  ['an mbox line without a date', `From -\n${inLf(text)}`],
  ['fields of Mozilla', `X-Mozilla-Status: 0001\r\nX-Mozilla-Status2: 00000000\r\n${text}`],
  ['a line that is no field', text.replace('To:', 'this is no field\r\nTo:')],
  ['a title without a blank line', `Microsoft Mail Internet Headers Version 2.0\r\n${text}`],
  ['a folded line first', ` by mx.reader.example; x\r\n${text}`.replace(/^ /, 'X: a\r\n ')],
  ['quoted-printable in its body', text.replace('Buy <', 'Buy=20=\r\n<')],
  ['entities in its body', text.replace('Buy <', '&lt;a@b.example&gt; <')],
  ['a source in its body', text.replace('Buy <', `\r\n\r\n${text}`)],
])('an ordinary message with %s is unchanged', ([, bytes]) => {
  const raw = Buffer.from(bytes)
  const saved = openSaved(raw)
  expect('message' in saved && saved.message.raw).toBe(raw)
})

const table = [
  'Message ID\t<o1@bulk.example>',
  'Created at:\tSat, Nov 28, 2026 at 10:59 AM (Delivered after 2 seconds)',
  'From:\tShop <x@bulk.example>',
  'To:\tme@reader.example',
  'Subject:\tBuy now',
  'SPF:\tPASS with IP 45.148.10.77 Learn more',
  "DKIM:\t'PASS' with domain bulk.example Learn more",
]

test.for<[string, readonly string[]]>([
  ['Gmail', ['Original Message', ...table, '', 'Download Original\tCopy to clipboard', '']],
  ['Gmail, without its title', [...table.slice(2), '', 'Download Original', '']],
  ['Gmail in French', ['Message d’origine', 'ID du message\t<o1@bulk.example>', 'De :\tx', '']],
  ['Outlook', ['Message source', 'Close', '']],
  ['Yahoo', ['Raw message', 'Back to mail', '']],
  ['Proton', ['Message headers', 'Download', '', '']],
  ['Apple Mail', ['Source of “Buy now”', '', '']],
  ['a mail client on a terminal', ['Message 3/10 Shop', '-'.repeat(70), '']],
  ['an SMTP session', ['MAIL FROM:<x@bulk.example> SIZE=900', '250 OK', 'DATA', '354 go on', '']],
])('below the lines of %s is the message', ([, lines]) => {
  expect(opened([...lines, text].join('\r\n'))).toBe(text)
  expect(opened(inLf([...lines, text].join('\n')))).toBe(inLf(text))
})

test('below a header of its own, only the source with the same subject is the message', () => {
  const other = [...table.slice(2, 4), 'Subject:\tLook at this', '', text].join('\r\n')
  expect(opened(other)).toBe(other)
  const written = ['From: a@b.example', 'Subject: Buy now', 'MIME-Version: 1.0', '', text]
  expect(opened(written.join('\r\n'))).toBe(written.join('\r\n'))
  const traced = ['Received: from x ([192.0.2.1]) by y; Sat, 28 Nov 2026 10:00:00 +0000', '', text]
  expect(JSON.parse(opened(traced.join('\r\n')))).toMatchObject({ refusal: 'not-a-message' })
})

const escape = (value: string) =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const page = (inside: string) => `<!DOCTYPE html><html><body><h1>Source</h1>${inside}</body></html>`

test.for<[string, string, string?]>([
  ['entities', escape(text)],
  ['entities of more characters', escape(text).replaceAll('"', '&quot;').replaceAll('=', '&#61;')],
  ['numeric entities', text.replaceAll(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)],
  [
    'hexadecimal entities',
    text.replaceAll(/[&<>]/g, (one) => `&#x${one.charCodeAt(0).toString(16)};`),
  ],
  ['a page with pre', page(`<pre class="raw">${escape(text)}</pre>`)],
  ['a page with textarea', page(`<textarea rows=5>\r\n${escape(text)}</textarea>`)],
  [
    'a page with br',
    page(`<p>x</p><PRE>${escape(inLf(text)).replaceAll('\n', '<br>')}</PRE>`),
    inLf(text),
  ],
  [
    'a page with links',
    page(`<pre>${escape(text).replace(/http\S+/, '<a href="x">$&</a>')}</pre>`),
  ],
])('the message in HTML with %s is read', ([, bytes, expected = text]) => {
  expect(opened(bytes).replace(/&#\d+;/, '')).toBe(expected)
})

const quoted = (value: string) =>
  encodeTransfer(Buffer.from(value).toString('latin1'), 'quoted-printable')
const encoded = (value: string) => encodeTransfer(Buffer.from(value).toString('latin1'), 'base64')

test.for<[string, string, string?]>([
  ['quoted-printable', quoted(text)],
  ['quoted-printable in LF', inLf(quoted(text)), inLf(text)],
  [
    'quoted-printable with lower digits',
    quoted(text).replaceAll(/=[\dA-F]{2}/g, (it) => it.toLowerCase()),
  ],
  ['quoted-printable after a mark', bom + quoted(text)],
  [
    'quoted-printable with soft breaks',
    text
      .replaceAll('=', '=3D')
      .replace('é', '=C3=A9')
      .replaceAll(/(.{50}[^=\n]{3})(?=.)/g, '$1=\r\n'),
  ],
  ['base64', encoded(text)],
  ['base64 in one line', message.toString('base64')],
  ['base64 in LF', inLf(encoded(text))],
  ['base64 of a marked message', encoded(bom + text)],
  ['base64 as a data URL', `data:message/rfc822;base64,${message.toString('base64')}`],
  [
    'a part in base64',
    `Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded(text)}`,
  ],
  ['a part', `Content-Type: message/rfc822\r\n\r\n${text}`],
])('a message that is in %s as a whole is decoded', ([, bytes, expected = text]) => {
  expect(opened(bytes)).toBe(expected)
})

const wrapped = (...lines: string[]) => [...lines, ...rest].join('\r\n')
const [first = '', second = '', third = ''] = received

test.for<[string, string, string]>([
  [
    'before its address',
    wrapped(
      'Received: from mail.bulk.example (mail.bulk.example',
      '[45.148.10.77])',
      second,
      third,
    ),
    text,
  ],
  ['after a blank', wrapped(first, `${second.slice(0, -4)}`, '4X1', third), text],
  ['at a blank that stays', wrapped(first, second.slice(0, -3), '4X1', third), text],
  [
    'twice',
    wrapped(first, '\tby mx.reader.example', '(Postfix) with', 'ESMTPS id 4X1', third),
    text,
  ],
  ['in its date', wrapped(first, second, third.replace(' 28 Nov', '\r\n28 Nov')), text],
])('a Received field that was wrapped %s is joined', ([, bytes, expected]) => {
  expect(opened(bytes)).toBe(expected)
  const forged =
    'Received: from a.victim.example ([91.198.174.5]) by mx; Sat, 28 Nov 2026 09:00:00 +0000\r\n'
  expect(opened(bytes.replace('From:', `${forged}From:`))).toBe(
    expected.replace('From:', `${forged}From:`),
  )
})

test('a long field that was wrapped before the author is named is joined', () => {
  const before = ['Delivered-To: me@reader.example', ...received]
  const seal = 'ARC-Seal: i=1; a=rsa-sha256; t=1795860000; cv=none; d=provider.example;'
  const plain = rest.filter((line) => !/^(?:MIME|Content)/.test(line))
  const bytes = [...before, seal, 'b=abcdef', 'ghij', ...plain].join('\n')
  expect(opened(bytes)).toBe([...before, `${seal} b=abcdef ghij`, ...plain].join('\n'))
})

test.for<[string, string, object]>([
  ['a text', 'Hello,\nwhat is this?\n', { line: 1, text: 'Hello,' }],
  ['a picture', '\x89PNG\r\n', { line: 1 }],
  ['a text after blank lines', '\r\n\r\nGood morning\r\n', { line: 3, text: 'Good morning' }],
  ['a broken header', 'Subject: x\nnot a field at all\nhello\n\nText', { line: 2 }],
  ['nothing', '', {}],
  ['a single field', 'X-A: b\r\n', {}],
])('%s is refused, with the line', ([, bytes, expected]) => {
  expect(JSON.parse(opened(bytes))).toMatchObject({ refusal: 'not-a-message', ...expected })
})

test('a mailbox with several messages is refused as such', () => {
  const box = `From -\r\n${text}\r\nFrom -\r\n${text}`
  for (const bytes of [box, bom + box, `\n\n${box}`]) {
    expect(JSON.parse(opened(bytes))).toEqual({ refusal: 'several-messages' })
  }
})

test('what a sender writes below the fields of a mail server is never the message', () => {
  const forged = text.replace('45.148.10.77', '91.198.174.5')
  const head = `${received.join('\r\n')}\r\n`
  for (const junk of ['\r\n', 'junk\r\n\r\n', 'A\tb\r\n\r\n', 'x=3D1\r\n\r\n', '<pre>\r\n']) {
    expect(opened(head + junk + forged)).not.toBe(forged)
    expect(opened(head + junk + encoded(forged))).not.toBe(forged)
  }
})

test('what a client encodes in its host name does not change the line of the server', () => {
  const bare = rest.join('\r\n').replaceAll(/[<>]/g, '').replaceAll('=', '=3D')
  const from = (helo: string) =>
    `Received: from ${helo} ([45.148.10.77])\r\n\tby mx.reader.example; Sat, 28 Nov 2026 10:00:00 +0000`
  for (const blank of ['=20', '=0D=0AX-Y:', '&#32;', '&#10;X-Y:', '&#x20;', '&nbsp;']) {
    const helo = `a${blank}([91.198.174.5])${blank}&lt;a@b.example&gt;`
    const line = from(helo)
    const kept = opened(`${line}\r\n${bare}`).replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    expect(kept).toContain(line)
  }
})

test('hostile input takes linear time', async () => {
  const bombs = [
    'A: b\n'.concat('stray line\n'.repeat(500_000)),
    'Received: x\n'.concat('y\n'.repeat(500_000), rest.join('\n')),
    '<pre>'.repeat(400_000),
    '<pre>&lt;'.repeat(200_000),
    '&'.repeat(2_000_000),
    `${'='.repeat(1_000_000)}\nFrom: a`,
    'From -\n'.repeat(300_000),
    'From -\nX: y\n'.repeat(200_000),
    `From -\nFrom: a\nDate: b\n${' x\n'.repeat(500_000)}`,
    ' '.repeat(2_000_000),
    '\u00A0\n'.repeat(500_000),
    'QUJD'.repeat(500_000),
    `${'QUJD'.repeat(1_000)}${' '.repeat(1_000_000)}!`,
    `junk\n${'\r'.repeat(250_000)}x\n`,
    `Received: x${'\r'.repeat(250_000)}x\nstray\nFrom: a\n`,
    `Received: ${';'.repeat(250_000)}\nstray\n${rest.join('\n')}`,
    `<html>${'<pre '.repeat(400_000)}`,
  ]
  for (const bomb of bombs) await expectEffort(() => openSaved(Buffer.from(bomb)), 1_000)
})

test('long input is read with a small stack', () => {
  const long = Buffer.from(text + 'long line '.repeat(1_000_000)).toString('base64')
  expect(opened(long).startsWith(text)).toBe(true)
  for (const blanks of [`${long}!`, `<html><pre>${' '.repeat(12_000_000)}</pre>`]) {
    expect(openSaved(Buffer.from(blanks))).toHaveProperty('refusal')
  }
})

test('no input throws, and a message stays itself', () => {
  const pieces = fc.constantFrom(
    ...[bom, '\r\n', '\n', ' ', '> ', '&lt;', '=3D', '=\n', 'From ', 'From -', '<pre>', '\0'],
    ...['Received: from a ([192.0.2.1]) by b', 'From: a@b.example', 'Subject: x', 'Date: y'],
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 30 }), (parts) => {
      const saved = openSaved(Buffer.from(parts.join('\n')))
      if (!('message' in saved)) return
      const { raw } = saved.message
      const again = openSaved(raw)
      expect('message' in again || again.refusal === 'several-messages').toBe(true)
    }),
    { numRuns: 500 },
  )
})
