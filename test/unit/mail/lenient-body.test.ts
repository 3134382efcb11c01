import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { parseBody } from '../../../src/mail/message-body.ts'
import { opaqueSigned } from '../../support/containers/signed-data.ts'

const page =
  '<p>Sweet gooseberry jam for you only today: <a href="https://page.example/offer">here</a>'
const html = 'Content-Type: text/html'
const digits = base64(Buffer.from(page))
const encoded = 'Content-Transfer-Encoding: base64'
const head = ['From: Ann <ann@example.com>', 'Subject: Offer', 'MIME-Version: 1.0']

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n')
}

function single(fields: readonly string[], body: string): string {
  return [...head, ...fields, '', body, ''].join('\r\n')
}

function mixed(part: readonly string[], type = 'multipart/mixed; boundary=b'): string {
  return single([`Content-Type: ${type}`], ['--b', ...part, '--b--'].join('\r\n'))
}

function utf16(isBigEndian: boolean, mark = ''): string {
  const bytes = Buffer.from(mark + page, 'utf16le')
  return base64(isBigEndian ? bytes.swap16() : bytes)
}

const mark = '\u{FEFF}'
const inside = single([html, encoded], digits)

const signedPage = Buffer.from(`${html}\r\n\r\n${page}`)
const signedTwice = Buffer.from(
  ['Content-Type: application/pkcs7-mime', encoded, '', base64(opaqueSigned(signedPage))].join(
    '\n',
  ),
)

const shown: Record<string, string> = {
  ...Object.fromEntries(
    ['application/pkcs7-mime', 'application/x-pkcs7-mime', 'application/a; name=smime.p7m'].flatMap(
      (type) =>
        [signedPage, signedTwice].map((content, index) => [
          `an opaque signature of the type ${type}, ${index + 1} times`,
          single([`Content-Type: ${type}`, encoded], base64(opaqueSigned(content))),
        ]),
    ),
  ),
  ...Object.fromEntries(
    ['base64', 'hex', 'ba-se64', 'ucs2', 'utf16', 'utf-16', 'utf-16be', 'csunicode'].map((name) => [
      `ASCII in the charset ${name}`,
      single([`${html}; charset=${name}`], page),
    ]),
  ),
  ...Object.fromEntries(
    ['utf-8', 'utf-16', 'utf-16le', 'utf-16be', 'x-unknown'].flatMap((name) => [
      [
        `${name} with a big-endian mark`,
        single([`${html}; charset=${name}`, encoded], utf16(true, mark)),
      ],
      [
        `${name} with a little-endian mark`,
        single([`${html}; charset=${name}`, encoded], utf16(false, mark)),
      ],
    ]),
  ),
  'big-endian UTF-16 without a mark': single([`${html}; charset=utf-16`, encoded], utf16(true)),
  ...Object.fromEntries(
    [
      'x-base64',
      'base-64',
      'base64base64',
      '7bit, base64',
      '(a(b)c) base64',
      `(${'a'.repeat(300)}) base64`,
    ].map((name) => [
      `the encoding ${name.slice(0, 20)}`,
      single([html, `Content-Transfer-Encoding: ${name}`], digits),
    ]),
  ),
  'another encoding before base64': mixed([
    html,
    'Content-Transfer-Encoding: 7bit',
    encoded,
    '',
    digits,
  ]),
  'another encoding before quoted-printable': single(
    [html, 'Content-Transfer-Encoding: 8bit', 'Content-Transfer-Encoding: quoted-printable'],
    [...page].map((sign) => `=${sign.charCodeAt(0).toString(16)}`).join(''),
  ),
  'another type before multipart': single(
    ['Content-Type: text/plain', 'Content-Type: multipart/mixed; boundary=b'],
    ['--b', html, encoded, '', digits, '--b--'].join('\r\n'),
  ),
  'an encoded multipart': single(
    ['Content-Type: multipart/mixed; boundary=b', encoded],
    base64(Buffer.from(page + page)),
  ),
  'several stray lines in the header': single([html, 'one stray', 'two stray', encoded], digits),
  'a wrong boundary, and another field first': mixed(
    ['X-A: b', html, encoded, '', digits],
    'multipart/mixed; boundary=z',
  ),
  'a boundary of 1,200 characters': mixed(
    ['X-A: b', html, encoded, '', digits],
    `multipart/mixed; boundary=${'b'.repeat(1200)}`,
  ).replaceAll(/^--b(?=\r|--)/gm, `--${'b'.repeat(1200)}`),
  'a lone CR between content fields': mixed([`${html}\r${encoded}`, '', digits]),
  'a lone CR behind another field': mixed([`X-A: b\r${encoded}`, html, '', digits]),
  'lone CRs after the header of a part': mixed([html, `${encoded}\r\r${digits}`]),
  'lone CRs around delimiters': mixed([html, encoded, '', digits]).replaceAll(/\r\n(?=--b)/g, '\r'),
  'lone CRs, and an LF late': `${inside.replaceAll('\r\n', '\r')}${'x'.repeat(17_000)}\n`,
  'a message as the only part': single(['Content-Type: message/rfc822'], inside),
  'an encoded message inside': mixed([
    'Content-Type: message/rfc822',
    'Content-Disposition: inline',
    encoded,
    '',
    base64(Buffer.from(inside)),
  ]),
  'message/global inside': mixed([
    'Content-Type: message/global',
    'Content-Disposition: inline',
    '',
    inside,
  ]),
  'a digest': mixed(['', inside], 'multipart/digest; boundary=b'),
  'messages in ten messages': Array.from({ length: 10 }).reduce<string>(
    (inner) => single(['Content-Type: message/rfc822', 'Content-Disposition: inline'], inner),
    inside,
  ),
  'text of a file type as the only part': single(['Content-Type: text/css', encoded], digits),
  'a name without a known type': mixed(['Content-Type: ; name="offer v1.2"', encoded, '', digits]),
}

test.each(Object.entries(shown))(
  'mail programs and we show the text of a message with %s',
  async (_, written) => {
    const raw = Buffer.from(written, 'latin1')
    const body = await parseBody(raw, parseHeader(raw))
    expect(body.text + body.html).toContain('gooseberry')
    expect(body.text + body.html).toContain('https://page.example/offer')
  },
)

const size = 400_000
const hostile: Record<string, string> = {
  'line feeds in a multipart without parts': single(
    ['Content-Type: multipart/mixed; boundary=b'],
    '\n'.repeat(size),
  ),
  'thousands of boundaries': single(
    Array.from({ length: 4_000 }, (_, at) => {
      const names = Array.from({ length: 8 }, (_, index) => `boundary=b${at}_${index}`)
      return `Content-Type: multipart/mixed; ${names.join(';')}`
    }),
    'x'.repeat(8 * size),
  ),
  'stray lines': mixed('stray line\r\n'.repeat(size / 12).split('\r\n')),
  'lone CRs': single([html], '\r'.repeat(size)),
  'invalid bytes in an unknown charset': single(
    [`${html}; charset=x-unknown`],
    '\xff'.repeat(20 * size),
  ),
}

test.each(Object.entries(hostile))(
  'a message with %s is read in linear time',
  async (_, written) => {
    const raw = Buffer.from(written, 'latin1')
    const start = process.cpuUsage()
    await parseBody(raw, parseHeader(raw))
    const { user, system } = process.cpuUsage(start)
    expect(user + system).toBeLessThan(2_500_000)
  },
)

test('binary files without a type stay attachments', async () => {
  const raw = Buffer.from(mixed(['Content-Type: ; name="run.unknown"', '', 'MZ\0\0']), 'latin1')
  const { attachments } = await parseBody(raw, parseHeader(raw))
  expect(attachments.map(({ type }) => type)).toEqual(['application/octet-stream'])
})
